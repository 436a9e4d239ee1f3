r"""Gwet's AC1 and AC2: agreement whose chance term does not swell where one mark is common.

κ and α fall towards 0 where nearly all marks are alike, however well raters agree (Feinstein & Cicchetti 1990). With
r_ik the number of raters who put unit i into category k, w the weights of agreement and r*_ik = Σ_l w_kl r_il,

    p_a = mean over units with two marks or more of Σ_k r_ik (r*_ik − 1)/(r_i (r_i − 1)),
    p_e = Σ_kl w_kl/(q (q − 1)) · Σ_k π_k (1 − π_k),   π_k = mean over units of r_ik/r_i,

AC = (p_a − p_e)/(1 − p_e). AC1 has w = 1 for equal categories and else 0; AC2 gives partial credit, by the distance
of the categories' values. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29; Gwet (2014),
Handbook of Inter-Rater Reliability, 4th ed.; R's `irrCAC::gwet.ac1.raw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray

__all__ = ["gwet_ac"]

Weights = Literal["none", "linear", "quadratic"]


def gwet_ac(ratings: ArrayLike, *, weights: Weights = "none", categories: Sequence[float] | None = None) -> float:
    """Return Gwet's AC1, or AC2 with weights.

    Parameters
    ----------
    ratings
        Shape (units, raters), numeric codes, NaN where missing; any number of raters.
    weights
        "none" for AC1; "linear" or "quadratic" in the distance of the codes for AC2.
    categories
        All codes that could have been given, where some never were; else those that occur.

    Raises
    ------
    StatisticsError
        Too few ratings, one category only, unknown weights, or a code that is not among the categories.

    Examples
    --------
    >>> round(gwet_ac([[1, 1], [1, 1], [1, 1], [1, 0], [0, 0]]), 4)  # p_a = 4/5, p_e = 2 · 0.7 · 0.3
    0.6552
    """
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise StatisticsError("ratings must be a matrix of units (rows) by at least two raters (columns)")
    seen = np.unique(matrix[~np.isnan(matrix)])
    codes = seen if categories is None else np.unique(np.asarray(categories, dtype=np.float64))
    if not np.isin(seen, codes).all():
        raise StatisticsError("a rating is not among the categories")
    if codes.size < 2:
        raise StatisticsError(
            "all ratings are equal: agreement cannot be told from chance", hint="name all categories that could be"
        )
    counts = (matrix[:, :, None] == codes).sum(axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) > 0]
    several = counts[counts.sum(axis=1) > 1]
    if not len(several):
        raise StatisticsError("no unit has two ratings")
    credit = _credit(codes, weights)
    given = several.sum(axis=1)
    observed = float(((several * (several @ credit.T - 1)).sum(axis=1) / (given * (given - 1))).mean())
    shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    q = codes.size
    chance = float(credit.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum())
    return (observed - chance) / (1 - chance)


def _credit(codes: FloatArray, weights: Weights) -> FloatArray:
    distance = np.abs(codes[:, None] - codes[None, :]) / float(np.ptp(codes))
    if weights == "none":
        return np.eye(codes.size)
    if weights not in ("linear", "quadratic"):
        raise StatisticsError(f"unknown weights '{weights}'", hint="none, linear or quadratic")
    return np.asarray(1 - distance ** (1 if weights == "linear" else 2), dtype=np.float64)
