"""Incomplete designs: what is recognised, on what evidence, and what it is said to bias."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, rankdata

from dsqa.errors import StatisticsError
from dsqa.stats import check_design, design_gaps
from dsqa.stats.strata import homogeneity_test, rank_test


def runs_of(
    scores: dict[tuple[str, str], list[float]], failed: set[tuple[str, str, int]] = frozenset()
) -> pd.DataFrame:
    rows = [
        {"question_id": q, "condition_id": c, "run": run, "score": score,
         "status": "failed" if (q, c, run) in failed else "answered"}
        for (q, c), each in scores.items() for run, score in enumerate(each)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def faults(outcomes: pd.DataFrame, **options) -> set[str | None]:
    return {finding.fault for finding in check_design(outcomes, **options).findings}


def coin(rng: np.random.Generator, p: float, n: int) -> list[float]:
    return [3.0 * value for value in (rng.random(n) < p)]


def test_complete_design_has_no_findings():
    rng = np.random.default_rng(1)
    found = check_design(runs_of({(f"q{q}", c): coin(rng, 0.5, 5) for q in range(8) for c in "ab"}))
    assert found.complete
    assert found.biases == ()
    assert found.text == "Every question was asked under every condition the same number of times."


def test_cells_of_different_n_are_counted():
    found = check_design(runs_of({("q1", "a"): [3.0] * 10, ("q2", "a"): [3.0] * 10, ("q3", "a"): [3.0] * 4}))
    assert found.text == "Cells have 4 to 10 runs: 1 of 3 cells has fewer than 10."
    assert {bias.family for bias in found.biases} == {"pooled means", "instability", "correlation", "at k"}


def test_a_run_more_or_less_is_said_and_held_against_nothing():
    found = check_design(runs_of({("q1", "a"): [3.0] * 100, ("q2", "a"): [3.0] * 99}))
    assert found.text.endswith("That is too little to bias anything.")
    assert found.biases == ()


def test_questions_that_some_conditions_saw_are_named():
    found = check_design(runs_of({("q1", "a"): [3.0] * 3, ("q2", "a"): [3.0] * 3, ("q1", "b"): [3.0] * 3}))
    assert "1 of 2 questions was not asked under every condition: q2." in found.text
    assert "model comparison" in {bias.family for bias in found.biases}
    assert design_gaps([("q1", "a", 3), ("q2", "a", 3), ("q1", "b", 3)]) == [
        "1 of 2 questions was not asked under every condition: q2."
    ]


def test_asking_the_changing_questions_again_is_recognised():
    rng = np.random.default_rng(2)
    scores = {}
    for q in range(30):
        first = coin(rng, rng.choice([0.0, 0.5, 1.0]), 4)
        scores[f"q{q}", "a"] = first + (coin(rng, 0.5, 40) if len(set(first)) > 1 else [])
    found = check_design(runs_of(scores))
    text = next(f.text for f in found.findings if f.fault == "asked again by result")
    assert "exactly the changing ones were asked again" in text
    assert "spread of the scores" in text
    assert {"pooled means", "instability", "model comparison", "correlation", "at k"} == {
        b.family for b in found.biases
    }
    assert "stopping rule" in check_design(runs_of(scores), sequential=True).text


def test_asking_only_wrong_ones_again_after_one_run_is_recognised():
    rng = np.random.default_rng(3)
    scores = {}
    for q in range(40):
        first = coin(rng, 0.6, 1)
        scores[f"q{q}", "a"] = first + (coin(rng, 0.6, 9) if first == [0.0] else [])
    text = check_design(runs_of(scores)).text
    assert "the mean score of a cell's first run goes with how often it was asked (smaller, more often" in text


def test_conditions_of_different_n_are_no_adaptive_design():
    # One model is better, and was asked more often, whatever it answered.
    rng = np.random.default_rng(4)
    scores = {(f"q{q}", "good"): coin(rng, 0.95, 20) for q in range(12)}
    scores |= {(f"q{q}", "bad"): coin(rng, 0.5, 5) for q in range(12)}
    assert faults(runs_of(scores)) == {"unequal N"}


def test_losses_at_one_question_are_not_at_random():
    rng = np.random.default_rng(5)
    scores = {(f"q{q}", "a"): coin(rng, 0.5, 20) for q in range(8)}
    text = check_design(runs_of(scores, {("q3", "a", run) for run in range(12)})).text
    assert "of 160 runs 12 failed, and they are spread unevenly over questions" in text


def test_runs_that_are_not_there_are_losses_too():
    rng = np.random.default_rng(6)
    table = runs_of({(f"q{q}", "a"): coin(rng, 0.5, 20) for q in range(8)})
    holes = table["question_id"].eq("q3") & table["run"].isin(range(3, 15))
    assert "12 not there" in check_design(table[~holes]).text


def test_numbers_that_leap_everywhere_are_no_losses():
    table = runs_of({(f"q{q}", "a"): [3.0] * 5 for q in range(8)})
    assert check_design(table.assign(run=table["run"] + 1)).complete


def test_false_alarms_keep_to_their_level():
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(100 + seed)
        scores = {(f"q{q}", "a"): coin(rng, 0.5, int(rng.integers(3, 12))) for q in range(12)}
        alarms += "asked again by result" in faults(runs_of(scores), seed=seed)
    # Binomial(40, 0.05): more than 6 has probability 0.003.
    assert alarms <= 6


def test_rank_test_is_the_share_of_permutations():
    x, y = np.array([0.1, 0.5, 0.9, 0.4, 0.8]), np.array([1.0, 3, 5, 2, 4])
    rx, ry = rankdata(x) - 3, rankdata(y) - 3
    every = [abs(sum(rx * np.array(order))) for order in permutations(ry)]
    exact = np.mean([value >= abs(rx @ ry) - 1e-9 for value in every])
    statistic, p = rank_test(x, y, np.zeros(5), np.random.default_rng(1), 40_000)
    assert statistic == pytest.approx(float(rx @ ry))
    assert p == pytest.approx(exact, abs=0.004)


def test_homogeneity_agrees_with_chi_squared_where_that_holds():
    hits, tries = np.array([30, 45, 38, 52]), np.full(4, 200)
    p = homogeneity_test(hits, tries, np.zeros(4), np.random.default_rng(1), 40_000)
    assert p == pytest.approx(chi2_contingency([hits, tries - hits]).pvalue, abs=0.01)


def test_same_seed_same_answer_whatever_the_order_of_rows():
    rng = np.random.default_rng(7)
    table = runs_of({(f"q{q}", c): coin(rng, 0.5, int(rng.integers(3, 9))) for q in range(9) for c in "ab"})
    assert check_design(table) == check_design(table.sample(frac=1, random_state=1))


def test_no_runs_are_refused():
    with pytest.raises(StatisticsError, match="no runs"):
        check_design(runs_of({("q", "a"): [1.0]}).iloc[:0])
