from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dsqa.errors import StatisticsError
from dsqa.stats import bootstrap_interval, bootstrap_intervals, weighted_mean, weighted_sd
from dsqa.stats.bootstrap.resampling import compositions, count_weights, number_of_compositions
from dsqa.stats.bootstrap.statistics import standard_errors

from .data import few, reference

EXACT = [row for row in reference()["b_exact_bootstrap"] if isinstance(row["exact"], dict)]
# The others have hundreds of thousands of different resamples.
LISTED = [row for row in EXACT if number_of_compositions(len(row["scores"]), len(set(row["scores"]))) <= 60_000]
STATISTICS = {"mean": weighted_mean, "sd_pop": weighted_sd}
scores = st.lists(st.integers(0, 6).map(lambda k: k / 2), min_size=2, max_size=25)


@pytest.mark.parametrize("row", LISTED, ids=lambda row: row["question_id"])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_listed_distribution_agrees_with_the_exact_bootstrap_of_r(row, statistic, method):
    want = row["exact"][statistic]
    ends = want["bca_mid"]["ci95"] if method == "bca" else want[method]
    ci = bootstrap_interval(row["scores"], STATISTICS[statistic], seed=1, method=method, resamples=60_000)
    assert ci.method.endswith("exact")
    assert (ci.low, ci.high) == pytest.approx(ends, rel=1e-8)


@pytest.mark.parametrize("row", EXACT, ids=lambda row: row["question_id"])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_drawn_distribution_is_near_the_exact_bootstrap_of_r(row, statistic, method):
    want = row["exact"][statistic]
    ends = want["bca_mid"]["ci95"] if method == "bca" else want[method]
    # A tiny noise makes all values distinct, so that nothing is listed.
    noisy = np.array(row["scores"]) + np.linspace(0, 1e-7, len(row["scores"]))
    ci = bootstrap_interval(noisy, STATISTICS[statistic], seed=5, method=method, resamples=9999)
    assert ci.method.endswith("9,999 resamples")
    # Monte Carlo SD of one end is up to 0.009 (b_boot, mc_sd); a grid step of the mean is 1/60.
    assert (ci.low, ci.high) == pytest.approx(ends, abs=0.03)


def test_three_cells_of_the_reference_are_listed():
    assert len(LISTED) == 3


def test_listed_distribution_by_brute_force():
    """All 4⁴ ordered resamples of four values, quantiles by exact fractions."""
    sample = [0.0, 1.0, 1.0, 3.0]
    means = sorted(sum(pick) / 4 for pick in product(sample, repeat=4))
    tails = (Fraction(1, 40), Fraction(39, 40))
    want = [means[next(i for i in range(256) if Fraction(i + 1, 256) >= tail)] for tail in tails]
    ci = bootstrap_interval(sample, seed=1, method="percentile")
    assert [ci.low, ci.high] == want


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bca_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    sample = rng.gamma(2, 1, 40)
    for ours, theirs in ((weighted_mean, np.mean), (weighted_sd, np.std)):
        ci = bootstrap_interval(sample, ours, seed=seed, method="bca", resamples=20_000)
        them = scipy_stats.bootstrap((sample,), theirs, method="BCa", n_resamples=20_000, rng=rng).confidence_interval
        assert (ci.low, ci.high) == pytest.approx((them.low, them.high), abs=0.04)


def test_bayesian_bootstrap_of_the_mean_has_the_posterior_spread():
    """Rubin (1981): posterior variance of the mean is Σ(x − x̄)² / (n (n + 1))."""
    sample = np.random.default_rng(3).normal(size=200)
    ci = bootstrap_interval(sample, seed=1, method="bayesian", resamples=20_000)
    sd = np.sqrt(((sample - sample.mean()) ** 2).sum() / (200 * 201))
    assert ci.width == pytest.approx(2 * 1.96 * sd, rel=0.03)


def test_any_statistic_of_values_and_weights():
    def share_above_one(values, weights):
        return weights @ (values > 1) / weights.sum(axis=-1)

    sample = [0.0] * 6 + [3.0] * 4
    ci = bootstrap_interval(sample, share_above_one, seed=1, method="percentile")
    ends = scipy_stats.binom.ppf([0.025, 0.975], 10, 0.4) / 10
    assert [ci.low, ci.high] == pytest.approx(list(ends))


def test_compositions_are_complete_and_their_probabilities_add_to_one():
    counts, orders = compositions(9, 4)
    assert len(counts) == number_of_compositions(9, 4) == 220
    assert len({tuple(row) for row in counts}) == 220
    assert (counts.sum(axis=1) == 9).all()
    p = np.array([0.1, 0.2, 0.3, 0.4])
    assert np.exp(orders + counts @ np.log(p)).sum() == pytest.approx(1, abs=1e-13)
    assert np.exp(orders + counts @ np.log(p)) == pytest.approx(scipy_stats.multinomial.pmf(counts, 9, p), rel=1e-10)


def test_count_weights_are_a_multinomial_draw():
    weights = count_weights(20, 40_000, seed=1)
    assert (weights.sum(axis=1) == 20).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(20), abs=0.03)
    assert weights.var(axis=0) == pytest.approx(np.full(20, 0.95), abs=0.04)  # n p (1 − p)
    assert np.cov(weights[:, 0], weights[:, 1])[0, 1] == pytest.approx(-1 / 20, abs=0.02)


