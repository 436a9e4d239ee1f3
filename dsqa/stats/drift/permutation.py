r"""Did anything change? Runs of a cell permuted between the two studies.

If nothing changed, the runs of a cell are exchangeable: which of them came earlier is a label drawn without
replacement. Given what the runs of a cell gave, the counts of the newer side are then (multivariate)
hypergeometric, and every statistic of them has a known null distribution, whatever the runs' own distribution:
exact for N as small as one likes (Good 2005, chapter 3). Cells are independent strata.

- accuracy: T = mean over cells of (share right new − share right old), two-sided by |T|;
- answers: T = Σ over cells of Pearson's χ² of side × answer, one-sided: any change of the distribution.

p = (1 + number of permutations with T at least as extreme)/(1 + permutations) (Phipson & Smyth 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.stats.drift.pairing import SIDES
from dsqa.stats.interval import FloatArray

__all__ = ["CellNull", "cell_null", "p_value"]

# Sums of the same parts in another order differ in their last digits.
_SLACK = 1e-9


@dataclass(frozen=True)
class CellNull:
    """A cell's statistics: as observed (position 0) and under permutations, each of shape (1 + permutations,)."""

    difference: FloatArray
    chi_square: FloatArray


def cell_null(cell: pd.DataFrame, permutations: int, rng: np.random.Generator) -> CellNull:
    """Permute the runs of one cell (one question and block) between the sides.

    Parameters
    ----------
    cell
        side, answer and accuracy of each run; unmarked runs count as wrong.
    permutations
        How many to draw.
    rng
        Where they come from.
    """
    categories = pd.MultiIndex.from_arrays([cell["answer"], cell["accuracy"].fillna(0.0)])
    codes, levels = categories.factorize(sort=True)
    right = np.array([accuracy for _, accuracy in levels], dtype=np.float64)
    answers, _ = pd.factorize(np.array([answer for answer, _ in levels], dtype=object))
    is_new = (cell["side"] == SIDES[1]).to_numpy()
    total = np.bincount(codes, minlength=len(levels))
    observed = np.bincount(codes[is_new], minlength=len(levels))
    drawn = rng.multivariate_hypergeometric(total, int(observed.sum()), size=permutations, method="marginals")
    new = np.vstack([observed, drawn]).astype(np.float64)
    n_new, n_old = float(observed.sum()), float(total.sum() - observed.sum())
    difference = new @ right / n_new - (total - new) @ right / n_old
    member = np.eye(answers.max() + 1)[answers]
    per_answer, per_total = new @ member, total @ member
    expected = per_total * n_new / (n_new + n_old)
    # Both rows of the 2 × k table have the same deviations: χ² = Σ (o − e)²/e · (n_new + n_old)/n_old.
    chi_square = ((per_answer - expected) ** 2 / expected).sum(axis=1) * (n_new + n_old) / n_old
    return CellNull(difference, chi_square)


def p_value(statistics: FloatArray, *, two_sided: bool) -> float:
    """Return the permutation p value of the first entry against the others."""
    values = np.abs(statistics) if two_sided else statistics
    return float((1 + (values[1:] >= values[0] - _SLACK).sum()) / len(values))
