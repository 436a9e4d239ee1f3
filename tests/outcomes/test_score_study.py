from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import dsqa.outcomes.score as scoring
from dsqa.errors import ExecutionRefusedError, StudyError, StudyLockedError
from dsqa.execution import detect_isolation
from dsqa.outcomes import COLUMNS, load_outcomes, score_study
from dsqa.records import FileLock
from tests.outcomes.studies import RIGHT_CODE, make_study, record

needs_isolation = pytest.mark.skipif(not detect_isolation().sufficient, reason=detect_isolation().why)
USAGE = {"prompt_tokens": 20, "completion_tokens": 60}


def _fenced(code: str) -> str:
    return f"Here is the code:\n```python\n{code}\n```\n"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory):
    records = [
        record(0, _fenced(RIGHT_CODE) + "@mean[2.4]", usage=USAGE, seconds=1.5, finish_reason="stop"),
        record(1, _fenced("print(1 / 0)") + "@mean[2.33]", usage=USAGE),
        record(2, "The mean of x is about two, @mean[2.33]", usage=USAGE),
        record(3, "", "failed", error={"class": "timeout", "message": "…"}, retries=6),
        record(4, _fenced("print('@mean[2.5]')") + "and then", "truncated", finish_reason="length"),
        record(5, "", "empty", usage={"prompt_tokens": 20, "completion_tokens": 1}),
        record(6, "<think>@mean[2.33]", "truncated"),
        record(7, _fenced(RIGHT_CODE) + "@mean[2.4]"),
        record(8, "```r\nmean(x)\n```", "answered"),
        record(9, _fenced("import socket\nsocket.create_connection(('127.0.0.1', 9))"), "answered"),
        record(12, "beyond the runs"),
        record(0, "of another prompt", messages=({"role": "user", "content": "old"},)),
    ]
    folder = make_study(tmp_path_factory.mktemp("study"), records, runs=11)
    seen: list[tuple[int, int]] = []
    table = score_study(folder, progress=lambda done, total: seen.append((done, total)))
    return folder, table, seen


@needs_isolation
def test_columns_types_and_order(scored) -> None:
    _, table, _ = scored
    assert list(table.columns) == [c.name for c in COLUMNS]
    assert {c.name: str(table[c.name].dtype) for c in COLUMNS} == {c.name: c.dtype for c in COLUMNS}
    assert table["run"].tolist() == list(range(10))


@needs_isolation
def test_the_ledger_counts_every_run(scored) -> None:
    _, table, _ = scored
    assert table.attrs["ledger"] == {"planned": 11, "scored": 10, "missing": 1, "left_out": 2}


@needs_isolation
def test_the_marks_by_hand(scored) -> None:
    _, table, _ = scored
    got = table[["completion", "accuracy", "executability", "executability_repository", "score", "execution"]]
    expected = [
        (1, 1, 2, 2, 3.0, "ran, right"),
        (1, 1, 1, 0, 2.5, "failed"),
        (1, 1, 0, 0, 2.0, "no code"),
        (0, 0, 0, 0, 0.0, "no code"),
        (0, 0, 1, 1, 0.5, "ran, wrong"),
        (0, 0, 0, 0, 0.0, "no code"),
        (0, 0, 0, 0, 0.0, "no code"),
        (1, 1, 2, 2, 3.0, "ran, right"),
        (1, 0, 1, 0, 1.5, "other language"),
        (1, 0, 1, 0, 1.5, "blocked"),
    ]
    assert [tuple(row) for row in got.itertuples(index=False)] == expected


@needs_isolation
def test_the_answer_that_counts(scored) -> None:
    _, table, _ = scored
    assert table["answer_source"].fillna("-").tolist() == [
        "execution",
        "text",
        "text",
        "-",
        "execution",
        "-",
        "-",
        "execution",
        "-",
        "-",
    ]
    assert table["answer_conflict"].tolist() == [True, *[False] * 6, True, False, False]
    assert table["answer_status"].tolist() == [
        "matched", "matched", "matched", "unparsed", "mismatched", "unparsed", "unparsed", "matched",
        "unparsed", "unparsed",
    ]  # fmt: skip
    assert json.loads(table["answer"][2]) == {"mean": "2.33"}
    assert table["answer_key"].dropna().tolist() == ["mean=2.33"] * 3 + ["mean=2.5", "mean=2.33"]
    assert table["execution_detail"][1].startswith("ZeroDivisionError")


