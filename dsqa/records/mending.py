"""Damaged lines of a file of records: found, set aside, and what was lost with them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from dsqa.errors import RecordError
from dsqa.records.index import RunIndex
from dsqa.records.lines import decode_line, lines_of
from dsqa.records.lock import FileLock

__all__ = ["DamagedLine", "RecordsCheck", "check_records", "mend_records"]

_LONGEST_SHOWN = 120


@dataclass(frozen=True)
class DamagedLine:
    """A line that is no record.

    Parameters
    ----------
    line
        Its number, from 1.
    size
        Its length in bytes.
    why
        What is wrong with it.
    question_id, condition_id, run
        Of the run that it recorded, as far as it still says so.
    """

    line: int
    size: int
    why: str
    question_id: str | None
    condition_id: str | None
    run: int | None

    @property
    def named(self) -> str:
        """The run in words."""
        known = [
            f"{name} {value}"
            for name, value in (("question", self.question_id), ("condition", self.condition_id), ("run", self.run))
            if value is not None
        ]
        return ", ".join(known) or "a run that it does not name any more"


@dataclass
class RecordsCheck:
    """What a file of records holds.

    Parameters
    ----------
    path
        The file.
    runs
        Whole records, each run once.
    repeats
        Lines that record a run once more; the first one counts.
    torn
        Bytes after the last newline, which a kill left; the next 'dsqa sample' sets them aside.
    damaged
        The lines that are no records.
    """

    path: Path
    runs: int = 0
    repeats: int = 0
    torn: int = 0
    damaged: list[DamagedLine] = field(default_factory=list)


def check_records(path: Path) -> RecordsCheck:
    """Read a file of records to its end, whatever is damaged in it.

    Parameters
    ----------
    path
        A ``records.jsonl``, or one that is packed.

    Raises
    ------
    RecordError
        The file is not there or cannot be read at all.
    """
    if not path.is_file():
        raise RecordError("no such file of records", path=path, hint="name a folder under runs/, or a records.jsonl")
    found = RecordsCheck(path)
    index = RunIndex()
    for number, line in enumerate(lines_of(path), start=1):
        if not line.endswith(b"\n"):
            found.torn = len(line)
        elif not line.isspace():
            try:
                record = decode_line(line, path, number)
            except RecordError as error:
                found.damaged.append(_damaged(line, number, error))
                continue
            if index.add(record.key, record.status):
                found.runs += 1
            else:
                found.repeats += 1
    return found


def mend_records(path: Path) -> tuple[RecordsCheck, Path | None]:
    """Move the damaged lines of a file of records into ``<path>.damaged``, where they are kept byte for byte.

    The file is replaced in one step; a kill at any moment leaves it as it was or mended, and no line is in neither.
    The runs of those lines are asked again by the next 'dsqa sample'.

    Returns
    -------
    tuple
        What was found, and the file with the lines that were moved; None where nothing was damaged.

    Raises
    ------
    StudyLockedError
        The study is being sampled.
    RecordError
        The file cannot be read or written, or is packed.
    """
    if path.suffix == ".gz":
        found = check_records(path)
        if found.damaged:
            raise RecordError("is packed and cannot be mended", path=path, hint=f"unpack it: gunzip {path}")
        return found, None
    lock = FileLock(path.with_name(path.name + ".lock"))
    try:
        found = check_records(path)
        if not found.damaged:
            return found, None
        aside = path.with_name(path.name + ".damaged")
        new = path.with_name(path.name + ".mended")
        numbers = {damaged.line for damaged in found.damaged}
        try:
            with aside.open("ab") as kept, new.open("wb") as mended:
                for number, line in enumerate(lines_of(path), start=1):
                    (kept if number in numbers else mended).write(line)
                for handle in (kept, mended):
                    handle.flush()
                    os.fsync(handle.fileno())
            new.replace(path)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise RecordError(f"cannot be mended: {error.strerror}", path=path) from None
        return found, aside
    finally:
        lock.release()


def _damaged(line: bytes, number: int, error: RecordError) -> DamagedLine:
    run = re.search(rb'"run": ?(\d{1,7})\b', line)
    return DamagedLine(
        line=number,
        size=len(line),
        why=error.message[:_LONGEST_SHOWN],
        question_id=_text_in(line, b"question_id"),
        condition_id=_text_in(line, b"condition_id"),
        run=int(run[1]) if run else None,
    )


def _text_in(line: bytes, name: bytes) -> str | None:
    found = re.search(rb'"' + name + rb'": ?"([^"\\]{1,200})"', line)
    return found[1].decode("utf-8", "replace") if found else None
