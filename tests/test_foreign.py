from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import StudyError
from dsqa.foreign import read_json, spreadsheet_text, visible
from dsqa.foreign_yaml import read_yaml
from dsqa.study.parse import parse_study

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9)
)


@given(st.text())
def test_what_is_visible_commands_nothing(text):
    shown = visible(text)
    assert not set(shown) & {chr(c) for c in (*range(0x20), *range(0x7F, 0xA0)) if chr(c) not in "\n\t"}
    assert not any("\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" or c in "\u2028\u2029" for c in shown)
    shown.encode("utf-8")
    if text.isprintable() and not set(text) & set("\u061c\u200e\u200f"):
        assert shown == text


@given(st.recursive(st.integers(-(10**14), 10**14) | st.text() | st.none(), st.lists, max_leaves=5))
def test_ordinary_json_is_read_as_it_is(value):
    assert read_json(json.dumps(value)) == value
    assert read_json(b"\xef\xbb\xbf" + json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: x\nruns: " + "9" * 5000, 2),
        ("name: x\nruns: 0x" + "f" * 5000, 2),
        ("name: x\nruns: -" + "1_0" * 2000, 2),
        ("a: &a [*a]", 1),
        ("a: &a {b: {c: *a}}", 1),
        ("name: x\nruns: &r [1, [*r]]", 2),
        (LAUGHS, None),
        ("x: " + "[" * 400 + "]" * 400, 1),
        ("[" * 20_000, None),
        ("created: 2025-13-45", None),
        ("? [a]\n: b", 1),
        ("!!python/object:os.system x", 1),
        ('name: "\x07"', None),
    ],
)
def test_yaml_that_is_a_trap_is_one_clear_line(text, line):
    begun = time.process_time()
    with pytest.raises(StudyError) as refused:
        parse_study(text)
    assert refused.value.line == line
    assert "\n" not in str(refused.value)
    assert time.process_time() - begun < 10


def test_aliases_that_mean_what_they_say_are_read():
    assert read_yaml("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]")[1]["c"] == [{"k": [1, 2]}] * 2
    assert read_yaml("") == (None, None)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-3.5", "-3.5"),
        ("+4", "+4"),
        ("-1e-5", "-1e-5"),
        ("m-1", "m-1"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_formula_is_text_in_a_spreadsheet(text, safe):
    assert spreadsheet_text(text) == safe


def test_a_model_name_with_a_control_character_is_refused():
    with pytest.raises(StudyError, match="control character") as refused:
        parse_study('name: x\nbank: b.csv\nmodels:\n  - "m\\x07"')
    assert refused.value.line == 4
