from __future__ import annotations

import math
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.metrics import choose_answer, compare_answer, read_answer, read_output, strip_reasoning
from dsqa.values import parse_number
from tests.metrics.questions import QUESTIONS, ask

COUNT, MEAN, TWO, COUNTRY = (QUESTIONS[k] for k in ("count", "mean", "two", "country"))


# --- what was found, and how ---


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("@n_cars[32]", "format"),
        (r"\boxed{32}", "boxed"),
        ("The answer is 32.", "statement"),
        ("32", "whole reply"),
        ("The answer is 30. @n_cars[32]", "format"),
        (r"The answer is 30, so \boxed{32}", "boxed"),
    ],
)
def test_how_an_answer_was_found(text: str, how: str) -> None:
    assert read_answer(text, COUNT).found["n_cars"].how == how


def test_raw_and_position_point_at_the_value() -> None:
    text = "Well: @n_cars[ **32** ]"
    found = read_answer(text, COUNT).found["n_cars"]
    assert (found.raw, found.value) == (" **32** ", "32")
    assert text[found.position :].startswith("@n_cars[")


def test_a_repeated_name_records_the_conflict_and_the_last_wins() -> None:
    reading = read_answer("@n_cars[30] @n_cars[31] @n_cars[30] @n_cars[32]", COUNT)
    assert reading.values == {"n_cars": "32"}
    assert reading.conflicts == {"n_cars": ("30", "31")}


def test_the_same_value_in_another_dress_is_no_conflict() -> None:
    assert read_answer("@n_cars[32], that is @n_cars[**32.0**]", COUNT).conflicts == {}


def test_a_placeholder_is_noted_and_is_no_conflict() -> None:
    reading = read_answer("@n_cars[n_cars] → @n_cars[32]", COUNT)
    assert reading.conflicts == {}
    assert any("format" in note for note in reading.notes)


def test_an_unclosed_bracket_is_noted() -> None:
    assert any("never closed" in note for note in read_answer("@n_cars[32", COUNT).notes)


def test_missing_parts_are_named() -> None:
    reading = read_answer("@b[yes]", TWO)
    assert (reading.status, reading.missing) == ("partial", ("a",))
    comparison = compare_answer(reading, TWO)
    assert (comparison.status, comparison.share) == ("partial", 0.5)
    assert comparison.key == "a=?; b=true"


def test_names_that_differ_in_case_only_are_told_apart() -> None:
    question = ask("@Mean[x] @mean[y]", ("Mean", "1"), ("mean", "2"))
    assert read_answer("@mean[2] @Mean[1]", question).values == {"Mean": "1", "mean": "2"}
    assert read_answer("@MEAN[2]", question).status == "unparsed"


def test_a_name_that_begins_another_is_not_taken_for_it() -> None:
    question = ask("@mean[x] @mean_fare[y]", ("mean", "1"), ("mean_fare", "2"))
    assert read_answer("@mean_fare[2] @mean[1]", question).values == {"mean": "1", "mean_fare": "2"}


def test_strip_reasoning_keeps_what_is_around_closed_blocks() -> None:
    assert strip_reasoning("a<think>b</think>c<think>d</think>e") == ("ace", False)
    assert strip_reasoning("a<think>b") == ("", True)
    assert strip_reasoning("a</think>b") == ("b", False)
    assert strip_reasoning("1 < 2") == ("1 < 2", False)


# --- executed output ---


@pytest.mark.parametrize(
    ("stdout", "value", "read"),
    [
        ("@n_cars[32]\n", None, "32"),
        ("rows: 40\n@n_cars[32]\ndone\n", None, "32"),
        ("", "'@n_cars[32]'", "32"),
        ("32\n", None, "32"),
        ("loading\n32\n\n", None, "32"),
        ("", "32", "32"),
        ("", "np.int64(32)", "32"),
        ("12\n", "32", "32"),
        ("mean: 32\n", None, None),
        ("n_cars = 32\n", None, "32"),
        ("There are 32 cars\n", None, None),
        ("32\ndone\n", None, None),
        ("30 32\n", None, None),
        ("", "   mpg  cyl\n0  21  6", None),
        ("", None, None),
        ("@n_cars[{n}]\n", None, None),
    ],
)
def test_output(stdout: str, value: str | None, read: str | None) -> None:
    assert read_output(stdout, value, COUNT).values == ({} if read is None else {"n_cars": read})


