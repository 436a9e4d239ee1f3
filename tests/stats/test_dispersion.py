from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dsqa.errors import StatisticsError
from dsqa.stats import (
    clopper_pearson,
    decompose_instability,
    instability,
    instability_interval,
    instability_intervals,
    normalised_instability,
    population_sd,
    unseen_bound,
)

from .data import few, reference, study

scores = st.lists(st.integers(0, 6).map(lambda k: k / 2), min_size=2, max_size=20)


def test_every_cell_agrees_with_r():
    cells = study().groupby(["question_id", "model", "temperature"])["score"]
    assert len(reference()["a_cells"]) == 240
    for row in reference()["a_cells"]:
        values = cells.get_group((row["question_id"], row["model"], row["temperature"]))
        assert population_sd(values) == pytest.approx(row["sd_pop"], rel=1e-8, abs=1e-15)
        assert instability(values) == pytest.approx(row["sd_pop"], rel=1e-8, abs=1e-15)
        assert normalised_instability(values) == pytest.approx(row["sd_pop_over_1.5"], rel=1e-8, abs=1e-15)


def test_population_sd_by_hand():
    assert population_sd([1, 2, 3, 4]) == pytest.approx(np.sqrt(1.25), rel=1e-15)
    assert population_sd([7]) == 0.0


def test_equal_values_have_an_sd_of_exactly_zero():
    assert population_sd([0.1] * 7) == 0.0  # numpy.std gives 1.4e-17


@few
@given(scores)
def test_normalised_instability_stays_in_the_unit_interval(sample):
    assert 0 <= normalised_instability(sample) <= 1


@few
@given(scores, st.integers(2, 4))
def test_duplicating_all_runs_changes_nothing(sample, times):
    assert normalised_instability(sample * times) == pytest.approx(normalised_instability(sample), abs=1e-15)


@few
@given(scores)
def test_mirroring_the_scale_changes_nothing(sample):
    mirrored = [3 - x for x in sample]
    a, b = instability_interval(sample, seed=1, resamples=199), instability_interval(mirrored, seed=1, resamples=199)
    assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.2 if "resamples" in a.method else 1e-9)
    assert unseen_bound(sample) == pytest.approx(unseen_bound(mirrored), abs=1e-12)


@few
@given(scores)
def test_interval_holds_the_estimate_and_stays_in_the_unit_interval(sample):
    ci = instability_interval(sample, seed=1, resamples=999)
    assert 0 <= ci.low <= ci.high <= 1
    assert ci.low - 1e-12 <= normalised_instability(sample) <= ci.high + 1e-12


def test_one_run_is_refused():
    for estimator in (instability, normalised_instability):
        with pytest.raises(StatisticsError, match="one run says nothing"):
            estimator([3.0])
    with pytest.raises(StatisticsError, match="one run says nothing"):
        instability_interval([3.0], seed=1)


def test_no_run_is_refused():
    with pytest.raises(StatisticsError, match="no scores"):
        instability([])


def test_missing_scores_are_refused():
    with pytest.raises(StatisticsError, match="2 of 3 scores are missing"):
        instability([1.0, np.nan, np.nan])


def test_scores_outside_of_the_bounds_are_refused():
    with pytest.raises(StatisticsError, match="leave the range 0 to 3"):
        instability([1.0, 3.5])
    assert normalised_instability([0, 10], bounds=(0, 10)) == 1.0


def test_bounds_the_wrong_way_round_are_refused():
    with pytest.raises(StatisticsError, match="bounds must be"):
        instability([1.0, 2.0], bounds=(3, 0))


def test_equal_scores_get_the_rule_of_three_bound_by_hand():
    # q = 1 − 0.05^(1/10); worst case for 3s is zeros: SD = 3 √(q (1 − q))
    q = 1 - 0.05**0.1
    ci = instability_interval([3.0] * 10, seed=1)
    assert (ci.low, ci.high) == (0.0, pytest.approx(2 * np.sqrt(q * (1 - q)), rel=1e-12))
    assert "all 10 scores are equal; up to 25.9\u00a0% of runs" in ci.note
    assert ci.method == "exact bound for unseen outcomes"


def test_equal_middling_scores_may_be_left_on_both_sides():
    # All 1.5: others may be 0 and 3 in equal shares: SD = 1.5 √q
    q = 1 - 0.05**0.1
    assert unseen_bound([1.5] * 10) == pytest.approx(np.sqrt(q), rel=1e-12)


def test_two_equal_runs_tell_nothing():
    assert instability_interval([3.0, 3.0], seed=1).high == 1.0


def test_129_equal_scores_exclude_notable_instability_and_128_do_not():
    assert unseen_bound([3.0] * 129) < 0.3 <= unseen_bound([3.0] * 128)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("n", [2, 5, 10, 100])
def test_bound_for_equal_scores_is_the_worst_of_all_distributions(value, n):
    """Brute force over masses at 0, 1, 2, 3 beside `value`: none is above, the worst is on it."""
    q = 1 - 0.05 ** (1 / n)
    grid = np.linspace(0, q, 25)
    worst = 0.0
    for masses in itertools.product(grid, repeat=3):
        if sum(masses) <= q + 1e-12:
            points, weights = np.array([0.0, 1.0, 3.0, value]), np.array([*masses, 1 - sum(masses)])
            mean = weights @ points
            worst = max(worst, np.sqrt(max(weights @ (points - mean) ** 2, 0)) / 1.5)
    bound = unseen_bound([value] * n)
    assert worst <= bound + 1e-12
    assert worst == pytest.approx(bound, abs=0.02)


