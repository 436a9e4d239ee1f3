"""When cells have had enough runs: a function of the runs alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import summarise_cells
from dsqa.stats.sequential import stopping_table
from dsqa.study.sections import StopConfig

STOP = StopConfig(accuracy=0.10)


def runs(question: str, right: list[int], start: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "question_id": question,
            "condition_id": "c",
            "prompt_hash": "h",
            "run": range(start, start + len(right)),
            "accuracy": right,
            "score": [3.0 * r for r in right],
        }
    )


def row(table: pd.DataFrame) -> pd.Series:
    assert len(table) == 1
    return table.iloc[0]


def test_never_right_stops_at_the_first_look_that_is_narrow_enough():
    # The sequence for 0 of n is no wider than 0.2 from n = 24 on: looks are after 10, 20 and 30 runs.
    assert row(stopping_table(runs("q", [0] * 20), STOP, 100))["state"] == "open"
    found = row(stopping_table(runs("q", [0] * 30), STOP, 100))
    assert (found["state"], found["stopped_at"], found["saved"]) == ("precise", 30, 70)


def test_what_is_asked_next():
    for have, look in [(0, 10), (1, 10), (10, 20), (13, 20), (19, 20)]:
        if have:
            assert row(stopping_table(runs("q", [0, 1] * have)[:have], STOP, 100))["next_look"] == look
    assert STOP.looks(35) == (10, 20, 30, 35)
    assert STOP.looks(10) == (10,)
    assert STOP.looks(4) == (4,)


def test_the_last_look_is_at_max_runs_whatever_the_step():
    found = row(stopping_table(runs("q", [0, 1] * 18)[:35], STOP, 35))
    assert (found["state"], found["stopped_at"], found["saved"]) == ("max_runs", 35, 0)


def test_more_runs_do_not_reopen_a_cell():
    right = [0] * 30 + [1] * 20
    found = row(stopping_table(runs("q", right), STOP, 100))
    assert (found["state"], found["stopped_at"], found["runs"], found["saved"]) == ("precise", 30, 50, 50)


def test_a_gap_hides_what_comes_after_it():
    table = pd.concat([runs("q", [0] * 29), runs("q", [0] * 20, start=30)])
    found = row(stopping_table(table, STOP, 100))
    assert (found["state"], found["runs"], found["next_look"]) == ("open", 29, 30)


def test_the_order_in_which_runs_were_recorded_does_not_matter():
    rng = np.random.default_rng(0)
    table = pd.concat([runs("a", list(rng.integers(0, 2, 60))), runs("b", [1] * 40)])
    stop = StopConfig(accuracy=0.15, verdict=0.95)
    shuffled = table.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(stopping_table(table, stop, 60), stopping_table(shuffled, stop, 60))


def test_every_criterion_must_be_met():
    coin = runs("q", [0, 1] * 30)
    assert row(stopping_table(coin, StopConfig(verdict=0.95), 60))["stopped_at"] == 10
    both = row(stopping_table(coin, StopConfig(verdict=0.95, accuracy=0.1), 60))
    assert (both["state"], both["call"]) == ("max_runs", "unstable")


def test_runs_without_a_mark_are_no_evidence():
    table = runs("q", [0] * 30)
    table["accuracy"] = pd.array([None] * 30, dtype="Int64")
    found = row(stopping_table(table, STOP, 30))
    assert (found["state"], found["accuracy_low"], found["accuracy_high"]) == ("max_runs", 0, 1)


def test_no_runs_give_an_empty_table():
    assert stopping_table(runs("q", []), STOP, 10).empty


def test_a_run_that_occurs_twice_is_refused():
    table = runs("q", [0, 1])
    with pytest.raises(StatisticsError, match="twice"):
        stopping_table(pd.concat([table, table]), STOP, 10)


def test_cells_show_the_sequences_where_n_was_looked_for():
    table = runs("q", [0] * 150).assign(status="answered", completion=1, executability=0)
    table["score"] = 1.0
    fixed, looked = (summarise_cells(table, seed=1, sequential=s).iloc[0] for s in (False, True))
    assert fixed["accuracy_method"] == "Wilson"
    assert looked["accuracy_method"] == "beta-binomial confidence sequence"
    assert looked["instability_method"] == "betting confidence sequence"
    assert looked["accuracy_high"] > fixed["accuracy_high"]
    assert looked["settled"]
    assert looked["instability_high"] < 0.3
    found = row(stopping_table(table, STOP, 200))
    assert found["accuracy_high"] == looked["accuracy_high"]
    assert found["instability_high"] == looked["instability_high"]
