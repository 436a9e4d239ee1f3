from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dsqa.errors import StatisticsError
from dsqa.stats import UNPARSED, answer_interval, answer_summary

from .data import few

keys = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30)


def test_by_hand():
    s = answer_summary(["x=1"] * 4 + ["x=2"] * 2 + [None, None])
    assert (s.runs, s.modal_answer, s.modal_share, s.distinct_answers) == (8, "x=1", 0.5, 3)
    assert s.entropy == pytest.approx(1.5)
    assert s.gini_simpson == pytest.approx(1 - (0.25 + 2 / 16))
    assert s.total_agreement == 0


def test_all_equal_answers_agree_totally():
    s = answer_summary(["x=1"] * 5)
    assert (s.total_agreement, s.distinct_answers, s.entropy, s.gini_simpson, s.modal_share) == (1, 1, 0, 0, 1)


def test_one_run_agrees_with_nothing():
    assert math.isnan(answer_summary(["x=1"]).total_agreement)


def test_never_readable_is_one_answer_of_its_own():
    s = answer_summary([None, pd.NA, float("nan")])
    assert (s.modal_answer, s.distinct_answers, s.total_agreement) == (UNPARSED, 1, 1)


def test_one_unreadable_run_breaks_total_agreement():
    assert answer_summary(["x=1"] * 9 + [None]).total_agreement == 0


def test_ties_go_to_the_first_by_name():
    assert answer_summary(["b", "a", "b", "a"]).modal_answer == "a"


def test_no_answers_are_refused():
    with pytest.raises(StatisticsError, match="no answers"):
        answer_summary([])


@few
@given(keys, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(answers, shuffler):
    shuffled = list(answers)
    shuffler.shuffle(shuffled)
    assert repr(answer_summary(answers)) == repr(answer_summary(shuffled))


@few
@given(keys, st.integers(2, 4))
def test_duplicating_all_runs_changes_no_share(answers, times):
    a, b = answer_summary(answers), answer_summary(answers * times)
    assert (a.modal_answer, a.distinct_answers) == (b.modal_answer, b.distinct_answers)
    assert (a.modal_share, a.entropy, a.gini_simpson) == pytest.approx((b.modal_share, b.entropy, b.gini_simpson))


@few
@given(keys)
def test_relabelling_changes_no_number(answers):
    other = [None if a is None else {"a": "zz", "b": "yy", "c": "xx"}[a] for a in answers]
    a, b = answer_summary(answers), answer_summary(other)
    assert (a.modal_share, a.entropy, a.gini_simpson) == pytest.approx((b.modal_share, b.entropy, b.gini_simpson))


@few
@given(keys)
def test_entropy_agrees_with_scipy(answers):
    _, counts = np.unique([a or "-" for a in answers], return_counts=True)
    assert answer_summary(answers).entropy == pytest.approx(scipy_stats.entropy(counts, base=2), abs=1e-12)
    assert 0 <= answer_summary(answers).gini_simpson <= 1 - 1 / len(counts) + 1e-12


def test_interval_of_the_majority_share_is_near_the_binomial_one():
    keys = ["a"] * 80 + ["b"] * 20
    ci = answer_interval(keys, "modal_share", seed=1)
    assert [ci.low, ci.high] == pytest.approx(list(scipy_stats.binom.ppf([0.025, 0.975], 100, 0.8) / 100))


@pytest.mark.parametrize("name", ["modal_share", "entropy", "gini_simpson"])
def test_intervals_do_not_depend_on_order_or_labels(name):
    a = answer_interval(["a"] * 6 + ["b"] * 3 + [None], name, seed=1)
    b = answer_interval([None] + ["y"] * 3 + ["x"] * 6, name, seed=1)
    assert (a.low, a.high) == pytest.approx((b.low, b.high))
    assert 0 <= a.low <= getattr(answer_summary(["a"] * 6 + ["b"] * 3 + [None]), name) <= a.high


def test_interval_of_entropy_by_two_answers():
    """With two answers entropy is a function of a binomial share: the listed bootstrap is that function's."""
    ci = answer_interval(["a"] * 7 + ["b"] * 3, "entropy", seed=1)
    k = np.arange(11)
    entropy = scipy_stats.entropy([k / 10, 1 - k / 10], base=2)
    order = np.argsort(entropy)
    cdf = np.cumsum(scipy_stats.binom.pmf(k, 10, 0.3)[order])
    want = [entropy[order][np.searchsorted(cdf, q)] for q in (0.025, 0.975)]
    assert [ci.low, ci.high] == pytest.approx(want)


def test_no_interval_when_all_answers_are_equal():
    with pytest.raises(StatisticsError, match="equal"):
        answer_interval(["a"] * 5, "entropy", seed=1)


def test_no_interval_for_an_unknown_statistic():
    with pytest.raises(StatisticsError, match="unknown statistic"):
        answer_interval(["a", "b"], "mode", seed=1)
