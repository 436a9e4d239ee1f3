"""Straight lines that a few wild runs cannot bend: quantile regression and Theil–Sen, clustered by question.

**Quantile regression** (Koenker & Bassett 1978): the line with a share τ of runs below it. Covariance
A⁻¹ B A⁻¹ with A = Σ f̂ᵢ xᵢxᵢ', f̂ᵢ a Gaussian kernel at the residual (Powell 1991; Hall–Sheather bandwidth, as R's
`summary.rq(se = "ker")`), and B = Σ_g s_g s_g', s_g a cluster's sum of x (τ − 1{y below}) (Parente & Santos Silva
2016), times G/(G − 1), t with G − 1 degrees of freedom. Without clusters B = τ(1 − τ) Σ xx' and the error is R's
"ker". (statsmodels' "robust" error at the median equals its iid one, half of R's.)

**Theil–Sen** (Theil 1950; Sen 1968): the median slope over all pairs of runs; unbent by up to 29 % wild runs.
With more than `MOST_PAIRS` pairs, that many drawn at random stand for all (noise of about 3 % of the standard
error). Its interval leaves out each question in turn, a pair weighing the product of its runs' weights
(`dsqa.stats.jackknife`); the usual interval from Kendall's τ takes runs as independent and is several times too
narrow here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import optimize, stats

from dsqa.errors import StatisticsError
from dsqa.stats.design import Design, design
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import jackknife_interval, jackknife_p, leave_out
from dsqa.stats.shown import with_coverage
from dsqa.stats.streams import DEFAULT_SEED, stream

__all__ = ["RobustSlope", "quantile_line", "theil_sen_line"]

MOST_PAIRS = 50_000
_BLOCK = 2_000_000


@dataclass(frozen=True)
class RobustSlope:
    """A slope, its standard error (NaN where it has none), interval, p value of it being `equals`, rows used."""

    term: str
    estimate: float
    error: float
    interval: Interval
    p: float
    n: int
    dropped: int
    clusters: int


def _one_predictor(made: Design) -> str:
    names = [name for name in made.names if name != "Intercept"]
    if len(names) != 1 or "Intercept" not in made.names:
        raise StatisticsError(f"'{made.formula}' is not a straight line in one predictor")
    return names[0]


def quantile_line(
    formula: str,
    data: pd.DataFrame,
    *,
    cluster: str | None = "question_id",
    tau: float = 0.5,
    equals: float = 0.0,
    level: float = 0.95,
) -> RobustSlope:
    """Fit a line by quantile regression; 0.5 is the median.

    Raises
    ------
    StatisticsError
        As `design`; more than one predictor; τ outside of (0, 1); a fit without spread around the line.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": list("aabbcc"), "x": [0.0, 1, 2, 3, 4, 5], "y": [0.1, 2, 4, 6, 8, 99]})
    >>> round(quantile_line("y ~ x", table).estimate, 3)  # the wild run bends nothing
    2.0
    """
    check_level(level)
    if not 0 < tau < 1:
        raise StatisticsError(f"a quantile lies between 0 and 1, got {tau:g}")
    made = design(formula, data, cluster=cluster)
    term = _one_predictor(made)
    beta = _quantile_fit(made, tau)
    residual = made.y - made.x @ beta
    covariance = _quantile_covariance(made, residual, tau)
    at = made.position(term)
    estimate, error = float(beta[at]), math.sqrt(float(covariance[at, at]))
    df = made.count - 1 if made.count else len(made.y) - 2
    half = float(stats.t.isf((1 - level) / 2, df)) * error
    how = "clustered kernel errors" if made.count else "kernel errors"
    interval = Interval(estimate - half, estimate + half, level, f"quantile regression at {tau:g}, t, {how}")
    if made.count:
        interval = with_coverage(interval, "slope of a median regression", made.count)
    p = float(2 * stats.t.sf(abs(estimate - equals) / error, df))
    return RobustSlope(term, estimate, error, interval, p, len(made.y), made.dropped, made.count)


def _quantile_fit(made: Design, tau: float) -> FloatArray:
    """Return the coefficients by the dual linear programme, max y'a with X'a = (1 − τ) X'1, 0 ≤ a ≤ 1: exact."""
    programme = optimize.linprog(
        -made.y, A_eq=made.x.T, b_eq=(1 - tau) * made.x.sum(axis=0), bounds=(0, 1), method="highs-ds"
    )
    if not programme.success:
        raise StatisticsError(f"the quantile regression of '{made.formula}' has no solution: {programme.message}")
    return -np.asarray(programme.eqlin.marginals, dtype=np.float64)


