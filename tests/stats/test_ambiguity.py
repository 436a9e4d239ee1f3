"""Whether a question looks ambiguous, case by case."""

from __future__ import annotations

import pytest

from dsqa.stats.ambiguity import answer_split


def test_two_readings_of_one_question() -> None:
    split = answer_split({"t": ["12"] * 6 + ["13"] * 4})
    assert split is not None
    assert (split.kind, split.answers) == ("within", ("12", "13"))


def test_many_answers_are_a_hard_question_not_an_ambiguous_one() -> None:
    assert answer_split({"t": [str(i) for i in range(20)]}) is None
    # Two answers come again, but half of the runs say something else.
    assert answer_split({"t": ["1"] * 5 + ["2"] * 5 + [str(i) for i in range(10, 20)]}) is None


def test_one_answer_and_a_slip_now_and_then() -> None:
    assert answer_split({"t": ["1"] * 9 + ["2"]}) is None


def test_runs_without_an_answer_are_in_the_denominator() -> None:
    # 3 and 2 of the 5 read, but of 10 runs.
    assert answer_split({"t": ["1", "1", "1", "2", "2"] + [None] * 5}) is None


def test_one_run_in_five_is_not_again_and_again() -> None:
    assert answer_split({"t": ["1"] * 4 + ["2"]}) is None


def test_conditions_that_each_keep_to_their_own_answer() -> None:
    split = answer_split({"a": ["1"] * 10, "b": ["2"] * 9 + ["3"], "c": [None] * 10})
    assert split is not None
    assert (split.kind, split.cells, split.answers) == ("between", ("a", "b"), ("1", "2"))


@pytest.mark.parametrize("runs", [[], ["1"], ["1", "2", "1", "2"], [None] * 10])
def test_too_few_runs_or_no_answers_say_nothing(runs: list[str | None]) -> None:
    assert answer_split({"t": runs}) is None
