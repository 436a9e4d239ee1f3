"""Agreement among raters: runs of a question, judges, or people. A unit is what is rated.

Ratings are a matrix, units in rows and raters in columns, NaN where a rater gave none. Runs are
exchangeable raters (run 3 of one question has nothing to do with run 3 of another), so of the ICCs the
one-way ICC(1) is theirs; the two-way forms are for judges who rated every unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as _fleiss

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import jackknife_interval, leave_out
from dsqa.stats.streams import DEFAULT_SEED

__all__ = [
    "ICC",
    "Measurement",
    "cohen_kappa",
    "fleiss_kappa",
    "icc",
    "kendall_w",
    "krippendorff_alpha",
    "krippendorff_interval",
]

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]


def _ratings(ratings: ArrayLike, *, complete: bool) -> FloatArray:
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 2:
        raise StatisticsError("ratings must be a matrix of at least two units (rows) by two raters (columns)")
    if complete and not np.isfinite(matrix).all():
        raise StatisticsError(
            f"{int((~np.isfinite(matrix)).sum())} ratings are missing", hint="Krippendorff's alpha allows for that"
        )
    return matrix


def _unit_counts(ratings: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and, per unit with at least two ratings, how often each occurs."""
    matrix = _ratings(ratings, complete=False)
    values = np.unique(matrix[~np.isnan(matrix)])
    counts = (matrix[:, :, None] == values).sum(axis=1).astype(np.float64)
    return values, counts[counts.sum(axis=1) >= 2]


def _alpha(coincidences: FloatArray, values: FloatArray, measurement: Measurement) -> float:
    marginals = coincidences.sum(axis=1)
    if measurement == "nominal":
        distance = 1.0 - np.eye(len(values))
    elif measurement == "ordinal":
        upto = np.cumsum(marginals) - marginals / 2
        distance = (upto[:, None] - upto[None, :]) ** 2
    else:
        distance = (values[:, None] - values[None, :]) ** 2
        if measurement == "ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                distance = np.nan_to_num(distance / (values[:, None] + values[None, :]) ** 2)
    expected = float(marginals @ distance @ marginals)
    if expected == 0:
        return float("nan")
    return float(1 - (marginals.sum() - 1) * (coincidences * distance).sum() / expected)


def _coincidences(counts: FloatArray) -> FloatArray:
    """Return each unit's part of the coincidence matrix, shape (units, values, values)."""
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None], dtype=np.float64)


def krippendorff_alpha(ratings: ArrayLike, measurement: Measurement = "nominal") -> float:
    """Return Krippendorff's α = 1 − observed disagreement / disagreement expected by chance.

    Any number of raters, missing ratings allowed; units with a single rating say nothing and are left
    out. Krippendorff (2019), Content Analysis, 4th ed., chapter 12. R's `irr::kripp.alpha` 0.84.1 is off
    by about 1e-3 on complete data with more than two raters.

    Parameters
    ----------
    ratings
        Shape (units, raters), numeric codes, NaN where missing.
    measurement
        Which differences count how much.

    Raises
    ------
    StatisticsError
        Too few ratings, or all are equal: without variation agreement cannot be told from chance.

    Examples
    --------
    >>> krippendorff_alpha([[1, 1], [2, 2], [3, 3]])
    1.0
    """
    if measurement not in get_args(Measurement):
        raise StatisticsError(f"unknown measurement '{measurement}'", hint=", ".join(get_args(Measurement)))
    values, counts = _unit_counts(ratings)
    if len(counts) == 0:
        raise StatisticsError("no unit has two ratings")
    if measurement == "ratio" and (values < 0).any():
        raise StatisticsError("ratio data cannot be negative")
    alpha = _alpha(_coincidences(counts).sum(axis=0), values, measurement)
    if np.isnan(alpha):
        raise StatisticsError("all ratings are equal: agreement cannot be told from chance")
    return alpha


