"""Code that is run several times: agreement, whose fault a difference is, and what the cache keeps."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dsqa.bank import Bank
from dsqa.errors import ExecutionRefusedError
from dsqa.execution import ExecutionResult, environment_of
from dsqa.outcomes import ExecutionCache, rerun_summary, score_records, score_study
from dsqa.outcomes.reruns import agreement
from dsqa.records import Record
from dsqa.study import ExecutionConfig
from tests.outcomes.studies import make_study, question, record

STEADY = "print('@mean[2.33]')"
FLAKY = "import random\nprint(f'@mean[{1e6 * random.random():.6f}]')"


def result(**more: object) -> ExecutionResult:
    plain = ExecutionResult("k", "ran", "", "1\n", "", None, 0.1, 0.1, "bubblewrap")
    return replace(plain, **more)


def test_all_agree():
    results = {i: result() for i in range(3)}
    assert agreement(results, {0: "a", 1: "a", 2: "a"}) == {"reruns": 3, "rerun_agreement": 3, "flaky": "no"}


def test_code_that_varies_far_from_any_limit_is_flaky_code():
    results = {i: result() for i in range(3)}
    assert agreement(results, {0: "a", 1: "b", 2: "a"}) == {"reruns": 3, "rerun_agreement": 2, "flaky": "code"}


def test_a_difference_near_a_limit_is_the_machines():
    results = {0: result(near_limit=True), 1: result(outcome="timed out", near_limit=True)}
    assert agreement(results, {0: "a", 1: "timed out"})["flaky"] == "machine"


def test_a_worker_that_broke_is_the_machines_fault():
    assert agreement({0: result(), 1: result(attempts=2)}, {0: "a", 1: "b"})["flaky"] == "machine"


def test_code_that_was_run_once_is_neither():
    assert agreement({0: result()}, {0: "a"}) == {"reruns": 1, "rerun_agreement": 1, "flaky": None}


def test_nothing_was_run():
    assert agreement({}, {})["reruns"] is None


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    (tmp_path / "a.csv").write_text("x\n1\n2\n4\n")
    return Bank((question(),), tmp_path)


def with_code(run: int, code: str) -> Record:
    return record(run, f"```python\n{code}\n```")


def test_reruns_tell_flaky_code_from_steady_and_are_kept(bank: Bank, tmp_path: Path):
    path = tmp_path / "executions.jsonl"
    records = [with_code(0, STEADY), with_code(1, FLAKY), with_code(2, STEADY)]
    with ExecutionCache(path) as cache:
        once = score_records(records, bank, cache=cache)
    assert once["reruns"].tolist() == [1, 1, 1]
    assert once["flaky"].isna().all()
    progress = []
    with ExecutionCache(path) as cache:
        table = score_records(records, bank, cache=cache, reruns=3, progress=lambda *x: progress.append(x))
    assert table["reruns"].tolist() == [3, 3, 3]
    assert table["rerun_agreement"].tolist() == [3, 1, 3]
    assert table["flaky"].tolist() == ["no", "code", "no"]
    # what is scored is the first run, before and after
    assert table["answer"].tolist() == once["answer"].tolist()
    assert progress[-1] == (3, 3)
    assert len(path.read_text().splitlines()) == 6
    text = rerun_summary(table)
    assert text.startswith("2 pieces of code, each run 3 times: 1 always gave the same, 1 vary by themselves, 0")
    assert "1 of 3 agree" in text

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("everything is kept")

    with ExecutionCache(path) as cache:
        again = score_records(records, bank, cache=cache, reruns=3, executor=refuse)
    pd.testing.assert_frame_equal(again, table)


def test_another_environment_reuses_nothing(bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "executions.jsonl"
    with ExecutionCache(path) as cache:
        first = score_records([with_code(0, STEADY)], bank, cache=cache)
    other = replace(environment_of(ExecutionConfig()), packages={"pandas": "0.1"})
    monkeypatch.setattr("dsqa.outcomes.score.environment_of", lambda _: other)
    with ExecutionCache(path) as cache:
        second = score_records([with_code(0, STEADY)], bank, cache=cache)
    assert first["execution_key"][0] != second["execution_key"][0]
    assert len(path.read_text().splitlines()) == 2


def test_what_the_code_saw_is_recorded_and_a_change_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    folder = make_study(tmp_path, [with_code(0, STEADY)])
    here = environment_of(ExecutionConfig())
    table = score_study(folder)
    assert table["environment"].tolist() == [here.fingerprint]
    assert folder.describe().versions["environment"] == here.fingerprint
    assert folder.environments()[here.fingerprint]["packages"]["pandas"] == pd.__version__
    assert not caplog.records
    other = replace(here, packages={**here.packages, "pandas": "0.1"})
    monkeypatch.setattr("dsqa.outcomes.score.environment_of", lambda _: other)
    score_study(folder)
    assert f"pandas {pd.__version__} → 0.1" in caplog.text
    assert list(folder.environments()) == [here.fingerprint, other.fingerprint]
    assert len(folder.executions_path.read_text().splitlines()) == 2


def test_a_study_whose_packages_are_not_here_is_refused_before_anything_runs(tmp_path: Path):
    folder = make_study(tmp_path, [with_code(0, STEADY)], execution={"packages": ["surely-not-here==1"]})
    with pytest.raises(ExecutionRefusedError, match="'surely-not-here==1' is not installed"):
        score_study(folder)
    assert not folder.executions_path.exists()
