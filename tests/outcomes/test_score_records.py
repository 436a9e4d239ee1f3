from __future__ import annotations

import time
from pathlib import Path

import pytest

from dsqa.bank import Bank
from dsqa.errors import BankError, StudyError
from dsqa.execution import ExecutionResult, environment_of
from dsqa.outcomes import ExecutionCache, score_records
from dsqa.outcomes.cache import snippet_key
from dsqa.records import Record
from dsqa.study import ExecutionConfig
from tests.outcomes.studies import question, record


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    (tmp_path / "a.csv").write_text("x\n1\n2\n4\n")
    return Bank((question(),), tmp_path)


def _typed(run: int, text: str) -> Record:
    """A record as a person would type it in: nothing but the text is known."""
    return Record("q1", "by-hand", run, "", {}, {}, "answered", text)


def _result(key: str, stdout: str, outcome: str = "ran") -> ExecutionResult:
    return ExecutionResult(key, outcome, "", stdout, "", None, 0.1, 0.1, "bubblewrap")


def test_records_typed_in_by_a_person(bank: Bank) -> None:
    table = score_records([_typed(1, "no idea"), _typed(0, "@mean[2.33]")], bank)
    assert table["run"].tolist() == [0, 1]
    assert table["score"].tolist() == [2.0, 1.0]
    assert table[["model", "temperature", "words_in", "tokens_in", "word_ratio", "seconds"]].isna().all().all()
    assert table["tokens_source"].tolist() == ["bpe", "bpe"]


def test_no_records(bank: Bank) -> None:
    assert score_records([], bank).empty


def test_cells_stay_apart(bank: Bank) -> None:
    other = ({"role": "user", "content": "Another prompt"},)
    runs = [record(0, "a b"), record(0, "c d", messages=other), record(1, "a b"), record(1, "c d", messages=other)]
    table = score_records(runs, bank)
    assert table["jaccard_mean"].tolist() == [1.0] * 4
    assert table["words_in"].tolist() == [6, 6, 2, 2]


def test_an_unknown_question(bank: Bank) -> None:
    with pytest.raises(BankError, match="no question has the id 'q9'"):
        score_records([record(0, "x", question_id="q9")], bank)


def test_a_missing_data_file(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no such data file"):
        score_records([record(0, "```python\nprint(1)\n```")], Bank((question(),), tmp_path))


def test_messages_in_parts_are_counted(bank: Bank) -> None:
    parts = ({"role": "user", "content": [{"type": "text", "text": "two words"}, {"type": "image_url"}]},)
    assert score_records([record(0, "x", messages=parts)], bank)["words_in"].tolist() == [2]


def test_ten_thousand_records_are_scored_quickly(bank: Bank) -> None:
    limits, code = ExecutionConfig(), "print('@mean[2.33]')"
    cache = ExecutionCache()
    filler = "First we load the data, then drop the missing rows, and at last take the mean of x. " * 8
    records = []
    for i in range(2000):
        records.append(record(i, f"{filler}\n```python\n{code}\n```\nrun {i}: @mean[{i / 1000}]"))
    hashes = {"a.csv": "0" * 64}
    key = snippet_key(code + "\n", hashes, limits, environment_of(limits).fingerprint)
    cache.add(key, _result(key, "@mean[2.33]\n"))
    score_records(records[:1], bank, cache=cache, data_hashes=hashes, limits=limits)  # loads the tokeniser
    start = time.process_time()
    table = score_records(records, bank, cache=cache, data_hashes=hashes, limits=limits)
    # 10,000 in under 20 s; 2,000 here.
    assert time.process_time() - start < 4.0
    assert table["execution"].eq("ran, right").all()


# --- the cache ---


def test_the_key_depends_on_code_data_limits_and_environment_alone() -> None:
    limits = ExecutionConfig()
    key = snippet_key("print(1)", {"a.csv": "1"}, limits)
    assert key == snippet_key("print(1)", {"a.csv": "1"}, ExecutionConfig(workers=7))
    assert key != snippet_key("print(2)", {"a.csv": "1"}, limits)
    assert key != snippet_key("print(1)", {"a.csv": "2"}, limits)
    assert key != snippet_key("print(1)", {"a.csv": "1"}, ExecutionConfig(wall_seconds=5))
    assert key != snippet_key("print(1)", {"a.csv": "1"}, limits, "another environment")
    # what is declared is checked; what is there is what counts
    assert key == snippet_key("print(1)", {"a.csv": "1"}, ExecutionConfig(packages=("pandas",)))


def test_results_survive_the_disk_whatever_was_printed(tmp_path: Path) -> None:
    path = tmp_path / "executions.jsonl"
    result = _result("k", "é \ud800 \x00 \u2028 \n")
    with ExecutionCache(path) as cache:
        cache.add("k", result)
        cache.add("k", _result("k", "second"))
    with ExecutionCache(path) as cache:
        assert len(cache) == 1
        assert cache["k"] == result


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "executions.jsonl"
    with ExecutionCache(path) as cache:
        cache.add("k", _result("k", "1"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    with ExecutionCache(path) as cache:
        cache.add("m", _result("m", "2"))
    with ExecutionCache(path) as cache:
        assert "k" in cache
        assert "m" in cache


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "executions.jsonl"
    path.write_text("\nnot json\n")
    with pytest.raises(StudyError, match=r"executions.jsonl:2: is no execution result"):
        ExecutionCache(path)