def _quantile_covariance(made: Design, residual: FloatArray, tau: float) -> FloatArray:
    n = len(residual)
    at = float(stats.norm.ppf(tau))
    h = n ** (-1 / 3) * stats.norm.ppf(0.975) ** (2 / 3)
    h *= (1.5 * stats.norm.pdf(at) ** 2 / (2 * at**2 + 1)) ** (1 / 3)
    while tau - h < 0 or tau + h > 1:
        h /= 2
    quartiles = np.quantile(residual, [0.25, 0.75])
    width = min(float(np.std(residual, ddof=1)), float(np.diff(quartiles)[0]) / 1.34)
    if width <= 1e-9 * float(np.std(made.y)):
        raise StatisticsError("more than half of the runs lie on the line: their spread cannot be seen")
    width *= float(stats.norm.ppf(tau + h) - stats.norm.ppf(tau - h))
    density = stats.norm.pdf(residual / width) / width
    bread = np.linalg.inv((made.x * density[:, None]).T @ made.x)
    if made.count:
        pull = made.x * (tau - (residual < 0))[:, None]
        sums = np.stack([np.bincount(made.clusters, column, made.count) for column in pull.T], axis=1)
        meat = sums.T @ sums * made.count / (made.count - 1)
    else:
        meat = tau * (1 - tau) * made.x.T @ made.x
    return np.asarray(bread @ meat @ bread, dtype=np.float64)


def theil_sen_line(
    formula: str,
    data: pd.DataFrame,
    *,
    seed: int = DEFAULT_SEED,
    cluster: str = "question_id",
    equals: float = 0.0,
    level: float = 0.95,
    resamples: int = 999,
) -> RobustSlope:
    """Fit a straight line by Theil–Sen, with a jackknife interval over clusters; p is of the same errors.

    `seed` is that of the pairs, where not all are used; `resamples` is accepted as everywhere in `dsqa.stats`.

    Raises
    ------
    StatisticsError
        As `design`; more than one predictor.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": list("aabbcc"), "x": [0.0, 1, 2, 3, 4, 5], "y": [0.0, 2, 4, 6, 8, 99]})
    >>> theil_sen_line("y ~ x", table, seed=1, resamples=99).estimate
    2.0
    """
    check_level(level)
    del resamples
    made = design(formula, data, cluster=cluster)
    term = _one_predictor(made)
    x, y = made.x[:, made.position(term)], made.y
    # An order of rows that does not depend on the table's.
    order = np.lexsort((y, x, made.clusters))
    x, y, clusters = x[order], y[order], made.clusters[order]
    i, j, drawn = _pairs(len(x), seed)
    rise, run = y[j] - y[i], x[j] - x[i]
    kept = run != 0
    slopes = rise[kept] / run[kept]
    by_slope = np.argsort(slopes, kind="stable")
    slopes, a, b = slopes[by_slope], clusters[i[kept][by_slope]], clusters[j[kept][by_slope]]
    estimate = float(np.median(slopes))
    weights = leave_out(made.count)
    without = np.empty(len(weights))
    step = max(1, _BLOCK // len(slopes))
    for start in range(0, len(weights), step):
        w = weights[start : start + step]
        reached = np.cumsum(w[:, a] * w[:, b], axis=1)
        middle = (reached >= reached[:, -1:] / 2).argmax(axis=1)
        without[start : start + step] = slopes[middle]
    found = jackknife_interval(estimate, without, kind="slope by Theil–Sen", level=level, clusters=made.count)
    interval = replace(found, method=f"Theil–Sen, {drawn}, {found.method}")
    p = jackknife_p(estimate, without, null=equals)
    return RobustSlope(term, estimate, math.nan, interval, p, len(x), made.dropped, made.count)


def _pairs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    if n * (n - 1) // 2 <= MOST_PAIRS:
        i, j = np.triu_indices(n, 1)
        return i, j, "all pairs"
    rng = stream(seed, "Theil–Sen pairs", n)
    i = rng.integers(0, n, MOST_PAIRS)
    j = (i + rng.integers(1, n, MOST_PAIRS)) % n
    return i, j, f"{MOST_PAIRS:,} random pairs"
