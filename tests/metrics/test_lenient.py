"""Runs that were asked elsewhere: their answers are read where they usually stand, and what is none stays unread."""

from __future__ import annotations

import pytest

from dsqa.bank import Question
from dsqa.metrics import compare_answer, read_answer

ABC = "Which?\n(A) one\n(B) two\n(C) three"


def asked(
    truth: str, *, lenient: bool = True, options: dict[str, str] | None = None, name: str = "answer"
) -> Question:
    return Question.model_validate({
        "id": "q", "question": ABC if options else "How many?", "format": "@answer[value]", "level": "easy",
        "common_answers": [("answer", truth)], "options": options or {},
        **({"reading": "lenient"} if lenient else {}),
    })  # fmt: skip


def status(text: str, question: Question) -> str:
    return compare_answer(read_answer(text, question), question).status


@pytest.mark.parametrize(
    ("truth", "text", "expected"),
    [
        ("7", "@x[7]", "matched"),
        ("7", "so it is about 7", "matched"),
        ("7", "3 + 4 = 7\n#### 7", "matched"),
        ("7", "Thus [[7]], not 8", "matched"),
        ("7", '{"Answer": 7}', "matched"),
        ("7", 'Here:\n```json\n{"why": "8 cars less one", "final_answer": "7"}\n```', "matched"),
        ("7", '{"answer": 8}', "mismatched"),
        ("7", "no idea", "unparsed"),
        ("7", "", "unparsed"),
        ("7", "@answer[7] and then 8 more words", "matched"),
        ("yes", "Hm. So yes, it is skewed.", "matched"),
        ("yes", "It is skewed.", "unparsed"),
        ("Free", "It is\nFree", "matched"),
        ("Free", "The category: Free", "matched"),
        ("B", '{"Answer":"B"}', "matched"),
        ("B", "The answer is (B) two.", "matched"),
        ("B", "We choose among (A), (B) and (C). It must be (B).", "matched"),
        ("B", "(C)", "mismatched"),
    ],
)
def test_one_value(truth: str, text: str, expected: str) -> None:
    assert status(text, asked(truth)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"Answer":"B"}', "matched"), ('{"Answer":"(B)"}', "matched"), ("The answer is (B) two.", "matched"),
        ("I think (A) is wrong, so (B).", "matched"), ("B", "matched"), ("b", "matched"), ("**B**", "matched"),
        ("B) two", "matched"), ("two", "matched"), ("Answer: B. two", "matched"), ("[[B]]", "matched"),
        ("The correct option is B because 1 + 1 = 2.", "matched"), (r"Therefore $\boxed{B}$", "matched"),
        (r"answer is $\boxed{\text{(B)}}$", "matched"), ("@choice[B]", "matched"), ("Let us see.\n\nB.", "matched"),
        ("The answer is (C) three.", "mismatched"), ("(A)", "mismatched"),
        ("the answer is a mystery", "unparsed"), ("A hard one. I do not know.", "unparsed"), ("", "unparsed"),
    ],
)  # fmt: skip
def test_a_choice(text: str, expected: str) -> None:
    assert status(text, asked("B", options={"A": "one", "B": "two", "C": "three"})) == expected


def test_several_parts_by_the_names_in_json() -> None:
    question = Question.model_validate({
        "id": "q", "question": "Mean and SD?", "format": "@mean[x], @sd[y]", "level": "easy",
        "common_answers": [("mean", "2.5"), ("sd", "1.0")], "reading": "lenient",
    })  # fmt: skip
    assert status('{"Mean": 2.5, "SD": 1.0}', question) == "matched"
    assert status('{"mean": 2.5}', question) == "partial"
    assert status("2.5 and 1.0", question) == "unparsed"


def test_without_leave_nothing_is_looked_for() -> None:
    assert status("so it is about 7", asked("7", lenient=False)) == "unparsed"
    assert status("[[7]] cars, or more", asked("7", lenient=False)) == "unparsed"


def test_long_and_hostile_texts_are_read_in_linear_time() -> None:
    question = asked("B", options={"A": "one", "B": "two"})
    for text in ("(" * 200_000, "{" * 200_000, "**" * 100_000, "answer " * 50_000, '{"a":' * 50_000, "\n" * 200_000):
        assert status(text, question) == "unparsed"
