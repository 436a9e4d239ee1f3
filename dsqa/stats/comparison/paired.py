"""Differences paired by question: bootstrap, permutation, signed ranks.

Estimand: δ = mean over questions of d_q, d_q = a question's value under the first minus the one under the
second (accuracy, mean score or σ̄ of its cells). Which randomness counts is the estimand's business:

===========  ==========================================================================================
questions    questions like these, a sample of many. d_q carries the noise of its runs, so the whole
             variance is in it; Student's t on the d_q (`dsqa.stats.over_questions`); the default
runs         these very questions, other runs: t on the variances within cells, which are strata
             (`dsqa.stats.these_questions`)
both         questions drawn again, then runs within each drawn copy: counts the noise of runs twice (see
             `dsqa.stats.bootstrap.nested`), so a little too wide
===========  ==========================================================================================

Bootstraps over questions are offered for the first; docs/coverage.md has how they fare. Models share each draw of
questions, which is what pairing means; their runs are drawn independently.

The permutation test swaps the two models within questions, d_q → ±d_q, all 2^Q ways equally likely if the two
are exchangeable within a question (Fisher 1935; Good 2005, chapter 3). Accuracies and scores are fractions
with a small common denominator, so the distribution of Σ ± d_q is found exactly, by adding one question after
another, for hundreds of questions; otherwise by listing, or by drawing and counting the data as one draw more
(Phipson & Smyth 2010), which keeps p > 0 and the test valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import BootstrapMethod, Resample, bootstrap_intervals
from dsqa.stats.bootstrap.resampling import count_weights
from dsqa.stats.comparison.layout import Paired
from dsqa.stats.interval import FloatArray, Interval, as_sample, check_level
from dsqa.stats.over_questions import difference_interval
from dsqa.stats.shown import with_coverage
from dsqa.stats.streams import DEFAULT_SEED, stream
from dsqa.stats.these_questions import METHOD, jackknife_variance, mean_variance, stratified_interval

__all__ = [
    "SignFlipTest",
    "SignedRankTest",
    "paired_interval",
    "resampled_means",
    "sign_flip_test",
    "signed_rank_test",
]

# Values closer than this are equal: means of equal runs can differ in their last digits.
DIGITS = 9
# Numerators up to this are added up exactly; beyond, drawing is as good and faster.
_EXACT_RANGE = 300_000
_LISTED = 16
# Resamples of runs kept per cell when questions are drawn too.
_POOL = 999
# Cells with at most so many different values are resampled by their counts.
_FEW = 8
_BLOCK = 4_000_000


def paired_interval(
    paired: Paired,
    first: str,
    second: str,
    *,
    seed: int = DEFAULT_SEED,
    resample: Resample = "questions",
    method: BootstrapMethod | None = None,
    level: float = 0.95,
    resamples: int = 9999,
) -> Interval:
    """Return an interval for the mean difference between two labels.

    Parameters
    ----------
    paired
        From `pair_by_question`.
    first, second
        Labels; the difference is first − second.
    seed, level, resamples
        As in `bootstrap_intervals`.
    resample
        What the interval counts as random; see the table at the top of the module.
    method
        None for Student's t; with "questions" any rule of `bootstrap_intervals`. With "both" the rule is "percentile"
        for means, and "basic" for σ̄, which is too low in every resample of runs.

    Returns
    -------
    Interval
        Not available, with the reason, for fewer than three questions, differences that are all equal, runs that
        never differ within a cell, or where no resample differs. For σ̄ of these questions also for cells of fewer
        than five runs, and of unequal numbers of runs.

    Raises
    ------
    StatisticsError
        An unknown label or setting.

    Examples
    --------
    >>> import pandas as pd
    >>> from dsqa.stats.comparison import pair_by_question
    >>> rows = [(f"q{q}", m, int(q < n)) for m, n in (("a", 6), ("b", 2)) for q in range(8)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "model", "accuracy"])
    >>> ci = paired_interval(pair_by_question(table), "a", "b")
    >>> round(ci.low, 3), round(ci.high, 3), ci.method
    (0.053, 0.947, 'Student t over questions')
    """
    if resample not in get_args(Resample):
        raise StatisticsError(f"cannot resample '{resample}'", hint=", ".join(get_args(Resample)))
    differences = paired.differences(first, second)
    if resample == "questions":
        rounded = np.round(differences, DIGITS + 3)
        if method is None:
            return difference_interval(rounded, level=level)
        return bootstrap_intervals([rounded], seed=seed, method=method, level=level, resamples=resamples)[0]
    check_level(level)
    if resample == "runs":
        return _these_questions(paired, first, second, level)
    rule = "basic" if paired.low_is_better else "percentile"
    name = f"{rule} bootstrap over questions and runs, {resamples:,} resamples"
    if len(differences) < 2:
        return Interval.unavailable(level, name, "one question: its spread cannot be seen")
    means = resampled_means(paired, resample=resample, resamples=resamples, seed=seed)
    draws = means[:, paired.position(first)] - means[:, paired.position(second)]
    if np.ptp(draws) < 10.0**-DIGITS:
        return Interval.unavailable(level, name, "every resample gives the same difference")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    if rule == "basic":
        low, high = 2 * differences.mean() - high, 2 * differences.mean() - low
    return Interval(float(low), float(high), level, name)


def _these_questions(paired: Paired, first: str, second: str, level: float) -> Interval:
    variance = jackknife_variance if paired.low_is_better else mean_variance
    value = float(np.sort(paired.differences(first, second)).mean())
    weights, variances, sizes = [], [], []
    for question in paired.runs:
        for label in (first, second):
            blocks = question[paired.position(label)]
            for at, runs in enumerate(blocks):
                if paired.low_is_better and len({len(other[at]) for other in question}) > 1:
                    return Interval.unavailable(level, METHOD, "cells of unequal numbers of runs")
                weights.append(1 / (len(blocks) * len(paired.runs)))
                variances.append(variance(runs))
                sizes.append(runs.size)
    interval = stratified_interval(value, weights, variances, sizes, level=level)
    kind = "difference of σ̄, these questions" if paired.low_is_better else "difference, these questions"
    return with_coverage(interval, kind, len(paired.runs))


def resampled_means(paired: Paired, *, resample: Resample, resamples: int, seed: int = DEFAULT_SEED) -> FloatArray:
    """Return every label's mean over questions in each resample, shape (resamples, labels).

    The labels share the questions drawn, so differences between columns are paired. Neither row order nor the
    questions' names matter.
    """
    order = paired.order()
    count, width = paired.values.shape
    values = paired.values[order]
    if resample == "questions":
        return np.asarray(count_weights(count, resamples, seed) @ values / count)
    rng = stream(seed, "paired bootstrap", resample, count, width)
    if resample == "runs":
        total = np.zeros((resamples, width))
        for q in order:
            total += _pool(paired, int(q), resamples, seed, rng)
        return np.asarray(total / count, dtype=np.float64)
    pools = np.stack([_pool(paired, int(q), _POOL, seed, rng) for q in order])
    means = np.empty((resamples, width))
    rows = max(1, _BLOCK // (count * width))
    for start in range(0, resamples, rows):
        size = (min(rows, resamples - start), count)
        chosen, drawn = rng.integers(0, count, size), rng.integers(0, _POOL, size)
        means[start : start + size[0]] = pools[chosen, drawn].mean(axis=1)
    return means


def _pool(paired: Paired, question: int, size: int, seed: int, rng: np.random.Generator) -> FloatArray:
    """Return resampled values of one question, shape (size, labels), labels and blocks independent."""
    columns = []
    for parts in paired.runs[question]:
        columns.append(np.mean([_redrawn(paired, runs, size, seed, rng) for runs in parts], axis=0))
    return np.stack(columns, axis=1)


def _redrawn(paired: Paired, runs: FloatArray, size: int, seed: int, rng: np.random.Generator) -> FloatArray:
    """Return the statistic of `size` resamples of a cell's runs."""
    distinct, counts = np.unique(runs, return_counts=True)
    if len(distinct) <= _FEW:
        # How often each value is drawn is multinomial: no need to draw run by run.
        return paired.statistic(distinct, rng.multinomial(runs.size, counts / runs.size, size).astype(np.float64))
    # Cells of one size share their weights; shuffling makes them independent of each other.
    return rng.permutation(paired.statistic(runs, count_weights_of(runs.size, size, seed)))


