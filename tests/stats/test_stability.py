from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import (
    answer_summary,
    cell_curves,
    curve_means,
    four_way_ledger,
    lost_run_bounds,
    maj_at_k,
    maj_interval,
    missing_case_bounds,
    pass_at_k,
    pass_interval,
    stability_layers,
    summarise_cells,
    summarise_stability,
    wilson,
)
from tests.support.synthetic import synthetic_outcomes

from .data import as_outcomes, study


def layered(runs: int = 8) -> pd.DataFrame:
    """Text always new, answers three to one, results all alike."""
    return pd.DataFrame({
        "question_id": "q", "condition_id": "c", "text_hash": [f"{i}" for i in range(runs)],
        "answer_key": ["x=1"] * (runs - 2) + ["x=2", None], "result_key": "x=1",
    })  # fmt: skip


def test_three_layers_of_one_cell_side_by_side():
    table = stability_layers(layered(), seed=1).set_index("layer")
    assert table["total_agreement"].to_dict() == {"text": 0, "answer": 0, "result": 1}
    assert table["modal_share"].to_dict() == {"text": 1 / 8, "answer": 6 / 8, "result": 1}
    assert table["distinct"].to_dict() == {"text": 8, "answer": 3, "result": 1}
    assert table.loc["answer", "n_missing"] == 1
    assert table.loc["answer", "modal"] == "x=1"
    for name in ("modal_share", "entropy", "gini_simpson", "pair_agreement"):
        row = table.loc["answer"]
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_the_answer_layer_is_that_of_the_cell_table():
    outcomes = as_outcomes(study())
    layers = stability_layers(outcomes, seed=1, resamples=99)
    cells = summarise_cells(outcomes, seed=1, resamples=199)
    merged = layers.merge(cells, on=["question_id", "condition_id"])
    assert len(layers) == len(cells) == 240
    for ours, theirs in (
        ("modal_share_x", "modal_share_y"),
        ("entropy", "answer_entropy"),
        ("gini_simpson_x", "gini_simpson_y"),
    ):
        assert merged[ours].to_numpy() == pytest.approx(merged[theirs].astype(float).to_numpy(), abs=1e-12)


def test_rates_of_total_agreement_over_questions():
    outcomes = as_outcomes(study())
    layers = stability_layers(outcomes, seed=1, resamples=99)
    table = summarise_stability(layers, ["model"], seed=1, resamples=999)
    row = table[(table["model"] == "model_a") & (table["statistic"] == "total_agreement")].iloc[0]
    own = layers[layers["model"] == "model_a"]
    assert row["mean"] == pytest.approx(own.groupby("question_id")["total_agreement"].mean().mean())
    assert row["low"] <= row["mean"] <= row["high"]
    assert (row["questions"], row["cells"]) == (20, 80)


def test_rows_and_labels_do_not_matter():
    a = stability_layers(layered(), seed=1)
    other = layered().sample(frac=1, random_state=1)
    b = stability_layers(other.assign(answer_key="z" + other["answer_key"]), seed=1)
    numbers = [c for c in a.columns if c not in ("modal", "note")]
    pd.testing.assert_frame_equal(a[numbers], b[numbers])


def test_never_agreeing_rate_keeps_a_binomial_bound():
    tables = [layered().assign(question_id=f"q{i}") for i in range(5)]
    table = summarise_stability(stability_layers(pd.concat(tables), seed=1), seed=1)
    row = table[(table["layer"] == "text") & (table["statistic"] == "total_agreement")].iloc[0]
    assert (row["mean"], row["low"], row["method"]) == (0, 0, "Clopper–Pearson")
    assert row["high"] == pytest.approx(1 - 0.025 ** (1 / 5))


def test_a_layer_that_no_run_has_is_left_out():
    table = stability_layers(layered().assign(result_key=pd.NA), seed=1)
    assert table["layer"].tolist() == ["text", "answer"]
    with pytest.raises(StatisticsError, match="none of the layers"):
        stability_layers(layered()[["question_id", "condition_id"]], seed=1)


