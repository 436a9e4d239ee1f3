"""σ̄ of cells with unequal numbers of runs, made comparable.

The SD of few runs is too low on average: of the same runs, five show less spread than thirty, and the difference is
the larger the fewer they are. A comparison would take that for a change (under none, an interval for 5 against 30
runs covers 38 % at 41 questions). So the larger cell enters with the expected SD of as many of its runs as the
smaller one has, drawn without replacement (rarefaction; Hurlbert 1971, Ecology 52:577): found exactly by the
multivariate hypergeometric distribution where that lists no more than `_LISTED` outcomes, else over `_DRAWN` draws.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from dsqa.stats.bootstrap import Statistic
from dsqa.stats.bootstrap.resampling import compositions, number_of_compositions
from dsqa.stats.interval import FloatArray
from dsqa.stats.streams import stream

__all__ = ["expected_of_fewer"]

_LISTED = 5_000
_DRAWN = 4_000


def expected_of_fewer(statistic: Statistic, runs: FloatArray, size: int) -> float:
    """Return the expected statistic of `size` of these runs, drawn without replacement.

    Parameters
    ----------
    statistic
        Of values and weights.
    runs
        Shape (runs,).
    size
        At most the number of runs; as many gives the statistic itself.

    Examples
    --------
    >>> from dsqa.stats.bootstrap import weighted_sd
    >>> round(expected_of_fewer(weighted_sd, np.array([0.0, 0.0, 3.0]), 2), 6)  # two pairs in three differ, by 3
    1.0
    """
    if size >= runs.size:
        return float(statistic(runs, np.ones(runs.size)))
    values, counts = np.unique(runs, return_counts=True)
    chosen, shares = _subsets(tuple(counts.tolist()), size)
    return float(shares @ statistic(values, chosen))


@lru_cache(maxsize=4096)
def _subsets(counts: tuple[int, ...], size: int) -> tuple[FloatArray, FloatArray]:
    """Return the counts of each value in subsets of `size`, and their probabilities."""
    total = np.array(counts)
    if number_of_compositions(size, len(counts)) > _LISTED:
        rng = stream(0, "fewer runs", size, *counts)
        drawn = rng.multivariate_hypergeometric(total, size, size=_DRAWN, method="marginals").astype(np.float64)
        return drawn, np.full(_DRAWN, 1 / _DRAWN)
    every, _ = compositions(size, len(counts))
    possible = every[(every <= total).all(axis=1)]
    logs = _log_choose(total, possible).sum(axis=1) - _log_choose(np.array(total.sum()), np.array(float(size)))
    return possible, np.exp(logs)


def _log_choose(n: np.ndarray, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)
