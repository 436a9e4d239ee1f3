"""Whether a question looks ambiguous: its answers split between few, each held steadily, and something says why.

That answers split says nothing yet of the question: a model that is wrong in one way half of the time splits them
too. Evidence that it can be read in two ways is that several models split alike, or that the other answer is what
another reading of the data gives (a divisor n in place of n − 1, missing values kept, …).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

__all__ = ["Ambiguity", "AnswerSplit", "ambiguity", "answer_split"]

_MOSTLY_RIGHT = 0.75


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


@dataclass(frozen=True)
class Ambiguity:
    """Two answers that a question may ask for.

    Parameters
    ----------
    answers
        The answers, the commonest first.
    models
        Models that split between them alike; none where another reading alone is the evidence.
    reading
        Which other reading of the data gives one of them; None where none is known.
    """

    answers: tuple[str, str]
    models: tuple[str, ...]
    reading: str | None


def ambiguity(
    cells: Mapping[str, Sequence[str | None]],
    models: Mapping[str, str],
    *,
    right: Collection[str],
    readings: Mapping[str, str],
    two_valued: bool,
) -> Ambiguity | None:
    """Return what speaks for a question's being ambiguous, or None.

    Parameters
    ----------
    cells
        Condition → the answers of its runs in canonical form, None where none was read.
    models
        Condition → its model.
    right
        The answers that count as right.
    readings
        Wrong answer → the other reading of the data that gives it, where one is known.
    two_valued
        The answer is one of two (yes or no), or of options that stand in the question: it is then never ambiguous in
        this sense, whatever the runs do.

    Notes
    -----
    None also where three quarters of all runs or more are right: most found out what is meant. Otherwise the answers
    that count are those that `answer_split` finds in single conditions, or that a condition keeps to. Models split
    alike if at least two of them have the same two answers among theirs.

    Examples
    --------
    >>> runs = {"a": ["4"] * 5 + ["5"] * 5, "b": ["5"] * 6 + ["4"] * 4}
    >>> ambiguity(runs, {"a": "m", "b": "n"}, right={"4"}, readings={}, two_valued=False).models
    ('m', 'n')
    >>> ambiguity(runs, {"a": "m", "b": "m"}, right={"4"}, readings={}, two_valued=False) is None
    True
    """
    given = [answer for runs in cells.values() for answer in runs]
    if two_valued or not given or sum(answer in right for answer in given) >= _MOSTLY_RIGHT * len(given):
        return None
    held: dict[str, set[str]] = {}
    for name, runs in cells.items():
        split = answer_split({name: runs})
        if split is not None:
            held.setdefault(models[name], set()).update(split.answers)
    between = answer_split(cells)
    if between is not None and between.kind == "between":
        for name in between.cells:
            held.setdefault(models[name], set()).add(Counter(a for a in cells[name] if a).most_common(1)[0][0])
    counts = Counter(answer for answer in given if answer is not None)
    ordered = sorted({a for own in held.values() for a in own}, key=lambda a: (-counts[a], a))
    for first, second in combinations(ordered, 2):
        alike = tuple(model for model, own in held.items() if {first, second} <= own)
        if len(alike) >= 2:
            return Ambiguity((first, second), alike, readings.get(first) or readings.get(second))
    for answer in ordered:
        meant = next((a for a in ordered if a in right), None)
        if answer in readings and meant is not None:
            pair = (answer, meant) if counts[answer] > counts[meant] else (meant, answer)
            return Ambiguity(pair, (), readings[answer])
    return None


def _by_runs(answers: set[str], counted: Mapping[str, tuple[Counter[str], int]]) -> tuple[str, ...]:
    total = sum((counts for counts, _ in counted.values()), Counter[str]())
    return tuple(sorted(answers, key=lambda answer: (-total[answer], answer)))