_KEPT: dict[tuple[int, int, int], FloatArray] = {}


def count_weights_of(size: int, resamples: int, seed: int) -> FloatArray:
    """Return `count_weights`, the last few of them kept: cells mostly have the same number of runs."""
    key = (size, resamples, seed)
    if key not in _KEPT:
        if len(_KEPT) >= 4:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[key] = count_weights(size, resamples, seed)
    return _KEPT[key]


@dataclass(frozen=True)
class SignFlipTest:
    """A paired permutation test: mean difference, two-sided p, number of questions, how p was found."""

    difference: float
    p: float
    questions: int
    method: str


def sign_flip_test(differences: ArrayLike, *, seed: int = DEFAULT_SEED, resamples: int = 99_999) -> SignFlipTest:
    """Test by permutation that two models are exchangeable within questions.

    p = P(|Σ ± d_q| ≥ |Σ d_q|). Equal differences tie even where rounding has split them.

    Parameters
    ----------
    differences
        d_q, shape (questions,).
    seed, resamples
        Of the draw, where the distribution is not found exactly.

    Raises
    ------
    StatisticsError
        No differences, or missing ones.

    Examples
    --------
    >>> sign_flip_test([0.25, 0.5, 0.5, -0.25, 0.75], seed=1)
    SignFlipTest(difference=0.35, p=0.1875, questions=5, method='exact permutation')
    """
    d = as_sample(differences, what="differences")
    moved = d[np.abs(d) > 10.0**-DIGITS]
    mean, total = float(d.mean()), abs(float(moved.sum()))
    if not moved.size:
        return SignFlipTest(mean, 1.0, d.size, "exact permutation")
    whole = _numerators(moved)
    if whole is not None:
        return SignFlipTest(mean, _exact_p(whole), d.size, "exact permutation")
    near = total - 10.0**-DIGITS
    if moved.size <= _LISTED:
        signs = 1 - 2 * ((np.arange(2**moved.size)[:, None] >> np.arange(moved.size)) & 1)
        p = float(np.mean(np.abs(signs @ moved) >= near))
        return SignFlipTest(mean, p, d.size, "exact permutation")
    rng, hits = stream(seed, "sign flips", moved.size), 0
    rows = max(1, _BLOCK // moved.size)
    for start in range(0, resamples, rows):
        size = (min(rows, resamples - start), moved.size)
        hits += int((np.abs((1 - 2 * rng.integers(0, 2, size)) @ moved) >= near).sum())
    p = (1 + hits) / (1 + resamples)
    return SignFlipTest(mean, p, d.size, f"permutation, {resamples:,} draws")


def _numerators(values: FloatArray) -> list[int] | None:
    """Return the values as whole multiples of one fraction, or None if they are no simple fractions."""
    parts = [Fraction(float(v)).limit_denominator(20_000) for v in values]
    if any(abs(float(part) - v) > 10.0**-DIGITS * 1e-2 for part, v in zip(parts, values, strict=True)):
        return None
    common = math.lcm(*(part.denominator for part in parts))
    if common * sum(abs(part) for part in parts) > _EXACT_RANGE:
        return None
    return [int(part * common) for part in parts]


def _exact_p(whole: list[int]) -> float:
    """Return P(|Σ ± w| ≥ |Σ w|) by convolution, one question after another."""
    steps = [abs(w) for w in whole]
    reach = sum(steps)
    mass = np.ones(1)
    for step in steps:
        wider = np.zeros(mass.size + 2 * step)
        wider[: mass.size] += mass / 2
        wider[2 * step :] += mass / 2
        mass = wider
    observed = abs(sum(whole))
    if observed == 0:
        return 1.0
    return min(1.0, 2 * float(mass[reach + observed :].sum()))


@dataclass(frozen=True)
class SignedRankTest:
    """Wilcoxon's signed-rank test: W⁺, two-sided p, differences that are not zero, how p was found."""

    positive: float
    p: float
    used: int
    method: str


def signed_rank_test(differences: ArrayLike) -> SignedRankTest:
    """Test by signed ranks that differences are symmetric around zero. Wilcoxon (1945).

    Zeros are left out. Without ties and with at most 50 differences p is exact; else the normal approximation
    with the correction for ties and for continuity, as R's `wilcox.test(paired = TRUE)` has it.

    Raises
    ------
    StatisticsError
        No differences, missing ones, or all are zero.

    Examples
    --------
    >>> signed_rank_test([0.3, 0.1, -0.2, 0.5, 0.4])
    SignedRankTest(positive=13.0, p=0.1875, used=5, method='exact')
    """
    d = np.round(as_sample(differences, what="differences"), DIGITS)
    d = d[d != 0]
    if not d.size:
        raise StatisticsError("all differences are zero: there are no ranks")
    tied = len(np.unique(np.abs(d))) < d.size
    exact = not tied and d.size <= 50
    result = stats.wilcoxon(d, method="exact" if exact else "asymptotic", correction=not exact)
    positive = float(stats.rankdata(np.abs(d))[d > 0].sum())
    return SignedRankTest(positive, float(result.pvalue), d.size, "exact" if exact else "normal, corrected")