@needs_isolation
def test_raw_text_and_executed_result_tell_runs_apart(scored) -> None:
    _, table, _ = scored
    failed = table["status"] == "failed"
    assert table["text_hash"].isna().tolist() == failed.tolist()
    # Runs 0 and 7 came to the same result by the same code; run 1 raised, run 2 has no code.
    results = table["result_key"]
    assert results[0] == results[7] == "mean=2.33"
    assert results[1] == "failed: ZeroDivisionError"
    assert results.isna()[2]
    assert results[4] == "mean=2.5"


@needs_isolation
def test_the_general_properties_by_hand(scored) -> None:
    _, table, _ = scored
    assert table["words_in"].tolist() == [6] * 10
    # 'Here is the code' + 'mean 2.4', the code left out
    assert table["words_out"].tolist()[:3] == [6, 6, 9]
    assert table["word_ratio"][2] == pytest.approx(6 / 9)
    assert table["tokens_source"].tolist()[:4] == ["usage-apportioned", "usage-apportioned", "usage", "bpe"]
    assert table["tokens_out"][2] == 60
    assert 0 < table["tokens_out"][0] < 60
    assert table["token_ratio"][2] == pytest.approx(20 / 60)
    assert (
        table.loc[3, ["words_out", "tokens_out", "tokens_total", "word_ratio", "seconds", "jaccard_first"]]
        .isna()
        .all()
    )
    assert (table["error_class"][3], table["retries"][3]) == ("timeout", 6)
    assert (table["words_out"][5], table["tokens_out"][5]) == (0, 0)
    assert table.loc[5, ["word_ratio", "token_ratio"]].isna().all()
    # {here, is, the, code, mean, 2.4} and {here, is, the, code, mean, 2.33}
    assert table["jaccard_first"][0] == 1.0
    assert table["jaccard_first"][1] == pytest.approx(5 / 7)
    assert table["jaccard_first"][7] == 1.0


@needs_isolation
def test_nothing_is_infinite(scored) -> None:
    _, table, _ = scored
    numbers = table.select_dtypes("number").astype("float64")
    assert not numbers.isin([float("inf"), float("-inf")]).any().any()


@needs_isolation
def test_progress_ends_at_its_total(scored) -> None:
    _, _, seen = scored
    assert seen[-1] == (10, 10)
    # runs 0, 1, 4, 7 and 9 wait for their code
    assert (5, 11) in seen
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@needs_isolation
def test_outcomes_are_written_whole_and_read_back(scored) -> None:
    folder, table, _ = scored
    back = load_outcomes(folder.outcomes_path)
    pd.testing.assert_frame_equal(back, table)
    pd.testing.assert_frame_equal(load_outcomes(folder.root), table)
    assert not list(folder.root.glob("*.new"))


@needs_isolation
def test_identical_code_ran_once_and_scoring_again_runs_nothing(scored, monkeypatch) -> None:
    folder, table, _ = scored
    lines = folder.executions_path.read_text().splitlines()
    # runs 0 and 7 share their code
    assert len(lines) == len({json.loads(line)["key"] for line in lines}) == 4

    def refuse(*_args, **_kwargs):
        raise AssertionError("code was run again")

    monkeypatch.setattr(scoring, "execute", refuse)
    before = folder.outcomes_path.read_bytes()
    again = score_study(folder)
    pd.testing.assert_frame_equal(again, table)
    assert folder.outcomes_path.read_bytes() == before


