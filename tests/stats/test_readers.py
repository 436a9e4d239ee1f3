from __future__ import annotations

import math

import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats.readers import summarise_readers


def table(*rows: tuple[str, int, str, int, float]) -> pd.DataFrame:
    columns = ["question_id", "run", "reader", "accuracy", "score"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        condition_id="c", prompt_hash="h", answer_status=["matched" if a else "unparsed" for a in frame["accuracy"]]
    )


def test_by_hand() -> None:
    # Cell q: run 0 scored 2 by both; run 1 scored 2 by one and 1 by the other.
    # Mean 7/4; total SS = 3·(1/4)² + (3/4)² = 3/4; within run 1: 2·(1/2)² = 1/2. Share 2/3.
    summary = summarise_readers(
        table(("q", 0, "a", 1, 2.0), ("q", 0, "b", 1, 2.0), ("q", 1, "a", 1, 2.0), ("q", 1, "b", 0, 1.0))
    )
    assert summary.runs == 2
    assert summary.disagreement == 0.5
    assert summary.reader_share == pytest.approx(2 / 3)
    assert summary.readers["a"] == {"accuracy": 1.0, "unparsed": 0.0, "sigma": 0.0}
    assert summary.readers["b"]["accuracy"] == 0.5
    assert summary.readers["b"]["unparsed"] == 0.5
    assert summary.readers["b"]["sigma"] == pytest.approx(0.5 / 1.5)
    assert any("50.0\u00a0% of 2 runs" in line for line in summary.lines())


def test_readers_that_agree_have_no_share() -> None:
    rows = [("q", run, reader, run % 2, 1.0 + run % 2) for run in range(4) for reader in "ab"]
    summary = summarise_readers(table(*rows))
    assert (summary.disagreement, summary.reader_share) == (0.0, 0.0)


def test_scores_that_do_not_vary_have_no_share_and_one_run_no_sigma() -> None:
    summary = summarise_readers(table(("q", 0, "a", 1, 2.0), ("q", 0, "b", 1, 2.0)))
    assert math.isnan(summary.reader_share)
    assert math.isnan(summary.readers["a"]["sigma"])
    assert summary.to_dict()["reader_share"] is None
    assert "no score varies" in summary.lines()[-1]


def test_a_run_that_one_reader_lacks_is_refused() -> None:
    with pytest.raises(StatisticsError):
        summarise_readers(table(("q", 0, "a", 1, 2.0), ("q", 1, "a", 1, 2.0), ("q", 1, "b", 1, 2.0)))
