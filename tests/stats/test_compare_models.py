from __future__ import annotations

import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import compare_models, fit_line, glmm
from dsqa.stats.comparison import COMPARISON_COLUMNS

from .data import as_outcomes, study


@pytest.fixture(scope="module")
def result():
    return compare_models(as_outcomes(study()), seed=1, resamples=999)


def tiny(questions: int = 6, right=(5, 2)) -> pd.DataFrame:
    rows = [
        (f"q{q}", model, run, int((q + 2 * run) % 6 < n))
        for q in range(questions)
        for model, n in zip("ab", right, strict=True)
        for run in range(6)
    ]
    return pd.DataFrame(rows, columns=["question_id", "model", "run", "accuracy"])


def test_the_table_is_tidy(result):
    table = result.table
    assert list(table.columns) == list(COMPARISON_COLUMNS)
    assert not table.duplicated(["quantity", "first", "second"]).any()
    assert (table["low"].isna() | (table["low"] <= table["high"])).all()
    # Whatever has no value says why.
    nothing = table["estimate"].isna() & table["p"].isna()
    assert table.loc[nothing, "note"].notna().all()


def test_it_says_which_is_best_and_how_strong_the_evidence_is(result):
    assert (result.best, result.separated) == ("model_a", ("model_b", "model_c"))
    assert "model_a has the highest accuracy, 0.58" in result.answer
    assert "It is told apart from model_b and model_c" in result.answer
    assert "To the next, model_b, the difference is +0.09" in result.answer
    assert "this study would often have missed" in result.answer


def test_adjustment_runs_over_the_pairs_of_one_quantity(result):
    rows = result.rows("difference")
    raw = sorted(rows["p"])
    assert rows["p_adjusted"].min() == pytest.approx(3 * raw[0])
    assert len(rows) == 3


def test_differences_are_those_of_a_regression_clustered_by_question(result):
    table = as_outcomes(study())
    row = result.rows("risk difference").iloc[2]
    pair = table[table["model"].isin(["model_b", "model_c"])]
    fit = fit_line("accuracy ~ C(model)", pair, cluster="question_id")
    assert row["estimate"] == pytest.approx(-fit.coefficients["C(model)[T.model_c]"])
    # Balanced data: the t interval over question differences is the clustered one, but for G/(G − 1) (n − 1)/(n − p).
    n, questions = len(pair), 20
    ours = (row["high"] - row["low"]) / 2
    theirs = fit.interval("C(model)[T.model_c]", kind="cluster").width / 2
    assert ours == pytest.approx(theirs / ((n - 1) / (n - 2)) ** 0.5, rel=1e-9)
    assert row["questions"] == questions


def test_mixed_model_rows_are_those_of_the_fit(result):
    fit = glmm("accuracy ~ C(model) + C(temperature)", study())
    row = result.rows("odds ratio within a question").iloc[0]
    assert (row["first"], row["second"]) == ("model_a", "model_b")
    table = fit.table().set_index("term").loc["C(model)[T.model_b]"]
    assert row["estimate"] == pytest.approx(1 / table["odds_ratio"], rel=1e-6)
    assert row["high"] == pytest.approx(1 / table["odds_ratio_low"], rel=1e-5)


def test_bounds_for_lost_runs_enclose_the_mean(result):
    rows = result.rows("mean, whatever failed runs would have been")
    means = result.rows("mean")["estimate"]
    assert (rows["low"] <= means + 1e-12).all()
    assert (means <= rows["high"] + 1e-12).all()
    assert (rows["high"] > rows["low"]).all()


def test_temperatures_are_compared_within_models():
    result = compare_models(as_outcomes(study()), by="temperature", measure="score", seed=1, resamples=499)
    assert result.paired.within == ("model",)
    assert result.paired.labels == ("0.2", "0.7", "1", "1.2")
    assert result.answer.startswith("temperature 0.2 has the highest mean score")


def test_least_instability_is_best():
    result = compare_models(as_outcomes(study()), measure="instability", seed=1, resamples=499)
    means = result.rows("mean").set_index("first")["estimate"]
    assert result.best == means.astype(float).idxmin()
    assert "lowest instability" in result.answer
    assert "McNemar, majority" not in set(result.table["quantity"])


def test_neither_row_order_nor_question_names_change_anything():
    table = tiny()
    names = {f"q{i}": f"z{9 - i}" for i in range(6)}
    other = table.assign(question_id=table["question_id"].map(names)).sample(frac=1, random_state=2)
    a, b = (compare_models(t, seed=1, resamples=299) for t in (table, other))
    numbers = ["estimate", "low", "high", "p", "p_adjusted"]
    # The first and the paired runs are the same ones; the mixed fit stops within 1e-7.
    pd.testing.assert_frame_equal(a.table[numbers], b.table[numbers], rtol=1e-4, atol=1e-9)
    assert a.answer == b.answer


