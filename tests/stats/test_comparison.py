from __future__ import annotations

from itertools import product
from math import gamma, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from dsqa.errors import StatisticsError
from dsqa.stats import (
    adjust_p,
    cohens_h,
    equivalence_test,
    friedman_pairs,
    friedman_test,
    hedges_g,
    mcnemar,
    mcnemar_test,
    odds_ratio,
    pair_by_question,
    paired_interval,
    probability_best,
    rank_biserial,
    risk_difference,
    sign_flip_test,
    signed_rank_test,
    smallest_detectable,
)
from dsqa.stats.comparison import inside_margin, resampled_means
from dsqa.stats.interval import Interval

from .data import few, reference, study


@pytest.fixture(scope="module")
def at_07():
    table = study()
    return table[table["temperature"] == 0.7]


@pytest.fixture(scope="module")
def scores(at_07):
    return pair_by_question(at_07, measure="score")


def cells(values: dict[str, list[list[int]]]) -> pd.DataFrame:
    """Model → questions → runs, as a tidy table."""
    rows = [
        (f"q{q}", model, run, right)
        for model, questions in values.items()
        for q, runs in enumerate(questions)
        for run, right in enumerate(runs)
    ]
    return pd.DataFrame(rows, columns=["question_id", "model", "run", "accuracy"])


# --- R


@pytest.mark.parametrize(
    ("key", "second", "pairs"),
    [
        ("mcnemar_majority_20_questions", "model_b", "majority"),
        ("mcnemar_majority_a_vs_c", "model_c", "majority"),
        ("mcnemar_run_index_paired_600", "model_b", "runs"),
    ],
)
def test_mcnemar_agrees_with_r(at_07, key, second, pairs):
    want, test = reference()["f_paired"][key], mcnemar_test(at_07, "model_a", second, pairs=pairs)
    assert [test.both, test.first_only, test.second_only, test.neither] == [
        want[n] for n in ("n11", "n10", "n01", "n00")
    ]
    assert (test.exact_p, test.mid_p) == pytest.approx((want["exact_p"], want["midp"]), rel=1e-8)


def test_signed_ranks_agree_with_r_where_ties_are_true():
    table = study()
    for row in reference()["f_rank_tests_exact_ties"]["pairwise"]:
        paired = pair_by_question(table[table["temperature"] == row["t"]], measure="score")
        first, second = (f"model_{letter}" for letter in row["pair"].split("-"))
        test = signed_rank_test(paired.differences(first, second))
        if test.method != "exact":  # R was told to approximate throughout
            assert test.p == pytest.approx(row["p_correct"], rel=1e-8)
        assert (test.positive, test.used) == (row["V"], row["n_used"])


def test_exact_signed_ranks_agree_with_r():
    want = reference()["f_paired"]["wilcoxon_exact_no_ties"]
    test = signed_rank_test(np.array(want["x"]) - np.array(want["y"]))
    assert (test.positive, test.p, test.method) == (want["V"], pytest.approx(want["p"], rel=1e-8), "exact")


def test_friedman_agrees_with_r():
    table = study()
    for row in reference()["f_rank_tests_exact_ties"]["friedman"]:
        test = friedman_test(
            pair_by_question(table[table["temperature"] == row["temperature"]], measure="score").values
        )
        assert (test.chi2, test.df, test.p) == pytest.approx((row["chisq"], row["df"], row["p"]), rel=1e-8)


def test_paired_t_interval_and_kendall_w_agree_with_r(scores):
    want = reference()["f_paired"]
    effect = risk_difference(scores.values[:, 0], scores.values[:, 1])
    assert (effect.value, effect.interval.low, effect.interval.high) == pytest.approx(
        (want["mean_diff"], *want["paired_t"]["ci95"]), rel=1e-8
    )
    assert friedman_test(scores.values).kendall_w == pytest.approx(want["friedman"]["kendall_w"], rel=1e-8)


def test_adjusted_p_agree_with_r():
    rows = pd.DataFrame(reference()["f_rank_tests_exact_ties"]["pairwise"])
    for method, column in (("holm", "holm"), ("bh", "BH"), ("by", "BY"), ("bonferroni", "bonferroni")):
        assert adjust_p(rows["p_correct"], method) == pytest.approx(rows[column].to_numpy(), rel=1e-8)


