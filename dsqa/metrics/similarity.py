"""Text similarity: the Jaccard index of two texts' sets of words.

``J(A, B) = |A ∩ B| / |A ∪ B|`` of the sets of case-folded words (`verbosity.words`). The index of two texts without
words is undefined (0/0) and missing; of one without and one with words it is 0.

References
----------
Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11(2), 37-50.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsqa.metrics.verbosity import words

__all__ = ["CellSimilarity", "cell_similarity", "jaccard", "word_set"]


@dataclass(frozen=True)
class CellSimilarity:
    """Per run of a cell, NaN where undefined: similarity to the first run, and mean over all other runs."""

    first: NDArray[np.float64]
    mean: NDArray[np.float64]


def word_set(text: str) -> frozenset[str]:
    """Return the set of a text's words, case-folded."""
    return frozenset(word.casefold() for word in words(text))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float | None:
    """Return the Jaccard index of two sets of words, None if both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else None


def cell_similarity(texts: Sequence[frozenset[str] | None], first: int | None) -> CellSimilarity:
    """Compare the runs of one cell with each other.

    Parameters
    ----------
    texts
        Each run's set of words; None for a run that brought no response.
    first
        Position in `texts` of run 0; None if it is not there.

    Returns
    -------
    CellSimilarity
        `first`: index with run 0 (1 for run 0 itself). Where run 0 is not there or has no words, it is missing for
        the whole cell: no other run takes its place, so that the reference never depends on which runs failed.
        `mean`: mean of the defined indices with every other run that brought a response; missing if there is none.
    """
    count = len(texts)
    to_first, mean = np.full(count, np.nan), np.full(count, np.nan)
    present = [i for i, text in enumerate(texts) if text is not None]
    if not present:
        return CellSimilarity(to_first, mean)
    index = _pairwise([texts[i] or frozenset() for i in present])
    if first is not None and texts[first]:
        to_first[present] = index[present.index(first)]
    np.fill_diagonal(index, np.nan)
    defined = ~np.isnan(index)
    number = defined.sum(axis=1)
    total = np.where(defined, index, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean[present] = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return CellSimilarity(to_first, mean)


def _pairwise(sets: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Return the matrix of Jaccard indices, NaN for two empty sets, by one sparse product."""
    # A third of a second to load, which whoever reads one run need not wait for.
    from scipy import sparse  # noqa: PLC0415

    vocabulary: dict[str, int] = {}
    rows, columns = [], []
    for row, members in enumerate(sets):
        for word in members:
            rows.append(row)
            columns.append(vocabulary.setdefault(word, len(vocabulary)))
    shape = (len(sets), max(len(vocabulary), 1))
    matrix = sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
    shared = (matrix @ matrix.T).toarray().astype(np.float64)
    sizes = np.array([len(members) for members in sets], dtype=np.float64)
    union = sizes[:, None] + sizes[None, :] - shared
    index: NDArray[np.float64] = np.divide(shared, union, out=np.full_like(shared, np.nan), where=union > 0)
    return index
