"""Two ways of measuring the same runs: by how much they differ, and whether one could stand for the other.

With d = first − second of a run, the *mean difference* and its interval take questions as the units that are
independent: clustered error √(Σ_g (Σ_{i∈g} (dᵢ − d̄))² · G/(G − 1))/n, t on G − 1.

*Limits of agreement*: d̄ ± 1.96 s, between which 95 % of differences lie where these are normal. Runs of a question
are repeats, so s² is the sum of the variances within and between questions by one-way analysis of variance,
s² = MS_within + max(0, (MS_between − MS_within)/m), m = (n − Σ n_g²/n)/(G − 1). Bland & Altman (2007), Journal of
Biopharmaceutical Statistics 17:571, section 3. With one question s is the plain SD.

*κ*: Cohen's for 0/1, with quadratic weights for ordered marks of more values; not defined where neither varies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.agreement import cohen_kappa
from dsqa.stats.interval import FloatArray, Interval, check_level

__all__ = ["MethodAgreement", "method_agreement"]

_ORDERED = 12
"""Whole numbers of at most so many values are marks, and get a κ."""


@dataclass(frozen=True)
class MethodAgreement:
    """How two measurements of the same runs agree.

    Parameters
    ----------
    n
        Runs that have both.
    first_mean, second_mean
        Over these runs.
    difference
        Mean of first − second, with its interval.
    interval
        Of `difference`, over questions.
    limits
        Limits of agreement: low and high.
    share_equal
        Share of runs in which both are equal within the tolerance.
    kappa, kappa_kind
        NaN and why, where there is none.
    """

    n: int
    first_mean: float
    second_mean: float
    difference: float
    interval: Interval
    limits: tuple[float, float]
    share_equal: float
    kappa: float
    kappa_kind: str


def method_agreement(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike, *, tolerance: float = 0.0, level: float = 0.95
) -> MethodAgreement:
    """Compare two measurements of the same runs.

    Parameters
    ----------
    first, second
        Shape (runs,), complete.
    clusters
        What makes runs alike, shape (runs,): question ids.
    tolerance
        Values count as equal where |first − second| is at most this share of the larger of the two in size.
    level
        Of the interval of the mean difference.

    Raises
    ------
    StatisticsError
        No runs, or shapes differ, or a value is missing.

    Examples
    --------
    >>> found = method_agreement([1, 0, 1, 1], [1, 0, 0, 1], ["a", "a", "b", "b"])
    >>> found.difference, found.share_equal, found.kappa
    (0.25, 0.75, 0.5)
    """
    check_level(level)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    _, codes = np.unique(np.asarray(clusters).astype(str), return_inverse=True)
    if x.ndim != 1 or not x.shape == y.shape == codes.shape:
        raise StatisticsError("two measurements of the same runs have one value per run each")
    if not x.size:
        raise StatisticsError("no run has both measurements")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise StatisticsError("a measurement is missing")
    d = x - y
    mean, spread = float(d.mean()), _spread(d, codes)
    half = float(stats.norm.isf(0.025)) * spread
    kappa, kind = _kappa(x, y)
    return MethodAgreement(
        n=x.size,
        first_mean=float(x.mean()),
        second_mean=float(y.mean()),
        difference=mean,
        interval=_interval(d, codes, level),
        limits=(mean - half, mean + half),
        share_equal=float(np.mean(np.abs(d) <= tolerance * np.maximum(np.abs(x), np.abs(y)) + 1e-12)),
        kappa=kappa,
        kappa_kind=kind,
    )


def _interval(d: FloatArray, codes: np.ndarray, level: float) -> Interval:
    method = "t, errors by question"
    groups = int(codes.max()) + 1
    if groups < 2:
        return Interval.unavailable(level, method, "one question: the spread over questions cannot be seen")
    sums = np.bincount(codes, d - d.mean(), groups)
    error = math.sqrt(float(sums @ sums) * groups / (groups - 1)) / d.size
    half = float(stats.t.isf((1 - level) / 2, groups - 1)) * error
    return Interval(float(d.mean()) - half, float(d.mean()) + half, level, method)


def _spread(d: FloatArray, codes: np.ndarray) -> float:
    sizes = np.bincount(codes).astype(np.float64)
    groups, n = len(sizes), d.size
    if n < 2:
        return math.nan
    if groups < 2 or n == groups:
        return float(d.std(ddof=1))
    means = np.bincount(codes, d) / sizes
    within = float(((d - means[codes]) ** 2).sum()) / (n - groups)
    between = float((sizes * (means - d.mean()) ** 2).sum()) / (groups - 1)
    m = (n - float((sizes**2).sum()) / n) / (groups - 1)
    return math.sqrt(within + max(0.0, (between - within) / m))


def _kappa(x: FloatArray, y: FloatArray) -> tuple[float, str]:
    values = np.unique(np.concatenate([x, y]))
    if len(values) > _ORDERED or not np.array_equal(values * 2, np.round(values * 2)):
        return math.nan, "a quantity, not a mark"
    if len(values) < 2 or x.size < 2:
        return math.nan, "the marks do not vary"
    if len(values) == 2:
        return cohen_kappa(x, y), "Cohen"
    return cohen_kappa(x, y, weights="quadratic"), "quadratic weights"