def krippendorff_interval(
    ratings: ArrayLike,
    measurement: Measurement = "nominal",
    *,
    clusters: ArrayLike | None = None,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 1999,
) -> Interval:
    """Return an interval for α, leaving out in turn each unit, or cluster of them; see `dsqa.stats.jackknife`.

    Parameters
    ----------
    ratings, measurement
        As in `krippendorff_alpha`.
    clusters
        Shape (units,): units of one cluster (runs of one question) are alike and are left out together.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`; nothing is drawn.
    level
        Nominal coverage.

    Raises
    ------
    StatisticsError
        As `krippendorff_alpha`.
    """
    check_level(level)
    del seed, resamples
    value = krippendorff_alpha(ratings, measurement)
    values, counts = _unit_counts(ratings)
    parts = _coincidences(counts).reshape(len(counts), -1)
    if clusters is not None:
        rated = np.isfinite(_ratings(ratings, complete=False)).sum(axis=1) >= 2
        codes = np.unique(np.asarray(clusters)[rated], return_inverse=True)[1]
        # Coincidences add up, so a cluster is one unit with the sum of its units'.
        parts = np.stack([np.bincount(codes, column) for column in parts.T], axis=1)
    sums = leave_out(len(parts)) @ parts
    without = np.array([_alpha(row.reshape(len(values), -1), values, measurement) for row in sums])
    return jackknife_interval(
        value, without, kind="agreement", level=level, scale="fisher", bounds=(-1, 1), clusters=len(parts)
    )


def fleiss_kappa(ratings: ArrayLike) -> float:
    """Return Fleiss' κ for complete nominal ratings, shape (units, raters). Fleiss (1971).

    Raises
    ------
    StatisticsError
        Missing ratings, too few, or all equal.
    """
    matrix = _ratings(ratings, complete=True)
    if len(np.unique(matrix)) == 1:
        raise StatisticsError("all ratings are equal: agreement cannot be told from chance")
    return float(_fleiss(aggregate_raters(matrix)[0], method="fleiss"))


def cohen_kappa(
    first: ArrayLike, second: ArrayLike, *, weights: Literal["none", "linear", "quadratic"] = "none"
) -> float:
    """Return Cohen's κ of two raters, weighted by the distance of ranks if asked. Cohen (1960, 1968).

    Parameters
    ----------
    first, second
        Ratings of the same units, shape (units,), complete.
    weights
        "linear" and "quadratic" penalise by the rank distance of the categories that occur.

    Raises
    ------
    StatisticsError
        Missing ratings, too few, or all equal.
    """
    names = {"none": None, "linear": "linear", "quadratic": "quadratic"}
    if weights not in names:
        raise StatisticsError(f"unknown weights '{weights}'", hint=", ".join(names))
    pair = _ratings(np.column_stack([np.asarray(first, float), np.asarray(second, float)]), complete=True)
    values, codes = np.unique(pair, return_inverse=True)
    if len(values) == 1:
        raise StatisticsError("all ratings are equal: agreement cannot be told from chance")
    codes = codes.reshape(pair.shape)
    table = np.zeros((len(values), len(values)))
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    return float(cohens_kappa(table, wt=names[weights], return_results=False))


def kendall_w(ratings: ArrayLike) -> float:
    """Return Kendall's W with the correction for ties, for complete ratings (units, raters).

    Raises
    ------
    StatisticsError
        Missing ratings, too few, or a rater set whose ranks are all tied.
    """
    matrix = _ratings(ratings, complete=True)
    n, m = matrix.shape
    ranks = stats.rankdata(matrix, axis=0)
    tied = [np.unique(column, return_counts=True)[1].astype(np.float64) for column in matrix.T]
    ties = sum(float((counts**3 - counts).sum()) for counts in tied)
    below = m**2 * (n**3 - n) - m * ties
    if below == 0:
        raise StatisticsError("every rater ties all units: there are no ranks to agree on")
    sums = ranks.sum(axis=1)
    return float(12 * ((sums - sums.mean()) ** 2).sum() / below)


@dataclass(frozen=True)
class ICC:
    """An intraclass correlation: its form, value, interval, and the F test that it is 0."""

    form: str
    value: float
    interval: Interval
    f: float
    df1: float
    df2: float
    p: float