def test_cohens_dz_agrees_with_r(scores):
    effect = hedges_g(scores.values[:, 0], scores.values[:, 1], scale="difference")
    # Hedges' exact correction at 19 degrees of freedom, by its gamma functions.
    correction = gamma(9.5) / (sqrt(9.5) * gamma(9.0))
    assert effect.value == pytest.approx(correction * reference()["f_paired"]["paired_t"]["cohen_dz"], rel=1e-8)


# --- other libraries


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_agree_with_statsmodels_and_are_monotone(p):
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")):
        got = adjust_p(p, ours)
        assert got == pytest.approx(multipletests(p, method=theirs)[1], rel=1e-9, abs=1e-300)
        order = np.argsort(p, kind="stable")
        assert (np.diff(got[order]) >= 0).all()
        assert (got >= np.array(p) - 1e-15).all()


def test_missing_p_values_are_no_tests():
    assert adjust_p([0.01, np.nan, 0.04]).tolist() == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def test_smallest_detectable_difference_agrees_with_statsmodels():
    d = np.random.default_rng(1).normal(0.1, 0.3, 17)
    want = TTestPower().solve_power(nobs=17, alpha=0.01, power=0.9) * np.std(d, ddof=1)
    assert smallest_detectable(d, alpha=0.01, power=0.9) == pytest.approx(want, rel=1e-6)


def test_a_study_of_the_detectable_size_has_the_power():
    d = np.random.default_rng(2).normal(0, 1, 12)
    shift = smallest_detectable(d, power=0.8)
    rng, spread = np.random.default_rng(3), np.std(d, ddof=1)
    draws = rng.normal(shift, spread, (4000, 12))
    p = scipy_stats.ttest_1samp(draws, 0, axis=1).pvalue
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.02)


def test_equivalence_agrees_with_two_t_tests():
    d = np.random.default_rng(4).normal(0.02, 0.1, 15)
    test = equivalence_test(d, 0.1)
    assert test.p_above == pytest.approx(scipy_stats.ttest_1samp(d, -0.1, alternative="greater").pvalue, rel=1e-9)
    assert test.p_below == pytest.approx(scipy_stats.ttest_1samp(d, 0.1, alternative="less").pvalue, rel=1e-9)
    assert (
        (test.p < 0.05)
        == (test.verdict == "equivalent")
        == (max(abs(test.interval.low), abs(test.interval.high)) < 0.1)
    )


@few
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9), st.integers(1, 5))
def test_sign_flips_agree_with_listing_and_with_scipy(numbers, parts):
    d = np.array(numbers) / parts
    sums = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=len(d))]
    want = np.mean(np.array(sums) >= abs(d.sum()) - 1e-9)
    test = sign_flip_test(d, seed=1)
    assert test.p == pytest.approx(want, abs=1e-12)
    assert sign_flip_test(-d[::-1], seed=1).p == pytest.approx(test.p, abs=1e-12)


def test_sign_flips_of_no_simple_fractions_are_drawn_and_never_zero():
    d = np.sqrt(np.arange(1, 41))
    test = sign_flip_test(d, seed=1, resamples=999)
    assert test.p == 1 / 1000
    assert "999 draws" in test.method
    # Listed in full where few: the smallest p of seven questions is 2/2^7.
    assert sign_flip_test(d[:7], seed=1).p == 2 / 128


def test_sign_flips_of_hundreds_of_questions_are_exact():
    d = np.array([0.3, -0.1, 0.2, 0.0, 0.05] * 60)
    test = sign_flip_test(d, seed=1)
    normal = 2 * scipy_stats.norm.sf(d.sum() / np.sqrt((d**2).sum()))
    assert test.method == "exact permutation"
    assert test.p == pytest.approx(normal, rel=0.15)


def test_conover_and_nemenyi_agree_with_scikit_posthocs(scores):
    """Values of scikit-posthocs 0.17.1 on the same matrix."""
    conover = friedman_pairs(scores.values, scores.labels)
    assert conover["p"].tolist() == pytest.approx([0.053872421493, 0.00030043067857, 0.053872421493], rel=1e-8)
    assert conover["p_adjusted"].tolist() == pytest.approx(adjust_p(conover["p"]).tolist())
    nemenyi = friedman_pairs(scores.values, scores.labels, method="nemenyi")
    assert nemenyi["p"].tolist() == pytest.approx([0.2537844875, 0.0044635156, 0.2537844875], rel=1e-6)


