"""Kendall's τ_b under resampling of clusters: one pass over pairs of runs, then a small matrix per resample.

For clusters g, h let C_gh = Σ sign(xᵢ − xⱼ) sign(yᵢ − yⱼ) over i in g, j in h. With cluster g drawn w_g times,

    τ_b = w'C^{xy}w / √(w'C^{xx}w · w'C^{yy}w),

which is Kendall's (1938) coefficient with his correction for ties, exactly as if the runs had been copied.
"""

from __future__ import annotations

import numpy as np

from dsqa.stats.interval import FloatArray
from dsqa.stats.streams import stream

__all__ = ["MOST_ORDERED", "by_pair_order", "thinned"]

MOST_ORDERED = 3000
"""Runs up to which all pairs are compared; beyond it this many runs, drawn at random, stand for all."""

_ROWS = 256


def thinned(size: int) -> np.ndarray | None:
    """Return which of `size` rows, in order, stand for all of them; None where all do."""
    if size <= MOST_ORDERED:
        return None
    return np.sort(stream(0, "Kendall's runs", size).choice(size, MOST_ORDERED, replace=False))


def by_pair_order(values: FloatArray, clusters: np.ndarray, weights: FloatArray) -> FloatArray:
    """Return τ_b matrices, shape (resamples, k, k), for every row of cluster weights; NaN where nothing varies."""
    kept = thinned(len(values))
    if kept is not None:
        values, clusters = values[kept], clusters[kept]
    order = np.argsort(clusters, kind="stable")
    # 8-bit signs and 32-bit sums: every count is far below 2**24, so float32 is exact.
    ranks = np.stack([np.unique(column[order], return_inverse=True)[1] for column in values.T])
    owner = np.zeros((len(order), weights.shape[1]), dtype=np.float32)
    owner[np.arange(len(order)), clusters[order]] = 1
    k, count = len(ranks), weights.shape[1]
    counts = np.zeros((k, k, count, count))
    for start in range(0, len(order), _ROWS):
        block = slice(start, start + _ROWS)
        signs = np.sign(ranks[:, block, None] - ranks[:, None, :]).astype(np.float32)
        for i in range(k):
            for j in range(i + 1):
                counts[i, j] += owner[block].T @ ((signs[i] * signs[j]) @ owner)
    sums = np.empty((len(weights), k, k))
    for i in range(k):
        for j in range(i + 1):
            sums[:, i, j] = sums[:, j, i] = np.einsum("rg,rg->r", weights @ counts[i, j], weights)
    scale = np.sqrt(np.diagonal(sums, axis1=1, axis2=2))
    scale = np.where(scale > 0, scale, np.nan)
    return np.asarray(np.clip(sums / (scale[:, :, None] * scale[:, None, :]), -1.0, 1.0), dtype=np.float64)
