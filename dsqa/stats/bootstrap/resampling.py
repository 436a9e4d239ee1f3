"""Resamples as weights: drawn (multinomial or Dirichlet), or all of them with their probabilities."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import gammaln

from dsqa.stats.interval import FloatArray
from dsqa.stats.streams import stream

__all__ = ["compositions", "count_weights", "dirichlet_weights", "number_of_compositions"]


def count_weights(size: int, resamples: int, seed: int) -> FloatArray:
    """Return how often each of `size` observations is drawn: shape (resamples, size), rows sum to `size`.

    The draw depends on `seed` and `size` alone, so every sample of one size shares it: results do not
    depend on which other samples are in the table, and equal samples get equal intervals.
    """
    rng = stream(seed, "bootstrap", size)
    weights = np.empty((resamples, size))
    rows = max(1, 2_000_000 // size)
    for start in range(0, resamples, rows):
        k = min(rows, resamples - start)
        drawn = rng.integers(0, size, (k, size)) + np.arange(k)[:, None] * size
        weights[start : start + k] = np.bincount(drawn.ravel(), minlength=k * size).reshape(k, size)
    return weights


def dirichlet_weights(size: int, resamples: int, seed: int) -> FloatArray:
    """Return Dirichlet(1, …, 1) weights scaled to sum to `size`: the Bayesian bootstrap (Rubin 1981)."""
    weights = stream(seed, "bayesian bootstrap", size).standard_exponential((resamples, size))
    weights *= size / weights.sum(axis=1, keepdims=True)
    return weights


def number_of_compositions(size: int, parts: int) -> int:
    """Return how many different resamples of `size` there are over `parts` distinct values."""
    return comb(size + parts - 1, parts - 1)


@lru_cache(maxsize=64)
def compositions(size: int, parts: int) -> tuple[FloatArray, FloatArray]:
    """Return every way to write `size` as `parts` counts, and the log number of orders of each.

    Shapes (K, parts) and (K,), K = C(size + parts − 1, parts − 1): stars and bars.
    """
    if parts == 1:
        counts = np.full((1, 1), float(size))
    else:
        total = number_of_compositions(size, parts)
        flat = (bar for bars in combinations(range(size + parts - 1), parts - 1) for bar in bars)
        bars = np.fromiter(flat, dtype=np.int64, count=total * (parts - 1)).reshape(total, parts - 1)
        edges = np.concatenate([np.full((total, 1), -1), bars, np.full((total, 1), size + parts - 1)], axis=1)
        counts = (np.diff(edges, axis=1) - 1).astype(np.float64)
    orders = gammaln(size + 1) - gammaln(counts + 1).sum(axis=1)
    counts.flags.writeable = orders.flags.writeable = False
    return counts, orders
