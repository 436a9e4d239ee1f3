from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import RecordError, StudyLockedError
from dsqa.records import Record, RecordStore, RunIndex, RunKey, read_records, records_table


def make(run: int = 0, question: str = "q1", **changes) -> Record:
    record = Record(
        question_id=question,
        condition_id="m_t1_00000000",
        run=run,
        prompt_hash="0" * 16,
        condition={"endpoint": "default", "model": "m", "temperature": 1.0},
        request={"model": "m", "messages": [{"role": "user", "content": "?"}]},
        status="answered",
        text=f"answer {run}",
    )
    return replace(record, **changes)


def write(path: Path, *records: Record) -> None:
    with RecordStore.open(path) as store:
        for record in records:
            store.append(record)


def test_round_trip_in_file_order(tmp_path):
    path = tmp_path / "records.jsonl"
    records = [make(2), make(0), make(1, "ø/q", usage={"completion_tokens": 3, "x_unknown": [1, {"y": None}]})]
    write(path, *records)
    assert list(read_records(path)) == records
    assert [list(json.loads(line).items()) for line in path.read_bytes().splitlines()] == [
        list(record.to_dict().items()) for record in records
    ]
    with RecordStore.open(path) as store:
        assert store.keys() == {r.key for r in records}


# 𝒳 is outside the basic plane; the lone surrogates are what a truncated \uD83D escape gives.
@given(text=st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
def test_any_text_survives_lone_surrogates_included(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        write(path, make(text=text, reasoning="\ud83d" + text))
        (back,) = read_records(path)
    assert back.text == text
    assert back.reasoning == "\ud83d" + text


def test_a_megabyte_and_line_separators_inside_a_text(tmp_path):
    path = tmp_path / "r.jsonl"
    text = "é\u2028\x85\r\n\x00" * 200_000
    write(path, make(0, text=text), make(1))
    assert [r.text for r in read_records(path)] == [text, "answer 1"]


def test_second_process_is_told_who_holds_the_study(tmp_path):
    path = tmp_path / "r.jsonl"
    code = f"from dsqa.records import RecordStore; from pathlib import Path; RecordStore.open(Path({str(path)!r}))"
    with RecordStore.open(path) as store:
        with pytest.raises(StudyLockedError, match=f"pid {os.getpid()}"):
            RecordStore.open(path)
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert f"pid {os.getpid()}" in other.stderr
        store.append(make())
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert len(list(read_records(path))) == 1


def test_lock_ends_with_a_killed_holder(tmp_path):
    path = tmp_path / "r.jsonl"
    code = textwrap.dedent(f"""
        from dsqa.records import RecordStore; from pathlib import Path; import time
        store = RecordStore.open(Path({str(path)!r})); print("held", flush=True); time.sleep(60)
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StudyLockedError, match=f"pid {holder.pid}"):
            RecordStore.open(path)
        holder.send_signal(signal.SIGKILL)
    RecordStore.open(path).close()


@pytest.mark.parametrize("keep", [1, 20, 100, -2])
def test_torn_last_line_is_moved_aside_and_the_next_line_stands_alone(tmp_path, keep, caplog):
    path = tmp_path / "records.jsonl"
    write(path, make(0), make(1), make(2))
    lines = path.read_bytes().splitlines(keepends=True)
    torn = lines[2][:keep]
    path.write_bytes(lines[0] + lines[1] + torn)
    # A reader sees whole lines only, and repairs nothing.
    assert [r.run for r in read_records(path)] == [0, 1]
    with RecordStore.open(path) as store:
        assert {
            k.run
            for k in store.keys()  # noqa: SIM118
        } == {0, 1}
        store.append(make(2))
    assert [r.run for r in read_records(path)] == [0, 1, 2]
    assert (tmp_path / "records.jsonl.torn").read_bytes() == torn + b"\n"
    assert "torn" in caplog.text


def test_tail_of_zeros_after_a_power_cut_is_a_torn_line(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, make(0))
    with path.open("ab") as handle:
        handle.write(b"\0" * 70_000)
    with RecordStore.open(path) as store:
        store.append(make(1))
    assert [r.run for r in read_records(path)] == [0, 1]


def test_last_line_that_only_lacks_its_newline_is_kept(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, make(0), make(1))
    path.write_bytes(path.read_bytes()[:-1])
    with RecordStore.open(path) as store:
        assert {
            k.run
            for k in store.keys()  # noqa: SIM118
        } == {0, 1}
        store.append(make(2))
    assert [r.run for r in read_records(path)] == [0, 1, 2]
    assert not (tmp_path / "r.jsonl.torn").exists()


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (b"{nonsense\n", "is no record"),
        (b"[1]\n", "not an object"),
        (b'{"question_id": "q"}\n', "condition_id"),
        (b"\xff\xfe\n", "is no record"),
        (b"[" * 100_000 + b"\n", "is no record"),
    ],
)
def test_malformed_line_in_the_middle_is_named(tmp_path, bad, what):
    path = tmp_path / "r.jsonl"
    write(path, make(0), make(1))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + bad + second)
    for attempt in (lambda: list(read_records(path)), lambda: RecordStore.open(path)):
        with pytest.raises(RecordError, match=what) as caught:
            attempt()
        assert caught.value.line == 2
        assert caught.value.path == path
    # The failed open let go of the lock.
    path.write_bytes(first + second)
    RecordStore.open(path).close()


@pytest.mark.parametrize(
    "change", [{"run": -1}, {"run": True}, {"run": 10**12}, {"status": "fine"}, {"text": None}, {"request": []}]
)
def test_fields_of_a_wrong_kind_are_named(tmp_path, change):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({**make().to_dict(), **change}) + "\n")
    with pytest.raises(RecordError, match=f"'{next(iter(change))}'"):
        list(read_records(path))


def test_a_later_schema_is_refused_in_words(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({**make().to_dict(), "schema": 99}) + "\n")
    with pytest.raises(RecordError, match="later dsqa"):
        list(read_records(path))


def test_of_two_lines_with_one_key_the_first_counts_and_it_is_said(tmp_path, caplog):
    path = tmp_path / "r.jsonl"
    write(path, make(0, text="first"))
    one = path.read_bytes()
    path.write_bytes(one + one.replace(b"first", b"second"))
    assert [r.text for r in read_records(path)] == ["first"]
    assert "first one counts" in caplog.text
    with RecordStore.open(path) as store, pytest.raises(RecordError, match="recorded already"):
        store.append(make(0))


def test_no_file_holds_no_runs(tmp_path):
    assert list(read_records(tmp_path / "none.jsonl")) == []


def test_full_disk_leaves_whole_lines_only(tmp_path):
    # In a child: the file-size limit makes write() fail as a full disk does, half-way through a line.
    path = tmp_path / "r.jsonl"
    write(path, make(0))
    limit = path.stat().st_size + 500
    code = textwrap.dedent(f"""
        import resource
        from pathlib import Path
        from dsqa.errors import RecordError
        from dsqa.records import RecordStore
        from tests.records.test_store import make
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        with RecordStore.open(Path({str(path)!r})) as store:
            try:
                for run in range(1, 9):
                    store.append(make(run))
            except RecordError as error:
                print(run, error)
            print(len(store.keys()))
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, count = done.stdout.splitlines()
    failed_at = int(said.split()[0])
    assert "the disk is full" in said
    assert "Traceback" not in done.stderr
    assert int(count) == failed_at
    assert path.read_bytes().endswith(b"\n")
    assert [r.run for r in read_records(path)] == list(range(failed_at))
    assert 1 < failed_at < 8
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != limit


@given(st.sets(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 200), st.sampled_from("hk"))))
def test_index_is_a_set_of_keys(rows):
    index, keys = RunIndex(), {RunKey(*row) for row in rows}
    for key in keys:
        assert index.add(key, "answered")
        assert not index.add(key, "failed")
    assert set(index.keys()) == keys
    assert len(index) == len(keys) == sum(index.statuses.values())
    copy = index.copy()
    copy.add(RunKey("c", "z", 0, "h"), "failed")
    assert RunKey("c", "z", 0, "h") not in index
    assert RunKey("a", "x", 201, "h") not in index


def test_table_is_parquet_ready_whatever_the_runs(tmp_path):
    records = [
        make(0, usage={"completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 2}}),
        make(1, text="a\ud83d b \ud83d\ude00", usage={"completion_tokens_details": None}),
        make(2, status="failed", text="", error={"class": "timeout", "message": "no answer", "status": None}),
        make(3, condition={"endpoint": "e", "model": "m", "temperature": None}),
    ]
    table = records_table(records)
    table.to_parquet(tmp_path / "records.parquet")
    assert table["tokens_out"].tolist()[0] == 3
    assert table["tokens_reasoning"].tolist()[0] == 2
    assert table["tokens_out"].isna().tolist() == [False, True, True, True]
    assert table["text"].tolist()[1] == "a\ufffd b 😀"
    assert table["error_class"].tolist()[2] == "timeout"
    assert table["temperature"].isna().tolist() == [False, False, False, True]
    assert json.loads(table["request"].tolist()[0]) == records[0].request
    empty = records_table([])
    assert empty.dtypes.equals(table.dtypes)
