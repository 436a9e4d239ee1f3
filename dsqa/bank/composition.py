"""What a bank is made of: how many questions of each task type, level and data file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from dsqa.bank.model import Bank, Level, Question

__all__ = ["LEVELS", "Composition", "composition_of"]

LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True)
class Composition:
    """Counts of questions.

    Parameters
    ----------
    by_category, by_file
        Category, or data file (``(none)`` for none), to a mapping from level to count; each level is there.
        Categories in the bank's order, files by name.
    levels
        Level to count.
    total
        Number of questions.
    """

    by_category: dict[str, dict[str, int]]
    by_file: dict[str, dict[str, int]]
    levels: dict[str, int]
    total: int


def composition_of(bank: Bank) -> Composition:
    """Count a bank's questions."""

    def table(key: Callable[[Question], str]) -> dict[str, dict[str, int]]:
        counts: Counter[tuple[str, str]] = Counter((key(q), q.level) for q in bank)
        return {row: {level: counts[row, level] for level in LEVELS} for row in dict.fromkeys(map(key, bank))}

    return Composition(
        by_category=table(lambda q: q.category),
        by_file=dict(sorted(table(lambda q: q.file_name or "(none)").items())),
        levels={level: sum(q.level == level for q in bank) for level in LEVELS},
        total=len(bank),
    )
