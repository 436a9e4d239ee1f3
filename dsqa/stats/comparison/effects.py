"""How large a difference is, on scales that others use; each with an interval over questions.

With x_q and y_q a question's values under the first and the second model, d_q = x_q − y_q, Q questions:

=================  ====================================================================================
risk difference    p₁ − p₂, difference of mean accuracies; t interval of the mean d_q
odds ratio         p₁ (1 − p₂) / (p₂ (1 − p₁)), of the mean accuracies: averaged over questions
Cohen's h          2 asin √p₁ − 2 asin √p₂. Cohen (1988), chapter 6; 0.2 small, 0.5 medium, 0.8 large
rank-biserial      (W⁺ − W⁻)/(W⁺ + W⁻), W the sums of the ranks of |d_q| > 0; from −1 to 1. Kerby (2014)
Hedges' g, d_av    mean d_q / √((s_x² + s_y²)/2) · J(Q − 1): in units of the spread over questions, as an
                   unpaired study would have it. Hedges (1981); Cumming (2012)
Hedges' g, d_z     mean d_q / s_d · J(Q − 1): in units of the spread of the differences
=================  ====================================================================================

J(m) = Γ(m/2) / (√(m/2) Γ((m − 1)/2)) takes out the bias of small samples. Odds ratio and h are smooth functions
of the two means: their standard error is that of the linearised statistic over questions (delta method, so
clustered by question), with t on Q − 1 degrees of freedom. g has the interval of the noncentral t (d_z exactly
under normal differences; d_av after Algina & Keselman 2003). The rank-biserial has a bootstrap interval.

The odds ratio here is averaged over questions. That of a mixed model (`dsqa.stats.models.glmm`) holds within a
question and lies further from 1; both are right answers to different questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special, stats

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import bootstrap_intervals
from dsqa.stats.comparison.noncentral import noncentral_t_cdf
from dsqa.stats.comparison.paired import DIGITS
from dsqa.stats.interval import FloatArray, Interval, check_level, exponential
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["Effect", "cohens_h", "hedges_g", "odds_ratio", "rank_biserial", "risk_difference"]


@dataclass(frozen=True)
class Effect:
    """An effect size: its name, value, and interval."""

    name: str
    value: float
    interval: Interval


def _pair(first: ArrayLike, second: ArrayLike, *, least: int = 1) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise StatisticsError("the two models must have one value per question each")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise StatisticsError("a question has no value under one of the models")
    if x.size < least:
        raise StatisticsError(f"{x.size} question{'s' if x.size != 1 else ''}: too few, at least {least} are needed")
    # Sorted by both, so that sums do not depend on the order of questions in their last digits.
    order = np.lexsort((y, x))
    return x[order], y[order]


def _linearised(value: float, parts: FloatArray, level: float) -> Interval:
    """Return the t interval of an estimate whose error is the mean of `parts`, one per question."""
    method, n = "t, linearised over questions", parts.size
    if n < 2:
        return Interval.unavailable(level, method, "one question: its spread cannot be seen")
    error = float(np.std(parts, ddof=1)) / math.sqrt(n)
    if error < 10.0**-DIGITS:
        return Interval.unavailable(level, method, "all questions differ alike: their spread cannot be seen")
    half = float(stats.t.isf((1 - level) / 2, n - 1)) * error
    return Interval(value - half, value + half, level, method)


def risk_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Effect:
    """Return the difference of two models' mean accuracies (or any other values), clustered by question.

    Parameters
    ----------
    first, second
        Values per question, shape (questions,), same order.
    level
        Nominal coverage.

    Raises
    ------
    StatisticsError
        Missing values, or lengths that differ.

    Examples
    --------
    >>> ci = risk_difference([0.9, 0.7, 0.8], [0.6, 0.5, 0.4]).interval
    >>> round(ci.low, 3), round(ci.high, 3)
    (0.052, 0.548)
    """
    check_level(level)
    x, y = _pair(first, second)
    value = float((x - y).mean())
    return Effect("risk difference", value, _linearised(value, x - y, level))


def _shares(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray, float, float]:
    x, y = _pair(first, second)
    if min(x.min(), y.min()) < 0 or max(x.max(), y.max()) > 1:
        raise StatisticsError("shares lie between 0 and 1")
    p, q = float(x.mean()), float(y.mean())
    for share in (p, q):
        if share in (0.0, 1.0):
            every = "right" if share else "wrong"
            raise StatisticsError(f"a model is always {every}: on this scale its distance to others is not finite")
    return x, y, p, q


def odds_ratio(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Effect:
    """Return the odds ratio of two models' mean accuracies.

    Raises
    ------
    StatisticsError
        Shares outside of [0, 1], missing ones, or a model that is always right or always wrong.

    Examples
    --------
    >>> round(odds_ratio([0.9, 0.7, 0.8], [0.6, 0.5, 0.4]).value, 3)
    4.0
    """
    check_level(level)
    x, y, p, q = _shares(first, second)
    log = float(special.logit(p) - special.logit(q))
    on_log = _linearised(log, (x - p) / (p * (1 - p)) - (y - q) / (q * (1 - q)), level)
    if not on_log.available:
        return Effect("odds ratio", exponential(log), on_log)
    ends = Interval(exponential(on_log.low), exponential(on_log.high), level, on_log.method)
    return Effect("odds ratio", exponential(log), ends)


def cohens_h(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Effect:
    """Return Cohen's h of two models' mean accuracies.

    Raises
    ------
    StatisticsError
        As `odds_ratio`: at 0 and 1 the linearisation has no slope.

    Examples
    --------
    >>> round(cohens_h([0.5, 0.5], [0.25, 0.25]).value, 3)
    0.524
    """
    check_level(level)
    x, y, p, q = _shares(first, second)
    value = 2 * math.asin(math.sqrt(p)) - 2 * math.asin(math.sqrt(q))
    parts = (x - p) / math.sqrt(p * (1 - p)) - (y - q) / math.sqrt(q * (1 - q))
    return Effect("Cohen's h", value, _linearised(value, parts, level))


def _rank_biserial(values: FloatArray, weights: FloatArray, /) -> FloatArray:
    size = np.abs(values)
    distinct, codes = np.unique(size, return_inverse=True)
    member = np.eye(distinct.size)[codes] * (size > 0)[:, None]
    positive, negative = weights @ (member * (values > 0)[:, None]), weights @ (member * (values < 0)[:, None])
    each = positive + negative
    midrank = np.cumsum(each, axis=-1) - each / 2 + 0.5
    up, down = (positive * midrank).sum(axis=-1), (negative * midrank).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(up + down > 0, (up - down) / (up + down), 0.0), dtype=np.float64)


def rank_biserial(
    first: ArrayLike, second: ArrayLike, *, seed: int = DEFAULT_SEED, level: float = 0.95, resamples: int = 9999
) -> Effect:
    """Return the matched-pairs rank-biserial correlation, with a percentile bootstrap interval over questions.

    0 where no question differs; a resample without differences counts as 0.

    Raises
    ------
    StatisticsError
        Missing values, or lengths that differ.

    Examples
    --------
    >>> round(rank_biserial([3, 4, 2, 5], [1, 5, 0, 2], seed=1).value, 3)
    0.8
    """
    x, y = _pair(first, second)
    d = np.round(x - y, DIGITS)
    value = float(_rank_biserial(d, np.ones(d.size)))
    ends = bootstrap_intervals(
        [d], _rank_biserial, seed=seed, method="percentile", level=level, resamples=resamples
    )[0]  # fmt: skip
    return Effect("rank-biserial", value, ends)


def hedges_g(
    first: ArrayLike, second: ArrayLike, *, scale: Literal["average", "difference"] = "average", level: float = 0.95
) -> Effect:
    """Return Hedges' g of paired values, in units of the average spread (d_av) or of the differences' (d_z).

    Raises
    ------
    StatisticsError
        Fewer than three questions, missing values, an unknown scale, or differences without spread.

    Examples
    --------
    >>> round(hedges_g([3, 4, 6, 7], [1, 4, 3, 4]).value, 3)
    0.886
    """
    check_level(level)
    if scale not in ("average", "difference"):
        raise StatisticsError(f"unknown scale '{scale}'", hint="average or difference")
    x, y = _pair(first, second, least=3)
    d, n = x - y, x.size
    spread = float(np.std(d, ddof=1))
    average = math.sqrt((float(np.var(x, ddof=1)) + float(np.var(y, ddof=1))) / 2)
    if spread < 10.0**-DIGITS or average < 10.0**-DIGITS:
        raise StatisticsError("the differences have no spread to measure them by")
    unit = average if scale == "average" else spread
    m = n - 1
    correction = math.exp(special.gammaln(m / 2) - special.gammaln((m - 1) / 2)) / math.sqrt(m / 2)
    ends = np.array(_noncentrality(math.sqrt(n) * float(d.mean()) / spread, m, level))
    ends *= correction * spread / (unit * math.sqrt(n))
    name = f"Hedges' g, {'d_av' if scale == 'average' else 'd_z'}"
    interval = Interval(float(ends[0]), float(ends[1]), level, "noncentral t")
    return Effect(name, correction * float(d.mean()) / unit, interval)


def _noncentrality(t: float, df: int, level: float) -> tuple[float, float]:
    """Return the noncentralities under which t is the upper and the lower tail's end."""
    tail = (1 - level) / 2

    def solve(target: float) -> float:
        # P(T ≤ t) falls as the noncentrality grows.
        reach = 10.0 + abs(t)
        return float(optimize.brentq(lambda c: noncentral_t_cdf(t, df, c) - target, t - reach, t + reach, xtol=1e-12))

    return solve(1 - tail), solve(tail)
