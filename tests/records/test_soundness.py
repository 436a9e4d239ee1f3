"""No reply can block a study: a record is checked when it is written, and damaged lines can be set aside."""

from __future__ import annotations

import gzip
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import RecordError, StudyLockedError
from dsqa.records import RecordStore, read_records, usage_counts
from dsqa.records.lines import decode_line, encode_line
from dsqa.records.mending import check_records, mend_records
from dsqa.records.soundness import sound
from tests.records.test_store import make, write

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=20), JSON, max_size=6), st.text(max_size=2000))
def test_whatever_usage_holds_the_record_is_read_back(tmp_path_factory, usage, name):
    record = sound(make(usage=usage, finish_reason=name, response_model=name))
    back = decode_line(encode_line(record), tmp_path_factory.getbasetemp() / "r", 1)
    assert back == record
    assert len(back.finish_reason or "") <= 1001
    counts = usage_counts(back.usage)
    assert all(count is None or 0 <= count <= 10**9 for count in counts)


def nested(depth: int) -> dict[str, object]:
    usage: dict[str, object] = {"completion_tokens": 1}
    for _ in range(depth):
        usage = {"x": usage}
    return usage


@pytest.mark.parametrize(
    "usage",
    [
        nested(900),
        nested(100_000),
        {"x": "y" * 10**6},
        {str(i): i for i in range(10**5)},
        {"completion_tokens": 10**5000},
    ],
)
def test_an_absurd_usage_is_written_and_read(tmp_path, usage):
    write(tmp_path / "r.jsonl", make(usage=usage))
    (back,) = read_records(tmp_path / "r.jsonl")
    assert usage_counts(back.usage) == (None, None, None, None)
    assert (tmp_path / "r.jsonl").stat().st_size < 100_000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("retries", "many"),
        ("retries", -1),
        ("seconds", "1 s"),
        ("seconds", float("nan")),
        ("text", 3),
        ("run", 1.0),
        ("run", True),
        ("usage", [1]),
        ("error", "no"),
        ("choice", {"index": "first"}),
        ("adapted", ["temperature"]),
        ("status", "fine"),
        ("started_at", 5),
        ("condition", {"temperature": "hot"}),
    ],
)
def test_a_field_of_another_type_is_neither_written_nor_read(tmp_path, field, value):
    record = make(**{field: value})
    with RecordStore.open(tmp_path / "r.jsonl") as store, pytest.raises(TypeError, match=field):
        store.append(record)
    assert (tmp_path / "r.jsonl").read_bytes() == b""
    line = json.dumps(record.to_dict()).encode() + b"\n"
    with pytest.raises(RecordError, match=field):
        decode_line(line, tmp_path / "r.jsonl", 7)


def damage(path, numbers):
    lines = path.read_bytes().splitlines(keepends=True)
    for kind, number in enumerate(numbers):
        line = lines[number]
        lines[number] = [
            b"garbage \xff\n",
            line[: len(line) // 2] + b"\n",
            line.replace(b'"retries":0', b'"retries":' + b"9" * 5000),
            b"[" * 3000 + b"\n",
            line.replace(b'"run":', b'"ran":'),
        ][kind % 5]
    path.write_bytes(b"".join(lines))
    return lines


def test_damaged_lines_are_found_and_set_aside_with_all_their_bytes(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, *(make(run, question="q") for run in range(20)))
    lines = damage(path, [1, 4, 9, 12, 19])
    with path.open("ab") as handle:
        handle.write(lines[0] + b'{"torn')
    found = check_records(path)
    assert (found.runs, found.repeats, found.torn) == (15, 1, 6)
    assert [line.line for line in found.damaged] == [2, 5, 10, 13, 20]
    assert [(line.question_id, line.run) for line in found.damaged] == [
        (None, None),
        ("q", None) if b'"run"' not in lines[4] else ("q", 4),
        ("q", 9),
        (None, None),
        ("q", None),
    ]
    with pytest.raises(RecordError, match=":2"):
        list(read_records(path))
    found, aside = mend_records(path)
    assert len(found.damaged) == 5
    assert aside.read_bytes() == b"".join(lines[i] for i in (1, 4, 9, 12, 19))
    assert {record.run for record in read_records(path)} == set(range(20)) - {1, 4, 9, 12, 19}
    # Nothing is left to mend, and what was set aside stays.
    assert mend_records(path)[1] is None
    assert aside.stat().st_size > 0


def test_a_study_that_is_being_sampled_is_not_mended(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, make(0), make(1))
    damage(path, [0])
    path.with_name("records.jsonl.lock").touch()
    lines = path.read_bytes()
    with RecordStore.open(tmp_path / "other.jsonl") as store:
        assert store is not None
    from dsqa.records import FileLock

    lock = FileLock(path.with_name("records.jsonl.lock"))
    try:
        with pytest.raises(StudyLockedError):
            mend_records(path)
    finally:
        lock.release()
    assert path.read_bytes() == lines


def test_a_packed_file_is_checked_and_left_alone(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, make(0), make(1))
    damage(path, [1])
    packed = tmp_path / "records.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [line.line for line in check_records(packed).damaged] == [2]
    with pytest.raises(RecordError, match="gunzip"):
        mend_records(packed)


def test_any_damage_is_one_clear_line_and_mended(tmp_path):
    """Reading a mutated file works or names a line, and a mended one is always read."""
    rng = random.Random(20261201)
    path = tmp_path / "records.jsonl"
    write(path, *(make(run, usage={"completion_tokens": run}, error=None) for run in range(6)))
    whole = path.read_bytes()
    for _ in range(120):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            match rng.randrange(4):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.randint(1, 40)]
                case 2:
                    data[at:at] = rng.choice([b"\xff", b'"', b"{", b"9" * 5000, b"\\ud800", b"\n", b"1e999", b"[[[["])
                case _:
                    data[at : at + 8] = data[: rng.randint(1, 8)]
        path.write_bytes(bytes(data))
        try:
            list(read_records(path))
        except RecordError as error:
            assert error.line is not None  # noqa: PT017
        mend_records(path)
        list(read_records(path))