def test_output_of_a_text_counts_only_alone() -> None:
    assert read_output("Nigeria\n", None, COUNTRY).values == {"country": "Nigeria"}
    assert read_output("", "'Nigeria'", COUNTRY).values == {"country": "Nigeria"}
    assert read_output("reading\nNigeria\n", None, COUNTRY).status == "unparsed"
    assert read_output("Plot saved.\nDone.\n", None, COUNTRY).status == "unparsed"


def test_output_of_several_parts_needs_the_format() -> None:
    assert read_output("34.65\n", None, TWO).status == "unparsed"
    assert read_output("@a[34.65]\n@b[yes]\n", None, TWO).status == "read"


# --- which answer is the run's ---


def _choose(text: str, stdout: str | None):
    output = None if stdout is None else read_output(stdout, None, MEAN)
    return choose_answer(MEAN, read_answer(text, MEAN), output)


def test_execution_wins_over_the_text() -> None:
    answer = _choose("@mean_fare[30]", "@mean_fare[34.65]")
    assert (answer.source, answer.comparison.status, answer.conflict, answer.solved) == (
        "execution",
        "matched",
        True,
        True,
    )


def test_a_wrong_execution_wins_too() -> None:
    answer = _choose("@mean_fare[34.65]", "@mean_fare[30]")
    assert (answer.source, answer.comparison.status, answer.conflict, answer.solved) == (
        "execution",
        "mismatched",
        True,
        False,
    )


def test_both_the_same_at_the_truths_precision_is_no_conflict() -> None:
    assert not _choose("@mean_fare[34.65]", "@mean_fare[34.6512]").conflict


def test_the_text_counts_where_the_output_says_nothing() -> None:
    answer = _choose("@mean_fare[34.65]", "done")
    assert (answer.source, answer.comparison.matched, answer.solved) == ("text", True, False)


def test_nothing_anywhere() -> None:
    answer = _choose("I do not know", None)
    assert (answer.source, answer.comparison.status, answer.comparison.key) == (None, "unparsed", None)


# --- properties ---


def _dress(value: Decimal, style: int) -> str:
    text = f"{value:f}"
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    integer, _, decimals = digits.partition(".")
    grouped = f"{int(integer):,}" + (f".{decimals}" if decimals else "")
    return [
        text, f"{sign}{grouped}", f"**{text}**", f"`{text}`", f" {text} ", f"{sign}${grouped}", f"{text} kg",
        text.replace("-", "−"), f"${text}$", rf"\boxed{{{text}}}", f"{value:E}", f"x = {text}", f"[{text}]",
        f"{sign}{grouped.replace(',', chr(0x202F))}", f"'{text}'", f"np.float64({text})", f"{text} (rounded)",
        f"{text} ± 0.1", rf"\text{{{text}}}", f"≈ {text}", f"{text}.", f"({text})" if not sign else text,
    ][style]  # fmt: skip


_DECIMALS = st.decimals(min_value=-(10**9), max_value=10**9, places=3, allow_nan=False)


@given(_DECIMALS, st.integers(0, 21))
@settings(max_examples=250, deadline=None)
def test_round_trip_of_a_number_in_any_dress(value: Decimal, style: int) -> None:
    text = _dress(value, style)
    number = parse_number(text)
    if style == 12:
        question = ask("@x[x]", ("x", f"{value:f}"))
        assert compare_answer(read_answer(f"@x[{text}]", question), question).matched
    else:
        assert number is not None, text
        assert number.value == value, text


@given(_DECIMALS, _DECIMALS, st.integers(0, 3), st.integers(0, 21))
@settings(max_examples=250, deadline=None)
def test_matches_exactly_when_no_further_off_than_half_the_last_digit(
    value: Decimal, other: Decimal, places: int, style: int
) -> None:
    truth = round(other, places)
    question = ask("@x[x]", ("x", f"{truth:.{places}f}"))
    comparison = compare_answer(read_answer(f"@x[{_dress(value, style)}]", question), question)
    half = Decimal(0) if places == 0 else Decimal(5).scaleb(-places - 1)
    assert comparison.matched == (abs(value - truth) <= half)


