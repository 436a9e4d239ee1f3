"""Siblings of the kinds in test_answer_kinds.py that an outsider tried and found wrong."""

from __future__ import annotations

import json

import pytest

from dsqa.bank import load_bank
from dsqa.metrics import compare_answer, read_answer, read_output
from tests.metrics.questions import ask
from tests.metrics.test_answer_kinds import text_status, value_status

OPTIONS = "Which is best?\nA) the mean\nB) boxplots\nC) the median\nD) 20"


@pytest.mark.parametrize(
    "text",
    [
        "(B) is incorrect.",
        "(B) can be ruled out.",
        "(B) would be a mistake.",
        "So (B) fails.",
        "I reject (B).",
        "B) is not suitable.",
    ],
)
def test_a_sentence_against_an_option_does_not_choose_it(text) -> None:
    assert text_status("B", text, question=OPTIONS) != "matched"


@pytest.mark.parametrize("text", ["(B) boxplots", "B) boxplots.", "(B) is right.", "(B) is the best choice."])
def test_a_sentence_for_an_option_chooses_it(text) -> None:
    assert text_status("B", text, question=OPTIONS) == "matched"


@pytest.mark.parametrize(
    "before",
    [
        "There is no evidence that",
        "There is little evidence that",
        "There is no proof that",
        "I see no indication that",
        "Nothing shows that",
        "Nowhere is it shown that",
        "The idea that",
        "It's debatable that",
        "You may be told",
    ],
)
def test_what_is_not_claimed_states_nothing(before) -> None:
    assert text_status("58", f"{before} the answer is 58.") == "unparsed"


@pytest.mark.parametrize(
    "text",
    [
        "There is no doubt that the answer is 58.",
        "I have no doubt the answer is 58.",
        "The answer is therefore 58.",
        "The answer is thus 58.",
        "Hence the answer is clearly 58.",
        "The answer turns out to be 58.",
        "The answer is 58 rather than 9.",
        "\\boxed{9}. The correct answer is therefore 58, not 9.",
    ],
)
def test_what_is_stated_with_a_word_more_is_stated(text) -> None:
    assert text_status("58", text) == "matched"


@pytest.mark.parametrize(
    "value",
    [
        "7 Millionen", "7 Milliarden", "7 millones", "7 milliards", "7 billiard", "7 mlrd", "7 MM", "7 bil", "7 thou",
        "7 tsd", "7 kk", "7 tens", "7 twenties", "7 hundredfold", "7 myriad", "7 gazillion", "7 doubled", "7 halved",
        "7 reciprocal", "7 off", "7 log units",
    ],
)  # fmt: skip
def test_a_word_of_size_is_no_unit(value) -> None:
    assert value_status("7", value) != "matched"


@pytest.mark.parametrize("value", ["7 hours", "7 patients", "7 mm", "7 pairs", "7 cars"])
def test_a_unit_is_a_unit(value) -> None:
    assert value_status("7", value) == "matched"


@pytest.mark.parametrize("form", ["2dp", "to 2dp", "correct to 2dp", "to hundredths", "to the hundredth"])
def test_decimals_asked_for_in_short_count(form) -> None:
    assert value_status("0.5", "0.52", f"@answer[value], {form}") != "matched"
    assert value_status("0.5", "0.50", f"@answer[value], {form}") == "matched"


@pytest.mark.parametrize("value", ["$(18, 65]$", "\\((18, 65]\\)", "**(18, 65]**", "`(18, 65]`", "'(18, 65]'"])
def test_a_half_open_range_may_be_wrapped(value) -> None:
    assert value_status("(18, 65]", value) == "matched"
    assert value_status("(18, 65]", value.replace("]", ")", 1).replace("65))", "65)")) != "matched"


def test_what_numpy_2_prints_of_a_dictionary_is_read() -> None:
    question = ask("@n[value] @mean_a[value]", ("n", "12"), ("mean_a", "4.5"))
    for printed in (
        "{'n': np.int64(12), 'mean_a': np.float64(4.5)}",
        "{'n': 12, 'mean_a': np.float64(4.5)}",
        "{'n': numpy.int32(12), 'mean_a': np.float64(4.5)}",
    ):
        assert compare_answer(read_output(printed, None, question), question).status == "matched"
        assert compare_answer(read_answer(printed, question), question).status == "matched"


@pytest.mark.parametrize(
    ("choices", "options"),
    [
        ({"label": ["A", "B"], "text": ["mean", "median"]}, {"A": "mean", "B": "median"}),
        (["A) mean", "B) median"], {"A": "mean", "B": "median"}),
        (["mean", "median"], {"A": "mean", "B": "median"}),
        (["A. mean", "median"], {"A": "A. mean", "B": "median"}),
    ],
)
def test_options_as_other_banks_have_them(tmp_path, choices, options) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_text(json.dumps({"id": "q", "question": "Which?", "choices": choices, "answer": "B"}) + "\n")
    (question,) = load_bank(path)
    assert dict(question.options) == options


@pytest.mark.parametrize("choices", [5, {"A": ["x"], "B": ["y"]}, [1, 2], True])
def test_options_that_are_none_are_a_finding_and_lose_no_other_question(tmp_path, choices) -> None:
    path = tmp_path / "bank.jsonl"
    good = {"id": "good", "question": "How many?", "answer": "3"}
    bad = {"id": "q", "question": "Which?", "choices": choices, "answer": "B"}
    path.write_text(json.dumps(bad) + "\n" + json.dumps(good) + "\n")
    bank = load_bank(path)
    assert "good" in bank.ids
