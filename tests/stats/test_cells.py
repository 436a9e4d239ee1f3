from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from dsqa.errors import StatisticsError
from dsqa.stats import (
    CELL_COLUMNS,
    UNPARSED,
    VERDICTS,
    headline,
    ledger,
    summarise_cells,
    summarise_groups,
    verdicts,
)
from dsqa.stats.columns import GROUP_COLUMNS, LEDGER_COLUMNS
from dsqa.stats.over_questions import question_intervals
from tests.support.synthetic import synthetic_outcomes

from .data import as_outcomes, reference, study


@pytest.fixture(scope="module")
def outcomes():
    return synthetic_outcomes(seed=3, runs=12)


@pytest.fixture(scope="module")
def cells(outcomes):
    return summarise_cells(outcomes, seed=1)


def one_cell(scores, **columns):
    """A cell with the given scores, right where the score is 3."""
    n = len(scores)
    table = {
        "question_id": "q",
        "condition_id": "c",
        "run": range(n),
        "status": "answered",
        "completion": 1,
        "accuracy": [int(s == 3) if s == s else None for s in scores],
        "executability": 2,
        "score": scores,
        "answer_key": "x=1",
    } | columns
    return pd.DataFrame(table)


def test_every_cell_agrees_with_r():
    table = summarise_cells(as_outcomes(study()), seed=1).set_index(["question_id", "model", "temperature"])
    assert len(table) == len(reference()["a_cells"]) == 240
    for row in reference()["a_cells"]:
        cell = table.loc[(row["question_id"], row["model"], row["temperature"])]
        got = [
            cell[name]
            for name in (
                "runs",
                "score_mean",
                "score_sd",
                "instability",
                "completion_rate",
                "accuracy",
                "executability_mean",
            )
        ]
        want = [
            row[name]
            for name in (
                "n",
                "mean_score",
                "sd_pop",
                "sd_pop_over_1.5",
                "mean_completion",
                "mean_accuracy",
                "mean_executability",
            )
        ]
        assert got == pytest.approx(want, rel=1e-8, abs=1e-14)


def test_overall_agrees_with_r():
    table = summarise_cells(as_outcomes(study()), seed=1)
    want = reference()["a_overall"]
    assert table["score_sd"].mean() == pytest.approx(want["mean_of_cell_sd_pop"], rel=1e-8)
    assert (table["score_sd"] == 0).mean() == pytest.approx(want["share_cells_sd_zero"], rel=1e-8)
    assert np.sqrt((table["score_sd"] ** 2).mean()) == pytest.approx(want["pooled_within_cell_sd_pop"], rel=1e-8)


def test_columns_are_as_documented(cells):
    assert list(cells.columns) == [c.name for c in CELL_COLUMNS]
    assert {name: str(dtype) for name, dtype in cells.dtypes.items()} == {c.name: c.dtype for c in CELL_COLUMNS}
    assert all(c.meaning for c in CELL_COLUMNS)


def test_one_row_per_cell_and_the_ledger_adds_up(outcomes, cells):
    assert len(cells) == outcomes.groupby(["question_id", "condition_id"]).ngroups
    parts = cells[[f"n_{s}" for s in ("answered", "truncated", "refused", "empty", "filtered", "failed")]]
    assert (parts.sum(axis=1) == cells["runs"]).all()
    assert cells["n_failed"].sum() == (outcomes["status"] == "failed").sum()
    assert cells["n_unparsed"].sum() == outcomes["answer_key"].isna().sum()


def test_failed_runs_stay_in_every_denominator():
    table = one_cell(
        [3.0] * 6 + [0.0] * 4,
        status=["answered"] * 6 + ["failed"] * 2 + ["refused", "truncated"],
        completion=[1] * 6 + [0] * 4,
        answer_key=["x=1"] * 6 + [None] * 4,
    )
    cell = summarise_cells(table, seed=1).iloc[0]
    assert (cell["runs"], cell["completion_rate"], cell["accuracy"], cell["score_mean"]) == (10, 0.6, 0.6, 1.8)
    assert (cell["modal_share"], cell["distinct_answers"], cell["total_agreement_rate"]) == (0.6, 2, 0)
    # Only runs the infrastructure lost could have been right.
    assert (cell["accuracy_worst"], cell["accuracy_best"]) == (0.6, 0.8)


