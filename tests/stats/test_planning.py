"""Plans from a pilot: against closed forms where there are some."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from dsqa.errors import StatisticsError
from dsqa.stats import variance_components
from dsqa.stats.planning import plan_cells, plan_comparison, plan_precision, read_pilot


def table(right: np.ndarray, conditions: tuple[str, ...] = ("a",)) -> pd.DataFrame:
    """Return outcomes from 0 and 1, shape (questions, conditions, runs); a right run scores 3, a wrong one 1."""
    rows = [
        {"question_id": f"q{q}", "condition_id": name, "run": r, "accuracy": int(x), "score": 3.0 if x else 1.0}
        for q, cell in enumerate(right)
        for name, runs in zip(conditions, cell, strict=True)
        for r, x in enumerate(runs)
    ]
    return pd.DataFrame(rows)


def drawn(seed: int, questions: int, runs: int, a: float, b: float, conditions: tuple[str, ...] = ("a",)):
    rng = np.random.default_rng(seed)
    p = rng.beta(a, b, size=(questions, len(conditions)))
    return table(rng.random((questions, len(conditions), runs)) < p[..., None], conditions)


def test_counts_and_categories_are_those_of_the_table() -> None:
    pilot = read_pilot(table(np.array([[[1, 1, 0]], [[0, 0, 0]]])))
    assert pilot.counts.tolist() == [[[1, 2]], [[3, 0]]]
    assert pilot.values["score"].tolist() == [1.0, 3.0]
    assert pilot.values["accuracy"].tolist() == [0.0, 1.0]


def test_correlation_is_that_of_the_analysis_of_variance() -> None:
    # Balanced data: the ANOVA estimate is σ²_q/(σ²_q + σ²_e), REML's closed form.
    outcomes = drawn(1, 30, 8, 1, 1)
    components = variance_components(outcomes, model=None)
    assert read_pilot(outcomes).correlation[0] == pytest.approx(components.icc_question, rel=1e-9)


def test_cells_whose_runs_all_agree_are_taken_as_seen() -> None:
    pilot = read_pilot(table(np.array([[[1, 1]], [[0, 0]]])))
    assert pilot.correlation[0] == 1.0
    drawn_cells = pilot.draw_own_cells(np.random.default_rng(1))
    assert drawn_cells.tolist() == [[[0.0, 1.0]], [[1.0, 0.0]]]


def test_cells_that_differ_by_chance_alone_are_pooled() -> None:
    right = np.tile([1, 0], (6, 1, 5))  # every question 5 of 10: less spread than chance would give
    pilot = read_pilot(table(right))
    assert pilot.correlation[0] == 0.0
    cells = pilot.draw_own_cells(np.random.default_rng(1))
    assert np.abs(cells - 0.5).max() < 0.01


def test_standard_error_is_that_of_the_d_study() -> None:
    # √((σ²_q + σ²_e/N)/Q); a large pilot, so that it is close to what it was drawn from.
    a = b = 1.5
    between, total = stats.beta(a, b).var(), 0.25
    pilot = read_pilot(drawn(2, 400, 40, a, b))
    plan = plan_precision(pilot, target=0.1, questions=(20, 80), runs=(1, 10), seed=3, simulations=2000)
    for row in plan.itertuples():
        expected = math.sqrt((between + (total - between) / row.runs) / row.questions)
        assert row.standard_error == pytest.approx(expected, rel=0.08)
        assert row.half_width == pytest.approx(stats.t(row.questions - 1).ppf(0.975) * expected, rel=0.08)


def test_assurance_is_one_for_a_wide_target_and_nought_for_a_narrow_one() -> None:
    pilot = read_pilot(drawn(4, 30, 10, 1, 1))
    wide = plan_precision(pilot, target=0.5, questions=(41,), runs=(10,), seed=1)
    narrow = plan_precision(pilot, target=0.001, questions=(41,), runs=(10,), seed=1)
    assert wide["assurance"].tolist() == [1.0]
    assert narrow["assurance"].tolist() == [0.0]


def test_more_runs_and_more_questions_never_cost_precision() -> None:
    pilot = read_pilot(drawn(5, 30, 10, 1, 2))
    plan = plan_precision(pilot, target=0.05, questions=(10, 40, 160), runs=(1, 4, 16), seed=1, simulations=1000)
    widths = plan.pivot_table(index="questions", columns="runs", values="half_width").to_numpy()
    assert (np.diff(widths, axis=0) < 0).all()
    assert (np.diff(widths, axis=1) < 0).all()


def test_power_is_that_of_the_paired_t_test() -> None:
    # Question means of two independent conditions: differences with SD √2 · √(σ²_q + σ²_e/N).
    a = b = 2.0
    pilot = read_pilot(drawn(6, 400, 40, a, b, ("x", "y")))
    between = stats.beta(a, b).var()
    plan = plan_comparison(pilot, difference=0.15, questions=(40,), runs=(5,), seed=2, simulations=4000).iloc[0]
    sd = math.sqrt(2 * (between + (0.25 - between) / 5))
    expected = TTestPower().power(0.15 / sd, 40, 0.05)
    assert plan["power"] == pytest.approx(expected, abs=0.04)
    smallest = sd * TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
    assert plan["smallest_difference"] == pytest.approx(smallest, rel=0.08)


def test_questions_are_the_same_for_both_conditions() -> None:
    # Two conditions that are alike question by question: far more power than for unrelated ones.
    rng = np.random.default_rng(7)
    p = rng.random((60, 1, 1))
    paired = table(np.broadcast_to(p > 0.5, (60, 2, 10)) ^ (rng.random((60, 2, 10)) < 0.05), ("x", "y"))
    unrelated = drawn(7, 60, 10, 0.3, 0.3, ("x", "y"))
    settings = {"difference": 0.08, "questions": (60,), "runs": (20,), "seed": 1}
    together = plan_comparison(read_pilot(paired), **settings)["power"].iloc[0]
    apart = plan_comparison(read_pilot(unrelated), **settings)["power"].iloc[0]
    assert together > 0.9
    assert apart < 0.3


def test_verdicts_settle_with_more_runs_and_the_width_is_wilsons() -> None:
    pilot = read_pilot(table(np.tile([1, 0], (6, 1, 10))))
    plan = plan_cells(pilot, runs=(10, 40, 160), seed=1)
    assert plan["settled"].is_monotonic_increasing
    assert plan["settled"].iloc[-1] > 0.99  # a coin toss between 1 and 3 has σ̄ = 0.67
    z, n = stats.norm.ppf(0.975), 160
    widest = z * math.sqrt(n / 4 + z**2 / 4) / (n + z**2)
    assert plan["half_width"].iloc[-1] == pytest.approx(widest, rel=0.03)
    assert plan["requests"].tolist() == [60, 240, 960]


def test_a_seed_gives_the_same_plan_and_row_order_does_not_matter() -> None:
    outcomes = drawn(8, 20, 5, 1, 1, ("x", "y"))
    shuffled = outcomes.sample(frac=1, random_state=1)
    settings = {"target": 0.1, "questions": (20,), "runs": (5,), "seed": 9}
    first, second = (plan_precision(read_pilot(t), **settings) for t in (outcomes, shuffled))
    pd.testing.assert_frame_equal(first, second)


def test_a_condition_that_was_not_asked_some_questions_is_planned_all_the_same() -> None:
    outcomes = drawn(9, 12, 6, 1, 1, ("x", "y"))
    outcomes = outcomes[~((outcomes["condition_id"] == "y") & (outcomes["question_id"] == "q0"))]
    plan = plan_precision(read_pilot(outcomes), target=0.1, questions=(12,), runs=(6,), seed=1)
    assert np.isfinite(plan["half_width"]).all()


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (table(np.ones((1, 1, 5))), "two marked questions"),
        (table(np.ones((5, 1, 1))), "one run per question"),
        (table(np.ones((5, 1, 2))).assign(score=np.nan), "two marked questions"),
        (table(np.ones((5, 1, 2))).drop(columns="score"), "score"),
    ],
)
def test_a_pilot_that_says_nothing_is_refused(outcomes: pd.DataFrame, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        read_pilot(outcomes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": "beauty"}, "beauty"),
        ({"target": 0.0}, "above 0"),
        ({"questions": (1,)}, "at least two"),
        ({"runs": (0,)}, "start at 1"),
        ({"simulations": 5}, "too little"),
        ({"level": 1.0}, "between 0 and 1"),
    ],
)
def test_a_plan_out_of_range_is_refused(changes: dict, said: str) -> None:
    pilot = read_pilot(drawn(1, 5, 5, 1, 1))
    settings = {"target": 0.1, "questions": (10,), "runs": (5,), "seed": 1} | changes
    with pytest.raises(StatisticsError, match=said):
        plan_precision(pilot, **settings)


def test_one_condition_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(StatisticsError, match="one condition"):
        plan_comparison(read_pilot(drawn(1, 5, 5, 1, 1)), difference=0.1, questions=(5,), runs=(5,), seed=1)