def icc(
    ratings: ArrayLike, form: Literal["1,1", "1,k", "2,1", "2,k", "3,1", "3,k"] = "1,1", *, level: float = 0.95
) -> ICC:
    """Return an intraclass correlation by analysis of variance.

    =====  ====================================================================================
    1,1    one-way: raters differ from unit to unit (runs of a question)
    2,1    two-way, absolute agreement: the same raters, a sample of raters, rated every unit
    3,1    two-way, consistency: the same raters, the only ones of interest
    …,k    the same for the mean of the k raters
    =====  ====================================================================================

    Shrout & Fleiss (1979), Psychological Bulletin 86:420; intervals of the two-way agreement forms from
    McGraw & Wong (1996), Psychological Methods 1:30, table 7, as R's `psych::ICC` has them. `irr::icc` differs
    for "2,k" (ends by about 1e-6: its degrees of freedom are not those of the single form stepped up) and
    tests both agreement forms with the interval's degrees of freedom rather than (n − 1)(k − 1).

    Parameters
    ----------
    ratings
        Complete matrix, shape (units, raters).
    form
        See the table.
    level
        Nominal coverage under normal errors.

    Raises
    ------
    StatisticsError
        Missing ratings, too few, no variation, or an unknown form.
    """
    check_level(level)
    model, _, unit = form.partition(",")
    if model not in {"1", "2", "3"} or unit not in {"1", "k"}:
        raise StatisticsError(f"unknown form '{form}'", hint="1,1 1,k 2,1 2,k 3,1 or 3,k")
    x = _ratings(ratings, complete=True)
    n, k = x.shape
    if np.ptp(x) == 0:
        raise StatisticsError("all ratings are equal: there is no variance to share out")
    rows, columns, grand = x.mean(axis=1), x.mean(axis=0), x.mean()
    ms_rows = k * ((rows - grand) ** 2).sum() / (n - 1)
    ms_columns = n * ((columns - grand) ** 2).sum() / (k - 1)
    ms_within = ((x - rows[:, None]) ** 2).sum() / (n * (k - 1))
    ms_error = ((x - rows[:, None] - columns[None, :] + grand) ** 2).sum() / ((n - 1) * (k - 1))
    noise = ms_within if model == "1" else ms_error
    if noise <= 1e-14 * ms_rows:
        raise StatisticsError("raters never differ: the ICC is 1 and has no interval")
    df1, df2 = n - 1, n * (k - 1) if model == "1" else (n - 1) * (k - 1)
    f = ms_rows / noise
    # The average of k raters is the single form with k in place of 1 in every denominator.
    scale = 1 if unit == "k" else k
    extra = (scale / n) * (ms_columns - ms_error) if model == "2" else 0.0
    value = (ms_rows - noise) / (ms_rows + (scale - 1) * noise + extra)
    tail = (1 - level) / 2
    if model == "2":
        a = scale * value / (n * (1 - value))
        b = 1 + scale * value * (n - 1) / (n * (1 - value))
        v = (a * ms_columns + b * ms_error) ** 2 / (
            (a * ms_columns) ** 2 / (k - 1) + (b * ms_error) ** 2 / ((n - 1) * (k - 1))
        )
        lower, upper = stats.f.isf(tail, df1, v), stats.f.isf(tail, v, df1)
        rest = scale * ms_columns + (scale * n - scale - n) * ms_error
        low = n * (ms_rows - lower * ms_error) / (lower * rest + n * ms_rows)
        high = n * (upper * ms_rows - ms_error) / (rest + n * upper * ms_rows)
    else:
        ends = np.array([f / stats.f.isf(tail, df1, df2), f * stats.f.isf(tail, df2, df1)])
        low, high = (ends - 1) / (ends + scale - 1)
    interval = Interval(float(low), float(high), level, "F distribution, normal errors")
    return ICC(form, float(value), interval, float(f), float(df1), float(df2), float(stats.f.sf(f, df1, df2)))
