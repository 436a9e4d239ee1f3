"""What a question's runs mean for whoever sets it, rule by rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from dsqa.report.advice import Advice, advise
from dsqa.report.page import Page, open_page
from dsqa.report.sheet import assignment_sheet, sheet_summary
from tests.report.study import make_study


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    root = tmp_path_factory.mktemp("advice") / "study"
    return open_page(make_study(root, questions=2, temperatures=(1.0,), runs=10).root, resamples=99)


def _with(page: Page, answers: Sequence[str | None], right: str | None, status: str = "answered") -> Page:
    """Give the first question these answers, one per run; `right` None: it has no ground truth."""
    outcomes = page.outcomes.copy()
    rows = outcomes.index[outcomes["question_id"] == page.questions[0].id]
    assert len(rows) == len(answers)
    outcomes.loc[rows, "answer_key"] = pd.array(answers, dtype="string")
    outcomes.loc[rows, "answer"] = pd.array(
        [None if a is None else f'{{"x": "{a}"}}' for a in answers], dtype="string"
    )
    marks = [pd.NA if right is None else int(a == right) for a in answers]
    outcomes.loc[rows, "accuracy"] = pd.array(marks, dtype="Int64")
    outcomes.loc[rows, "status"] = status
    return dataclasses.replace(page, outcomes=outcomes)


def _first(page: Page) -> Advice:
    return advise(page)[page.questions[0].id]


def test_the_commonest_wrong_answer_is_not_the_commonest_answer(page: Page) -> None:
    found = _first(_with(page, ["1"] * 5 + ["2"] * 2 + ["3", "4", None], right="1"))
    assert (found.wrong, found.wrong_runs, found.right, found.runs) == ("2", 2, 5, 10)
    assert found.ambiguous is None


def test_two_answers_held_steadily_ask_which_is_meant(page: Page) -> None:
    both = _with(page, ["1"] * 6 + ["2"] * 4, right="1")
    assert _first(both).next_step == "Say which is meant: 1 or 2."
    assert "(answers split between 1 and 2, each given again and again)" in sheet_summary(advise(both))


def test_runs_that_agree_on_a_wrong_answer_put_the_truth_in_doubt(page: Page) -> None:
    found = _first(_with(page, ["7"] * 9 + ["1"], right="1"))
    assert found.next_step.startswith("Check the right answer in the bank: 90")
    assert found.next_step.endswith("agree on 7.")


def test_cut_responses_come_first(page: Page) -> None:
    found = _first(_with(page, [None] * 10, right="1", status="truncated"))
    assert "max_tokens" in found.next_step


def test_no_reply_at_all(page: Page) -> None:
    assert "no reply came" in _first(_with(page, [None] * 10, right="1", status="failed")).next_step


def test_without_a_ground_truth_there_is_no_share(page: Page) -> None:
    without = _with(page, ["1"] * 10, right=None)
    assert "right answer" in _first(without).next_step
    assert _first(without).marked == 0
    assert "nan" not in assignment_sheet(without, advise(without)).lower()


def test_a_row_per_question_and_answers_are_text(page: Page, tmp_path: Path) -> None:
    strange = _with(page, ["<b>|x"] * 6 + ["2"] * 4, right="2")
    sheet = assignment_sheet(strange, advise(strange))
    assert sheet.count("{#q-") == 2
    assert "<b>" not in sheet.replace("\\<b\\>", "")


def test_cost_is_summed_and_one_unknown_run_leaves_the_tokens(page: Page) -> None:
    first, second = (question.id for question in page.questions)
    rows = [(first, 0.10, "USD"), (first, 0.15, "USD"), (second, 0.20, "USD"), (second, None, None)]
    costs = pd.DataFrame(rows, columns=["question_id", "cost", "currency"])
    priced = dataclasses.replace(page)
    # In place of what is read from the records and their prices.
    priced.__dict__["tables"] = SimpleNamespace(costs=costs)
    found = advise(priced)
    assert found[first].cost.replace("\\", "") == "0.25 USD"
    assert found[second].cost.endswith(" tokens")
