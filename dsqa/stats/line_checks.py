"""Is the straight line a fair description? Checks of a fit that do not take runs of a cluster as independent.

============================  ==============================================================================
curvature                     t test of a quadratic term, clustered (HC3) errors
unequal variance              t test of the slope of the squared residuals on the predictor, clustered errors:
                              Koenker's (1981) version of Breusch & Pagan's test with the errors that clusters need
clusters alike                intraclass correlation of the residuals, one-way analysis of variance; 0 where runs of a
                              cluster are no more alike than others
skewness, excess kurtosis     of the residuals; 0 for normal ones. Clustered data have no simple test of it
beyond ±2 SD                  share of residuals, with a percentile bootstrap over clusters, the line held fixed
influence                     the slope's smallest and largest value with one cluster left out
============================  ==============================================================================

`within_between` fits the line within clusters (deviations from their means: fixed effects) and between their means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap.resampling import count_weights
from dsqa.stats.design import Design, design
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.regression import LinearFit, fit_line
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["LineChecks", "check_line", "within_between"]


@dataclass(frozen=True)
class LineChecks:
    """What the checks found; see the table at the top of the module.

    Parameters
    ----------
    quadratic, quadratic_p
        Coefficient of the squared, centred predictor and its p value.
    variance_slope, variance_p
        Slope of the squared residuals on the predictor and its p value.
    residual_icc
        In [−1/(n − 1), 1]; NaN with as many clusters as rows.
    skewness, kurtosis
        Of the residuals; kurtosis is the excess.
    beyond, beyond_interval
        Share of |residual| > 2 SD and its interval.
    slope_low, slope_high, low_without, high_without
        Extremes of the slope with one cluster left out, and which one.
    """

    quadratic: float
    quadratic_p: float
    variance_slope: float
    variance_p: float
    residual_icc: float
    skewness: float
    kurtosis: float
    beyond: float
    beyond_interval: Interval
    slope_low: float
    slope_high: float
    low_without: str
    high_without: str


def check_line(
    formula: str, data: pd.DataFrame, *, cluster: str = "question_id", seed: int = DEFAULT_SEED, level: float = 0.95,
    resamples: int = 1999,
) -> LineChecks:  # fmt: skip
    """Check a straight line in one predictor.

    Parameters
    ----------
    formula, data, cluster
        As in `fit_line`.
    seed, level, resamples
        Of the bootstrap of the share beyond ±2 SD.

    Raises
    ------
    StatisticsError
        As `fit_line`; more than one predictor; fewer than three clusters.

    Examples
    --------
    >>> x = np.tile(np.arange(5.0), 4)
    >>> table = pd.DataFrame({"question_id": np.repeat(list("abcd"), 5), "x": x, "y": x**2 + np.tile([0, 0.1], 10)})
    >>> checks = check_line("y ~ x", table, seed=1, resamples=99)
    >>> round(checks.quadratic, 3), checks.quadratic_p < 0.01
    (1.0, True)
    """
    check_level(level)
    made = design(formula, data, cluster=cluster)
    names = [name for name in made.names if name != "Intercept"]
    if len(names) != 1 or len(made.names) != 2:
        raise StatisticsError(f"'{formula}' is not a straight line in one predictor")
    if made.count < 3:
        raise StatisticsError(f"{made.count} clusters are too few to check the line")
    x = made.x[:, made.position(names[0])]
    fit = fit_line(formula, data, cluster=cluster)
    e = fit.residuals
    table = pd.DataFrame({"y": made.y, "x": x, "centred": (x - x.mean()) ** 2, "square": e**2, "g": made.clusters})
    bent, spread = _fit("y ~ x + centred", table), _fit("square ~ x", table)
    slopes = _left_out(made, x)
    labels = _labels(data, made, cluster)
    low, high = int(slopes.argmin()), int(slopes.argmax())
    return LineChecks(
        quadratic=bent.coefficients["centred"] if bent else math.nan,
        quadratic_p=bent.p_value("centred") if bent else math.nan,
        variance_slope=spread.coefficients["x"] if spread else math.nan,
        variance_p=spread.p_value("x") if spread else math.nan,
        residual_icc=_icc(e, made.clusters, made.count),
        skewness=float(stats.skew(e)),
        kurtosis=float(stats.kurtosis(e)),
        beyond=fit.beyond_two_sd,
        beyond_interval=_beyond(np.abs(e) > 2 * fit.sigma, made, seed, level, resamples),
        slope_low=float(slopes[low]),
        slope_high=float(slopes[high]),
        low_without=labels[low],
        high_without=labels[high],
    )


def _fit(formula: str, table: pd.DataFrame) -> LinearFit | None:
    try:
        return fit_line(formula, table, cluster="g")
    except StatisticsError:
        # Two distinct values of the predictor leave no room for a bend.
        return None


def _labels(data: pd.DataFrame, made: Design, cluster: str) -> list[str]:
    # As `design` numbers them: sorted labels of the rows used.
    kept = data[data[cluster].notna()].reset_index(drop=True)
    return [str(name) for name in sorted(kept.loc[made.rows, cluster].unique())]


def _left_out(made: Design, x: FloatArray) -> FloatArray:
    moved, y = x - x.mean(), made.y - made.y.mean()
    columns = (np.ones_like(x), moved, y, moved**2, moved * y)
    own = np.stack([np.bincount(made.clusters, column, made.count) for column in columns], axis=1)
    n, sx, sy, sxx, sxy = (own.sum(axis=0) - own).T
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (sxy - sx * sy / n) / (sxx - sx * sx / n)
    # Without that cluster the predictor does not vary: no slope, so no extreme.
    return np.where(np.isfinite(slopes), slopes, float((moved @ y) / (moved @ moved)))


def _icc(e: FloatArray, clusters: np.ndarray, count: int) -> float:
    sizes = np.bincount(clusters, minlength=count).astype(np.float64)
    n = e.size
    if n == count:
        return math.nan
    means = np.bincount(clusters, e, count) / sizes
    between = float(sizes @ (means - e.mean()) ** 2) / (count - 1)
    within = float(((e - means[clusters]) ** 2).sum()) / (n - count)
    typical = (n - float((sizes**2).sum()) / n) / (count - 1)
    total = between + (typical - 1) * within
    return (between - within) / total if total > 0 else math.nan


def _beyond(far: np.ndarray, made: Design, seed: int, level: float, resamples: int) -> Interval:
    hits = np.stack([np.bincount(made.clusters, column, made.count) for column in (far, np.ones(far.size))], axis=1)
    hits = hits[np.lexsort(hits.T)]
    drawn = count_weights(made.count, resamples, seed) @ hits
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    if not far.any():
        return Interval.unavailable(level, "percentile bootstrap over clusters", "no residual lies beyond")
    return Interval(float(low), float(high), level, "percentile bootstrap over clusters")


def within_between(
    formula: str, data: pd.DataFrame, *, cluster: str = "question_id"
) -> tuple[LinearFit | None, LinearFit | None]:
    """Return the line within clusters, and the line through the clusters' means; None where it cannot be fitted.

    Parameters
    ----------
    formula, data, cluster
        As in `fit_line`; one predictor, which is called ``x`` in the fits.

    Raises
    ------
    StatisticsError
        As `design`; more than one predictor.

    Examples
    --------
    >>> rows = [(q, 10 * q + i, 5 * q + 2 * i + (i + q) % 2) for q in range(5) for i in range(4)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "x", "y"])
    >>> within, between = within_between("y ~ x", table)
    >>> round(within.coefficients["x"], 1), round(between.coefficients["x"], 1)
    (2.0, 0.5)
    """
    made = design(formula, data, cluster=cluster)
    names = [name for name in made.names if name != "Intercept"]
    if len(names) != 1:
        raise StatisticsError(f"'{formula}' is not a straight line in one predictor")
    table = pd.DataFrame({"x": made.x[:, made.position(names[0])], "y": made.y, "g": made.clusters})
    means = table.groupby("g")[["x", "y"]].transform("mean")
    within = table.assign(x=table["x"] - means["x"], y=table["y"] - means["y"])
    # Equal values within every cluster leave rounding errors behind.
    still = within["x"].abs().max() <= 1e-9 * max(table["x"].abs().max(), 1.0)
    inner = None if still else _fit("y ~ x", within)
    try:
        outer = fit_line("y ~ x", table.groupby("g", as_index=False)[["x", "y"]].mean())
    except StatisticsError:
        outer = None
    return inner, outer