def test_friedman_of_two_models_with_scipy_and_ties_by_hand():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 4, (15, 4)) / 3
    want = scipy_stats.friedmanchisquare(*values.T)
    test = friedman_test(values)
    assert (test.chi2, test.p) == pytest.approx((want.statistic, want.pvalue), rel=1e-9)
    assert sum(test.mean_ranks) == pytest.approx(4 * 5 / 2)


def test_rounding_noise_splits_no_ties():
    values = np.array([[0.1 + 0.2, 0.3], [0.7, 0.1 * 7], [1.0, 0.5]])
    assert friedman_test(values).mean_ranks == (pytest.approx(5 / 3), pytest.approx(4 / 3))
    assert signed_rank_test(values[:, 0] - values[:, 1]).used == 1


# --- effect sizes


def test_odds_ratio_and_h_of_means():
    x, y = [0.9, 0.7, 0.8, 0.6], [0.5, 0.3, 0.4, 0.6]
    assert odds_ratio(x, y).value == pytest.approx((0.75 / 0.25) / (0.45 / 0.55))
    assert cohens_h(x, y).value == pytest.approx(2 * np.arcsin(np.sqrt(0.75)) - 2 * np.arcsin(np.sqrt(0.45)))
    swapped = odds_ratio(y, x)
    assert swapped.interval.low == pytest.approx(1 / odds_ratio(x, y).interval.high)


@pytest.mark.parametrize("effect", [odds_ratio, cohens_h])
def test_a_model_that_is_never_right_has_no_ratio(effect):
    with pytest.raises(StatisticsError, match="always wrong"):
        effect([0.5, 0.6], [0.0, 0.0])


def test_delta_method_interval_covers():
    rng, hits = np.random.default_rng(6), 0
    for _ in range(400):
        base = rng.beta(2, 2, 25)
        x, y = rng.binomial(10, np.clip(base + 0.1, 0, 1)) / 10, rng.binomial(10, base) / 10
        hits += cohens_h(x, y).interval.low <= TRUE_H <= cohens_h(x, y).interval.high
    assert 0.91 <= hits / 400 <= 0.98


# E[clip(B + 0.1, 0, 1)] for B ~ Beta(2, 2), by quadrature.
_GRID = np.linspace(0, 1, 20_001)
_HIGH = np.trapezoid(np.clip(_GRID + 0.1, 0, 1) * 6 * _GRID * (1 - _GRID), _GRID)
TRUE_H = 2 * np.arcsin(np.sqrt(_HIGH)) - 2 * np.arcsin(np.sqrt(0.5))


def test_hedges_g_interval_covers_under_normal_differences():
    rng, hits = np.random.default_rng(7), 0
    for _ in range(300):
        y = rng.normal(0, 1, 15)
        x = y + rng.normal(0.5, 1, 15)
        ci = hedges_g(x, y, scale="difference").interval
        hits += ci.low <= 0.5 <= ci.high
    assert 0.91 <= hits / 300 <= 0.98


def test_hedges_g_of_average_spread_by_hand():
    x, y = np.array([3.0, 4, 6, 7]), np.array([1.0, 4, 3, 4])
    spread = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    assert hedges_g(x, y).value == pytest.approx(2 / spread * 0.7236, rel=1e-4)  # J(3) = 0.7236


def test_rank_biserial_counts_ranks():
    effect = rank_biserial([3, 4, 2, 5], [1, 5, 0, 2], seed=1)
    assert effect.value == pytest.approx((2.5 + 2.5 + 4 - 1) / 10)
    assert rank_biserial([1, 5, 0, 2], [3, 4, 2, 5], seed=1).value == pytest.approx(-effect.value)
    assert rank_biserial([2, 3, 4], [1, 1, 1], seed=1).value == 1


def test_no_spread_no_hedges_g():
    with pytest.raises(StatisticsError, match="no spread"):
        hedges_g([1, 2, 3], [0, 1, 2])


# --- layout, bootstrap, best


def test_only_complete_blocks_are_used_and_the_rest_is_counted():
    table = cells({"a": [[1, 1], [0, 1], [1, 0]], "b": [[0, 0], [1, 1], [1, 1]]})
    table = table[~((table["question_id"] == "q2") & (table["model"] == "b"))]
    paired = pair_by_question(table)
    assert paired.questions == ("q0", "q1")
    assert (paired.left_out, paired.blocks_left_out) == (1, 1)
    assert paired.values.tolist() == [[1.0, 0.0], [0.5, 1.0]]


