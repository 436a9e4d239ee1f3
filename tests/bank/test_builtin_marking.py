"""Answers to the built-in questions are marked as a person would mark them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dsqa.bank import Question, builtin_bank_path, load_bank
from dsqa.metrics.answers import compare_answer, read_answer, read_output

BANK = load_bank(builtin_bank_path())


def mark(question: Question, text: str):
    return compare_answer(read_answer(text, question), question)


def written(values: dict[str, str]) -> str:
    return " ".join(f"@{name}[{value}]" for name, value in values.items())


@pytest.mark.parametrize("question", BANK, ids=[q.id for q in BANK])
def test_the_truth_is_right_and_every_trap_is_wrong(question):
    assert mark(question, written(question.answers)).matched
    assert compare_answer(read_output(written(question.answers) + "\n", None, question), question).matched
    for convention, values in question.traps.items():
        comparison = mark(question, written(question.answers | values))
        assert not comparison.matched, convention
        wrong = {part.name for part in comparison.parts if not part.matched}
        assert wrong == set(values), convention
        # The cause is named: this convention, or one that gives the same value for that part.
        for part in comparison.parts:
            if not part.matched:
                alike = {c for c, other in question.traps.items() if other.get(part.name) == part.answer}
                assert part.convention in alike, (convention, part)


def test_the_format_itself_is_no_answer():
    for question in BANK:
        assert mark(question, question.format).status == "unparsed", question.id


def test_more_decimals_than_asked_for_are_right_and_one_in_the_last_place_is_wrong():
    checked = 0
    for question in BANK:
        for name in question.rounding or {}:
            truth = question.answers[name]
            longer = truth + "04"
            unit = Decimal(1).scaleb(Decimal(truth).as_tuple().exponent)
            beside = str(Decimal(truth) + unit)
            assert mark(question, written(question.answers | {name: longer})).matched, (question.id, name)
            assert not mark(question, written(question.answers | {name: beside})).matched, (question.id, name)
            checked += 1
    assert checked > 100


RIGHT = [
    ("cars_rows", "There are 50 rows.\n\n@rows[50]"),
    ("titanic_missing_age", "The answer is **263**."),
    ("mpg_manufacturers", "@most_rows[Dodge] and @manufacturers[15]"),
    ("ucb_applicants", "@applicants[4,526] @admitted_percent[38.8%]"),
    ("ucb_applicants", "`@applicants[4526]` `@admitted_percent[38.78]`"),
    ("gapminder_largest_fall", 'The fall was in Rwanda: @country["Rwanda"] @year[1992] @fall[20.421]'),
    ("titanic_women_by_class", "@first[96.5 %] @second[88.7 %] @third[49.1 %]"),
    ("gapminder_reshape", "@country[equatorial guinea]\n@rise[2.17]"),
    ("pima_confusion", "@tp[56] @fp[24] @fn[49] @tn[168] @accuracy[75.4%]"),
    ("birthwt_smoking_risk", "@smoker[39.3%] @non_smoker[24.8%]"),
    ("mpg_boxplot_outliers", "@four[0] @front[11] @rear[0]"),
    ("penguins_simpson", "@slope_all[\u22120.085] @slope_gentoo[0.205] @sign_changes[Yes]"),
    ("tooth_interaction_plot", "@gap_lowest[5.25] @gap_highest[-0.08] @parallel[No]"),
    ("duke_forest_residual_plot", "@outside[4] @price[$95,000] @spread[Growing]"),
    ("duke_forest_two_predictors", "@per_100_feet[$15,314.25] @adjusted_r2[0.4352]"),
    ("birthwt_race_f_test", "@smoke[-356.3] @f[7.945] @p_value[5.0e-4]"),
    ("evals_interaction", "@slope_women[0.0306] @slope_men[0.1102] @p_value[.015] @significant[true]"),
    ("tooth_welch", "<think>@t[1.5]</think>@t[1.915] @p_value[0.0606] @reject[No]"),
    ("sleepstudy_paired", "@difference[94.20 ms] @t[6.96] @lower[65.63] @upper[122.76]"),
    ("us_arrests_pca", "@pc1_percent[62.0] @two_percent[86.8] @second[UrbanPop]"),
    ("cars_correlation", r"\boxed{0.8069}"),
    ("evals_constant_model", "The answer is 0.543."),
    ("warpbreaks_group_means", "@high[21.67] @low[36.39] @medium[26.39]"),
]
WRONG = [
    ("cars_rows", "@rows[51]", "mismatched"),
    ("titanic_missing_age", "Of 1309 passengers 263 have no age.", "unparsed"),
    ("mpg_manufacturers", "@manufacturers[15] @most_rows[toyota]", "partial"),
    ("ucb_applicants", "@applicants[4526] @admitted_percent[0.388]", "partial"),
    ("evals_professors", "@professors[463]", "mismatched"),
    ("gapminder_largest_fall", "@country[Rwanda] @year[1987] @fall[20.42]", "partial"),
    ("pima_confusion", "@tp[168] @fp[49] @fn[24] @tn[56] @accuracy[0.754]", "partial"),
    ("tooth_sd_len", "@sd_len[7.59]", "mismatched"),
    ("duke_forest_residual_plot", "@outside[4] @price[-802163] @spread[growing]", "partial"),
    ("penguins_simpson", "@slope_all[0.085] @slope_gentoo[0.205] @sign_changes[no]", "partial"),
    ("birthwt_logistic", "@odds_ratio[1.05] @p_value[0.006]", "partial"),
    ("tooth_welch", "@t[1.915] @p_value[0.061]", "partial"),
    ("us_arrests_pca", "@pc1_percent[0.620] @two_percent[0.868] @second[Assault]", "mismatched"),
    ("cars_correlation", "@correlation[correlation]", "unparsed"),
    ("gapminder_reshape", "@country[Singapore] @rise[2.91]", "mismatched"),
    ("evals_constant_model", "The RMSE works out at about 0.543 or so, I think.", "unparsed"),
]


@pytest.mark.parametrize(("question_id", "text"), RIGHT)
def test_a_right_answer_as_people_write_it(question_id, text):
    comparison = mark(BANK[question_id], text)
    assert comparison.matched, [part for part in comparison.parts if not part.matched]


@pytest.mark.parametrize(("question_id", "text", "status"), WRONG)
def test_a_wrong_answer(question_id, text, status):
    assert mark(BANK[question_id], text).status == status
