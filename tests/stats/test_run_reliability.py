"""Reliability of runs, standard errors of components, agreement over clusters, and the power of drift tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from scipy.stats import ttest_1samp

from dsqa import stats
from dsqa.errors import StatisticsError


def runs_of(cells: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [(f"q{q}", value) for q, cell in enumerate(cells) for value in cell], columns=["question_id", "score"]
    )


def test_by_hand_reliability_is_that_of_the_analysis_of_variance() -> None:
    found = stats.run_reliability(runs_of([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]]))
    assert found.between == pytest.approx((0.6875 / 3 - 1.75 / 12) / 4)
    assert found.within == pytest.approx(1.75 / 12)
    assert found.of_mean(1)[0] == pytest.approx(1 / 8)
    assert found.of_mean(4)[0] == pytest.approx(4 / 11)
    assert (found.runs_for(0.8), found.runs_for(0.9)) == (28, 63)


def test_balanced_reliability_is_the_icc_and_the_g_study() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.normal(0, 1, (9, 1)) + rng.normal(0, 1, (9, 5))
    table = runs_of(matrix.tolist())
    found = stats.run_reliability(table)
    assert found.of_mean(1)[0] == pytest.approx(stats.icc(matrix, "1,1").value)
    assert found.of_mean(5)[0] == pytest.approx(stats.icc(matrix, "1,k").value)
    assert found.between == pytest.approx(stats.g_study(table, terms=["question"]).components["question"])


def test_interval_covers_where_scores_are_right_or_wrong() -> None:
    rng = np.random.default_rng(5)
    # Shares from Beta(1/2, 1/2) have the variance 1/8, and a run 1/4: its reliability is one half.
    hits = 0
    for _ in range(200):
        cells = rng.random((30, 8)) < rng.beta(0.5, 0.5, (30, 1))
        interval = stats.run_reliability(runs_of(cells.astype(float).tolist())).of_mean(1)[1]
        hits += interval.low <= 0.5 <= interval.high
    # 95 % of 200, less three standard errors; the F interval covers 92 %.
    assert hits >= 181


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([[1.0, 0.0]], "at least two questions"),
        ([[1.0], [0.0]], "no question has two runs"),
        ([[1.0, 1.0], [0.0, 0.0]], "never differ"),
    ],
)
def test_reliability_that_cannot_be_seen_is_refused(cells: list[list[float]], said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        stats.run_reliability(runs_of(cells))


def test_no_number_of_runs_where_questions_do_not_differ() -> None:
    found = stats.run_reliability(runs_of([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert found.between < 0
    assert found.of_mean(100)[0] == 0
    assert found.runs_for(0.5) is None


def test_component_errors_are_the_jackknife_of_the_g_study() -> None:
    rng = np.random.default_rng(6)
    rows = [(f"q{q}", m, q % 3 + m + rng.normal()) for q in range(5) for m in range(2) for _ in range(3)]
    table = pd.DataFrame(rows, columns=["question_id", "model", "score"])
    found = stats.component_errors(table)
    without = [stats.g_study(table[table["question_id"] != f"q{q}"]).components for q in range(5)]
    draws = pd.DataFrame(without)[list(found)]
    assert list(found.values()) == pytest.approx(np.sqrt(4 * draws.var(ddof=0)).tolist())


def test_alpha_over_clusters_of_one_unit_is_alpha_over_units() -> None:
    rng = np.random.default_rng(7)
    ratings = rng.integers(0, 2, (30, 2)).astype(float)
    single = stats.krippendorff_interval(ratings, seed=1, resamples=199)
    clustered = stats.krippendorff_interval(ratings, clusters=np.arange(30), seed=1, resamples=199)
    assert (clustered.low, clustered.high) == (single.low, single.high)


def test_alpha_is_less_certain_where_units_of_a_cluster_are_copies() -> None:
    rng = np.random.default_rng(8)
    first = rng.integers(0, 2, 12)
    ratings = np.repeat(np.column_stack([first, np.where(rng.random(12) < 0.2, 1 - first, first)]), 10, axis=0)
    units = stats.krippendorff_interval(ratings, seed=1, resamples=399)
    clusters = stats.krippendorff_interval(ratings, clusters=np.repeat(np.arange(12), 10), seed=1, resamples=399)
    assert clusters.high - clusters.low > 2 * (units.high - units.low)


def test_any_coefficient_gets_an_interval_over_clusters() -> None:
    pairs = np.array([[1, 1], [0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [0, 0]])

    def share(pair: np.ndarray) -> float:
        return float((pair[:, 0] == pair[:, 1]).mean())

    # Clusters agree on 1, 1/2, 1/2 and 1: the jackknife of a mean is Student's t of the four.
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    found = stats.agreement_interval(pairs, share, clusters=groups, scale="plain")
    want = ttest_1samp([1, 0.5, 0.5, 1], 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((want.low, 1.0))
    fisher = stats.agreement_interval(pairs, share, clusters=groups)
    assert fisher.low < 0.75 < fisher.high < 1
    one = stats.agreement_interval(pairs, share, clusters=[0] * 8, seed=2)
    assert not one.available


def test_power_in_a_question_is_that_of_fishers_exact_test() -> None:
    # With equal numbers of runs, tables as far apart are tables as improbable.
    n, old, new = 8, 0.3, 0.9
    rejected = sum(
        scipy_stats.binom.pmf(a, n, old) * scipy_stats.binom.pmf(b, n, new)
        for a in range(n + 1)
        for b in range(n + 1)
        if scipy_stats.fisher_exact([[a, n - a], [b, n - b]])[1] <= 0.05
    )
    assert stats.power_in_question(n, n, old, new) == pytest.approx(rejected)
    below, above = stats.detectable_in_question(20, 20, 0.5)
    assert (below, above) == (pytest.approx(1 - above), above)
    assert stats.power_in_question(20, 20, 0.5, above) >= 0.8 > stats.power_in_question(20, 20, 0.5, above - 0.005)


def test_overall_change_that_would_be_found_by_hand() -> None:
    columns = ["question_id", "model", "temperature", "score", "accuracy", "answer_key", "prompt_hash"]

    def side(right: int) -> pd.DataFrame:
        rows = [(q, "m", 0.2, 1.0, int(r < right), "x", "h") for q in ("q1", "q2") for r in range(4)]
        return pd.DataFrame(rows, columns=columns)

    # Four of eight right in each of two cells: s² = 2/7, the variance of the mean 2/7 · (1/4 + 1/4)/2.
    expected = (scipy_stats.norm.isf(0.025) + scipy_stats.norm.isf(0.2)) * np.sqrt(2 / 7 * 0.5 / 2)
    assert stats.detectable_overall(side(1), side(3)) == pytest.approx(expected)
    with pytest.raises(StatisticsError, match="no cell has right runs and wrong ones"):
        stats.detectable_overall(side(4), side(4))
    # One right run of sixteen: the permutation test could not find what the formula promises.
    with pytest.raises(StatisticsError, match="only 2 runs came out otherwise"):
        stats.detectable_overall(side(0), side(1))
