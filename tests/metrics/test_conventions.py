"""A wrong answer that is right under another convention names it; anything else names nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.metrics import compare_answer, read_answer
from tests.metrics.questions import ask


def compared(truth: str, answer: str, name: str = "x", text: str = "What is it?", **fields):
    question = ask(f"@{name}[value]", (name, truth), question=text, **fields)
    return compare_answer(read_answer(f"@{name}[{answer}]", question), question)


@pytest.mark.parametrize(
    ("truth", "answer", "fields", "convention"),
    [
        ("0.28", "28", {}, "per cent for a proportion (100 ×)"),
        ("28.0", "0.28", {}, "proportion for a per cent (÷ 100)"),
        ("20%", "0.2", {}, "proportion for a per cent (÷ 100)"),
        ("60", "0.6", {"unit": "percent"}, "proportion for a per cent (÷ 100)"),
        ("-0.58", "0.58", {}, "the other sign"),
        ("34.65", "34.7", {}, "fewer decimals than asked"),
        ("34.67", "34.6", {}, "cut off, not rounded"),
        ("34.65", "34,65", {}, "decimal comma"),
        ("[1, 2, 3]", "[3, 2, 1]", {}, "the order of the items"),
        ("[1, -2, 3]", "[1, 2, 3]", {}, "the other sign"),
        ("25.77", "664.09", {"text": "the standard deviation"}, "variance for the standard deviation"),
        ("664.09", "25.77", {"text": "the variance"}, "standard deviation for the variance"),
        ("25.77", "25.51", {"text": "the sd", "n": 50}, "divisor n for n − 1"),
        ("25.51", "25.77", {"text": "the sd", "n": 50}, "divisor n − 1 for n"),
        ("664.09", "650.81", {"text": "the variance", "n": 50}, "divisor n for n − 1"),
        ("1.8971", "4.3683", {"text": "the log of it"}, "natural logarithm for base 10"),
        ("4.3683", "1.8971", {"text": "the log of it"}, "base 10 for the natural logarithm"),
        ("0.0426", "0.0213", {"name": "p_value"}, "one-sided p-value for a two-sided one (÷ 2)"),
        ("0.0213", "0.0426", {"name": "p_value"}, "two-sided p-value for a one-sided one (2 ×)"),
        ("0.0213", "0.9787", {"name": "p_value"}, "the other tail, or the complement (1 −)"),
        ("0.28", "0.72", {"unit": "proportion"}, "the other tail, or the complement (1 −)"),
        ("28.4", "71.6", {"unit": "percent"}, "the complement (100 −)"),
    ],
)
def test_the_convention_is_named(truth: str, answer: str, fields: dict, convention: str) -> None:
    result = compared(truth, answer, **fields)
    assert result.status == "mismatched"
    assert result.convention == convention
    assert convention in result.parts[0].reason


@pytest.mark.parametrize(
    ("truth", "answer", "fields"),
    [
        ("4", "2", {"text": "How many clusters?"}),  # a root, but nothing speaks of a variance
        ("0.30", "0.69", {"text": "What is the share?"}),  # no logarithm is spoken of
        ("0.5", "0.25", {"text": "What is the correlation?"}),  # no p-value
        ("34.65", "12", {}),
        ("34.65", "34.66", {}),
        ("0", "0.04", {}),
        ("0", "-0", {}),
        ("5", "[5, 6]", {}),
        ("0.2", "18", {}),  # a truth of one digit does not explain whatever is near 20
        ("Nigeria", "Kenya", {}),
        ("[1, 2, 3]", "[1, 2, 4]", {}),
        ("[1, -2, 300]", "[1, 2, 3]", {}),  # two conventions for two items are none
    ],
)
def test_nothing_is_named_where_nothing_explains(truth: str, answer: str, fields: dict) -> None:
    assert compared(truth, answer, **fields).convention is None


def test_a_trap_of_the_question_is_named_first_and_stays_wrong() -> None:
    traps = {"ddof=0": {"x": "25.51"}, "of the logarithms": {"x": "-25.77"}}
    assert compared("25.77", "25.51", traps=traps, n=50, text="the sd").convention == "ddof=0"
    assert compared("25.77", "-25.77", traps=traps).convention == "of the logarithms"
    assert compared("25.77", "25.51", traps=traps).status == "mismatched"
    assert compared("25.77", "25.77", traps=traps).convention is None


def test_a_trap_is_matched_by_the_questions_own_rule() -> None:
    traps = {"ddof=0": {"x": "1.1234"}}
    assert compared("1.2345", "1.12", traps=traps, rounding="2").convention == "ddof=0"
    assert compared("1.2345", "1.13", traps=traps, rounding="2").convention is None
    assert compared("Adelie", "the gentoo", traps={"heaviest": {"x": "Gentoo"}}).convention == "heaviest"


def test_conventions_of_several_parts_are_joined_once() -> None:
    question = ask("@a[v], @b[w], @c[u]", ("a", "0.28"), ("b", "0.31"), ("c", "-5.1"))
    result = compare_answer(read_answer("@a[28] @b[31] @c[5.1]", question), question)
    assert result.convention == "per cent for a proportion (100 ×); the other sign"


@given(st.decimals("0.11", "0.99", places=4), st.integers(2, 500))
@settings(max_examples=150, deadline=None)
def test_divisor_is_found_for_any_sd_and_n(sd, n: int) -> None:
    other = float(sd) * math.sqrt((n - 1) / n)
    result = compared(f"{sd}", f"{other:.4f}", text="the standard deviation", n=n)
    if result.status == "mismatched":
        assert result.convention in {"divisor n for n − 1", "fewer decimals than asked"}


# --- the question's own rules ---


@pytest.mark.parametrize(
    ("truth", "answer", "fields", "matches"),
    [
        ("34.65", "34.75", {"tolerance": "0.1"}, True),
        ("34.65", "34.7500001", {"tolerance": "0.1"}, False),
        ("34.65", "34.55", {"tolerance": 0.1}, True),
        ("0.3", "0.30000000000000004", {"tolerance": 0}, True),
        ("200", "202", {"tolerance": "1%"}, True),
        ("200", "202.1", {"tolerance": "1%"}, False),
        ("-200", "-198", {"tolerance": "1%"}, True),
        ("0.20", "21%", {"tolerance": "0.01", "unit": "proportion"}, True),
        ("0.20", "22%", {"tolerance": "0.01", "unit": "proportion"}, False),
        ("34.6512", "34.65", {"rounding": 2}, True),
        ("34.6512", "34.66", {"rounding": 2}, False),
        ("34.655", "34.65", {"rounding": 2}, True),
        ("34.655", "34.66", {"rounding": 2}, True),
        ("12", "11.6", {"rounding": 0}, True),
        ("12", "11.4", {"rounding": 0}, False),
        ("0", "0.04", {"rounding": 0}, False),
        ("0", "0.04", {}, False),
        ("1234.5", "1200", {"rounding": "2 significant"}, True),
        ("1234.5", "1250", {"rounding": "2 significant"}, True),  # a tie: 1200 or 1300
        ("1234.5", "1260", {"rounding": "2 significant"}, False),
        ("20", "20%", {"unit": "percent"}, True),
        ("20", "0.2", {"unit": "percent"}, False),
        ("0.2", "20%", {"unit": "proportion"}, True),
        ("0.2", "20", {"unit": "proportion"}, False),
        ("[1, 2, 3]", "[3, 2, 1]", {"ordered": False}, True),
        ("{1, 2, 3}", "[3, 2, 1]", {"ordered": True}, True),  # written as a set
        ("[1.5, 2.5]", "[1.52, 2.48]", {"tolerance": "0.02"}, True),
    ],
)
def test_the_rule_of_the_question(truth: str, answer: str, fields: dict, matches: bool) -> None:
    assert compared(truth, answer, **fields).matched is matches


@pytest.mark.parametrize(
    ("truth", "answer", "fields", "matches"),
    [
        ("34.65", "34,65 €", {}, True),
        ("34.65", "€ 34,65", {}, True),
        ("34.65", "34,65 kg", {}, True),
        ("1234.56", "1.234,56", {}, True),
        ("1234567.8", "1.234.567,8", {}, True),
        ("34.65", "34,65", {}, False),
        ("34.65", "34,65", {"decimal_comma": True}, True),
        ("1234", "1,234 kg", {}, True),  # three digits: thousands
        ("34,65", "34.65", {"decimal_comma": True}, True),
        ("[1.5, 2.5]", "[1,5; 2,5]", {"decimal_comma": True}, True),
        ("[34, 65]", "34, 65", {}, True),
    ],
)
def test_decimal_commas_where_they_can_be_nothing_else(truth: str, answer: str, fields: dict, matches: bool) -> None:
    assert compared(truth, answer, **fields).matched is matches


SPECIES = "{setosa: 5.01, virginica: 6.59}"


@pytest.mark.parametrize(
    ("truth", "answer", "matches"),
    [
        (SPECIES, "| species | mean |\n|---|---:|\n| setosa | 5.01 |\n| virginica | 6.59 |", True),
        (SPECIES, "| virginica | 6.59 |\n| setosa | 5.01 |", True),
        (SPECIES, "| species | mean |\n|---|---|\n| setosa | 5.01 |\n| virginica | 6.49 |", False),
        (SPECIES, "species\nsetosa       5.006\nvirginica    6.588\nName: mean, dtype: float64", True),
        (SPECIES, "- setosa: 5.01\n- virginica: 6.59", True),
        (SPECIES, "setosa = 5.01\nvirginica = 6.59", True),
        ("[1, 2.5, 3]", "- 1\n- 2.5\n- 3", True),
        ("[1, 2.5, 3]", "1. 1\n2. 2.5\n3. 3", True),
        ("[1, 2.5, 3]", "0    1.0\n1    2.5\n2    3.0\ndtype: float64", True),
        ("[1, 2.5, 3]", "1\n2.5\n3", True),
        ("[1, 2.5, 3]", "- 1\n- 2.5", False),
        ("[[1, 2, 3], [3, 4, 5]]", "| a | b | c |\n|--|--|--|\n| 1 | 2 | 3 |\n| 3 | 4 | 5 |", True),
        ("[[1, 2, 3], [3, 4, 5]]", "| a | b | c |\n|--|--|--|\n| 1 | 2 | 3 |\n| 3 | 4 | 6 |", False),
        ("[[1, 2], [3, 4]]", "[[1. 2.]\n [3. 4.]]", True),
        ("[[1, 2], [3, 4]]", "[[3, 4], [1, 2]]", False),
    ],
)
def test_tables_and_lists_of_several_lines(truth: str, answer: str, matches: bool) -> None:
    assert compared(truth, answer).matched is matches