@few
@given(scores)
def test_bound_for_unequal_scores_is_the_worst_place_for_unseen_mass(sample):
    """Maximise the variance over total mass ≤ M and its split by a general optimiser."""
    x, q = np.array(sample), 1 - 0.05 ** (1 / len(sample))

    def negative_variance(v):
        mass, top = v[0] * q, v[0] * q * v[1]
        mean = (1 - mass) * x.mean() + 3 * top
        return -((1 - mass) * np.mean(x**2) + 9 * top - mean**2)

    best = max(
        -optimize.minimize(negative_variance, start, bounds=[(0, 1), (0, 1)]).fun
        for start in ([0.5, 0.1], [0.5, 0.9], [1, 0.5], [1, 0], [1, 1])
    )
    assert unseen_bound(sample) == pytest.approx(np.sqrt(max(best, 0)) / 1.5, abs=1e-6)


@few
@given(scores)
def test_bound_shrinks_with_confidence_given_up_and_with_runs(sample):
    assert unseen_bound(sample, error=0.01) >= unseen_bound(sample, error=0.1) - 1e-12
    assert unseen_bound(sample) >= unseen_bound(sample * 2) - 1e-12


def test_two_scores_get_the_exact_binomial_interval():
    sample = [3.0] * 70 + [0.0] * 30
    share = clopper_pearson(70, 100)
    ci = instability_interval(sample, seed=1)
    assert ci.method == "exact binomial, two scores"
    low = 2 * np.sqrt(share.high * (1 - share.high))
    assert (ci.low, ci.high) == pytest.approx((low, 2 * np.sqrt(share.low * (1 - share.low))))


def test_a_coin_toss_may_be_the_most_unstable_cell_there_is():
    assert instability_interval([0.0, 3.0] * 10, seed=1).high == 1.0
    assert instability_interval([0.0] * 11 + [3.0] * 9, seed=1).high == 1.0


def test_nearly_equal_scores_are_not_called_certain():
    """The bootstrap alone would end near 0.15: a score of 0 that ten runs missed is not excluded."""
    ci = instability_interval([3.0] * 9 + [2.5], seed=1)
    assert ci.high > 0.85
    assert "unseen outcomes" in ci.method


def test_unseen_outcomes_do_not_matter_once_both_ends_were_seen_often():
    sample = [0.0] * 30 + [1.5] * 10 + [3.0] * 60
    ci = instability_interval(sample, seed=1)
    assert "unseen" not in ci.method
    assert ci.note == ""


def test_cells_of_different_sizes_go_together():
    cells = [[0, 3, 1.5], [3] * 5, [2.5] * 7 + [0, 1, 2], [1]]
    together = instability_intervals(cells, seed=4)
    assert [ci.available for ci in together] == [True, True, True, False]
    for cell, ci in zip(cells[:3], together[:3], strict=True):
        assert repr(instability_interval(cell, seed=4)) == repr(ci)


@pytest.mark.parametrize(
    ("shares", "n"),
    [
        ({0: 0.1, 3: 0.9}, 10),
        ({0: 0.5, 3: 0.5}, 20),
        ({0: 0.05, 2.5: 0.3, 3: 0.65}, 10),
        ({0: 0.05, 1: 0.15, 1.5: 0.3, 2: 0.05, 2.5: 0.15, 3: 0.3}, 50),
        ({1.0: 0.6, 1.5: 0.37, 0: 0.03}, 20),
    ],
)
def test_coverage_is_not_below_nominal(shares, n):
    """400 simulated cells: 0.95 − 3 SE = 0.917."""
    rng = np.random.default_rng(7)
    points, p = np.array(list(shares)), np.array(list(shares.values()))
    truth = np.sqrt(p @ (points - p @ points) ** 2) / 1.5
    cells = [rng.choice(points, n, p=p) for _ in range(400)]
    hits = [ci.low - 1e-9 <= truth <= ci.high + 1e-9 for ci in instability_intervals(cells, seed=1, resamples=599)]
    assert np.mean(hits) > 0.917


def test_decomposition_by_hand():
    # CR constant, RA and CE/2 move together: Var RA = 1/4, Var CE/2 = 1/4, score 1 or 3.
    shares = decompose_instability([1, 1, 1, 1], [0, 1, 0, 1], [0, 2, 0, 2])
    assert shares == pytest.approx({"completion": 0, "accuracy": 0.5, "executability": 0.5})


def test_decomposition_adds_up_on_the_reference_study():
    for _, cell in study().groupby(["question_id", "model", "temperature"]):
        if np.ptp(cell["score"]) > 0:
            shares = decompose_instability(cell["completion"], cell["accuracy"], cell["executability"])
            assert sum(shares.values()) == pytest.approx(1)
            want = np.cov(cell["accuracy"], cell["score"])[0, 1] / cell["score"].var()
            assert shares["accuracy"] == pytest.approx(want)


def test_a_part_that_steadies_the_score_has_a_negative_share():
    assert decompose_instability([1] * 4, [0, 1, 0, 1], [1, 0, 1, 0])["executability"] < 0


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([1, 1], [0, 0], [1, 1]), "all scores are equal"),
        (([1, 1], [0, 1], [1]), "one value per run"),
        (([1, 1], [0, np.nan], [1, 1]), "missing for a run"),
    ],
)
def test_decomposition_of_nothing_is_refused(parts, message):
    with pytest.raises(StatisticsError, match=message):
        decompose_instability(*parts)