def test_row_order_does_not_matter(outcomes, cells):
    shuffled = outcomes.sample(frac=1, random_state=5)
    pd.testing.assert_frame_equal(summarise_cells(shuffled, seed=1), cells, check_exact=True)


def test_a_cell_does_not_depend_on_its_company(outcomes, cells):
    part = outcomes[outcomes["question_id"].isin(["q03", "q05"])]
    want = cells[cells["question_id"].isin(["q03", "q05"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(summarise_cells(part, seed=1), want, check_exact=True)


def test_relabelling_questions_and_conditions_changes_no_number(outcomes, cells):
    other = outcomes.assign(question_id="z" + outcomes["question_id"], condition_id="a" + outcomes["condition_id"])
    got = summarise_cells(other, seed=1)
    labels = ["question_id", "condition_id"]
    pd.testing.assert_frame_equal(got.drop(columns=labels), cells.drop(columns=labels), check_exact=True)


def test_duplicating_the_table_keeps_estimates_and_narrows_intervals(outcomes, cells):
    double = pd.concat([outcomes, outcomes.assign(run=outcomes["run"] + 100)])
    got = summarise_cells(double, seed=1)
    same = ["score_mean", "score_sd", "instability", "accuracy", "completion_rate", "modal_share", "answer_entropy"]
    pd.testing.assert_frame_equal(got[same], cells[same], rtol=1e-12)
    widths = [(t["accuracy_high"] - t["accuracy_low"]).to_numpy(float) for t in (got, cells)]
    assert (widths[0] < widths[1]).all()
    widths = [(t["instability_high"] - t["instability_low"]).to_numpy(float) for t in (got, cells)]
    assert widths[0].mean() < widths[1].mean()


def test_the_seed_decides_drawn_intervals_only(outcomes, cells):
    other = summarise_cells(outcomes, seed=2)
    drawn = cells["instability_method"].str.contains("resamples")
    ends = ["instability_low", "instability_high"]
    pd.testing.assert_frame_equal(other[~drawn][ends], cells[~drawn][ends], check_exact=True)
    pd.testing.assert_frame_equal(summarise_cells(outcomes, seed=2), other, check_exact=True)


def test_one_run_has_no_instability():
    cell = summarise_cells(one_cell([3.0]), seed=1).iloc[0]
    for name in (
        "score_sd",
        "instability",
        "instability_low",
        "instability_high",
        "total_agreement_rate",
        "jaccard_first_mean",
    ):
        assert pd.isna(cell[name]), name
    assert (cell["score_mean"], cell["accuracy"]) == (3, 1)
    assert (cell["verdict"], bool(cell["settled"])) == ("not known", False)
    assert cell["verdict_reason"] == "One run says nothing about stability."
    assert cell["instability_method"] == "not available"


def test_all_scores_missing():
    cell = summarise_cells(one_cell([np.nan] * 4), seed=1).iloc[0]
    assert (cell["runs"], cell["n_scored"]) == (4, 0)
    for name in (
        "score_mean",
        "score_sd",
        "instability",
        "instability_low",
        "accuracy",
        "accuracy_low",
        "accuracy_best",
    ):
        assert pd.isna(cell[name]), name
    assert cell["verdict"] == "not known"
    assert cell["verdict_reason"] == "No run was compared with a ground truth, so none has a score."


def test_some_scores_missing_are_left_out_and_said():
    cell = summarise_cells(one_cell([3.0, 0.0, np.nan, np.nan]), seed=1).iloc[0]
    assert (cell["runs"], cell["n_scored"], cell["score_sd"], cell["accuracy"]) == (4, 2, 1.5, 0.5)


def test_a_cell_whose_runs_all_failed_has_no_answers_and_is_not_wrong():
    table = one_cell([0.0] * 5, status="failed", completion=0, executability=0, answer_key=None)
    cell = summarise_cells(table, seed=1).iloc[0]
    assert (cell["verdict"], bool(cell["settled"])) == ("no answers", False)
    assert "nothing about the model" in cell["verdict_reason"]
    assert (cell["n_failed"], cell["n_unparsed"], cell["modal_answer"]) == (5, 5, UNPARSED)
    assert (cell["accuracy_worst"], cell["accuracy_best"]) == (0, 1)


@pytest.mark.parametrize(("key", "verdict"), [("x=9", "stable and wrong"), (None, "not read")])
def test_one_reply_among_failed_runs_decides(key, verdict):
    table = one_cell([0.0] * 5, status=["failed"] * 4 + ["answered"], completion=0, answer_key=[None] * 4 + [key])
    cell = summarise_cells(table, seed=1).iloc[0]
    assert (cell["verdict"], cell["n_unread"]) == (verdict, int(key is None))


@pytest.mark.parametrize(
    ("right", "wrong", "unread", "failed", "verdict", "most"),
    [
        (0, 0, 10, 0, "not read", 1.0),
        (0, 4, 6, 0, "not read", 0.6),
        (0, 5, 5, 0, "stable and wrong", 0.5),  # half is not most: neither mostly unread nor possibly mostly right
        (1, 4, 5, 0, "not read", 0.6),  # half could not be read, and they decide
        (4, 0, 6, 0, "not read", 1.0),
        (6, 0, 4, 0, "stable and right", 1.0),  # right whatever the others say
        (0, 0, 1, 0, "not read", 1.0),  # a single run
        (0, 0, 2, 8, "not read", 0.2),  # lost runs are no replies
        (0, 0, 0, 10, "no answers", 0.0),
    ],
)
def test_what_could_not_be_read_is_never_called_wrong(right, wrong, unread, failed, verdict, most):
    runs = right + wrong + unread + failed
    # Scores all alike, so that the verdict is about being right alone.
    table = one_cell(
        [2.0] * runs,
        accuracy=[1] * right + [0] * (runs - right),
        answer_key=["x=1"] * right + ["x=2"] * wrong + [None] * (unread + failed),
        status=["answered"] * (runs - failed) + ["failed"] * failed,
    )
    cell = summarise_cells(table, seed=1).iloc[0]
    assert (cell["verdict"], cell["n_unread"]) == (verdict, unread)
    assert (cell["accuracy"], cell["accuracy_if_read"]) == pytest.approx((right / runs, most))
    assert not (verdict == "not read" and cell["settled"])


def test_where_half_the_scores_move_the_call_says_how_many_were_not_read():
    keys = ["x=1"] * 5 + ["x=2"] * 2 + [None] * 3
    cell = summarise_cells(one_cell([3.0] * 5 + [0.5] * 5, answer_key=keys), seed=1).iloc[0]
    assert cell["verdict"] == "unstable"
    assert "In 3 of 10 replies no answer could be read." in cell["verdict_reason"]


def test_unbalanced_cells_go_together():
    table = pd.concat(
        [one_cell([3.0] * 2), one_cell([0.0, 1.5, 3.0] * 3, question_id="r"), one_cell([1.0], question_id="s")]
    )
    got = summarise_cells(table, seed=1)
    assert list(got["runs"]) == [2, 9, 1]
    assert list(got["instability"].isna()) == [False, False, True]


def test_jaccard_with_the_first_run_leaves_that_run_out():
    cell = summarise_cells(one_cell([3.0] * 3, jaccard_first=[1.0, 0.2, 0.4]), seed=1).iloc[0]
    assert cell["jaccard_first_mean"] == pytest.approx(0.3)


def test_an_empty_table_gives_an_empty_table(outcomes):
    empty = summarise_cells(outcomes.iloc[:0], seed=1)
    assert empty.empty
    assert list(empty.columns) == [c.name for c in CELL_COLUMNS]
    assert list(headline(empty)["cells"]) == [0] * len(VERDICTS)
    assert summarise_groups(empty, seed=1).empty
    assert ledger(outcomes.iloc[:0]).empty


def test_a_minimal_table_is_enough():
    table = one_cell([3.0, 0.0]).drop(columns=["run", "answer_key"])
    cell = summarise_cells(table, seed=1).iloc[0]
    assert cell["instability"] == 1.0
    assert pd.isna(cell["study"])
    assert pd.isna(cell["words_out_mean"])


def test_a_missing_column_is_named(outcomes):
    with pytest.raises(StatisticsError, match="lacks the columns score"):
        summarise_cells(outcomes.drop(columns="score"), seed=1)


def test_a_run_that_occurs_twice_is_refused():
    with pytest.raises(StatisticsError, match="run 1 of question q under c occurs twice"):
        summarise_cells(one_cell([3.0, 0.0, 1.0], run=[0, 1, 1]), seed=1)


def test_an_impossible_score_is_refused():
    with pytest.raises(StatisticsError, match=r"score of 3\.5 lies outside"):
        summarise_cells(one_cell([3.0, 3.5]), seed=1)


def test_an_unknown_status_is_refused():
    with pytest.raises(StatisticsError, match="unknown status 'lost'"):
        summarise_cells(one_cell([3.0, 0.0], status="lost"), seed=1)


def test_a_run_without_a_question_is_refused():
    with pytest.raises(StatisticsError, match="1 runs have no question_id"):
        summarise_cells(one_cell([3.0, 0.0], question_id=["q", None]), seed=1)


@pytest.mark.parametrize(
    ("scores", "verdict", "settled"),
    [
        ([3.0] * 10, "stable and right", False),  # ten runs do not exclude what they did not show
        ([3.0] * 130, "stable and right", True),
        ([1.5] * 10, "stable and wrong", False),
        ([1.5] * 40, "stable and wrong", True),
        ([0.0, 3.0] * 10, "unstable", True),
        ([0.0, 3.0], "unstable", False),
    ],
)
def test_verdicts(scores, verdict, settled):
    cell = summarise_cells(one_cell(scores), seed=1).iloc[0]
    assert (cell["verdict"], bool(cell["settled"])) == (verdict, settled)
    assert cell["verdict_reason"].endswith(".")


def test_instability_of_exactly_0_3_is_unstable():
    scores = [2.5] * 9 + [1.0]  # SD = 1.5 √(0.1 · 0.9) = 0.45
    cell = summarise_cells(one_cell(scores), seed=1).iloc[0]
    assert cell["instability"] == pytest.approx(0.3)
    assert cell["verdict"] == "unstable"


def test_half_right_is_not_right():
    table = one_cell([2.5] * 200, accuracy=[0, 1] * 100)
    cell = summarise_cells(table, seed=1).iloc[0]
    assert (cell["verdict"], bool(cell["settled"])) == ("stable and wrong", False)
    assert "do not tell whether most are right" in cell["verdict_reason"]


def test_no_ground_truth_no_verdict_on_a_stable_cell():
    cell = summarise_cells(one_cell([2.0] * 5, accuracy=None), seed=1).iloc[0]
    assert cell["verdict"] == "not known"
    assert "no run was compared" in cell["verdict_reason"]


def test_verdicts_of_a_table_are_those_of_its_rows(cells):
    again = verdicts(cells)
    assert (again["verdict"] == cells["verdict"]).all()
    assert (again["settled"] == cells["settled"]).all()
    assert set(again["verdict"]) <= set(VERDICTS)


def test_headline_counts_every_cell_once(cells):
    counts = headline(cells)
    assert list(counts["verdict"]) == list(VERDICTS)
    assert counts["cells"].sum() == len(cells)
    assert (counts["settled"] <= counts["cells"]).all()


def test_ledger_counts_by_condition(outcomes):
    table = ledger(outcomes)
    assert list(table.columns) == [c.name for c in LEDGER_COLUMNS]
    parts = table[[f"n_{s}" for s in ("answered", "truncated", "refused", "empty", "filtered", "failed")]]
    assert (parts.sum(axis=1) == table["runs"]).all()
    want = outcomes.groupby(["condition_id", "status"]).size()
    for row in table.itertuples():
        assert row.n_failed == want.get((row.condition_id, "failed"), 0)


def test_groups_average_questions_not_cells():
    table = pd.concat(
        [
            one_cell([0.0, 3.0], category="A", level="easy"),
            one_cell([0.0, 3.0], category="A", level="easy", condition_id="d"),
            one_cell([3.0, 3.0], category="A", level="easy", question_id="r"),
        ]
    )
    row = summarise_groups(summarise_cells(table, seed=1), seed=1).iloc[0]
    assert (row["n_questions"], row["n_cells"], row["runs"], row["instability"]) == (2, 3, 6, 0.5)


def test_groups_say_why_there_is_no_interval(cells):
    by_question = summarise_groups(cells, by=["question_id"], seed=1)
    assert by_question["instability_low"].isna().all()
    assert (by_question["instability_method"] == "not available: one question").all()


def test_groups_have_intervals_where_there_are_questions(cells):
    table = summarise_groups(cells, by=["category"], seed=1)
    assert list(table.columns) == ["category", *(c.name for c in GROUP_COLUMNS)]
    assert (table["n_questions"] == 3).all()
    assert (table["instability_low"] <= table["instability"]).all()
    assert (table["instability"] <= table["instability_high"]).all()
    assert table["runs"].sum() == cells["runs"].sum()


def test_groups_interval_is_student_t_over_questions():
    spreads = [[0.0, 3.0], [0.5, 3.0], [1.0, 3.0], [1.5, 3.0], [2.0, 3.0], [2.5, 3.0], [3.0, 3.0], [0.0, 1.0]]
    table = pd.concat(
        [one_cell(scores, category="A", level="easy", question_id=f"q{i}") for i, scores in enumerate(spreads)]
    )
    row = summarise_groups(summarise_cells(table, seed=1), seed=1).iloc[0]
    values = [(b - a) / 3 for a, b in spreads]
    want = ttest_1samp(values, 0).confidence_interval()
    assert row["instability_low"] == pytest.approx(max(want.low, 0), rel=1e-9)
    assert row["instability_high"] == pytest.approx(min(want.high, 1), rel=1e-9)


def test_groups_interval_is_cut_at_nought():
    spreads = [[3.0, 3.0], [3.0, 3.0], [1.5, 3.0]]
    table = pd.concat(
        [one_cell(scores, category="A", level="easy", question_id=f"q{i}") for i, scores in enumerate(spreads)]
    )
    row = summarise_groups(summarise_cells(table, seed=1), seed=1).iloc[0]
    # σ̄ = 0, 0, ½: mean 1/6, s = 0.288675, t(2) = 4.302653.
    assert row["instability_method"] == "Student t over questions"
    assert row["instability_low"] == 0
    assert row["instability_high"] == pytest.approx(1 / 6 + 4.302652730 * 0.2886751346 / np.sqrt(3), rel=1e-8)


def test_groups_leave_out_cells_that_are_not_known():
    table = pd.concat(
        [
            one_cell([3.0], category="A", level="easy"),
            one_cell([0.0, 3.0], category="A", level="easy", question_id="r"),
        ]
    )
    row = summarise_groups(summarise_cells(table, seed=1), seed=1).iloc[0]
    assert (row["n_questions"], row["n_cells"], row["n_not_known"], row["instability"]) == (1, 1, 1, 1)


def test_a_group_of_nothing_known_is_missing():
    table = one_cell([3.0], category="A", level="easy")
    row = summarise_groups(summarise_cells(table, seed=1), seed=1).iloc[0]
    assert pd.isna(row["instability"])
    assert row["n_questions"] == 0


def test_groups_by_an_unknown_column_are_refused(cells):
    with pytest.raises(StatisticsError, match="lacks the columns flavour"):
        summarise_groups(cells, by=["flavour"], seed=1)


def test_160_000_runs_take_well_under_half_a_minute():
    # A quarter of them in a quarter of the time, and a sixteenth takes no less than a quarter of that.
    outcomes = synthetic_outcomes(questions=50, runs=100)
    outcomes["score"] = np.random.default_rng(1).integers(0, 7, len(outcomes)) / 2
    seconds = []
    for copies in (1, 4):
        large = pd.concat([outcomes.assign(study=f"s{i}") for i in range(copies)], ignore_index=True)
        start = time.process_time()  # not wall time: other work on the machine is not ours
        table = summarise_cells(large, seed=1)
        seconds.append(time.process_time() - start)
    assert (len(large), len(table)) == (40_000, 400)
    assert seconds[1] < min(7.5, 6 * seconds[0] + 1)


def test_every_public_name_can_be_had():
    import dsqa.stats

    for name in dsqa.stats.__all__:
        assert getattr(dsqa.stats, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dsqa.stats.nonsense


def test_the_cell_summary_does_not_load_statsmodels():
    code = "import sys, dsqa.stats; sys.exit('statsmodels' in sys.modules or 'scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_cell_that_mixes_prompts_is_refused():
    with pytest.raises(StatisticsError, match="asked with 2 prompts"):
        summarise_cells(one_cell([3.0, 0.0], prompt_hash=["a", "b"]), seed=1)


def test_one_question_in_forty_gives_no_interval_over_questions() -> None:
    rare = np.zeros(41)
    rare[7] = 0.05
    (interval,) = question_intervals([rare], level=0.95)
    assert not interval.available
    assert interval.note == "only 1 of 41 questions differ"
