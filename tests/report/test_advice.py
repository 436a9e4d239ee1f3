"""What a question's runs mean for whoever sets it, rule by rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from dsqa.report.advice import Advice, advise
from dsqa.report.marking import holds_the_truth
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


def test_two_answers_of_one_model_are_no_evidence_of_two_readings(page: Page) -> None:
    both = _with(page, ["1"] * 6 + ["2"] * 4, right="1")
    assert _first(both).ambiguous is None
    assert _first(both).next_step.startswith("Ask more: 10 runs leave open")
    assert "No question looks ambiguous" in sheet_summary(advise(both))


def test_another_reading_of_the_data_is_evidence(page: Page) -> None:
    both = _with(page, ["1"] * 6 + ["2"] * 4, right="1")
    rows = both.outcomes["answer_key"].eq("2") & both.outcomes["question_id"].eq(page.questions[0].id)
    read = both.outcomes.assign(answer_convention=pd.array(["ddof=0" if r else None for r in rows], dtype="string"))
    found = _first(dataclasses.replace(both, outcomes=read))
    assert found.next_step == "Say which is meant: 1 and 2; one of them is right under another reading: ddof\\=0."


@pytest.mark.parametrize("options", [{}, {"A": "yes", "B": "no"}, {"A": "1", "B": "2", "C": "3"}])
def test_models_that_split_alike_are_evidence_but_not_between_options(page: Page, options: dict[str, str]) -> None:
    both = _with(page, ["1"] * 5 + ["2"] * 5, right="1")
    other = both.outcomes.assign(model="model-b", condition_id="other")
    question = page.questions[0].model_copy(update={"options": options})
    twice = dataclasses.replace(
        both, outcomes=pd.concat([both.outcomes, other], ignore_index=True), questions=(question, *page.questions[1:])
    )
    found = _first(twice)
    assert (found.ambiguous is None) is bool(options)
    if not options:
        assert found.next_step == "Say which is meant: 1 and 2; model\\-a and model\\-b split alike."


def test_a_question_mostly_right_is_not_called_ambiguous(page: Page) -> None:
    runs = ["46"] * 8 + ["45"] * 2
    both = _with(page, runs, right="46")
    other = both.outcomes.assign(model="model-b", condition_id="other")
    twice = dataclasses.replace(both, outcomes=pd.concat([both.outcomes, other], ignore_index=True))
    assert _first(twice).ambiguous is None
    assert "Count on students" in _first(twice).next_step


@pytest.mark.parametrize(
    ("truth", "answer", "held"),
    [
        ("285.7 kEUR", "285.7", True),
        ("b", "b) side-by-side boxplots", True),
        ("side-by-side boxplots", "Side-by-side boxplots, since", True),
        ("1,234", "about 1234 rows", True),
        ("0.45", "45%", True),
        ("-3", "the value is −3", True),
        ("12", "120", False),
        ("3.1", "3.14", False),
        ("No", "Not significant", False),
        ("yes", "no", False),
        ("7", "", False),
    ],
)
def test_a_wrong_answer_that_holds_the_truth(truth: str, answer: str, held: bool) -> None:
    assert holds_the_truth([truth], answer) is held


def test_the_marking_is_to_be_checked_where_the_commonest_wrong_answer_holds_the_truth(page: Page) -> None:
    found = _first(_with(page, ["42 g"] * 6 + ["42"] * 4, right="42"))
    assert found.next_step == "Check the marking: 42 g, counted as wrong, holds the right answer."


def test_it_depends_on_the_model_where_the_models_lie_apart(page: Page) -> None:
    good, bad = _with(page, ["42"] * 10, right="42"), _with(page, [str(i) for i in range(10)], right="42")
    worse = bad.outcomes.assign(model="model-b", condition_id="other")
    both = dataclasses.replace(good, outcomes=pd.concat([good.outcomes, worse], ignore_index=True))
    assert _first(both).next_step.replace("\xa0", " ") == (
        "It depends on the model: model\\-a gets it right in 100 % of runs, model\\-b in 0 %."
    )


def test_the_sheet_shows_how_far_unread_answers_could_move_a_share(page: Page) -> None:
    some = _with(page, ["42"] * 3 + [None] * 4 + ["7"] * 3, right="42")
    sheet = assignment_sheet(some, advise(some)).replace("\xa0", " ")
    assert "30 % to 70 % [3/10, 4 not read]{.interval}" in sheet


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
    rows = [(first, 0.10, "USD"), (first, 0.16, "USD"), (second, 0.20, "USD"), (second, None, None)]
    costs = pd.DataFrame(rows, columns=["question_id", "cost", "currency"])
    priced = dataclasses.replace(page)
    # In place of what is read from the records and their prices.
    priced.__dict__["tables"] = SimpleNamespace(costs=costs)
    found = advise(priced)
    # The mean of the question's runs.
    assert found[first].cost.replace("\\", "") == "0.13 USD"
    assert found[second].cost.endswith(" tokens")