@few
@given(scores, st.randoms(use_true_random=False), st.sampled_from(["percentile", "basic", "bca", "bayesian"]))
def test_row_order_and_company_do_not_matter(sample, shuffler, method):
    shuffled = list(sample)
    shuffler.shuffle(shuffled)
    alone = bootstrap_intervals([sample], weighted_sd, seed=3, method=method, resamples=199)
    together = bootstrap_intervals([[0, 1, 2], shuffled, sample], weighted_sd, seed=3, method=method, resamples=199)
    assert repr(together[1]) == repr(together[2])
    if method == "bayesian":  # weights off the grid: a matrix product may round by its shape
        assert together[2].low == pytest.approx(alone[0].low, rel=1e-12, nan_ok=True)
    else:
        assert repr(alone[0]) == repr(together[1])


@few
@given(scores, st.sampled_from(["percentile", "basic", "bca"]))
def test_mean_moves_and_mirrors_with_the_scale(sample, method):
    if len(set(sample)) == 1:
        return
    a = bootstrap_intervals([sample], weighted_mean, seed=3, method=method, resamples=9999)[0]
    b = bootstrap_intervals([10 + 2 * np.array(sample)], weighted_mean, seed=3, method=method, resamples=9999)[0]
    assert (b.low, b.high) == pytest.approx((10 + 2 * a.low, 10 + 2 * a.high), abs=1e-9)


@few
@given(scores)
def test_percentile_interval_of_the_mean_stays_within_the_data(sample):
    ci = bootstrap_intervals([sample], weighted_mean, seed=1, method="percentile", resamples=199)[0]
    if ci.available:
        assert min(sample) <= ci.low <= ci.high <= max(sample)


def test_far_from_zero_loses_nothing():
    near = np.array([0.0, 0.5, 1, 3, 3, 2.5, 1])
    a = bootstrap_interval(near, weighted_sd, seed=1)
    b = bootstrap_interval(near + 2.0**30, weighted_sd, seed=1)
    assert (a.low, a.high) == (b.low, b.high)


def test_another_seed_gives_another_draw():
    sample = np.random.default_rng(1).normal(size=50)
    assert bootstrap_interval(sample, seed=1) == bootstrap_interval(sample, seed=1)
    assert bootstrap_interval(sample, seed=1) != bootstrap_interval(sample, seed=2)
    assert bootstrap_interval(sample, seed=-1) != bootstrap_interval(sample, seed=1)


def test_equal_values_are_refused():
    with pytest.raises(StatisticsError, match="all 5 values are equal"):
        bootstrap_interval([2.0] * 5, seed=1)


def test_one_value_is_refused():
    with pytest.raises(StatisticsError, match="one value"):
        bootstrap_interval([2.0], seed=1)


def test_no_value_is_refused():
    with pytest.raises(StatisticsError, match="nothing to summarise"):
        bootstrap_interval([], seed=1)


def test_missing_values_are_refused():
    with pytest.raises(StatisticsError, match="1 of 3 values are missing"):
        bootstrap_interval([1.0, float("nan"), 2.0], seed=1)


def test_too_few_resamples_are_refused():
    with pytest.raises(StatisticsError, match="too few"):
        bootstrap_interval([1.0, 2.0], seed=1, resamples=20)


def test_an_unknown_method_is_refused():
    with pytest.raises(StatisticsError, match="unknown bootstrap method"):
        bootstrap_interval([1.0, 2.0], seed=1, method="magic")


def test_jackknife_values_all_equal_give_no_acceleration():
    # Half 0, half 3: leaving any one out gives the same SD.
    ci = bootstrap_interval([0.0, 3.0] * 5, weighted_sd, seed=1, method="bca")
    assert ci.high == 1.5


def test_studentised_of_the_mean_is_the_bootstrap_t_by_hand():
    x = np.random.default_rng(3).gamma(2, 1, 25)
    ci = bootstrap_interval(x, seed=1, method="studentised", resamples=1999)
    ordered = np.sort(x)
    weights = count_weights(25, 1999, 1)
    means = weights @ ordered / 25
    spread = np.sqrt(weights @ ordered**2 / 25 - means**2)
    t = np.sort((means - x.mean()) / (spread / 5))
    low, high = t[int(np.ceil(0.025 * 1999)) - 1], t[int(np.ceil(0.975 * 1999)) - 1]
    error = x.std() / 5
    assert (ci.low, ci.high) == pytest.approx((x.mean() - high * error, x.mean() - low * error), rel=1e-9)


def test_influence_found_by_moving_weight_is_the_closed_form():
    x = np.random.default_rng(4).normal(size=12)
    weights = np.random.default_rng(5).multinomial(12, np.ones(12) / 12, 6).astype(float)
    for statistic in (weighted_mean, weighted_sd):
        exact = standard_errors(statistic, x, weights)
        moved = standard_errors(lambda v, w, s=statistic: s(v, w), x, weights)
        assert moved == pytest.approx(exact, rel=1e-4)


def test_studentised_covers_a_skewed_mean_better_than_the_percentile_rule():
    rng, hits = np.random.default_rng(6), {"percentile": 0, "studentised": 0}
    for _ in range(300):
        x = rng.lognormal(0, 1, 20)
        for method in hits:
            ci = bootstrap_interval(x, seed=1, method=method, resamples=499)
            hits[method] += ci.low <= np.exp(0.5) <= ci.high
    assert hits["studentised"] > hits["percentile"]
    assert hits["studentised"] / 300 >= 0.88


def test_studentised_of_resamples_without_spread_says_so():
    with pytest.raises(StatisticsError, match="no spread to studentise"):
        bootstrap_interval([0, 3, 3, 3, 3], seed=1, method="studentised")