def test_temperatures_are_held_equal_and_a_question_counts_once():
    rows = [("q", "a", 0.2, 1), ("q", "b", 0.2, 0), ("q", "a", 1.0, 0), ("q", "b", 1.0, 0), ("q", "a", 1.2, 0)]
    table = pd.DataFrame(rows, columns=["question_id", "model", "temperature", "accuracy"])
    paired = pair_by_question(table)
    assert paired.values.tolist() == [[0.5, 0.0]]
    assert paired.blocks_left_out == 1
    assert pair_by_question(table, within=[]).values.tolist() == [[pytest.approx(1 / 3), 0.0]]


def test_a_missing_temperature_is_a_value_of_its_own():
    rows = [("q", "a", pd.NA, 1), ("q", "b", pd.NA, 0)]
    table = pd.DataFrame(rows, columns=["question_id", "model", "temperature", "accuracy"])
    table["temperature"] = table["temperature"].astype("Float64")
    assert pair_by_question(table).values.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda t: t[t["model"] == "a"], {}, "only model 'a'"),
        (lambda t: t.iloc[:0], {}, "no runs"),
        (lambda t: t[(t["model"] == "a") == (t["question_id"] == "q0")], {}, "nothing can be paired"),
        (lambda t: t.drop(columns="model"), {}, "lacks the columns model"),
        (lambda t: t.assign(accuracy=pd.NA), {}, "nothing can be paired"),
        (lambda t: t[t["run"] == 0].assign(score=1.0), {"measure": "instability"}, "two runs"),
        (lambda t: t, {"measure": "charm"}, "unknown measure"),
        (lambda t: t, {"within": ["model"]}, "held equal at once"),
    ],
)
def test_what_cannot_be_paired_is_refused(change, arguments, message):
    table = cells({"a": [[1, 1], [0, 1]], "b": [[0, 0], [1, 1]]})
    with pytest.raises(StatisticsError, match=message):
        pair_by_question(change(table), **arguments)


@pytest.fixture(scope="module")
def accuracy():
    return pair_by_question(study())


@pytest.mark.parametrize("resample", ["questions", "runs", "both"])
def test_spread_of_the_difference_is_the_theoretical_one(accuracy, resample):
    means = resampled_means(accuracy, resample=resample, resamples=4000, seed=1)
    d = means[:, 0] - means[:, 1]
    between = accuracy.differences("model_a", "model_b").var() / 20
    parts = [[np.var(runs) / 30 for runs in blocks] for question in accuracy.runs for blocks in question[:2]]
    within = np.sum([np.sum(p) / 16 for p in parts]) / 400  # mean of four blocks, two models
    want = {"questions": between, "runs": within, "both": between + within}[resample]
    assert d.std() == pytest.approx(np.sqrt(want), rel=0.05)
    assert d.mean() == pytest.approx(accuracy.differences("model_a", "model_b").mean(), abs=0.003)


@pytest.mark.parametrize("resample", ["questions", "runs", "both"])
def test_neither_row_order_nor_question_names_matter(resample):
    table = study()
    names = {name: f"x{i:02d}" for i, name in enumerate(sorted(table["question_id"].unique(), reverse=True))}
    other = table.assign(question_id=table["question_id"].map(names)).sample(frac=1, random_state=1)
    a, b = (
        paired_interval(pair_by_question(t), "model_a", "model_b", seed=1, resample=resample, resamples=499)
        for t in (table, other)
    )
    assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=1e-12)


def test_swapping_the_models_mirrors_the_interval(accuracy):
    for method in ("percentile", "basic", "studentised", "bayesian"):
        a = paired_interval(accuracy, "model_a", "model_b", seed=1, method=method)
        b = paired_interval(accuracy, "model_b", "model_a", seed=1, method=method)
        assert (a.low, a.high) == pytest.approx((-b.high, -b.low), abs=0.004), method


def test_duplicating_every_run_leaves_question_values_alone():
    table = study()
    twice = pd.concat([table, table.assign(run=table["run"] + 100)])
    assert pair_by_question(twice).values == pytest.approx(pair_by_question(table).values)


def test_one_question_has_no_interval_over_questions():
    paired = pair_by_question(cells({"a": [[1, 1, 0]], "b": [[0, 0, 1]]}))
    assert "one question" in paired_interval(paired, "a", "b", seed=1).note
    assert "one question" in paired_interval(paired, "a", "b", seed=1, resample="both").note
    assert paired_interval(paired, "a", "b", seed=1, resample="runs").available
    with pytest.raises(StatisticsError, match="one question"):
        probability_best(paired, seed=1)


