"""Intervals over questions and over runs of these questions, against SciPy and values worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dsqa.stats import weighted_sd
from dsqa.stats.comparison import pair_by_question, paired_interval
from dsqa.stats.comparison.equal_runs import expected_of_fewer
from dsqa.stats.over_questions import difference_interval, question_intervals
from dsqa.stats.these_questions import jackknife_variance, mean_variance, stratified_interval

SCORES = st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.5, 3.0]), min_size=2, max_size=7)


def test_a_difference_has_student_t_as_scipy_has_it():
    x, y = np.array([0.9, 0.4, 0.7, 1.0, 0.2, 0.5]), np.array([0.6, 0.5, 0.5, 0.8, 0.1, 0.1])
    want = stats.ttest_rel(x, y).confidence_interval(0.9)
    found = difference_interval(x - y, level=0.9)
    assert (found.low, found.high) == pytest.approx((want.low, want.high), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([0.5], "one question"),
        ([0.2, 0.9], "2 questions"),
        ([0.3, 0.3, 0.3], "alike"),
        ([0.0] * 40 + [0.1], "only 1 of 41"),
    ],
)
def test_too_little_gives_a_reason_and_no_interval(values, why):
    for interval in (difference_interval(values), question_intervals([np.array(values)], level=0.95)[0]):
        assert not interval.available
        assert why in interval.note


def test_a_mean_of_shares_stays_within_its_scale():
    values = np.array([1.0, 1.0, 0.9, 0.6, 1.0, 0.8])
    [interval] = question_intervals([values], level=0.95)
    want = stats.ttest_1samp(values, 0).confidence_interval()
    assert want.high > 1
    assert (interval.low, interval.high) == pytest.approx((want.low, 1.0))


def test_strata_by_hand():
    # v = 0.25 · 0.04 and 0.25 · 0.12; ν = 0.04² / (0.01²/4 + 0.03²/9) = 12.8.
    found = stratified_interval(0.5, [0.5, 0.5], [0.04, 0.12], [5, 10])
    half = stats.t.ppf(0.975, 12.8) * 0.2
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-12)


def test_a_cell_of_one_run_takes_the_others_variance():
    found = stratified_interval(0.5, [0.5, 0.5], [0.04, np.nan], [5, 1])
    half = stats.t.ppf(0.975, 4) * np.sqrt(0.02)
    assert found.high - 0.5 == pytest.approx(half, rel=1e-12)
    assert not stratified_interval(0.5, [0.5, 0.5], [np.nan, np.nan], [1, 1]).available
    assert not stratified_interval(0.5, [0.5, 0.5], [0.0, 0.0], [9, 9]).available


def test_variances_of_a_cell():
    runs = np.array([0.0, 3.0, 3.0, 1.5, 3.0])
    assert mean_variance(runs) == pytest.approx(runs.var(ddof=1) / 5)
    without = np.array([np.delete(runs, i).std() for i in range(5)])
    assert jackknife_variance(runs) == pytest.approx(4 / 5 * ((without - without.mean()) ** 2).sum())
    assert np.isnan(jackknife_variance(runs[:4]))


@settings(max_examples=60, deadline=None)
@given(runs=SCORES, data=st.data())
def test_expected_sd_of_fewer_runs_is_the_mean_over_all_subsets(runs, data):
    size = data.draw(st.integers(1, len(runs)))
    want = np.mean([np.std(subset) for subset in combinations(runs, size)])
    assert expected_of_fewer(weighted_sd, np.array(runs), size) == pytest.approx(want, abs=1e-9)


def test_instability_of_unequal_numbers_of_runs_is_compared_without_a_bias():
    rng = np.random.default_rng(11)
    gaps = []
    for _ in range(60):
        p = rng.uniform(size=20)
        rows = [
            (f"q{q}", model, 1.5 + 1.5 * (rng.random() < p[q]))
            for q in range(20) for model, n in (("old", 4), ("new", 40)) for _ in range(n)
        ]  # fmt: skip
        table = pd.DataFrame(rows, columns=["question_id", "model", "score"])
        paired = pair_by_question(table, measure="instability")
        gaps.append(paired.differences("new", "old").mean())
        assert not paired_interval(paired, "new", "old", resample="runs").available
    # Without it the mean is 0.1.
    assert abs(np.mean(gaps)) < 4 * np.std(gaps, ddof=1) / np.sqrt(60)
