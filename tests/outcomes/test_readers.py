from __future__ import annotations

import json

import pandas as pd
from click.testing import CliRunner

from dsqa.cli.steps import score
from dsqa.outcomes import READER_COLUMNS, load_outcomes
from dsqa.stats.readers import summarise_readers
from tests.outcomes.studies import RIGHT_CODE, make_study, record

RECORDS = [
    record(0, "@mean[2.33]"),
    record(1, "The answer is 2.33."),
    record(2, "The mean of three values is about 2.33"),
    record(3, f"```python\n{RIGHT_CODE}\n```\n"),
    record(4, "", "failed", error={"class": "timeout", "message": "…"}),
]


def test_the_same_runs_by_every_reader(tmp_path):
    folder = make_study(tmp_path, RECORDS, runs=5)
    plain = CliRunner().invoke(score, [str(folder.root)], standalone_mode=False)
    assert plain.exception is None
    before = load_outcomes(folder.root)
    assert not (folder.root / "readers.parquet").exists()
    result = CliRunner().invoke(score, [str(folder.root), "--reader", "all", "--json"], standalone_mode=False)
    assert result.exception is None
    pd.testing.assert_frame_equal(load_outcomes(folder.root), before)
    table = pd.read_parquet(folder.root / "readers.parquet")
    assert list(table.columns) == [c.name for c in READER_COLUMNS]
    right = table.pivot(index="run", columns="reader", values="accuracy")
    assert right["standard"].tolist() == [1, 1, 0, 1, 0]
    assert right["strict"].tolist() == [1, 0, 0, 1, 0]
    assert right["last-number"].tolist() == [1, 1, 1, 1, 0]
    standard = table[table["reader"] == "standard"].reset_index(drop=True)
    assert standard["score"].tolist() == before["score"].tolist()
    said = json.loads(result.output.splitlines()[-1])["readers"]
    assert said["disagreement"] == 0.4
    assert said == summarise_readers(table).to_dict()


def test_one_further_reader_stands_beside_the_standard_one(tmp_path):
    folder = make_study(tmp_path, RECORDS[:2], runs=2)
    result = CliRunner().invoke(score, [str(folder.root), "--reader", "strict"], standalone_mode=False)
    assert set(pd.read_parquet(folder.root / "readers.parquet")["reader"]) == {"standard", "strict"}
    table = pd.read_parquet(folder.root / "readers.parquet")
    assert summarise_readers(table).to_dict()["disagreement"] == 0.5
    assert "50.0\u00a0% of 2 runs" in result.output


def test_the_convention_behind_a_wrong_answer_is_a_column(tmp_path):
    folder = make_study(
        tmp_path, [record(0, "@mean[2.0]"), record(1, "@mean[-2.33]")], extra={"traps": {"median": {"mean": "2.00"}}}
    )
    CliRunner().invoke(score, [str(folder.root)], standalone_mode=False)
    table = load_outcomes(folder.root)
    assert table["answer_convention"].tolist() == ["median", "the other sign"]
    assert table["accuracy"].tolist() == [0, 0]
