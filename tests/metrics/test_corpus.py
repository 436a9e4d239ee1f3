from __future__ import annotations

import pytest

from dsqa.metrics import compare_answer, read_answer
from tests.metrics.corpus import RESPONSES, VALUES
from tests.metrics.questions import QUESTIONS


@pytest.mark.parametrize(("key", "value", "matches"), VALUES, ids=[f"{k}-{v}" for k, v, _ in VALUES])
def test_value_in_the_strict_format(key: str, value: str, matches: bool) -> None:
    question = QUESTIONS[key]
    (name,) = question.answers
    reading = read_answer(f"Here it is: @{name}[{value}]", question)
    comparison = compare_answer(reading, question)
    expected = "matched" if matches else "mismatched"
    assert comparison.status == expected, comparison.parts[0].reason
    assert comparison.parts[0].reason
    truth_key = compare_answer(read_answer(f"@{name}[{question.answers[name]}]", question), question).key
    assert (comparison.key == truth_key) is matches


@pytest.mark.parametrize(
    ("key", "text", "read", "status"), RESPONSES, ids=[f"{k}-{t}"[:60] for k, t, *_ in RESPONSES]
)
def test_response(key: str, text: str, read: object, status: str) -> None:
    question = QUESTIONS[key]
    reading = read_answer(text, question)
    expected = {} if read is None else read if isinstance(read, dict) else {next(iter(question.answers)): read}
    assert reading.values == expected
    assert compare_answer(reading, question).status == status


def test_the_corpus_is_large_enough() -> None:
    assert len(VALUES) + len(RESPONSES) >= 400
