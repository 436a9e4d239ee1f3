"""Statistics as functions of values and weights, the form in which a resample is a row of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dsqa.stats.interval import FloatArray

__all__ = ["MomentStatistic", "Statistic", "standard_errors", "weighted_mean", "weighted_sd"]


class Statistic(Protocol):
    """A statistic of a weighted sample.

    `values` has shape (n,), `weights` (..., n) with rows that sum to the sample size; the result has
    shape (...). Scaling the weights must not change it. Any functional of the empirical distribution
    can be written so: mean, SD, quantile, entropy, a regression slope.
    """

    def __call__(self, values: FloatArray, weights: FloatArray, /) -> FloatArray:
        """Return the statistic for every row of weights."""
        ...


@dataclass(frozen=True)
class MomentStatistic:
    """A statistic that needs only Σw, Σwx and Σwx²; evaluated for many cells by one matrix product.

    Sums are taken of x − min(x): no cancellation for values far from zero, and on a grid such as the
    half points of the score every sum is an exact integer multiple, so equal resamples tie exactly.
    `from_sums(n, total, squares, shift)` owns the arrays `total` and `squares` and may overwrite them.
    `error(n, variance, fourth)` is its infinitesimal-jackknife error from the central moments.
    """

    name: str
    from_sums: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]
    error: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

    def __call__(self, values: FloatArray, weights: FloatArray, /) -> FloatArray:
        """Return the statistic for every row of weights."""
        shift = values.min()
        moved = values - shift
        total, squares = np.asarray(weights @ moved), np.asarray(weights @ moved**2)
        return self.from_sums(weights.sum(axis=-1), total, squares, np.asarray(shift))


def _mean(n: FloatArray, total: FloatArray, squares: FloatArray, shift: FloatArray) -> FloatArray:
    del squares
    return np.asarray(shift + total / n, dtype=np.float64)


def _sd(n: FloatArray, total: FloatArray, squares: FloatArray, shift: FloatArray) -> FloatArray:
    del shift
    # In place: for many cells these arrays are large, and memory traffic is most of the time.
    out = np.multiply(n, squares, out=squares)
    out -= np.square(total, out=total)
    np.maximum(out, 0.0, out=out)
    np.sqrt(out, out=out)
    out /= n
    return out


def _mean_error(n: FloatArray, variance: FloatArray, fourth: FloatArray) -> FloatArray:
    del fourth
    return np.asarray(np.sqrt(variance / n), dtype=np.float64)


def _sd_error(n: FloatArray, variance: FloatArray, fourth: FloatArray) -> FloatArray:
    # The influence of x on s is ((x − x̄)² − s²)/2s.
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.maximum(fourth - variance**2, 0.0) / (4 * n * variance)
    return np.asarray(np.where(variance > 0, np.sqrt(squared), 0.0), dtype=np.float64)


def standard_errors(statistic: Statistic, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the infinitesimal jackknife's standard error √(Σ w u²)/n for every row of weights.

    Closed forms for the moment statistics; for others the influence u of each value is found by moving a
    millionth of the weight to it.

    Parameters
    ----------
    statistic
        The statistic.
    values
        Shape (n,).
    weights
        Shape (..., n).
    """
    total = weights.sum(axis=-1)
    if isinstance(statistic, MomentStatistic):
        moved = values - values.mean()
        m1, m2, m3, m4 = (np.asarray(weights @ moved**power) / total for power in (1, 2, 3, 4))
        variance = np.maximum(m2 - m1**2, 0.0)
        # Rounding leaves resamples of equal values a spread of about 1e-16.
        variance = np.where(variance <= 1e-14 * np.square(moved).max(), 0.0, variance)
        return statistic.error(total, variance, m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4)
    here, step, out = statistic(values, weights), 1e-6, np.zeros(weights.shape[:-1])
    for at in range(values.size):
        shifted = (1 - step) * weights
        shifted[..., at] += step * total
        out += weights[..., at] * ((statistic(values, shifted) - here) / step) ** 2
    return np.asarray(np.sqrt(out) / total, dtype=np.float64)


weighted_mean = MomentStatistic("mean", _mean, _mean_error)
weighted_sd = MomentStatistic("population SD", _sd, _sd_error)
