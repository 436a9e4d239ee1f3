from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from dsqa.errors import StatisticsError
from dsqa.stats import clopper_pearson, jeffreys, missing_bounds, proportion_bounds, wilson

from .data import few, reference

OURS = {"wilson": wilson, "clopper_pearson": clopper_pearson, "jeffreys": jeffreys}
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("key", "level"), [("b_binomial", 0.95), ("b_binomial_90", 0.90)])
@pytest.mark.parametrize("name", OURS)
def test_agrees_with_r(key, level, name):
    for row in reference()[key]:
        ci = OURS[name](row["x"], row["n"], level)
        assert (ci.low, ci.high) == pytest.approx(row[name], rel=1e-8, abs=1e-14), row


def test_wilson_by_hand():
    # x = 5, n = 10: z² = 3.8414588; centre ½, half = z/(1+z²/n)·√(1/40 + z²/400)
    z = 1.959963984540054
    half = z / (1 + z * z / 10) * math.sqrt(0.025 + z * z / 400)
    ci = wilson(5, 10)
    assert (ci.low, ci.high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-14)


@few
@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_agrees_with_scipy_and_statsmodels(xn, level):
    x, n = xn
    for name, method in (("wilson", "wilson"), ("clopper_pearson", "exact")):
        low, high = scipy_stats.binomtest(x, n).proportion_ci(level, method=method)
        assert (OURS[name](x, n, level).low, OURS[name](x, n, level).high) == pytest.approx(
            (low, high), rel=1e-8, abs=1e-12
        )
    if 0 < x < n:  # statsmodels has no end rule for Jeffreys
        low, high = proportion_confint(x, n, 1 - level, method="jeffreys")
        assert (jeffreys(x, n, level).low, jeffreys(x, n, level).high) == pytest.approx((low, high), rel=1e-8)


@few
@given(counts)
def test_holds_the_estimate_and_stays_in_the_unit_interval(xn):
    x, n = xn
    for estimator in OURS.values():
        ci = estimator(x, n)
        assert 0 <= ci.low <= x / n <= ci.high <= 1


@few
@given(counts)
def test_relabelling_right_and_wrong_mirrors_the_interval(xn):
    x, n = xn
    for estimator in OURS.values():
        a, b = estimator(x, n), estimator(n - x, n)
        assert (a.low, a.high) == pytest.approx((1 - b.high, 1 - b.low), abs=1e-12)


@few
@given(st.integers(1, 200))
def test_monotone_in_successes(n):
    for method in ("wilson", "clopper-pearson", "jeffreys"):
        low, high = proportion_bounds(np.arange(n + 1), n, method=method)
        assert (np.diff(low) > -1e-12).all()
        assert (np.diff(high) > -1e-12).all()


@few
@given(counts, st.integers(2, 5))
def test_duplicating_the_runs_narrows_the_interval(xn, times):
    x, n = xn
    for estimator in OURS.values():
        assert estimator(times * x, times * n).width < estimator(x, n).width


@pytest.mark.parametrize("estimator", OURS.values())
def test_ends_at_none_and_all_right_are_exactly_0_and_1(estimator):
    assert estimator(0, 7).low == 0.0
    assert estimator(0, 7).high < 1
    assert estimator(7, 7).high == 1.0
    assert estimator(7, 7).low > 0


@pytest.mark.parametrize("name", OURS)
def test_exact_coverage_for_clopper_pearson_never_below_nominal(name):
    n, p = 12, np.linspace(0.01, 0.99, 99)
    low, high = proportion_bounds(np.arange(n + 1), n, method=name.replace("_", "-"))
    pmf = scipy_stats.binom.pmf(np.arange(n + 1)[None, :], n, p[:, None])
    covered = (pmf * ((low <= p[:, None]) & (p[:, None] <= high))).sum(axis=1)
    assert covered.mean() > 0.94
    if name == "clopper_pearson":
        assert covered.min() >= 0.95


def test_no_runs_are_refused():
    with pytest.raises(StatisticsError, match="no runs"):
        wilson(0, 0)


@pytest.mark.parametrize(("x", "n"), [(-1, 5), (6, 5), (1.5, 5)])
def test_impossible_counts_are_refused(x, n):
    with pytest.raises(StatisticsError, match="successes"):
        wilson(x, n)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5])
def test_a_level_outside_0_to_1_is_refused(level):
    with pytest.raises(StatisticsError, match="confidence level"):
        wilson(1, 2, level)


def test_arrays_give_nan_where_nothing_is_known():
    low, high = proportion_bounds([3, np.nan, 0], [10, 10, 0])
    assert low[0] == wilson(3, 10).low
    assert np.isnan(low[1:]).all()
    assert np.isnan(high[1:]).all()


def test_missing_bounds_are_worst_and_best_case():
    low, high = missing_bounds([6, 0], [10, 0], [2, 0])
    assert (low[0], high[0]) == (0.6, 0.8)
    assert np.isnan(low[1])
    assert np.isnan(high[1])
