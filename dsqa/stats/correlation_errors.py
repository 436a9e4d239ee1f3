"""Intervals and p values for correlations: Fisher's z for independent runs, and the jackknife over clusters."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dsqa.stats.interval import FloatArray
from dsqa.stats.jackknife import jackknife_interval, jackknife_p

__all__ = ["clustered", "fisher"]


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


def clustered(
    r: FloatArray, without: FloatArray, clusters: int, kind: str, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, list[str]]:
    """Return the ends and the p value of each correlation by the jackknife over clusters, and what to say of them.

    Parameters
    ----------
    r
        Shape (pairs,).
    without
        The same without a cluster each, shape (groups, pairs); no rows for no intervals.
    clusters
        Their number.
    kind
        Of correlation.
    level
        Nominal coverage.
    """
    low, high, p = (np.full_like(r, np.nan) for _ in range(3))
    reasons = ["a metric does not vary, or is given by the others" if np.isnan(value) else "" for value in r]
    shown = f"correlation, {kind}"
    for at in np.flatnonzero(~np.isnan(r)) if len(without) else []:
        interval = jackknife_interval(
            float(r[at]), without[:, at], kind=shown, level=level, scale="fisher", bounds=(-1, 1), clusters=clusters
        )
        low[at], high[at], reasons[at] = interval.low, interval.high, interval.note
        p[at] = jackknife_p(float(r[at]), without[:, at], scale="fisher")
    return low, high, p, reasons
