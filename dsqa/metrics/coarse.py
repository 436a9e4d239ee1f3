"""The coarse-grained metrics: completion, accuracy, executability, score. One table maps what happened to them.

Executability CE
----------------
==================================  =====  ==========
what became of the code             paper  repository
==================================  =====  ==========
no code                             0      0
other language, does not parse,     1      0
failed, timed out, killed by
memory, blocked, missing package
ran, wrong                          1      1
ran, right                          2      2
ran, not marked                     –      –
==================================  =====  ==========

*paper*: 0 no code; 1 code is there but is not directly executable, or it runs without solving the problem; 2 it runs
and solves it. *repository*: the authors' own code gives 0 for no code or code that is not executable, 1 for code that
runs without solving, 2 for code that solves. "Right" means that what the code itself printed matches the ground
truth in every part; a right answer in the text beside a program that prints something else does not make it right.
Where the question has no ground truth, nobody knows whether code that ran was right: CE, RA and score are missing.

Completion CR
-------------
1 for a run that was answered, right or wrong; 0 for one that failed, was truncated or filtered, came back empty or
was refused. A refusal ends by itself, but not with an acceptable outcome. What became of the code does not enter:
CE has that.

Accuracy RA
-----------
1 if the answer that counts (`answers.choice`) matches in every part, else 0, an unread answer included; the column
``answer_status`` tells those apart. It is taken as found, of truncated runs too. Missing where the question has no
ground truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dsqa.metrics.answers import Answer
from dsqa.records import Status

__all__ = ["CeReading", "Coarse", "coarse_metrics", "executability", "final_execution", "score"]

CeReading = Literal["paper", "repository"]

_EXECUTABILITY: dict[str, tuple[int | None, int | None]] = {
    "no code": (0, 0),
    "other language": (1, 0),
    "does not parse": (1, 0),
    "failed": (1, 0),
    "timed out": (1, 0),
    "killed by memory": (1, 0),
    "blocked": (1, 0),
    "missing package": (1, 0),
    "ran, wrong": (1, 1),
    "ran, right": (2, 2),
    "ran, not marked": (None, None),
}
_COMPLETION: dict[Status, int] = {
    "answered": 1,
    "truncated": 0,
    "refused": 0,
    "empty": 0,
    "filtered": 0,
    "failed": 0,
}


@dataclass(frozen=True)
class Coarse:
    """CR, RA, CE by both readings, and the score (by the paper's); None where there is no ground truth to tell."""

    completion: int
    accuracy: int | None
    executability: int | None
    executability_repository: int | None
    score: float | None


def final_execution(outcome: str, *, solved: bool | None) -> str:
    """Return the finer outcome: ``ran`` becomes ``ran, right``, ``ran, wrong`` or (None) ``ran, not marked``."""
    if outcome == "ran":
        return "ran, not marked" if solved is None else "ran, right" if solved else "ran, wrong"
    return outcome


def executability(execution: str, reading: CeReading = "paper") -> int | None:
    """Return CE ∈ {0, 1, 2} for a finer outcome, by the paper's reading or the repository's; None: not known.

    Raises
    ------
    KeyError
        The outcome is not in the table.
    """
    return _EXECUTABILITY[execution][0 if reading == "paper" else 1]


def score(completion: int, accuracy: int | None, executability: int | None) -> float | None:
    """Return Score = CR + RA + CE/2 ∈ [0, 3], or None where a part of it is not known."""
    if accuracy is None or executability is None:
        return None
    return completion + accuracy + executability / 2


def coarse_metrics(status: Status, outcome: str, answer: Answer) -> Coarse:
    """Return the coarse-grained metrics of one run.

    Parameters
    ----------
    status
        The record's.
    outcome
        What became of the code, as the execution gave it (``ran`` where it ran).
    answer
        From `choose_answer`.
    """
    execution = final_execution(outcome, solved=answer.solved)
    completion = _COMPLETION[status]
    accuracy = None if answer.comparison.status == "unmarked" else int(answer.comparison.matched)
    paper, repository = executability(execution), executability(execution, "repository")
    return Coarse(completion, accuracy, paper, repository, score(completion, accuracy, paper))
