"""Statistics as functions of values and weights, the form in which a resample is a row of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dsqa.stats.interval import FloatArray

__all__ = ["MomentStatistic", "Statistic", "weighted_mean", "weighted_sd"]


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
    """

    name: str
    from_sums: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]

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


weighted_mean = MomentStatistic("mean", _mean)
weighted_sd = MomentStatistic("population SD", _sd)
