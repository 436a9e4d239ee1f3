"""Options of a choice: read out of texts, written below them, named by a ground truth."""

from __future__ import annotations

import time

import pytest
from pydantic import ValidationError

from dsqa.bank import Question, letters_of, options_in, options_text

THREE = {"A": "mean", "B": "median", "C": "mode"}


def question(**fields) -> Question:
    base = {"id": "q", "question": "Which?", "format": "@answer[letter]", "level": "easy"}
    return Question(**base | {"common_answers": [["answer", "B"]], "options": THREE} | fields)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Which?\na) mean\nb) median\nc) mode", {"a": "mean", "b": "median", "c": "mode"}),
        ("Which?\n\n- (A) mean\n- (B) median\n\nChoose one.", {"A": "mean", "B": "median"}),
        ("Which?\nA. the mean\n   of all\nB. the median", {"A": "the mean of all", "B": "the median"}),
        ("Which?\n**A.** mean\n**B.** median", {"A": "mean", "B": "median"}),
        ("Which: (a) mean, (b) median or (c) mode?", {"a": "mean", "b": "median", "c": "mode"}),
        ("Which holds? a) p < 0.05; b) p >= 0.05", {"a": "p < 0.05", "b": "p >= 0.05"}),
        ("1. Load the data.\n2. Count the rows.", {}),
        ("What is f(a) here?", {}),
        ("a) Load.\nb) Count.\n\na) Plot.\nb) Save.", {}),
        ("b) first\nc) second", {}),
        ("a) alone", {}),
    ],
)
def test_options_are_read_out_of_a_text(text, options):
    assert options_in(text) == options
    assert list(options_in(text)) == list(options)


@pytest.mark.parametrize(
    ("truth", "letters"),
    [
        ("B", ("B",)),
        ("b", ("B",)),
        ("(B)", ("B",)),
        ("b) median", ("B",)),
        ("Median.", ("B",)),
        ("C and A", ("A", "C")),
        ("A, C", ("A", "C")),
        ("AC", ("A", "C")),
        ("[A, C]", ("A", "C")),
        ("mean; mode", ("A", "C")),
        ("D", None),
        ("b) mode", None),
        ("A, A", None),
        ("A, 3", None),
        ("", None),
    ],
)
def test_a_truth_names_letters(truth, letters):
    assert letters_of(truth, THREE) == letters


def test_an_option_with_a_comma_is_one_option():
    assert letters_of("left, then right", {"A": "left, then right", "B": "right"}) == ("A",)


def test_options_are_asked_below_the_question_and_not_twice():
    assert question().asked == "Which?\n\nA) mean\nB) median\nC) mode"
    assert question(constraints="Be brief.").asked.endswith("C) mode\n\nBe brief.")
    listed = "Which: (a) mean, (b) median or (c) mode?"
    assert question(question=listed).asked == listed
    assert question(question=listed, options={"A": "x", "B": "y"}).asked.endswith("A) x\nB) y")
    assert question(options={}).asked == "Which?"


def test_the_choice_of_a_part():
    assert question().choice("answer") == ("B",)
    assert question(common_answers=[["answer", "A, C"]]).choice("answer") == ("A", "C")
    assert question(common_answers=[["answer", "0.05"]]).choice("answer") is None
    assert question(options={}).choice("answer") is None


def test_options_in_any_of_their_forms():
    assert question(options=["mean", "median", 3]).options == {"A": "mean", "B": "median", "C": "3"}
    assert list(question(options=[["b", "x"], ["a", "y"]]).options) == ["b", "a"]
    assert "options" not in question(options=None).to_dict()
    for wrong in (["alone"], {"A": "x", "a": "y"}, {"the mean": "x", "b": "y"}, ["x"] * 27):
        with pytest.raises(ValidationError):
            question(options=wrong)


def test_other_right_values_by_part():
    assert question(accepted={"answer": "NYC"}).accepted == {"answer": ("NYC",)}
    assert question(accepted={"answer": ["NYC", 1]}).accepted == {"answer": ("NYC", "1")}
    assert "accepted" not in question().to_dict()


def test_written_options_are_read_back():
    assert options_in(options_text(THREE)) == THREE


def test_long_texts_take_linear_time():
    began = time.process_time()
    for text in ("(a) " * 100_000, "a) x\n" * 100_000, "\n".join(f"{c}) " * 400 for c in "abc"), "x " * 500_000):
        options_in(text)
    letters_of("A," * 50_000, THREE)
    assert time.process_time() - began < 3
