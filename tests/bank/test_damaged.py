"""Damaged banks: one line each, no hang, whatever the format."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from dsqa.authoring import check_bank
from dsqa.bank import load_bank
from dsqa.errors import BankError
from tests.bank.test_quiz_formats import AIKEN, CANVAS, GIFT, MOODLE, RMD, RNW

DIGITS = "9" * 5_000
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)
CSV = "question,A,B,answer,tolerance\nWhich?,mean,median,B,\nHow many (2 decimals)?,,,3.5,0.1\n"


def one_line(path: Path) -> None:
    """Everything that is done with a bank ends, and says what is wrong in lines of one."""
    began = time.process_time()
    for act in (check_bank, load_bank):
        message = ""
        try:
            act(path)
        except BankError as caught:
            message = str(caught)
        assert "\n" not in message
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"question": "x \\ud800", "answer": "\\udfff"}'),
        ("b.jsonl", '{"question": "x", "answer": "1", "note\\ud800": "\\ud800"}'),
        ("c.jsonl", f'{{"question": "x", "answer": {DIGITS}}}'),
        ("d.csv", f"question,answer,n\nx,{DIGITS},{DIGITS}"),
        ("e.csv", "question,answer,tolerance\nx (2 decimals),1e999999999,1e999999"),
        ("f.yaml", f"- question: x\n  answer: {DIGITS}\n  points: {DIGITS}"),
        ("g.yaml", "a: &a [*a]"),
        ("h.yaml", "- question: x\n  answer: &a [*a]"),
        ("i.yaml", "- &a\n  question: x\n  answer: *a"),
        ("j.yaml", LAUGHS + "questions:\n- question: x\n  answer: *j"),
        ("k.md", "## q\n\nx?\n\n```yaml question\nanswer: &a [*a]\n```\n"),
        ("l.csv", "question,answer\nHow \0many?,5"),
        ("m.jsonl", '{"question": "a\\u0000", "answer": "1", "data": "x\\u0000.csv"}'),
        ("n.gift", f"::a:: x {{#{DIGITS}:{DIGITS}}}\n\n::b:: y {{#1..{DIGITS}}}"),
    ],
)
def test_what_is_hostile_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    one_line(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252", "utf-32"])
def test_encodings_of_spreadsheets(tmp_path, encoding):
    path = tmp_path / "b.csv"
    path.write_bytes("question,answer\nWie viele Städte?,5\n".encode(encoding))
    assert load_bank(path)["q1"].question == "Wie viele Städte?"


def test_an_old_workbook_says_what_to_do(tmp_path):
    for name in ("b.xls", "b.xlsx"):
        (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
        with pytest.raises(BankError, match=r"save it as \.xlsx"):
            load_bank(tmp_path / name)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".csv", CSV),
        (".gift", GIFT),
        (".txt", AIKEN),
        (".xml", MOODLE),
        (".xml", CANVAS),
        (".Rmd", RMD),
        (".Rnw", RNW),
    ],
)
def test_mutated_banks_are_read_or_refused_in_one_line(tmp_path, suffix, text):
    rng = random.Random(13)
    bits = ["\0", "\n", '"', "{", "}", "=", "<", "&", "\\", "~", "%", "#", ",", "9" * 400, "é", "::", "->", "]]>"]
    path = tmp_path / f"b{suffix}"
    for _ in range(25):
        raw = bytearray(text.encode())
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(raw))
            kind = rng.randrange(4)
            if kind == 0:
                raw[at] = rng.randrange(256)
            elif kind == 1:
                del raw[at : at + rng.randint(1, 60)]
            elif kind == 2:
                raw[at:at] = rng.choice(bits).encode()
            else:
                raw[at:at] = raw[: rng.randint(1, 80)]
        path.write_bytes(raw)
        one_line(path)
