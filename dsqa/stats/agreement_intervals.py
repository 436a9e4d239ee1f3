"""Intervals for any coefficient of agreement, by leaving out in turn what was rated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import Scale, jackknife_interval, leave_out
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["agreement_interval"]


def agreement_interval(
    ratings: ArrayLike,
    coefficient: Callable[[FloatArray], float],
    *,
    clusters: ArrayLike | None = None,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 999,
    scale: Scale = "fisher",
    bounds: tuple[float, float] = (-1.0, 1.0),
    kind: str = "agreement",
) -> Interval:
    """Return an interval for a coefficient of agreement, leaving out in turn what was rated.

    Runs of one question resemble each other, so they are left out together where `clusters` says which belong
    together; see `dsqa.stats.jackknife`.

    Parameters
    ----------
    ratings
        Shape (units, raters).
    coefficient
        Of such a matrix; raises `StatisticsError` where there is none, such as
        ``lambda m: cohen_kappa(m[:, 0], m[:, 1])``.
    clusters
        Shape (units,); each unit by itself if None.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`; nothing is drawn.
    level
        Nominal coverage.
    scale, bounds, kind
        As in `jackknife_interval`; those of a coefficient that is at most 1 by default.

    Raises
    ------
    StatisticsError
        As `coefficient` for the ratings themselves.

    Examples
    --------
    >>> from dsqa.stats.agreement import cohen_kappa
    >>> pairs = [[1, 1], [0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [0, 0]]
    >>> found = agreement_interval(pairs, lambda m: cohen_kappa(m[:, 0], m[:, 1]), seed=1)
    >>> found.low < 0.5 < found.high
    True
    """
    check_level(level)
    del seed, resamples
    matrix = np.asarray(ratings, dtype=np.float64)
    value = coefficient(matrix)
    codes = np.arange(len(matrix)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    count = int(codes.max()) + 1
    without = np.array([_tried(coefficient, matrix[kept[codes] > 0]) for kept in leave_out(count)])
    return jackknife_interval(value, without, kind=kind, level=level, scale=scale, bounds=bounds, clusters=count)


def _tried(coefficient: Callable[[FloatArray], float], matrix: FloatArray) -> float:
    try:
        return coefficient(matrix)
    except StatisticsError:
        return math.nan
