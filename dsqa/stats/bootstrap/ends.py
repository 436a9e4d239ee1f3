"""From a bootstrap distribution to the ends of an interval.

With θ̂ the estimate, G the bootstrap distribution of θ* and G⁻¹(a) the smallest value with G ≥ a:

==========  ==================================================================================
percentile  G⁻¹(α/2), G⁻¹(1−α/2)
basic       2θ̂ − G⁻¹(1−α/2), 2θ̂ − G⁻¹(α/2)
bca         G⁻¹(a₁), G⁻¹(a₂) with a = Φ(z₀ + (z₀ + z) / (1 − â (z₀ + z))); z₀ = Φ⁻¹(P(θ* < θ̂) + ½ P(θ* = θ̂)),
            â = Σ d³ / 6 (Σ d²)^1.5, d = mean jackknife value − jackknife value. Efron (1987), JASA 82:171.
studentised θ̂ − G_t⁻¹(1−α/2) s, θ̂ − G_t⁻¹(α/2) s with t* = (θ* − θ̂)/s*, s the infinitesimal jackknife's error
            √(Σ w u²)/n, u the influence of a value. Efron & Tibshirani (1993), sections 12.5 and 22; a
            resample without spread has t* = ±∞
bayesian    the percentile rule on Dirichlet weights: a posterior, not a sampling distribution
==========  ==================================================================================

Ties: on the half-point score grid P(θ* = θ̂) is far from zero, so the half matters. R's `boot.ci` counts
P(θ* < θ̂) only, `scipy.stats.bootstrap` counts half the ties as here; ends differ by a grid step or two.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from dsqa.stats.interval import FloatArray

__all__ = ["BootstrapMethod", "acceleration", "interval_ends"]

BootstrapMethod = Literal["percentile", "basic", "bca", "studentised", "bayesian"]


def acceleration(jackknife: FloatArray, multiplicity: FloatArray) -> FloatArray:
    """Return â per row; 0 where all jackknife values are equal.

    Parameters
    ----------
    jackknife
        Leave-one-out values, one per distinct observation: shape (cells, distinct).
    multiplicity
        How often each observation occurs, same shape.
    """
    n = multiplicity.sum(axis=-1, keepdims=True)
    d = (jackknife * multiplicity).sum(axis=-1, keepdims=True) / n - jackknife
    # Differences that are rounding noise only would make â a ratio of noise.
    d = np.where(np.abs(d) <= 1e-13 * np.abs(jackknife).max(axis=-1, keepdims=True), 0.0, d)
    cubes, squares = (multiplicity * d**3).sum(axis=-1), (multiplicity * d**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)


def interval_ends(
    draws: FloatArray,
    probabilities: FloatArray | None,
    estimate: FloatArray,
    accelerations: FloatArray | None,
    method: BootstrapMethod,
    level: float,
    errors: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper ends, per row.

    Parameters
    ----------
    draws
        θ*, shape (cells, resamples).
    probabilities
        Their probabilities, same shape; None where each draw weighs the same.
    estimate
        θ̂, shape (cells,).
    accelerations
        â, shape (cells,); needed by "bca".
    method, level
        Which rule, at which nominal coverage.
    errors
        Standard errors of the draws, shape (cells, resamples), and of θ̂, shape (cells,); needed by "studentised".

    Returns
    -------
    tuple
        NaN ends where BCa is not defined (θ̂ outside of the bootstrap distribution), and where a tail of the
        studentised distribution is infinite.
    """
    if method == "studentised":
        if errors is None:
            raise ValueError("the studentised bootstrap needs standard errors")
        draws = _studentised(draws, estimate, errors[0])
    if probabilities is None:
        ordered, reached = np.sort(draws, axis=1), None
    else:
        order = np.argsort(draws, axis=1)
        ordered = np.take_along_axis(draws, order, axis=1)
        reached = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    levels = np.broadcast_to(tails, (draws.shape[0], 2))
    if method == "bca":
        if accelerations is None:
            raise ValueError("BCa needs the acceleration")
        levels = _bca_levels(ordered, reached, estimate, accelerations, ndtri(tails))
    ends = _quantiles(ordered, reached, levels)
    if method == "basic":
        ends = 2 * estimate[:, None] - ends[:, ::-1]
    if method == "studentised" and errors is not None:
        ends = estimate[:, None] - ends[:, ::-1] * errors[1][:, None]
        ends = np.where(np.isfinite(ends).all(axis=1, keepdims=True), ends, np.nan)
    return ends[:, 0], ends[:, 1]


def _studentised(draws: FloatArray, estimate: FloatArray, errors: FloatArray) -> FloatArray:
    away = draws - estimate[:, None]
    away = np.where(np.abs(away) <= 1e-12 * np.maximum(np.abs(draws), np.abs(estimate)[:, None]), 0.0, away)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(away == 0, 0.0, away / errors), dtype=np.float64)


def _bca_levels(
    ordered: FloatArray, reached: FloatArray | None, estimate: FloatArray, a: FloatArray, z: FloatArray
) -> FloatArray:
    tie = 1e-12 * np.maximum(np.abs(ordered[:, [0, -1]]).max(axis=1), np.abs(estimate))
    below = np.empty(len(estimate))
    for i, row in enumerate(ordered):
        ranks = (row.searchsorted(estimate[i] - tie[i]), row.searchsorted(estimate[i] + tie[i], side="right"))
        if reached is None:
            below[i] = sum(ranks) / (2 * row.size)
        else:
            below[i] = sum(0.0 if rank == 0 else reached[i, rank - 1] for rank in ranks) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted = ndtri(below)[:, None] + z
        levels = ndtr(ndtri(below)[:, None] + shifted / (1 - a[:, None] * shifted))
    # Past the pole of the correction, 1 − â(z₀+z) ≤ 0, the level has no meaning.
    valid = np.isfinite(shifted) & (a[:, None] * shifted < 1)
    return np.asarray(np.where(valid.all(axis=1, keepdims=True), levels, np.nan), dtype=np.float64)


def _quantiles(ordered: FloatArray, reached: FloatArray | None, levels: FloatArray) -> FloatArray:
    size, wanted = ordered.shape[1], np.nan_to_num(levels)
    if reached is None:
        index = np.ceil(wanted * size - 1e-9).astype(np.int64) - 1
    else:
        index = np.stack([row.searchsorted(want - 1e-13) for row, want in zip(reached, wanted, strict=True)])
    picked = np.take_along_axis(ordered, np.clip(index, 0, size - 1), axis=1)
    return np.asarray(np.where(np.isnan(levels), np.nan, picked), dtype=np.float64)
