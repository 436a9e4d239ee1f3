"""Whether a question looks ambiguous: its answers split between few, each of them held steadily."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["AnswerSplit", "answer_split"]


@dataclass(frozen=True)
class AnswerSplit:
    """How the answers to a question are split.

    Parameters
    ----------
    kind
        ``within``: the runs of one cell fall on few answers; ``between``: each condition keeps to an answer of its
        own.
    cells
        The cells that show it.
    answers
        The answers in question, the commonest first.
    """

    kind: Literal["within", "between"]
    cells: tuple[str, ...]
    answers: tuple[str, ...]


def answer_split(
    cells: Mapping[str, Sequence[str | None]], *, least_share: float = 0.2, together: float = 0.8, least_runs: int = 5
) -> AnswerSplit | None:
    """Return how a question's answers are split, or None where they are not, or where too few runs could tell.

    A question that can be read in two ways gives few answers, each again and again; one that is merely hard gives
    many, or none. So a cell is *split within* if two or more answers are each given by at least `least_share` of its
    runs (and by two runs), and by at least `together` of them in all. Conditions are *split between* if each gives
    one answer in at least `together` of its runs, and not all the same. Runs without an answer count in every
    denominator. The estimand is descriptive, these runs: a split is a reason to read the question again, not a test.

    Parameters
    ----------
    cells
        Condition → the answers of its runs in canonical form, None where none was read.
    least_share, together
        See above; shares in (0, 1].
    least_runs
        A cell of fewer runs is not looked at.

    Examples
    --------
    >>> answer_split({"t0": ["4", "4", "5", "5", "4"]})
    AnswerSplit(kind='within', cells=('t0',), answers=('4', '5'))
    >>> answer_split({"t0": ["1", "2", "3", "4", "5"]}) is None
    True
    >>> answer_split({"a": ["4"] * 5, "b": ["5"] * 5}).kind
    'between'
    """
    counted = {name: (Counter(a for a in runs if a is not None), len(runs)) for name, runs in cells.items()}
    counted = {name: both for name, both in counted.items() if both[1] >= least_runs}
    split: dict[str, list[str]] = {}
    for name, (counts, runs) in counted.items():
        held = [answer for answer, n in counts.most_common() if n >= max(2, least_share * runs)]
        if len(held) >= 2 and sum(counts[answer] for answer in held) >= together * runs:
            split[name] = held
    if split:
        return AnswerSplit("within", tuple(split), _by_runs({a for held in split.values() for a in held}, counted))
    tops = {name: counts.most_common(1)[0] for name, (counts, _) in counted.items() if counts}
    steady = {name: answer for name, (answer, n) in tops.items() if n >= together * counted[name][1]}
    if len(steady) >= 2 and len(set(steady.values())) >= 2:
        return AnswerSplit("between", tuple(steady), _by_runs(set(steady.values()), counted))
    return None


def _by_runs(answers: set[str], counted: Mapping[str, tuple[Counter[str], int]]) -> tuple[str, ...]:
    total = sum((counts for counts, _ in counted.values()), Counter[str]())
    return tuple(sorted(answers, key=lambda answer: (-total[answer], answer)))
