"""Kinds of answers that were read or compared wrongly once, each with inputs beside the one that was seen."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dsqa.bank import Question
from dsqa.metrics import choose_answer, compare_answer, read_answer, read_output
from dsqa.values import parse_moment, parse_number, parse_truth
from tests.metrics.questions import ask


def value_status(truth: str, value: str, form: str = "@answer[answer]", **extra) -> str:
    question = ask(form, ("answer", truth), **extra)
    return compare_answer(read_answer(f"@answer[{value}]", question), question).status


def text_status(truth: str, text: str, form: str = "@answer[answer]", **extra) -> str:
    question = ask(form, ("answer", truth), **extra)
    return compare_answer(read_answer(text, question), question).status


def printed_status(truth: str, printed: str, **extra) -> str:
    question = ask("@answer[answer]", ("answer", truth), **extra)
    return compare_answer(read_output(printed, None, question), question).status


RANGE = "@answer[p], a number in the range of 0.0 to 1.0"


@pytest.mark.parametrize(
    ("question", "form", "truth", "value", "matches"),
    [
        ("Use a training set (80%). What is the accuracy?", RANGE, "0.78", "78%", True),
        ("Use a training set (80%). What is the accuracy?", RANGE, "0.78", "0.78%", False),
        ("Test at the 5% level. What is p?", "@answer[p]", "0.78", "78%", True),
        ("Test at the 5 percent level. What is p?", "@answer[p]", "0.78", "0.78%", False),
        ("What is R² without the top 10%?", "@answer[r2]", "0.78", "0.78%", False),
        ("What share lies above the 90% quantile?", "@answer[share]", "0.78", "0.78%", False),
        ("With a ninety-five per cent interval, what is r?", "@answer[r]", "0.78", "0.78%", False),
        ("What is the 95th percentile of p?", "@answer[q]", "0.78", "0.78%", False),
        ("What percentage is missing?", "@answer[p]", "0.78", "0.78%", True),
        ("What percentage is missing?", "@answer[p]", "0.78", "78%", False),
        ("Give the share in per cent.", "@answer[p]", "78", "78%", True),
        ("What is the share?", "@answer[12.5%]", "78", "78%", True),
        ("Use the top 10%. What percentage of them survived?", "@answer[p]", "78", "78%", True),
    ],
)
def test_a_per_cent_sign_of_some_number_is_no_unit(question, form, truth, value, matches) -> None:
    assert (value_status(truth, value, form, question=question) == "matched") is matches


@pytest.mark.parametrize(
    ("truth", "value", "matches"),
    [
        ("3 rows", "3", True),
        ("3 rows", "3 rows", True),
        ("3 rows", "3 observations", True),
        ("3 rows", "three", True),
        ("3 rows", "4", False),
        ("3 rows", "4 rows", False),
        ("5 cars", "5", True),
        ("5 years", "5", True),
        ("5 years", "5 months", False),
        ("1 year", "1 yr", True),
        ("12 months", "12.0", True),
        ("32 mpg", "32", True),
        ("32 mpg", "32 miles per gallon", True),
        ("100 m/s", "100", True),
        ("100 m/s", "100 metres per second", True),
        ("100 m/s", "100 km/h", False),
        ("9.81 m/s²", "9.81 m/s^2", True),
        ("2 outliers", "2", True),
        ("2.50 kg", "2.5", True),
        ("25 °C", "25 degrees Celsius", True),
        ("5 Years", "5", True),
        ("285.7 kEUR", "285.7", True),
        ("285.7 kEUR", "285.7 k€", True),
        ("285.7 kEUR", "285,700 EUR", True),
        ("285.7 kEUR", "285.7k", True),
        ("285.7 kEUR", "285.7 TEUR", True),
        ("285.7 kEUR", "285.7 EUR", False),
        ("285.7 kEUR", "286.7", False),
        ("285.7 kEUR", "285.7 kUSD", False),
        ("25 bps", "25", True),
        ("25 bps", "25 basis points", True),
        # a title is no amount
        ("5 Point Someone", "5", False),
        ("5 Point Someone", "5 point someone", True),
        ("3 Idiots", "3 Idiots", True),
        ("7 Samurai", "7 Dwarfs", False),
    ],
)
def test_a_number_and_words_is_a_number_with_a_unit(truth: str, value: str, matches: bool) -> None:
    assert (value_status(truth, value) == "matched") is matches


@pytest.mark.parametrize(
    "words",
    [
        "millions", "million", "thousands", "thousand", "hundreds", "dozens", "dozen", "tenths", "hundredths",
        "billions",
        "lakh", "crore", "mn", "Mio.", "Mrd.", "per mille", "‰", "permille", "per thousand", "basis points",
        "bps", "ppm",
        "parts per million", "below zero", "under zero", "grand", "trillion", "or so", "at least", "squared",
        "negative",
        "times ten", "kilo", "(thousand)", "(in millions)", "million cars", "minus", "in the negative", "thousandths",
        "trillions of rows", "or more", "and a half", "ish", "-ish", "ish cars", "orders of magnitude",
    ],
)  # fmt: skip
def test_words_that_change_size_or_sign_are_no_units(words: str) -> None:
    joined = f"2.5{words}" if words in {"ish", "-ish"} else f"2.5 {words}"
    assert value_status("2.5", joined) == "mismatched"
    number = parse_number(joined)
    assert number is None or number.value != parse_number("2.5").value or number.size


@pytest.mark.parametrize(
    ("truth", "value"),
    [
        ("2500000", "2.5 millions"),
        ("2500000", "2.5 million"),
        ("2500000", "2.5M"),
        ("24", "2 dozen"),
        ("250", "2.5 hundred"),
        ("0.25", "2.5 tenths"),
        ("0.0025", "25 basis points"),
        ("0.0025", "2.5‰"),
        ("-2.5", "2.5 below zero"),
        ("-2.5", "minus 2.5"),
        ("250000", "2.5 lakh"),
        # numbers in words, hedges, powers
        ("2.5", "exactly 2.5"),
        ("2.5", "just 2.5"),
        ("2.5", "precisely 2.5"),
        ("2.5", "only 2.5"),
        ("2.5", "2.5 exactly"),
        ("2.5", "two point five"),
        ("2.5", "two and a half"),
        ("32", "thirty two"),
        ("32", "thirty-two (32)"),
        ("32", "Thirty-two cars"),
        ("105", "one hundred and five"),
        ("2015", "two thousand fifteen"),
        ("0.75", "three quarters"),
        ("100000", "10^5"),
        ("100000", "10**5"),
        ("100000", "10^{5}"),
        ("100000", "$10^5$"),
        ("100000", "10<sup>5</sup>"),
        ("100000", "10⁵"),
        ("0.001", "10^-3"),
        ("0.138", "1.38 e-1"),
        ("0.138", "1.38 E -1"),
        ("0.138", "1.38 × 10^-1"),
        ("32", "2^5"),
        # a list of one, nested
        ("3", "[[3]]"),
        ("3", "[[[3]]]"),
        ("3", "np.array([[3]])"),
        ("3", "tensor([[3.]])"),
        ("3", "((3,),)"),
        ("E", "[['E']]"),
        # the end of a sentence, brackets, emphasis
        ("42", "42!"),
        ("42", "**42**!"),
        ("42", "(42)."),
        ("73", "**73** cars"),
        ("73", "$73$ cars"),
        ("73", "`73` cars"),
        ("73", r"\textbf{73} cars"),
        ("73", r"\(73\) cars"),
        ("42", "42 ✅"),
        ("E", "(E)"),
        ("E", "(E)."),
        ("E", "**(E)**"),
        ("Yes", "(yes)"),
        ("yes", "Yes!"),
        # LaTeX
        ("1/2", r"\frac12"),
        ("1/2", r"\dfrac12"),
        ("1/2", r"\frac{1}2"),
        ("1/2", r"\frac1{2}"),
        ("1/2", r"\frac 1 2"),
        ("1/2", r"{1 \over 2}"),
        ("1/2", r"$1 \over 2$"),
        ("0.5", r"\tfrac{1}{2}"),
        ("2.5", r"2\frac12"),
        ("2.5", r"2 \frac{1}{2}"),
        ("-0.5", r"-\frac12"),
        ("29.00", r"$\$29.00$"),
        ("29.00", r"\$29.00"),
        ("1, 2", r"1 \text{ and } 2"),
        ("5", r"\mathbf{5}"),
        ("5", r"\textcolor{red}{5}"),
        ("5", r"\underline{5}"),
        # lists
        ("a and b", "a, b"),
        ("a, b", "a and b"),
        ("a, b and c", "a, b, c"),
        ("{a: 1, b: 2}", "a = 1 and b = 2"),
        ("{a: 1, b: 2}", "a: 1, b: 2"),
    ],
)
def test_the_same_value_written_otherwise(truth: str, value: str) -> None:
    assert value_status(truth, value) == "matched"


@pytest.mark.parametrize(
    ("truth", "value"),
    [
        ("32", "thirty-two (33)"),
        ("32", "thirty two or three"),
        ("32", "three two"),
        ("100000", "10^4"),
        ("3", "[[3], [4]]"),
        ("3", "[[3, 4]]"),
        ("1/2", r"\frac13"),
        ("1/2", r"\frac21"),
        ("a and b", "b, a, c"),
        ("E", "(F)"),
        ("E", "(E) or (F)"),
        ("42", "42!!?"),
        ("2.5", "just over 2.5"),
        ("2.5", "exactly half of 2.5"),
    ],
)
def test_another_value(truth: str, value: str) -> None:
    assert value_status(truth, value) == "mismatched"


@pytest.mark.parametrize(
    "said",
    [
        "2015-03-07T00:00:00.000000", "2015-03-07T00:00:00Z", "2015-03-07T00:00:00+00:00", "2015-03-07 00:00:00",
        "2015-03-07T00:00:00.000000000", "datetime.date(2015, 3, 7)", "datetime.datetime(2015, 3, 7, 0, 0)",
        "7th of March 2015", "Mar. 7, 2015", "Sat Mar  7 00:00:00 2015", "7.3.2015", "07.03.2015", "March 7th, 2015",
        "Saturday, 7 March 2015", "2015/03/07", "20150307", "(2015-03-07)", "7 March, 2015!", "7. März 2015",
        "Timestamp('2015-03-07 00:00:00')", "np.datetime64('2015-03-07T00:00:00.000000000')", "2015-03-07 12:00 AM",
        "pd.Timestamp(year=2015, month=3, day=7)", "the 7th of March, 2015",
    ],
)  # fmt: skip
def test_one_day_in_any_form(said: str) -> None:
    assert value_status("2015-03-07", said) == "matched"


@pytest.mark.parametrize(
    ("truth", "value", "matches"),
    [
        ("2015-12-25", "25.12.2015", True),
        ("2015-12-25", "25/12/2015", True),
        ("2015-12-25", "12/25/2015", True),
        ("25/12/2015", "2015-12-25", True),
        ("12/25/2015", "December 25, 2015", True),
        ("2015-12-25", "25/11/2015", False),
        ("2015-03-07", "03/07/2015", False),  # it may be the third of July
        ("2015-03-07", "2015-03-07T14:30:00", False),
        ("2015-03-07 14:30", "2015-03-07T14:30:00Z", True),
        ("2015-03-07 14:30", "2015-03-07 2:30 pm", True),
        ("2015-03", "March 2015", True),
        ("2015-03", "2015-03-07", False),
        ("14:30", "2:30 p.m.", True),
    ],
)
def test_dates_in_figures(truth: str, value: str, matches: bool) -> None:
    assert (value_status(truth, value) == "matched") is matches


@given(
    st.dates(),
    st.sampled_from(["T00:00:00", " 00:00", "T00:00:00.000", "T00:00:00Z", "T00:00:00+00:00", " 00:00:00 UTC"]),
)
def test_midnight_is_the_day(day, midnight: str) -> None:
    assert parse_moment(f"{day.isoformat()}{midnight}") == day.isoformat() == parse_moment(day.isoformat())


@pytest.mark.parametrize(
    ("truth", "value", "matches"),
    [
        ("[1, 2)", "[1, 2)", True),
        ("[1, 2)", "(1, 2]", False),
        ("[1, 2)", "[1, 2]", False),
        ("[1, 2)", "[1, 2[", True),
        ("[1, 2)", "1 ≤ x < 2", True),
        ("[1, 2)", "1 < x <= 2", False),
        ("[1, 2)", r"\left[1, 2\right)", True),
        ("(1, 2]", "]1, 2]", True),
        ("(1, 2]", "pd.Interval(1, 2, closed='right')", True),
        ("(1, 2]", "(1, 3]", False),
        ("[1, 2]", "(1, 2)", True),  # brackets of a list say nothing
        ("1-2", "[1, 2)", True),
    ],
)
def test_brackets_of_a_half_open_range_count(truth: str, value: str, matches: bool) -> None:
    assert (value_status(truth, value) == "matched") is matches


TWO = "@answer[x], rounded to two decimals"


@pytest.mark.parametrize(
    ("truth", "form", "value", "matches"),
    [
        ("0.0", TWO, "0.0312", False),
        ("0.0", TWO, "0.00", True),
        ("0.0", TWO, "0.004", True),
        ("1.0", TWO, "0.95", False),
        ("1.0", TWO, "1.0", True),
        ("0.9", "@answer[x] (2 decimals)", "0.88", False),
        ("0.9", "@answer[x] to 2 d.p.", "0.88", False),
        ("0.9", "@answer[x] with two decimal places", "0.904", True),
        ("0.9", "@answer[x], to the nearest hundredth", "0.88", False),
        ("0.9", "@answer[X.XX]", "0.88", False),
        ("0.9", "@answer[x]", "0.88", True),  # nothing says more
        ("0.88", "@answer[x], to 1 decimal place", "0.9", True),
        ("0.88", "@answer[x], to 1 decimal place", "0.88", True),
        ("0.88", "@answer[x], to 1 decimal place", "0.9123", False),
        ("12", TWO, "12.00", True),
        ("12", TWO, "12.4", False),
        ("12", TWO, "12", True),
    ],
)
def test_compared_at_the_decimals_asked_for(truth: str, form: str, value: str, matches: bool) -> None:
    assert (value_status(truth, value, form) == "matched") is matches
    in_question = form.removeprefix("@answer[x]")
    if form.startswith("@answer[x]"):
        assert (value_status(truth, value, question=f"What is it{in_question}?") == "matched") is matches


@pytest.mark.parametrize(
    "text",
    [
        "The answer is: **73** cars", "The answer is **73** cars.", "I think the answer is 73.",
        "I believe that the answer is 73.", "We conclude that the answer is 73.", "The answer is 73!", "73!",
        "***ANSWER***: ***73***", "**Answer**: 73", "Answer = 73", "ANSWER – 73", "Answer -> 73", "Final result: 73",
        "<b>Answer:</b> 73", "The answer is $73$.", r"The answer is \(73\).", "Die Antwort ist 73.", "Réponse : 73",
        "La respuesta es 73.", "It seems that the answer is 73.", "So, I would say the answer is 73.",
        "If we drop the missing rows, the answer is 73.", "Since 5 is not prime, the answer is 73.", "#### 73",
        "The answer (rounded) is 73.", "<final_answer>73</final_answer>", "Final answer:\n73".replace("\n", " "),
        "The answer should be 73.", '{"answer": 73}', '```json\n{"Answer": "73"}\n```', "@answer: 73", "@answer = 73",
        "answer = 73", "First I count.\n\nanswer: 73",
    ],
)  # fmt: skip
def test_statements_that_are_read(text: str) -> None:
    assert text_status("73", text) == "matched"


@pytest.mark.parametrize(
    "text",
    [
        "It is not true that the answer is 3.", "I doubt that the answer is 3.", "I don't think the answer is 3.",
        "I do not believe that the answer is 3.", "It is false that the answer is 3.", "She thinks the answer is 3.",
        "It is unlikely that the answer is 3.", "I am not sure that the answer is 3.", "Some say the answer is 3.",
        "It's wrong to say that the answer is 3.", "Nobody can say that the answer is 3.",
        "If the answer is 3, fine.",
        "It cannot be right that the answer is 3.", "I thought the answer is 3.", "One might think the answer is 3.",
        "The answer is not 3.", "The answer is 3 or 4.", "The answer is 3?",
        "It is not the case that the answer is 3.",
        "The student claims that the answer is 3.", "It would be a mistake to think the answer is 3.",
        "There is no reason to believe that the answer is 3.", "It isn't clear that the answer is 3.",
        "The answer is 3 is wrong.", "Contrary to the claim that the answer is 3.",
        "I wonder whether the answer is 3.",
        "It is far from certain that the answer is 3.", "I deny that the answer is 3.",
    ],
)  # fmt: skip
def test_statements_that_are_none(text: str) -> None:
    assert text_status("3", text) == "unparsed"


def test_the_later_statement_counts() -> None:
    assert text_status("D", "First \\boxed{B} seems right.\n\n**Answer: D**") == "matched"
    assert text_status("5", "The answer is 3. No, \\boxed{5}.") == "matched"
    assert text_status("5", "So \\boxed{3}. On second thought, the answer is 5.") == "matched"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"n": 3, "mean_a": 2.5}', "matched"),
        ("Here it is:\n```json\n{\n  \"n\": 3,\n  \"mean_a\": 2.5\n}\n```", "matched"),
        ("{'n': 3, 'mean_a': 2.5}", "matched"),
        ("@n: 3\n@mean_a: 2.5", "matched"),
        ("@n: 3, @mean_a: 2.5", "matched"),
        ("I counted.\n\nn = 3\nmean_a = 2.5", "matched"),
        ("I counted.\n\nn = 3, mean_a = 2.5", "matched"),
        ("- **n**: 3\n- **mean a**: 2.5", "matched"),
        ("n = 3\nmean_a = 2.5\n\nI hope that helps with your data set of mine.", "unparsed"),
        ("With n = 3 the mean is small.", "unparsed"),
        ('{"other": 3}', "unparsed"),
        ("n = 4\nmean_a = 2.5", "partial"),
    ],
)  # fmt: skip
def test_named_parts_in_other_notations(text: str, status: str) -> None:
    question = ask("@n[n] @mean_a[m]", ("n", "3"), ("mean_a", "2.5"))
    assert compare_answer(read_answer(text, question), question).status == status
    assert compare_answer(read_output(text, None, question), question).status == status


@pytest.mark.parametrize(
    "printed",
    ["Answer: 3\n", "The answer is 3\n", "rows\nThe answer is 3.\n", "Final answer: 3", r"\boxed{3}", "answer: 3\n"],
)
def test_what_is_read_in_prose_is_read_in_output(printed: str) -> None:
    assert printed_status("3", printed) == "matched"


def test_parts_that_the_output_lacks_come_from_the_text_where_they_agree() -> None:
    question = ask("@n[n] @mean_a[m]", ("n", "3"), ("mean_a", "3.0"))

    def answer(text: str, printed: str):
        return choose_answer(question, read_answer(text, question), read_output(printed, None, question))

    filled = answer("@n[3] @mean_a[3.0]", "@n[3]")
    assert filled.comparison.status == "matched"
    assert filled.solved is False  # the code itself printed one of two
    assert answer("@n[4] @mean_a[3.0]", "@n[3]").comparison.status == "partial"
    assert answer("@mean_a[3.0]", "@n[3]").comparison.status == "matched"
    assert answer("@n[3] @mean_a[9.9]", "@n[3]").comparison.status == "partial"


CHOICE = "Which is it?\nA) the mean\nB) side-by-side boxplots\nC) the median\nD) 20"


@pytest.mark.parametrize("truth", ["B", "b", "(B)", "B)", "side-by-side boxplots"])
@pytest.mark.parametrize(
    "text",
    [
        "@answer[B]", "@answer[b]", "@answer[(B)]", "@answer[b) side-by-side boxplots]",
        "@answer[B. Side by side boxplots]",
        "@answer[side-by-side boxplots]", "@answer[Option B]", "The answer is (B) side-by-side boxplots.",
        "The answer is B, because it compares groups.", "The answer is B because of that.", '{"Answer":"B"}',
        "B", "(B)", "**B**",
        "B) side-by-side boxplots", "Answer: **(B)**", r"\boxed{B}", r"\boxed{\text{(B)}}",
        "the correct option is B.",
        "Boxplots compare groups, which leads to (B).", "A is no graph. The answer is option B.",
        "Side-by-side boxplots.",
        "(A) shows one number only. Therefore: (B)", "@answer[B - side-by-side boxplots]",
        "@answer[I choose side-by-side boxplots]",
        "Final answer: b)", "B.", "The correct answer is: B",
    ],
)  # fmt: skip
def test_an_option_is_chosen(truth: str, text: str) -> None:
    assert text_status(truth, text, question=CHOICE) == "matched"
    options = {"A": "the mean", "B": "side-by-side boxplots", "C": "the median", "D": "20"}
    assert text_status(truth, text, question="Which is it?", options=options) == "matched"


@pytest.mark.parametrize(
    "text",
    [
        "@answer[C]", "@answer[(A)]", "@answer[the median]", "The answer is (C) the median.", "@answer[A or B]",
        "@answer[not B]", "@answer[A) side-by-side boxplots]", "I cannot tell whether it is (A) or (B).",
        "It is certainly not (B).", "The answer is not (B).", "@answer[neither]", "@answer[A, B]", "@answer[none]",
        "The answer is a mean of boxplots.",
    ],
)  # fmt: skip
def test_another_option_or_none(text: str) -> None:
    assert text_status("B", text, question=CHOICE) != "matched"


@pytest.mark.parametrize("text", ["The answer is (B) two.", '{"Answer":"B"}', "… so (B)", "@answer[B) two]", "(b)"])
def test_a_letter_without_known_options(text: str) -> None:
    assert text_status("(B)", text) == "matched"
    assert text_status("(C)", text) == "mismatched"


def test_several_options_and_options_that_are_numbers() -> None:
    question = "Which are true?\na) one\nb) two\nc) three"
    for said in ("a, c", "A and C", "(a), (c)", "c, a", "one, three"):
        assert value_status("a, c", said, question=question) == "matched", said
    assert value_status("a, c", "a", question=question) == "mismatched"
    assert value_status("D", "20.0", question=CHOICE) == "matched"
    assert value_status("D", "21", question=CHOICE) == "mismatched"


@pytest.mark.parametrize(
    ("truth", "value", "matches"),
    [
        ("No", "Not significant", True),
        ("No", "not statistically significant", True),
        ("No", "insignificant", True),
        ("No", "The difference is not significant.", True),
        ("No", "no significant difference", True),
        ("No", "It is not", True),
        ("No", "nein", True),
        ("No", "significant", False),
        ("Yes", "significant", True),
        ("Yes", "It is significant", True),
        ("Yes", "Not significant", False),
        ("Yes", "yes it is", True),
        ("Yes", "Yes, because p < 0.05", True),
        ("No", "unknown", False),
        ("No", "not", False),
    ],
)
def test_a_yes_or_no_in_the_questions_own_words(truth: str, value: str, matches: bool) -> None:
    asked = "Is the difference significant at the 5% level?"
    assert (value_status(truth, value, question=asked) == "matched") is matches


def test_not_significant_answers_only_what_asks_it() -> None:
    assert value_status("No", "Not significant", question="Is the mean above 3?") == "mismatched"
    assert value_status("No", "not normal", question="Is it normal or not normal?") == "mismatched"


def test_other_values_that_are_right_too() -> None:
    extra = {"accepted": {"answer": ["NYC", "New York City"]}}
    for said, status in (
        ("New York", "matched"),
        ("nyc", "matched"),
        ("New York City", "matched"),
        ("Boston", "mismatched"),
    ):
        assert value_status("New York", said, **extra) == status


def test_a_text_that_is_compared_literally_says_so() -> None:
    question = ask("@answer[answer]", ("answer", "the residuals fan out"))
    (part,) = compare_answer(read_answer("@answer[variance grows]", question), question).parts
    assert "literally" in part.reason


def test_decimal_commas_that_begin_a_number() -> None:
    for said in (",35", "0,35", "-,35"):
        truth = "-0.35" if said.startswith("-") else "0.35"
        assert value_status(truth, said, decimal_comma=True) == "matched"


# Properties

NUMBERS = st.decimals(min_value=-(10**6), max_value=10**6, places=2).map(str)
WRAPPINGS = [
    "**{}**",
    "*{}*",
    "`{}`",
    "({})",
    "{}.",
    "{}!",
    "**{}.**",
    "**{}**.",
    "({}).",
    "$ {} $",
    "<b>{}</b>",
    "\\text{{{}}}",
    "_{}_",
]


@given(NUMBERS, NUMBERS, st.sampled_from(WRAPPINGS), st.sampled_from(WRAPPINGS))
def test_wrapping_changes_no_verdict(truth: str, said: str, inner: str, outer: str) -> None:
    # Emphasis in emphasis of the same sign ("***3**.*") is no Markdown that renders as meant.
    assume(all(mark not in inner or mark not in outer for mark in ("*", "$")))
    assume(not any(c in inner for c in ".!") or not any(c in outer for c in ".!"))
    question = ask("@answer[answer]", ("answer", truth))
    bare = compare_answer(read_answer(f"@answer[{said}]", question), question).status
    for wrapped in (inner.format(said), outer.format(inner.format(said))):
        assert compare_answer(read_answer(f"@answer[{wrapped}]", question), question).status == bare, wrapped
    assert compare_answer(read_answer(f"@answer[{inner.format(truth)}]", question), question).matched


@given(st.sampled_from(["Benin", "bty_avg", "side by side", "Yes", "2015-03-07", "B"]), st.sampled_from(WRAPPINGS))
def test_wrapping_changes_no_verdict_of_words(truth: str, wrapping: str) -> None:
    assert value_status(truth, wrapping.format(truth)) == "matched"


@given(
    NUMBERS.filter(lambda n: float(n) != 0),
    st.sampled_from(["thousand", "million", "billion", "hundred", "dozen", "tenth", "hundredth", "lakh"]),
)
def test_a_word_of_size_never_is_a_unit(truth: str, word: str) -> None:
    assert value_status(truth, f"{truth} {word}") == "mismatched"
    assert value_status(truth, f"{truth} {word}s") == "mismatched"


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for truth in ("3", "yes", "2015-03-07", "[1, 2)", "a, b", "B"):
        question: Question = ask("@answer[answer]", ("answer", truth), question=CHOICE)
        compare_answer(read_answer(f"@answer[{text}]\n{text}", question), question)
        compare_answer(read_output(text, text, question), question)
        parse_truth(text)