@given(st.floats(min_value=-1e6, max_value=1e6), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_a_float_matches_its_own_rounding_however_printed(value: float, places: int) -> None:
    question = ask("@x[x]", ("x", f"{value:.{places}f}"))
    for text in (repr(value), f"{value:.{places}f}", f"{value:.{places + 4}f}", f"np.float64({value!r})"):
        assert compare_answer(read_answer(f"@x[{text}]", question), question).matched, text


@given(st.lists(st.integers(-999, 999), min_size=2, max_size=6), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_round_trip_of_a_vector(values: list[int], style: int) -> None:
    question = ask("@v[v]", ("v", str(values)))
    written = [str(values), ", ".join(map(str, values)), f"array({values})", str([float(v) for v in values])][style]
    assert compare_answer(read_answer(f"@v[{written}]", question), question).matched
    wrong = [values[0] + 1, *values[1:]]
    assert not compare_answer(read_answer(f"@v[{wrong}]", question), question).matched


_SHARDS = st.sampled_from(
    ["@n_cars[", "@mean_fare[", "]", "[", "{", "}", "32", "34.65", "\\boxed{", "\\frac{1}{", "<think>", "</think>",
     "```", "\n", "The answer is ", "%", "e999999999", "1/0", "−", "±", "½", "10⁻³", "\ud800", "\x00", ",", ".", ":",
     "nan", "np.float64(", "(", ")", "&#", "&amp;", "'", '"', "٣", "²", "{a: ", "=", "<", "9" * 400]
)  # fmt: skip


@given(st.lists(st.one_of(_SHARDS, st.text(max_size=5)), max_size=30).map("".join))
@settings(max_examples=150, deadline=None)
def test_reading_never_crashes(text: str) -> None:
    for question in QUESTIONS.values():
        (name, *_) = question.answers
        for response in (text, f"@{name}[{text}]"):
            comparison = compare_answer(read_answer(response, question), question)
            assert 0 <= comparison.share <= 1
        compare_answer(read_output(text, text, question), question)


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_truth_can_be_compared_with_itself(truth: str) -> None:
    if "[" in truth or "]" in truth or truth.strip() in {"...", "…", "?"}:
        return
    question = ask("@x[whatever]", ("x", truth))
    reading = read_answer(f"@x[{truth}]", question)
    if reading.found:
        assert compare_answer(reading, question).matched


def _seconds_to_read(text: str) -> float:
    start = time.process_time()
    for question in (COUNT, COUNTRY, QUESTIONS["vector"]):
        compare_answer(read_answer(text, question), question)
    return time.process_time() - start


_LENGTH = 120_000


@pytest.mark.parametrize(
    "text",
    ["[" * _LENGTH, "@n_cars[" * (_LENGTH // 8), "@n_cars[(" * (_LENGTH // 18) + ")]" * (_LENGTH // 18),
     "\\boxed{" * (_LENGTH // 7), "<think>" * (_LENGTH // 7),
     "the answer is " * (_LENGTH // 14), "```\n" * (_LENGTH // 4), " " * _LENGTH, "@n_cars[" + "9" * _LENGTH + "]",
     "\n" * _LENGTH, "@n_cars[" + "[1," * (_LENGTH // 5) + "]" * (_LENGTH // 5) + "]", "the " * (_LENGTH // 4),
     "\\" * _LENGTH, "1," * (_LENGTH // 2)],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_anything_is_read_in_linear_time(text: str) -> None:
    # Four times the text: about four times the time, where quadratic would be sixteen; at that rate a megabyte takes
    # less than 15 s. A pause of the machine's is longer than what a quarter takes: the quarter counts by its fastest
    # of three, and the whole has three tries.
    quarter = min(_seconds_to_read(text[: len(text) // 4]) for _ in range(3))
    allowed = min(8 * quarter + 0.1, 15 * len(text) / 10**6)
    assert any(_seconds_to_read(text) < allowed for _ in range(3))


def test_typical_answers_are_read_and_compared_quickly() -> None:
    # 100,000 in under 20 s is 0.2 ms each; 5,000 here, with room for a busy machine.
    filler = "To find the mean we load the data and compute it; the result [1] is shown below. " * 5
    texts = [f"{filler}@mean_fare[{i / 100:.3f}]" for i in range(5000)]
    start = time.process_time()
    matched = sum(compare_answer(read_answer(text, MEAN), MEAN).matched for text in texts)
    assert time.process_time() - start < 2.0
    assert matched == 1


def test_infinite_and_absurd_numbers_are_harmless() -> None:
    for text in ("1e999999999", "9" * 1000, "1e-999999999", "inf", "nan"):
        comparison = compare_answer(read_answer(f"@mean_fare[{text}]", MEAN), MEAN)
        assert comparison.status == "mismatched"
    assert math.isinf(float(parse_number("-∞").value))
