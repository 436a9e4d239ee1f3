from __future__ import annotations

import numpy as np
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import bootstrap_interval, nested_interval, weighted_sd


def simulated(seed, questions=25, runs=10, between=1.0, within=1.0):
    rng = np.random.default_rng(seed)
    return [rng.normal(rng.normal(0, between), within, runs) for _ in range(questions)]


def test_questions_only_is_the_bootstrap_of_question_means():
    data = simulated(1)
    means = [sample.mean() for sample in data]
    ours = nested_interval(data, seed=1, resamples=40_000)
    plain = bootstrap_interval(means, seed=1, method="percentile", resamples=40_000)
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=0.02)


@pytest.mark.parametrize(("resample", "questions", "runs"), [("runs", 0, 1), ("questions", 1, 0), ("both", 1, 1)])
def test_spread_of_the_mean_is_the_theoretical_one(resample, questions, runs):
    data = simulated(2)
    means = np.array([sample.mean() for sample in data])
    within = np.mean([sample.var() for sample in data]) / 10
    want = np.sqrt((questions * means.var() + runs * within) / 25)
    ci = nested_interval(data, seed=1, resample=resample, resamples=20_000)
    assert ci.width / (2 * 1.96) == pytest.approx(want, rel=0.03)


def test_the_default_covers():
    """σ_question = σ_run = 1: resampling questions holds 0 in about 95 of 100 studies (fewer for 25 questions)."""
    hits = [0 in nested_interval(simulated(seed), seed=1, resamples=999) for seed in range(300)]
    assert 0.90 <= np.mean(hits) <= 0.98


def test_basic_undoes_the_downward_bias_of_the_sd_over_runs():
    rng = np.random.default_rng(4)
    data = [rng.choice([0.0, 3.0], 8) for _ in range(40)]
    data = [sample for sample in data if np.ptp(sample) > 0]
    estimate = np.mean([sample.std() for sample in data])
    percentile = nested_interval(data, weighted_sd, seed=1, resample="runs", resamples=2999)
    basic = nested_interval(data, weighted_sd, seed=1, resample="runs", method="basic", resamples=2999)
    assert percentile.low + percentile.high < 2 * estimate < basic.low + basic.high


def test_paired_differences_remove_what_questions_share():
    rng = np.random.default_rng(5)
    hard = rng.normal(0, 2, 30)
    a, b = hard + rng.normal(0, 0.1, 30), hard + 0.3 + rng.normal(0, 0.1, 30)
    paired = nested_interval([[d] for d in b - a], seed=1, resamples=2999)
    assert paired.low > 0.2
    assert nested_interval([[v] for v in b], seed=1, resamples=2999).width > 5 * paired.width


@pytest.mark.parametrize("resample", ["runs", "questions", "both"])
def test_order_of_questions_and_runs_does_not_matter(resample):
    data = [[1.0, 2, 3], [2.0, 2, 5, 6], [0.0, 4]]
    other = [[5.0, 6, 2, 2], [4.0, 0], [3.0, 1, 2]]
    a = nested_interval(data, seed=1, resample=resample, resamples=999)
    assert a == nested_interval(other, seed=1, resample=resample, resamples=999)


def test_one_question_can_have_its_runs_resampled_only():
    assert nested_interval([[0.0, 1, 2, 5]], seed=1, resample="runs").available
    with pytest.raises(StatisticsError, match="at least two questions"):
        nested_interval([[0.0, 1, 2, 5]], seed=1)


def test_no_variation_is_refused():
    with pytest.raises(StatisticsError, match="every resample gives the same"):
        nested_interval([[1.0, 1], [1.0, 1]], seed=1)


@pytest.mark.parametrize("setting", [{"resample": "models"}, {"method": "bca"}, {"resamples": 10}, {"level": 1.5}])
def test_unknown_settings_are_refused(setting):
    with pytest.raises(StatisticsError):
        nested_interval([[1.0, 2], [3.0, 4]], seed=1, **setting)
