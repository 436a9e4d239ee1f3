"""A straight line's coefficients with whole clusters left out in turn: over cells or questions.

With weights w per cluster the least-squares line needs only the clusters' sums of 1, x, y, x², xy, so a line costs a
product of a row of weights with five columns. Standard errors are those of the pairs bootstrap (clusters drawn
again); the intervals those of the jackknife with t (`dsqa.stats.jackknife`), since percentile ends of few clusters
are too narrow (Cameron, Gelbach & Miller 2008; docs/coverage.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap.resampling import count_weights
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray, Interval, check_level, level_text
from dsqa.stats.jackknife import jackknife_interval, leave_out
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["BootstrappedLine", "bootstrap_line"]


@dataclass(frozen=True)
class BootstrappedLine:
    """A line's slope and intercept, with their intervals and bootstrap standard errors."""

    slope: float
    slope_error: float
    slope_interval: Interval
    intercept: float
    intercept_error: float
    intercept_interval: Interval
    clusters: int


def bootstrap_line(
    formula: str,
    data: pd.DataFrame,
    *,
    cluster: str,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 9999,
) -> BootstrappedLine:
    """Fit a straight line by least squares, its intervals by leaving out each cluster in turn.

    Parameters
    ----------
    formula
        One predictor, such as ``"np.log(token_ratio) ~ np.log(word_ratio)"``.
    data
        One row per observation; rows with a missing value are dropped.
    cluster
        The column whose equal values are drawn together.
    seed, level, resamples
        Of the bootstrap behind the standard errors, and of the intervals.

    Raises
    ------
    StatisticsError
        As `design`; more than one predictor; too few resamples for the level; a predictor that does not vary in a
        tenth of the resamples or more.

    Examples
    --------
    >>> table = pd.DataFrame({"c": list("aabbcc"), "x": [0.0, 1, 2, 3, 4, 5], "y": [1.0, 3, 5, 8, 9, 10]})
    >>> line = bootstrap_line("y ~ x", table, cluster="c", seed=1, resamples=99)
    >>> round(line.slope, 9), round(line.slope_interval.low, 9), round(line.slope_interval.high, 9)
    (1.885714286, 0.124671666, 3.646756906)
    """
    check_level(level)
    if resamples < 2 / (1 - level):
        raise StatisticsError(f"{resamples} resamples are too few for {level_text(level)} ends", hint="9999 is usual")
    made = design(formula, data, cluster=cluster)
    names = [name for name in made.names if name != "Intercept"]
    if len(names) != 1 or len(made.names) != 2:
        raise StatisticsError(f"'{formula}' is not a straight line in one predictor")
    # Moved to the mean, so that no digits are lost where values are far from 0.
    x, y = made.x[:, made.position(names[0])], made.y
    centre, level_of = x.mean(), y.mean()
    x, y = x - centre, y - level_of
    columns = (np.ones_like(x), x, y, x * x, x * y)
    sums = np.stack([np.bincount(made.clusters, column, made.count) for column in columns], axis=1)
    # Equal whatever the clusters' names.
    sums = sums[np.lexsort(sums.T)]
    slope, intercept = _lines(sums.sum(axis=0, keepdims=True))
    draws = _lines(count_weights(made.count, resamples, seed) @ sums)
    known = np.isfinite(draws[0])
    if (~known).mean() > 0.1:
        raise StatisticsError(f"in {int((~known).sum())} of {resamples} resamples the predictor does not vary")
    without = _lines(leave_out(made.count) @ sums)
    shifted_without = level_of + without[1] - without[0] * centre
    shifted = level_of + draws[1][known] - draws[0][known] * centre
    return BootstrappedLine(
        slope=float(slope[0]),
        slope_error=float(np.std(draws[0][known], ddof=1)),
        slope_interval=jackknife_interval(
            float(slope[0]), without[0], kind="line, left out", level=level, clusters=made.count
        ),
        intercept=float(level_of + intercept[0] - slope[0] * centre),
        intercept_error=float(np.std(shifted, ddof=1)),
        intercept_interval=jackknife_interval(
            float(level_of + intercept[0] - slope[0] * centre),
            shifted_without,
            kind="line, left out",
            level=level,
            clusters=made.count,
        ),
        clusters=made.count,
    )


def _lines(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slopes and intercepts for rows of n, Σx, Σy, Σx², Σxy; NaN where x does not vary."""
    n, x, y, xx, xy = sums.T
    spread = xx - x * x / n
    spread = np.where(spread <= 1e-12 * np.maximum(xx, 1e-300), np.nan, spread)
    slope = (xy - x * y / n) / spread
    return slope, (y - slope * x) / n
