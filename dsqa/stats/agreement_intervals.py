"""Intervals for any coefficient of agreement, by resampling what was rated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level

__all__ = ["agreement_interval"]


def agreement_interval(
    ratings: ArrayLike,
    coefficient: Callable[[FloatArray], float],
    *,
    clusters: ArrayLike | None = None,
    seed: int,
    level: float = 0.95,
    resamples: int = 999,
) -> Interval:
    """Return a percentile bootstrap interval for a coefficient of agreement.

    Runs of one question resemble each other, so they are drawn together where `clusters` says which belong together
    (Davison & Hinkley 1997, section 3.8). Resamples without variation have no coefficient and are left out; the note
    counts them.

    Parameters
    ----------
    ratings
        Shape (units, raters).
    coefficient
        Of such a matrix; raises `StatisticsError` where there is none, such as
        ``lambda m: cohen_kappa(m[:, 0], m[:, 1])``.
    clusters
        Shape (units,); each unit by itself if None.
    seed, level, resamples
        Of the bootstrap.

    Raises
    ------
    StatisticsError
        As `coefficient` for the ratings themselves; or fewer than two clusters.

    Examples
    --------
    >>> from dsqa.stats.agreement import cohen_kappa
    >>> pairs = [[1, 1], [0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [0, 0]]
    >>> found = agreement_interval(pairs, lambda m: cohen_kappa(m[:, 0], m[:, 1]), seed=1)
    >>> found.low < 0.5 < found.high
    True
    """
    check_level(level)
    matrix = np.asarray(ratings, dtype=np.float64)
    coefficient(matrix)
    codes = np.arange(len(matrix)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    method = f"percentile bootstrap over {'units' if clusters is None else 'clusters'}"
    if len(members) < 2:
        return Interval.unavailable(level, method, "one cluster: nothing tells how others would be rated")
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(resamples):
        chosen = rng.integers(0, len(members), len(members))
        try:
            draws.append(coefficient(matrix[np.concatenate([members[code] for code in chosen])]))
        except StatisticsError:
            continue
    if len(draws) < resamples / 2:
        return Interval.unavailable(level, method, "most resamples have no variation")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    lost = resamples - len(draws)
    note = f"{lost} of {resamples} resamples had no variation and were left out" if lost else ""
    return Interval(float(low), float(high), level, method, note)