def test_one_run_agrees_with_nothing():
    row = stability_layers(layered().iloc[:1], seed=1).iloc[0]
    assert np.isnan(row["total_agreement"])
    assert row["note"] == "one run agrees with nothing"


# --- curves


def test_curves_of_a_cell_by_hand():
    table = pd.DataFrame({
        "question_id": "q", "condition_id": "c", "accuracy": [1, 1, 1, 0, 0, 0, 0],
        "answer_key": ["r", "r", "r", "w", "w", "v", None],
    })  # fmt: skip
    curves = cell_curves(table, [1, 3, 9]).set_index(["k", "statistic"])
    assert curves.loc[(3, "pass@k"), "value"] == pass_at_k(7, 3, 3)
    assert curves.loc[(3, "maj@k"), "value"] == maj_at_k([3], [2, 1], 3, unparsed=1)
    ci = pass_interval(7, 3, 3, 1)
    assert (curves.loc[(3, "pass@k"), "low"], curves.loc[(3, "pass@k"), "high"]) == (ci.low, ci.high)
    # More than there are runs: no value, though runs say something of p.
    assert curves.loc[9]["value"].isna().all()
    assert "7 runs" in curves.loc[(9, "maj@k"), "method"]


def test_failed_runs_are_wrong_or_left_out():
    table = pd.DataFrame({
        "question_id": "q", "condition_id": "c", "accuracy": [1, 1, 0, 0], "answer_key": ["r", "r", "w", None],
        "status": ["answered"] * 3 + ["failed"],
    })  # fmt: skip
    wrong = cell_curves(table, [1]).set_index("statistic")["value"]
    out = cell_curves(table, [1], failed="left out").set_index("statistic")["value"]
    assert (wrong["pass@k"], out["pass@k"]) == (pytest.approx(1 / 2), pytest.approx(2 / 3))
    assert (wrong["maj@k"], out["maj@k"]) == (pytest.approx(1 / 2), pytest.approx(2 / 3))


def test_means_of_curves_count_cells_with_too_few_runs():
    outcomes = synthetic_outcomes(questions=6, runs=10)
    short = outcomes[(outcomes["question_id"] != "q03") | (outcomes["run"] < 4)]
    means = curve_means(cell_curves(short, [1, 5]), ["model"], seed=1, resamples=499)
    rows = means.set_index(["statistic", "k"])
    assert rows.loc[("pass@k", 5), "left_out"] == 2
    assert rows.loc[("pass@k", 1), ["questions", "cells", "left_out"]].tolist() == [6, 12, 0]
    assert rows.loc[("pass@k", 1), "mean"] == pytest.approx(rows.loc[("pass^k", 1), "mean"])
    assert rows.loc[("pass^k", 5), "mean"] <= rows.loc[("pass^k", 1), "mean"] <= rows.loc[("pass@k", 5), "mean"]


def test_curves_longer_than_every_cell_have_no_mean():
    means = curve_means(cell_curves(synthetic_outcomes(questions=3, runs=4), [9]), seed=1, resamples=99)
    assert means["mean"].isna().all()
    assert means["method"].str.contains("no cell has so many runs").all()


def test_majority_of_two_answers_maps_the_binomial_interval():
    ci, p = maj_interval([8], [2], 3), wilson(8, 10)
    assert (ci.low, ci.high) == pytest.approx((3 * p.low**2 - 2 * p.low**3, 3 * p.high**2 - 2 * p.high**3))


def test_majority_interval_covers_with_three_answers():
    p, k, rng = np.array([0.5, 0.3, 0.2]), 5, np.random.default_rng(1)
    big = rng.multinomial(k, p, 200_000)
    top = big == big.max(axis=1, keepdims=True)
    truth = (top[:, 0] / top.sum(axis=1)).mean()
    hits = 0
    for _ in range(150):
        right, *wrong = rng.multinomial(40, p).tolist()
        ci = maj_interval([right], wrong, k)
        hits += ci.low <= truth <= ci.high
    assert hits / 150 >= 0.9


