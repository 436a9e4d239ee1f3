r"""Intervals by leaving out one question at a time, for any statistic of clustered runs.

With θ̂₋g the estimate without cluster g of G, on a scale f on which it is nearer to normal,

    s² = (G − 1)/G Σ (f(θ̂₋g) − mean)²,   f⁻¹(f(θ̂) ± t(G − 1) s)

(Tukey 1958; Efron & Tibshirani 1993, chapter 11; Cameron, Gelbach & Miller 2008, Review of Economics and Statistics
90:414, on few clusters). Nothing is drawn, so there is no Monte Carlo error. For correlations f is Fisher's z, for
ratios the logarithm. With five to twenty questions the percentile bootstrap over questions covers 86 to 92 % of such
statistics where this covers 94 to 95 (docs/coverage.md). Of more than `MOST_GROUPS` clusters so many groups of them
are left out in turn.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from dsqa.stats.interval import FloatArray, Interval
from dsqa.stats.shown import with_coverage

__all__ = ["METHOD", "MOST_GROUPS", "Scale", "jackknife_interval", "jackknife_p", "leave_out"]

Scale = Literal["plain", "fisher", "log"]
METHOD = "jackknife over clusters"
MOST_GROUPS = 200
_FEWEST = 3
_NOISE = 1e-10


def leave_out(count: int) -> FloatArray:
    """Return weights of clusters, one row for each group left out: 0 for what is left out, else 1.

    Shape (min(count, `MOST_GROUPS`), count).
    """
    rows = min(count, MOST_GROUPS)
    weights = np.ones((rows, count))
    weights[np.arange(count) % rows, np.arange(count)] = 0.0
    return weights


def _on_scale(value: float, without: FloatArray, scale: Scale) -> tuple[float, FloatArray, Scale]:
    """Return the estimates on the scale, or as they are where the scale has no finite value of one of them."""
    everything = np.append(without, value)
    if scale == "fisher" and (np.abs(everything) < 1 - _NOISE).all():
        return math.atanh(value), np.arctanh(without), scale
    if scale == "log" and (everything > 0).all():
        return math.log(value), np.log(without), scale
    return value, without, "plain"


def _error(without: FloatArray) -> float:
    count = without.size
    moved = np.sort(without)
    return math.sqrt((count - 1) / count * float(((moved - moved.mean()) ** 2).sum()))


def jackknife_interval(
    value: float,
    without: FloatArray,
    *,
    kind: str,
    level: float,
    scale: Scale = "plain",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    clusters: int | None = None,
) -> Interval:
    """Return the interval of an estimate, given what it is with each cluster left out.

    Parameters
    ----------
    value
        The estimate.
    without
        The estimates without one cluster (or group of clusters) each, shape (groups,); NaN where there is none.
    kind
        Of `dsqa.stats.shown`: its coverage is said where it is not what it promises.
    level
        Nominal coverage.
    scale
        On which it is symmetric: "fisher" for correlations, "log" for ratios.
    bounds
        Of the statistic; the ends are cut there.
    clusters
        Their number where groups were left out.

    Returns
    -------
    Interval
        Not available for fewer than three clusters, an estimate that is not defined, one that is not defined
        without some cluster, or one that no cluster moves.

    Examples
    --------
    >>> ci = jackknife_interval(2.0, np.array([1.5, 2.0, 2.5]), kind="", level=0.95)
    >>> round(ci.low, 3), round(ci.high, 3)  # s² = 2/3 · ½, t(2) = 4.303
    (-0.484, 4.484)
    """
    count = without.size
    if count < _FEWEST:
        few = "one question" if count == 1 else f"{count} questions"
        return Interval.unavailable(level, METHOD, f"{few}: too few to leave one out")
    if math.isnan(value):
        return Interval.unavailable(level, METHOD, "there is no estimate")
    lost = int(np.isnan(without).sum())
    if lost:
        return Interval.unavailable(level, METHOD, "all that varies is in one question")
    centre, others, used = _on_scale(value, without, scale)
    error = _error(others)
    if error <= _NOISE * max(1.0, abs(centre)):
        return Interval.unavailable(level, METHOD, "the same whichever question is left out")
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    low, high = centre - half, centre + half
    if used == "fisher":
        low, high = math.tanh(low), math.tanh(high)
    elif used == "log":
        low, high = math.exp(low), math.exp(min(high, 700.0))
    interval = Interval(max(low, bounds[0]), min(high, bounds[1]), level, METHOD)
    return with_coverage(interval, kind, clusters or count)


def jackknife_p(value: float, without: FloatArray, *, null: float = 0.0, scale: Scale = "plain") -> float:
    """Return the two-sided p value that the estimate is `null`, by t on clusters − 1; NaN where there is none."""
    if without.size < _FEWEST or math.isnan(value) or np.isnan(without).any():
        return math.nan
    centre, others, used = _on_scale(value, without, scale)
    at = {"plain": null, "fisher": math.atanh(null) if abs(null) < 1 else math.nan}.get(used, math.nan)
    if used == "log":
        at = math.log(null) if null > 0 else math.nan
    error = _error(others)
    if error <= _NOISE * max(1.0, abs(centre)):
        return math.nan
    return float(2 * stdtr(without.size - 1, -abs(centre - at) / error))
