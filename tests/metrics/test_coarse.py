from __future__ import annotations

import pytest

from dsqa.metrics import (
    choose_answer,
    coarse_metrics,
    executability,
    final_execution,
    read_answer,
    read_output,
    score,
)
from tests.metrics.questions import QUESTIONS

MEAN = QUESTIONS["mean"]
RIGHT, WRONG = "@mean_fare[34.65]", "@mean_fare[1]"


def _marks(status: str, outcome: str, text: str, stdout: str | None = None):
    output = read_output(stdout, None, MEAN) if stdout is not None else None
    marks = coarse_metrics(status, outcome, choose_answer(MEAN, read_answer(text, MEAN), output))
    return marks.completion, marks.accuracy, marks.executability, marks.executability_repository, marks.score


@pytest.mark.parametrize(
    ("status", "outcome", "text", "stdout", "expected"),
    [
        # the paper's protocol, worked out by hand: CR, RA, CE, CE by the repository, CR + RA + CE/2
        ("answered", "ran", "", RIGHT, (1, 1, 2, 2, 3.0)),
        ("answered", "ran", RIGHT, WRONG, (1, 0, 1, 1, 1.5)),
        ("answered", "ran", WRONG, RIGHT, (1, 1, 2, 2, 3.0)),
        ("answered", "ran", RIGHT, "done", (1, 1, 1, 1, 2.5)),
        ("answered", "ran", "", "", (1, 0, 1, 1, 1.5)),
        ("answered", "failed", RIGHT, None, (1, 1, 1, 0, 2.5)),
        ("answered", "does not parse", "", None, (1, 0, 1, 0, 1.5)),
        ("answered", "other language", "", None, (1, 0, 1, 0, 1.5)),
        ("answered", "no code", RIGHT, None, (1, 1, 0, 0, 2.0)),
        ("answered", "no code", WRONG, None, (1, 0, 0, 0, 1.0)),
        ("truncated", "no code", RIGHT, None, (0, 1, 0, 0, 1.0)),
        ("truncated", "does not parse", "", None, (0, 0, 1, 0, 0.5)),
        ("refused", "no code", "", None, (0, 0, 0, 0, 0.0)),
        ("empty", "no code", "", None, (0, 0, 0, 0, 0.0)),
        ("filtered", "no code", "", None, (0, 0, 0, 0, 0.0)),
        ("failed", "no code", "", None, (0, 0, 0, 0, 0.0)),
    ],
)
def test_marks(status: str, outcome: str, text: str, stdout: str | None, expected: tuple[float, ...]) -> None:
    assert _marks(status, outcome, text, stdout) == expected


def test_every_outcome_of_an_execution_has_a_place_in_the_table() -> None:
    from typing import get_args

    from dsqa.execution import Outcome

    for outcome in get_args(Outcome):
        for solved in (True, False):
            final = final_execution(outcome, solved=solved)
            paper, repository = executability(final), executability(final, "repository")
            assert paper == (0 if outcome == "no code" else 2 if outcome == "ran" and solved else 1)
            assert repository == (2 if outcome == "ran" and solved else 1 if outcome == "ran" else 0)


def test_score_spans_0_to_3() -> None:
    values = {score(cr, ra, ce) for cr in (0, 1) for ra in (0, 1) for ce in (0, 1, 2)}
    assert values == {0, 0.5, 1, 1.5, 2, 2.5, 3}