def test_one_question_gives_a_table_of_reasons():
    result = compare_models(tiny(questions=1), seed=1, resamples=299)
    assert "One question cannot say how the models compare on others" in result.answer
    rows = result.table.set_index("quantity")
    assert "one question" in rows.loc["difference", "note"]
    assert "one cluster" in rows.loc["mixed model", "note"]
    assert rows.loc["difference, these questions", "low"] <= rows.loc["difference, these questions", "high"]


def test_a_model_that_is_never_right_still_compares():
    result = compare_models(tiny(right=(4, 0)), seed=1, resamples=299)
    rows = result.table.set_index("quantity")
    assert "always wrong" in rows.loc["odds ratio", "note"]
    assert "do not settle" in rows.loc["mixed model", "note"]
    assert rows.loc["difference", "estimate"] == pytest.approx(4 / 6)
    assert result.best == "a"


def test_models_that_answer_alike_are_not_told_apart():
    table = tiny(right=(3, 3))
    result = compare_models(table, seed=1, resamples=299)
    assert result.separated == ()
    assert result.rows("difference")["p"].tolist() == [1]
    assert "not told apart" in result.answer


def test_a_third_model_changes_no_unadjusted_number_of_the_others():
    table = tiny()
    more = pd.concat([table, table[table["model"] == "a"].assign(model="c", accuracy=lambda t: 1 - t["accuracy"])])
    a, b = (compare_models(t, seed=1, resamples=299).rows("difference").iloc[0] for t in (table, more))
    assert (a["estimate"], a["low"], a["high"], a["p"]) == (b["estimate"], b["low"], b["high"], b["p"])


def test_an_unknown_quantity_names_those_there_are(result):
    with pytest.raises(StatisticsError, match="McNemar, majority"):
        result.rows("charm")


def test_a_small_accuracy_is_not_told_as_0_00():
    runs = pd.DataFrame(
        [
            {"question_id": f"q{q:02d}", "model": model, "temperature": 1.0, "run": run, "status": "answered",
             "accuracy": float(q == run == 0 and model == "b"), "score": 1.0}
            for q in range(40) for model in "ab" for run in range(10)
        ]
    )  # fmt: skip
    answer = compare_models(runs, measure="accuracy", resamples=499, seed=1).answer
    assert "b has the highest accuracy, 0.0025, over 40 questions" in answer
    assert "the difference is +0.0025," in answer


def _made(shares: dict[str, float], questions: int = 12) -> pd.DataFrame:
    """Runs of models that are right in the first `share` of each question's ten runs."""
    return pd.DataFrame(
        [
            {"question_id": f"q{q:02d}", "model": model, "temperature": 1.0, "run": run, "status": "answered",
             "accuracy": float(run < round(10 * share)), "score": 1.0 + (run < round(10 * share))}
            for model, share in shares.items() for q in range(questions) for run in range(10)
        ]
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.0, 0.4, 1.0])
def test_a_tie_is_worded_as_a_tie(level):
    answer = compare_models(_made({"a": level, "b": level, "c": level}), resamples=199, seed=1).answer
    assert answer.startswith(f"a, b and c tie for the highest accuracy, {level:.2f}, over 12 questions.")
    assert "being best" not in answer
    assert "To the next" not in answer


def test_a_tie_of_the_first_two_leaves_the_third():
    answer = compare_models(_made({"a": 0.8, "b": 0.2, "c": 0.8}), resamples=199, seed=1).answer
    assert answer.startswith("a and c tie for the highest accuracy, 0.80")
    assert "Between a and c the difference is 0.00" in answer
    assert "a is told apart from b." in answer


def test_no_difference_beyond_the_largest_there_can_be_is_promised():
    # Two questions, each model right on one of them: what could be found is beyond what accuracy can be.
    runs = _made({"a": 1.0, "b": 1.0}, questions=2)
    wrong = ((runs["model"] == "a") & (runs["question_id"] == "q00")) | (
        (runs["model"] == "b") & (runs["question_id"] == "q01")
    )
    runs.loc[wrong, ["accuracy", "score"]] = [0.0, 1.0]
    answer = compare_models(runs, resamples=199, seed=1).answer
    assert "differences below" not in answer
    assert "even the largest difference there can be, 1, this study would often have missed" in answer