def test_majority_without_a_run_to_spare_has_no_interval():
    assert "too few to leave one out" in maj_interval([3], [1, 1], 5).note


# --- lost runs


def test_the_four_ways_add_up():
    outcomes = synthetic_outcomes(questions=6, runs=20)
    table = four_way_ledger(outcomes, ["level", "model"])
    ways = ["n_answered", "n_refused", "n_truncated", "n_failed"]
    assert (table[ways].sum(axis=1) == table["runs"]).all()
    assert table["runs"].sum() == len(outcomes)
    assert table.filter(like="share_").sum(axis=1).tolist() == pytest.approx([1.0] * len(table))


def test_an_empty_reply_and_a_filtered_one_are_refusals():
    table = four_way_ledger(pd.DataFrame({"status": ["empty", "filtered", "refused", "failed"]}))
    assert table[["n_refused", "n_failed"]].iloc[0].tolist() == [3, 1]


def test_an_unknown_status_is_refused():
    with pytest.raises(StatisticsError, match="unknown status 'lost'"):
        four_way_ledger(pd.DataFrame({"status": ["lost"]}))
    with pytest.raises(StatisticsError, match="no runs"):
        four_way_ledger(pd.DataFrame({"status": []}))


@pytest.mark.parametrize("back", [[3.0, 0.0, 1.5], [2.5, 2.5, 2.5, 2.5], [0.0, 0.0], [1.0, 3.0, 3.0]])
def test_bounds_of_instability_hold_for_every_score_of_the_lost_runs(back):
    grid = np.arange(7) / 2
    low, high = lost_run_bounds(back, 2, "instability")
    every = [np.std([*back, a, b]) / 1.5 for a in grid for b in grid]
    assert low <= min(every) + 1e-12
    assert high == pytest.approx(max(every))
    mean = float(np.mean(back))
    assert low == pytest.approx(np.std([*back, mean, mean]) / 1.5)


def test_all_runs_lost_leave_everything_open():
    assert lost_run_bounds([], 4, "accuracy") == (0, 1)
    assert lost_run_bounds([], 4, "score") == (0, 3)
    assert lost_run_bounds([], 4, "instability") == (0, 1)


def test_bounds_of_groups_agree_with_the_cell_table():
    outcomes = as_outcomes(study())
    bounds = missing_case_bounds(outcomes, ["model"]).set_index(["model", "measure"])
    cells = summarise_cells(outcomes, seed=1, resamples=199)
    for model, own in cells.groupby("model"):
        questions = (
            own.groupby("question_id")[["accuracy", "accuracy_worst", "accuracy_best", "instability"]].mean().mean()
        )
        row = bounds.loc[(model, "accuracy")]
        assert row[["value", "lowest", "highest"]].tolist() == pytest.approx(questions.tolist()[:3])
        assert bounds.loc[(model, "instability"), "value"] == pytest.approx(questions["instability"])
        assert row["n_failed"] == own["n_failed"].sum()


def test_nothing_lost_nothing_open():
    outcomes = as_outcomes(study()).assign(status="answered")
    bounds = missing_case_bounds(outcomes)
    assert bounds["lowest"].to_numpy() == pytest.approx(bounds["value"].to_numpy())
    assert bounds["highest"].to_numpy() == pytest.approx(bounds["value"].to_numpy())


def test_entropy_of_the_table_is_that_of_the_summary():
    keys = ["a"] * 5 + ["b"] * 2 + [None]
    table = pd.DataFrame({"question_id": "q", "condition_id": "c", "answer_key": keys})
    assert stability_layers(table, seed=1)["entropy"].iloc[0] == pytest.approx(answer_summary(keys).entropy)
