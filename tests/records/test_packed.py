"""A study packed to be handed on: `records.jsonl.gz` is read where the plain file was, and never written to."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dsqa.errors import RecordError
from dsqa.records import Record, RecordStore, read_records
from dsqa.records.lines import encode_line
from dsqa.study import StudyFolder


def _lines(count: int) -> bytes:
    return b"".join(
        encode_line(
            Record(
                question_id="q",
                condition_id="c",
                run=run,
                prompt_hash="p",
                condition={"model": "m"},
                request={},
                status="answered",
                text=f"answer {run} é",
            )
        )
        for run in range(count)
    )


def test_a_packed_study_gives_the_same_records(tmp_path: Path) -> None:
    plain, packed = tmp_path / "records.jsonl", tmp_path / "records.jsonl.gz"
    plain.write_bytes(_lines(5))
    packed.write_bytes(gzip.compress(_lines(5), mtime=0))
    assert list(read_records(packed)) == list(read_records(plain))


def test_the_plain_file_goes_before_the_packed_one(tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path)
    assert folder.records_path.name == "records.jsonl"
    (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(_lines(1)))
    assert folder.records_path.name == "records.jsonl.gz"
    (tmp_path / "records.jsonl").write_bytes(_lines(2))
    assert folder.records_path.name == "records.jsonl"


def test_nothing_is_added_to_a_packed_study(tmp_path: Path) -> None:
    packed = tmp_path / "records.jsonl.gz"
    packed.write_bytes(gzip.compress(_lines(1)))
    before = packed.read_bytes()
    with pytest.raises(RecordError, match="gunzip"):
        RecordStore.open(packed)
    assert packed.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl.gz"]


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-12], lambda b: b[:40] + b"\xff" * 9 + b[49:], lambda b: b"no gzip\n"]
)
def test_a_damaged_packed_file_is_named(tmp_path: Path, damage: object) -> None:
    packed = tmp_path / "records.jsonl.gz"
    packed.write_bytes(damage(gzip.compress(_lines(200), mtime=0)))  # type: ignore[operator]
    with pytest.raises(RecordError, match=r"records\.jsonl\.gz"):
        list(read_records(packed))
