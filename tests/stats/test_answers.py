from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dsqa.errors import StatisticsError
from dsqa.stats import UNPARSED, agreement_at_k, agreement_intervals, answer_interval, answer_summary

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


def test_interval_of_the_modal_share_is_the_binomial_one_wider_below():
    ci = answer_interval(["a"] * 80 + ["b"] * 20, "modal_share", seed=1)
    exact = scipy_stats.binomtest(80, 100).proportion_ci(0.95, "exact")
    half = scipy_stats.binomtest(80, 100).proportion_ci(0.975, "exact")
    assert (ci.low, ci.high) == pytest.approx((half.low, exact.high), rel=1e-9)


@pytest.mark.parametrize("name", ["modal_share", "entropy", "gini_simpson"])
def test_intervals_do_not_depend_on_order_or_labels(name):
    a = answer_interval(["a"] * 6 + ["b"] * 3 + [None], name, seed=1)
    b = answer_interval([None] + ["y"] * 3 + ["x"] * 6, name, seed=1)
    assert (a.low, a.high) == pytest.approx((b.low, b.high))
    assert 0 <= a.low <= getattr(answer_summary(["a"] * 6 + ["b"] * 3 + [None]), name) <= a.high


def test_all_answers_equal_leave_the_exact_bound():
    unseen = 1 - 0.05 ** (1 / 5)
    assert answer_interval(["a"] * 5, "modal_share", seed=1).low == pytest.approx(1 - unseen)
    gini = answer_interval(["a"] * 5, "gini_simpson", seed=1)
    assert (gini.low, gini.high) == pytest.approx((0, 1 - (1 - unseen) ** 2))
    assert "could still differ" in gini.note


@pytest.mark.parametrize("name", ["entropy", "gini_simpson", "pair_agreement"])
def test_no_interval_when_all_answers_differ(name):
    with pytest.raises(StatisticsError, match="cannot be seen"):
        answer_interval(["a", "b", "c"], name, seed=1)
    assert answer_interval(["a", "b", "c"], "modal_share", seed=1).high < 1


def test_no_interval_for_one_run():
    with pytest.raises(StatisticsError, match="one run"):
        answer_interval(["a"], "modal_share", seed=1)


@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.8, 0.1, 0.05, 0.05)])
def test_intervals_cover(shares):
    """Equal shares are the hard case for the modal share: the largest seen is always too large."""
    p, rng = np.array(shares), np.random.default_rng(1)
    truth = {"modal_share": p.max(), "gini_simpson": 1 - (p**2).sum(), "pair_agreement": (p**2).sum()}
    truth["entropy"] = scipy_stats.entropy(p, base=2)
    hits = dict.fromkeys(truth, 0)
    for _ in range(200):
        counts = rng.multinomial(40, p)
        intervals = agreement_intervals(counts[counts > 0].tolist(), seed=1, resamples=399)
        for name, value in truth.items():
            hits[name] += intervals[name].low <= value <= intervals[name].high
    assert min(hits.values()) >= 0.85 * 200


@few
@given(st.lists(st.integers(1, 8), min_size=1, max_size=5).filter(lambda c: sum(c) > 1))
def test_agreement_of_pairs_is_gini_simpson_without_replacement(counts):
    n = sum(counts)
    gini = 1 - sum((c / n) ** 2 for c in counts)
    assert agreement_at_k(counts, 2) == pytest.approx(1 - gini * n / (n - 1), abs=1e-12)
    curve = [agreement_at_k(counts, k) for k in range(2, n + 1)]
    assert curve == sorted(curve, reverse=True)
    assert curve[-1] == (len(counts) == 1)


def test_agreement_of_more_runs_than_there_are_is_refused():
    with pytest.raises(StatisticsError, match="3 runs are fewer than k = 4"):
        agreement_at_k([2, 1], 4)


def test_no_interval_for_an_unknown_statistic():
    with pytest.raises(StatisticsError, match="unknown statistic"):
        answer_interval(["a", "b"], "mode", seed=1)