@needs_isolation
def test_scoring_goes_on_where_it_was_killed(scored, tmp_path: Path) -> None:
    folder, table, _ = scored
    other = make_study(tmp_path, [])
    for name in ("study.json", "records.jsonl"):
        (other.root / name).write_bytes((folder.root / name).read_bytes())
    lines = folder.executions_path.read_bytes().splitlines(keepends=True)
    other.executions_path.write_bytes(lines[0] + lines[1][:40])
    again = score_study(other)
    pd.testing.assert_frame_equal(again, table)
    assert len(other.executions_path.read_bytes().splitlines()) == 4


def test_all_failed(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(i, "", "failed") for i in range(3)], runs=3)
    table = score_study(folder)
    assert table["score"].tolist() == [0.0] * 3
    assert table[["words_out", "jaccard_first", "jaccard_mean", "seconds"]].isna().all().all()
    assert table["answer_status"].tolist() == ["unparsed"] * 3
    pd.testing.assert_frame_equal(load_outcomes(folder.root), table)


def test_one_run(tmp_path: Path) -> None:
    table = score_study(make_study(tmp_path, [record(0, "@mean[2.33]")], runs=1))
    assert table["jaccard_first"].tolist() == [1.0]
    assert table["jaccard_mean"].isna().all()


def test_reference_text(tmp_path: Path) -> None:
    folder = make_study(
        tmp_path, [record(0, "mean 5"), record(1, "", "failed")], extra={"reference_text": "The mean"}
    )
    table = score_study(folder)
    assert table["jaccard_truth"][0] == pytest.approx(1 / 3)
    assert table["jaccard_truth"].isna()[1]


def test_run_0_that_failed_leaves_the_first_column_missing(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "", "failed"), record(1, "a b"), record(2, "a b")])
    table = score_study(folder)
    assert table["jaccard_first"].isna().all()
    assert table["jaccard_mean"][1] == 1.0


def test_lone_surrogates_do_not_stop_it(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "@mean[\ud800]", finish_reason="\udfff")])
    assert score_study(folder)["answer_status"].tolist() == ["mismatched"]
    load_outcomes(folder.root)


def test_two_scorings_at_once(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "@mean[2.33]")])
    with FileLock(folder.root / "scoring.lock"), pytest.raises(StudyLockedError):
        score_study(folder)


def test_a_changed_data_file_is_refused(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "@mean[2.33]")])
    (folder.bank_dir / "data" / "a.csv").write_text("x\n1\n")
    with pytest.raises(StudyError, match="has changed since the runs were asked"):
        score_study(folder)


def test_no_run_of_the_design(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "x", messages=({"role": "user", "content": "old"},))])
    with pytest.raises(StudyError, match="1 runs there were asked with other prompts"):
        score_study(folder)
    assert not folder.outcomes_path.exists()


def test_no_records_at_all(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no recorded run"):
        score_study(make_study(tmp_path, []))


def test_too_little_isolation_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_args, **_kwargs):
        raise ExecutionRefusedError("no isolation here", hint="--unsafe")

    monkeypatch.setattr(scoring, "execute", refuse)
    folder = make_study(tmp_path, [record(0, _fenced("print(1)"))])
    with pytest.raises(ExecutionRefusedError, match="no isolation here"):
        score_study(folder)
    assert not folder.outcomes_path.exists()
    # Without code there is nothing to refuse.
    (tmp_path / "other").mkdir()
    assert len(score_study(make_study(tmp_path / "other", [record(0, "@mean[2.33]")]))) == 1


def test_outcomes_that_are_not_there_or_not_whole(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="dsqa score"):
        load_outcomes(tmp_path / "outcomes.parquet")
    (tmp_path / "outcomes.parquet").write_bytes(b"PAR1 torn")
    with pytest.raises(StudyError, match="cannot be read"):
        load_outcomes(tmp_path)
    pd.DataFrame({"study": ["x"]}).to_parquet(tmp_path / "outcomes.parquet")
    with pytest.raises(StudyError, match="has no column 'question_id'"):
        load_outcomes(tmp_path)


def test_outcomes_that_cannot_be_written(tmp_path: Path) -> None:
    folder = make_study(tmp_path, [record(0, "@mean[2.33]")])
    folder.outcomes_path.mkdir()
    with pytest.raises(StudyError, match="cannot be written"):
        score_study(folder)