def test_no_difference_anywhere_has_no_interval_and_p_of_one():
    paired = pair_by_question(cells({"a": [[1, 1], [0, 0], [0, 0]], "b": [[1, 1], [0, 0], [0, 0]]}))
    assert "alike" in paired_interval(paired, "a", "b", seed=1).note
    assert "never differ" in paired_interval(paired, "a", "b", seed=1, resample="runs").note
    assert "same difference" in paired_interval(paired, "a", "b", seed=1, resample="both").note
    assert sign_flip_test(paired.differences("a", "b"), seed=1).p == 1


def test_probabilities_of_being_best_add_up_and_follow_the_means(accuracy):
    table = probability_best(accuracy, seed=1, resamples=1999)
    assert table["probability_best"].sum() == pytest.approx(1)
    assert table["probability_best"].tolist() == sorted(table["probability_best"], reverse=True)
    assert table["expected_rank"].sum() == pytest.approx(6)
    p = sign_flip_test(accuracy.differences("model_a", "model_b"), seed=1).p
    assert 1 - table["probability_best"][0] == pytest.approx(p / 2, abs=0.01)


def test_equal_models_share_being_best():
    paired = pair_by_question(cells({"a": [[1], [0], [1]], "b": [[1], [0], [1]]}))
    assert probability_best(paired, seed=1, resamples=499)["probability_best"].tolist() == [0.5, 0.5]


def test_least_instability_is_best():
    rng = np.random.default_rng(8)
    rows = [
        (f"q{q}", m, float(rng.choice([0, w]))) for q in range(8) for m, w in (("a", 0.5), ("b", 3)) for _ in range(9)
    ]
    table = pd.DataFrame(rows, columns=["question_id", "model", "score"])
    best = probability_best(pair_by_question(table, measure="instability"), seed=1, resamples=499)
    assert best["probability_best"].tolist() == [1, 0]


# --- edges


def test_mcnemar_without_pairs_that_disagree_says_so():
    test = mcnemar(3, 0, 0, 4)
    assert (test.exact_p, test.mid_p) == (1, 1)
    assert not test.interval.available


def test_mcnemar_needs_pairs_in_common():
    table = cells({"a": [[1]], "b": [[1]]})
    with pytest.raises(StatisticsError, match="no runs of model 'c'"):
        mcnemar_test(table, "a", "c")
    table.loc[table["model"] == "b", "question_id"] = "other"
    with pytest.raises(StatisticsError, match="share no pair"):
        mcnemar_test(table, "a", "b")


def test_first_runs_are_the_lowest_numbered():
    table = cells({"a": [[1, 0], [1, 0]], "b": [[0, 1], [0, 1]]}).iloc[::-1]
    test = mcnemar_test(table, "a", "b", pairs="first run")
    assert (test.first_only, test.n, test.difference) == (2, 2, 1.0)


@pytest.mark.parametrize("values", [[[1, 2]], [[1], [2]], [[1, 1], [2, 2]], [[1, np.nan], [1, 2]]])
def test_ranks_of_nothing_are_refused(values):
    with pytest.raises(StatisticsError):
        friedman_test(values)


def test_full_agreement_of_ranks_is_beyond_doubt():
    values = np.tile([1.0, 2.0, 3.0], (6, 1))
    assert friedman_test(values).kendall_w == pytest.approx(1)
    assert friedman_pairs(values, ["a", "b", "c"])["p"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((-0.01, 0.02), "equivalent"),
        ((0.06, 0.1), "different"),
        ((-0.1, 0.02), "undecided"),
        ((-0.2, -0.05), "different"),
    ],
)
def test_inclusion_of_an_interval(ends, verdict):
    assert inside_margin(Interval(*ends, 0.9, "t"), 0.05) == verdict


@pytest.mark.parametrize(
    "call",
    [
        lambda: equivalence_test([0.1, 0.2], 0),
        lambda: equivalence_test([0.1], 0.1),
        lambda: equivalence_test([0.1, 0.1], 0.1),
        lambda: smallest_detectable([0.1, 0.2], power=0.01),
    ],
)
def test_equivalence_refuses_what_it_cannot_do(call):
    with pytest.raises(StatisticsError):
        call()


def test_signed_ranks_of_zeros_are_refused():
    with pytest.raises(StatisticsError, match="zero"):
        signed_rank_test([0.0, 0.0])
