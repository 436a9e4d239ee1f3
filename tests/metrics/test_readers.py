from __future__ import annotations

import pytest

from dsqa.metrics import READERS
from tests.metrics.questions import QUESTIONS, ask

COUNT, TWO, COUNTRY = (QUESTIONS[k] for k in ("count", "two", "country"))


@pytest.mark.parametrize(
    ("text", "standard", "strict", "last"),
    [
        ("@n_cars[32]", "32", "32", "32"),
        ("The answer is 32.", "32", None, "32"),
        ("There are 32 cars, of which 14 are manual.", None, None, "14"),
        ("@n_cars[32] as of 1974", "32", "32", "1974"),
        ("No number here.", None, None, None),
        ("<think>32", None, None, None),
        ("```python\nprint(32)\n```\nDone.", None, None, None),
        ("it grew by -1,234.5 %", None, None, "-1,234.5 %"),
        ("version v2", None, None, None),
    ],
)
def test_what_each_reader_reads(text: str, standard: str | None, strict: str | None, last: str | None) -> None:
    read = {name: reader.read_text(text, COUNT).values.get("n_cars") for name, reader in READERS.items()}
    assert read == {"standard": standard, "strict": strict, "last-number": last}


def test_last_numbers_of_a_question_of_several() -> None:
    question = ask("@a[x] @b[y]", ("a", "1.5"), ("b", "20"))
    assert READERS["last-number"].read_text("3 rows: 1.5 and 20.", question).values == {"a": "1.5", "b": "20"}
    assert READERS["last-number"].read_text("only 20", question).status == "unparsed"
    assert READERS["last-number"].read_text("34.65 and yes", TWO).values == {"a": "34.65"}
    assert READERS["last-number"].read_text("Nigeria, 3 times", COUNTRY).status == "unparsed"


def test_readers_of_output() -> None:
    assert READERS["strict"].read_output("32\n", None, COUNT).status == "unparsed"
    assert READERS["strict"].read_output("", "'@n_cars[32]'", COUNT).values == {"n_cars": "32"}
    assert READERS["last-number"].read_output("rows: 40\nmean 32\n", None, COUNT).values == {"n_cars": "32"}
