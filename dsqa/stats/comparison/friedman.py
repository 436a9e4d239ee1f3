"""Several models at once by ranks within questions: Friedman's test, and which pairs differ.

Each question ranks its k models (midranks for ties); R̄ⱼ is a model's mean rank over n questions. With A = Σ r²
over all ranks and C = n k (k + 1)²/4,

    χ² = (k − 1) Σⱼ (n R̄ⱼ − n (k + 1)/2)² / (A − C),   F = (n − 1) χ² / (n (k − 1) − χ²),

χ² against k − 1 degrees of freedom (Friedman 1937; R's `friedman.test`), F against (k − 1, (n − 1)(k − 1)), which
is closer to its level (Iman & Davenport 1980). Kendall's W = χ²/(n (k − 1)) is the effect size.

========  ==============================================================================================
nemenyi   |R̄ᵢ − R̄ⱼ| √(6n / (k (k + 1))) · √2 against the studentised range, which adjusts for all pairs
          by itself; takes no account of ties. Nemenyi (1963); Demšar (2006), JMLR 7:1
conover   n |R̄ᵢ − R̄ⱼ| / √(2 (n A − Σ (n R̄ⱼ)²) / ((n − 1)(k − 1))) against t with (n − 1)(k − 1) degrees of
          freedom, then Holm. More powerful. Conover (1999), Practical Nonparametric Statistics, 5.8
========  ==============================================================================================

Values closer than 10⁻⁹ tie: on float means, rounding noise splits ties and moves p in the second digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.adjust import adjust_p
from dsqa.stats.comparison.layout import pairs
from dsqa.stats.comparison.paired import DIGITS
from dsqa.stats.interval import FloatArray

__all__ = ["Friedman", "friedman_pairs", "friedman_test"]


@dataclass(frozen=True)
class Friedman:
    """Friedman's test: χ² and its p, F and its p, Kendall's W, mean ranks (1 = lowest value)."""

    chi2: float
    df: int
    p: float
    f: float
    f_df: tuple[int, int]
    f_p: float
    kendall_w: float
    mean_ranks: tuple[float, ...]
    questions: int


def _ranks(values: ArrayLike) -> FloatArray:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 2:
        raise StatisticsError("ranks need a matrix of at least two questions (rows) by two models (columns)")
    if not np.isfinite(matrix).all():
        raise StatisticsError(f"{int((~np.isfinite(matrix)).sum())} values are missing: ranks need complete rows")
    ranks = np.asarray(stats.rankdata(np.round(matrix, DIGITS), axis=1), dtype=np.float64)
    if np.ptp(ranks) == 0:
        raise StatisticsError("every question ties all models: there are no ranks to compare")
    return ranks


def friedman_test(values: ArrayLike) -> Friedman:
    """Test that no model ranks higher than another.

    Parameters
    ----------
    values
        Shape (questions, models), complete.

    Raises
    ------
    StatisticsError
        Fewer than two questions or models, missing values, or ties only.

    Examples
    --------
    >>> test = friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(test.chi2, 3), round(test.p, 3), round(test.kendall_w, 3)
    (4.5, 0.105, 0.562)
    """
    ranks = _ranks(values)
    n, k = ranks.shape
    sums = ranks.sum(axis=0)
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    chi2 = (k - 1) * float(((sums - n * (k + 1) / 2) ** 2).sum()) / spread
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-12 else float("inf")
    df = (k - 1, (n - 1) * (k - 1))
    return Friedman(
        chi2=chi2,
        df=k - 1,
        p=float(stats.chi2.sf(chi2, k - 1)),
        f=f,
        f_df=df,
        f_p=float(stats.f.sf(f, *df)),
        kendall_w=chi2 / (n * (k - 1)),
        mean_ranks=tuple((sums / n).tolist()),
        questions=n,
    )


def friedman_pairs(
    values: ArrayLike, labels: Sequence[str], *, method: Literal["nemenyi", "conover"] = "conover"
) -> pd.DataFrame:
    """Return which pairs of models differ in rank.

    Parameters
    ----------
    values
        As in `friedman_test`.
    labels
        The models' names, in the order of the columns.
    method
        See the table at the top of the module.

    Returns
    -------
    pandas.DataFrame
        first, second, rank_difference (mean rank of the first minus that of the second), p, p_adjusted. For
        Nemenyi the two are the same.

    Raises
    ------
    StatisticsError
        As `friedman_test`, or an unknown method.

    Examples
    --------
    >>> pairs_ = friedman_pairs([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    >>> pairs_["rank_difference"].tolist()
    [-0.75, -1.5, -0.75]
    """
    if method not in ("nemenyi", "conover"):
        raise StatisticsError(f"unknown method '{method}'", hint="nemenyi or conover")
    ranks = _ranks(values)
    n, k = ranks.shape
    if len(labels) != k:
        raise StatisticsError(f"{len(labels)} labels for {k} columns")
    means = ranks.mean(axis=0)
    i, j = np.triu_indices(k, 1)
    gap = means[i] - means[j]
    if method == "nemenyi":
        p = stats.studentized_range.sf(np.abs(gap) * np.sqrt(6 * n / (k * (k + 1))) * np.sqrt(2), k, np.inf)
        adjusted = p
    else:
        df = (n - 1) * (k - 1)
        left = n * float((ranks**2).sum()) - float(((n * means) ** 2).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            t = n * np.abs(gap) / np.sqrt(2 * left / df)
        # With every question in full agreement nothing is left over: any gap is then beyond doubt.
        p = np.where(gap == 0, 1.0, 2 * stats.t.sf(np.nan_to_num(t, posinf=np.inf), df))
        adjusted = adjust_p(p, "holm")
    names = list(pairs(labels))
    return pd.DataFrame(
        {
            "first": [first for first, _ in names],
            "second": [second for _, second in names],
            "rank_difference": gap,
            "p": np.minimum(p, 1.0),
            "p_adjusted": np.minimum(adjusted, 1.0),
        }
    )
