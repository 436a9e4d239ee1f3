"""Intervals and p values for correlations: Fisher's z for independent runs, and the cluster bootstrap's."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dsqa.stats.interval import FloatArray

__all__ = ["clustered_p", "fisher", "resampled"]


def fisher(
    r: FloatArray, kind: str, n: int, clusters: int, metrics: int, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ends and the p value that Fisher's z gives for each correlation, runs taken as independent."""
    freedom = float(n - 3)
    if kind.startswith("partial"):
        freedom -= metrics - 2
    elif kind == "repeated":
        freedom = float(n - clusters - 1) - 1
    if freedom <= 0:
        nothing = np.full_like(r, np.nan)
        return nothing, nothing, nothing
    error = np.full_like(r, 1 / math.sqrt(freedom))
    null = error.copy()
    if kind.endswith("spearman"):
        error = error * np.sqrt(1 + r**2 / 2)
    elif kind == "kendall":
        error = np.full_like(r, math.sqrt(0.437 / (n - 4)) if n > 4 else np.nan)
        # Exact variance of τ under independence without ties.
        null = np.full_like(r, math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.arctanh(r)
        half = stats.norm.isf((1 - level) / 2) * error
        p = 2 * stats.norm.sf(np.abs(r if kind == "kendall" else centre) / null)
    return np.tanh(centre - half), np.tanh(centre + half), np.asarray(p, dtype=np.float64)


def clustered_p(draws: FloatArray, r: FloatArray, low: FloatArray, clusters: int) -> FloatArray:
    """Return p values of r = 0 by t on clusters − 1 degrees of freedom, where there is an interval.

    On the scale of r and not of Fisher's z, which has no SD where a resample gives |r| = 1.
    """
    p = np.full_like(r, np.nan)
    for at in np.flatnonzero(~np.isnan(low)):
        spread = float(np.std(draws[~np.isnan(draws[:, at]), at], ddof=1))
        p[at] = 2 * stats.t.sf(abs(r[at]) / spread, clusters - 1) if spread > 0 else 0.0
    return p


def resampled(
    draws: FloatArray, r: FloatArray, level: float, *, one: bool
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return percentile ends over resamples of questions, and why there are none."""
    low, high = np.full_like(r, np.nan), np.full_like(r, np.nan)
    reasons = ["a metric does not vary, or is given by the others" if np.isnan(value) else "" for value in r]
    if not len(draws):
        why = "one question: the spread over questions cannot be seen" if one else ""
        return low, high, [reason or why for reason in reasons]
    for at in np.flatnonzero(~np.isnan(r)):
        seen = draws[~np.isnan(draws[:, at]), at]
        lost = len(draws) - len(seen)
        if lost > len(draws) / 10:
            reasons[at] = f"in {lost} of {len(draws)} resamples a metric does not vary"
            continue
        low[at], high[at] = np.quantile(seen, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
        if lost:
            reasons[at] = f"{lost} of {len(draws)} resamples left out: a metric does not vary in them"
    return low, high, reasons
