"""Permutation tests within strata."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dsqa.stats.interval import FloatArray

__all__ = ["homogeneity_test", "rank_test"]

IntArray = NDArray[np.int64]


def rank_test(
    values: FloatArray, others: FloatArray, strata: np.ndarray, rng: np.random.Generator, permutations: int = 9999
) -> tuple[float, float]:
    """Test whether two measurements of the same units go together within strata, by ranks.

    The statistic is Σ (rank of the first − its mean)(rank of the second − its mean), ranks within strata; its
    two-sided p value is the share of permutations within strata that give as much or more.

    Parameters
    ----------
    values, others
        Shape (units,).
    strata
        Labels, shape (units,).
    rng, permutations
        Of the permutations.

    Returns
    -------
    tuple of float
        The statistic and p.
    """
    x, y = np.zeros(len(values)), np.zeros(len(values))
    groups = [np.flatnonzero(strata == name) for name in np.unique(strata)]
    for at in groups:
        x[at] = rankdata(np.nan_to_num(values[at])) - (len(at) + 1) / 2
        y[at] = rankdata(others[at]) - (len(at) + 1) / 2
    observed = float(x @ y)
    draws = np.zeros(permutations)
    for at in groups:
        draws += rng.permuted(np.broadcast_to(y[at], (permutations, len(at))), axis=1) @ x[at]
    return observed, _share(np.abs(draws), abs(observed))


def homogeneity_test(
    hits: IntArray, tries: IntArray, strata: np.ndarray, rng: np.random.Generator, permutations: int = 9999
) -> float:
    """Test whether units of a stratum share one probability: the permutation p value of Pearson's χ² over strata.

    Given the stratum's total, the hits of its units are multivariate hypergeometric where they do.

    Parameters
    ----------
    hits, tries
        Shape (units,).
    strata
        Labels, shape (units,).
    rng, permutations
        Of the draws.
    """
    draws, observed = np.zeros(permutations), 0.0
    for name in np.unique(strata):
        at = np.flatnonzero(strata == name)
        total = int(hits[at].sum())
        if not 0 < total < tries[at].sum():
            continue
        expected = tries[at] * total / tries[at].sum()

        def chi(counts: np.ndarray, expected: FloatArray = expected) -> FloatArray:
            return np.asarray(((counts - expected) ** 2 / expected).sum(axis=-1), dtype=np.float64)

        observed += float(chi(hits[at]))
        draws += chi(rng.multivariate_hypergeometric(tries[at], total, size=permutations, method="marginals"))
    return _share(draws, observed)


def _share(draws: FloatArray, observed: float) -> float:
    # Rounding must not turn equal statistics into smaller ones.
    return float((1 + (draws >= observed - 1e-9 * max(1.0, observed)).sum()) / (1 + len(draws)))
