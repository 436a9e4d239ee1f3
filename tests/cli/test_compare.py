"""`dsqa compare` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from dsqa.cli.compare import compare
from dsqa.errors import StatisticsError, StudyError
from dsqa.outcomes import load_outcomes, save_table
from tests.report.study import make_study


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return an old study, and a new one in which question q02 (always wrong before) is always right."""
    root = tmp_path_factory.mktemp("compare")
    old, new = (make_study(root / name, questions=4, runs=12, seed=seed) for name, seed in (("old", 1), ("new", 2)))
    table = load_outcomes(new.outcomes_path)
    changed = table["question_id"] == "q02"
    table.loc[changed, ["accuracy", "score", "answer_key"]] = [1, 3.0, "answer=42"]
    save_table(table, new.outcomes_path)
    return old.root, new.root


def test_a_question_that_changed_is_named_first(studies: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "questions.csv"
    result = CliRunner().invoke(compare, [*map(str, studies), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "better" in result.output.splitlines()[0]
    assert "q02: better; right 0% → 100%" in result.output
    assert "3 questions: no change seen" in result.output
    table = pd.read_csv(out)
    assert table["question_id"].iloc[0] == "q02"
    assert len(table) == 4


def test_as_data(studies: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(compare, [*map(str, studies), "--json", "--adjust", "bh"])
    data = json.loads(result.output)
    assert data["adjustment"] == "bh"
    assert {q["question_id"]: q["change"] for q in data["questions"]}["q02"] == "better"
    assert data["overall"][0]["measure"] == "accuracy"


def test_a_study_against_itself_has_not_changed(studies: tuple[Path, Path]) -> None:
    data = json.loads(CliRunner().invoke(compare, [str(studies[0])] * 2 + ["--json"]).stdout)
    assert data["verdict"] == "no change seen"
    assert data["p_answers"] == 1.0
    assert data["overall"][0]["difference"] == 0


def test_what_cannot_be_compared_is_refused(studies: tuple[Path, Path], tmp_path: Path) -> None:
    other = make_study(tmp_path / "other", questions=4, models=("x", "y"))
    assert isinstance(CliRunner().invoke(compare, [str(studies[0]), str(other.root)]).exception, StatisticsError)
    nothing = CliRunner().invoke(compare, [str(studies[0]), str(tmp_path / "nothing")])
    assert isinstance(nothing.exception, StudyError)
    assert CliRunner().invoke(compare, [*map(str, studies), "--margin", "0"]).exit_code == 2
