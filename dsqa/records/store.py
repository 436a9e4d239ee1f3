"""The append-only file of recorded runs: one process, one line per run, nothing half-written left behind."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from dsqa.errors import RecordError
from dsqa.records.index import RunIndex
from dsqa.records.lines import encode_line, scan_records
from dsqa.records.lock import FileLock
from dsqa.records.record import Record, RunKey
from dsqa.records.soundness import sound

__all__ = ["RecordStore"]

_log = logging.getLogger("dsqa.records")

SYNC_SECONDS = 2.0
"""A power cut may cost the runs of this many seconds; a killed process costs none."""

_CHUNK = 1 << 16


class RecordStore:
    """An open `records.jsonl`; make one with `RecordStore.open`, use it as a context manager."""

    def __init__(self, path: Path, fd: int, lock: FileLock, recorded: RunIndex) -> None:
        self._path = path
        self._fd = fd
        self._lock = lock
        self._size = os.fstat(fd).st_size
        self._synced = time.monotonic()
        self._dirty = False
        self.recorded = recorded

    @classmethod
    def open(cls, path: Path, visit: Callable[[Record], object] | None = None) -> Self:
        """Lock the file, mend a torn last line, and read which runs it holds.

        Parameters
        ----------
        path
            The file; made if it is not there. The lock is `<path>.lock` beside it. The bytes of a last line that
            a kill tore go to `<path>.torn`, so that they are neither lost nor joined to the next line.
        visit
            Called with each recorded run, in file order, while the file is read.

        Raises
        ------
        StudyLockedError
            Another process has it open.
        RecordError
            It is packed, cannot be written, or a line of it is no record.
        """
        if path.suffix == ".gz":
            raise RecordError("is packed, so no run can be added to it", path=path, hint=f"unpack it: gunzip {path}")
        lock = FileLock(path.with_name(path.name + ".lock"))
        try:
            try:
                fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise RecordError(f"cannot be opened for writing: {error.strerror}", path=path) from None
            try:
                try:
                    _mend_last_line(fd, path)
                except OSError as error:
                    raise _write_error(error, path) from None
                recorded = RunIndex()
                for record in scan_records(path, recorded):
                    if visit is not None:
                        visit(record)
                return cls(path, fd, lock, recorded)
            except BaseException:
                os.close(fd)
                raise
        except BaseException:
            lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def keys(self) -> set[RunKey]:
        """Return the keys of the recorded runs."""
        return set(self.recorded.keys())

    def append(self, *records: Record) -> None:
        """Write runs, one line each and all in one piece, at once visible to every reader.

        Raises
        ------
        RecordError
            A run is recorded already, or the lines cannot be written (a full disk): then nothing of them stays.
        TypeError
            A record has a field of a type that it cannot have; see `sound`.
        """
        for record in records:
            if record.key in self.recorded:
                raise RecordError(f"this run is recorded already: {tuple(record.key)}", path=self._path)
        lines = b"".join(encode_line(sound(record)) for record in records)
        try:
            view = memoryview(lines)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise _write_error(error, self._path) from None
        self._size += len(lines)
        for record in records:
            self.recorded.add(record.key, record.status)
        self._dirty = True
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Force what is written onto the disk."""
        if self._dirty:
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise _write_error(error, self._path) from None
            self._dirty = False
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync, close and unlock; harmless when done already."""
        if self._fd < 0:
            return
        try:
            self.sync()
        finally:
            os.close(self._fd)
            self._fd = -1
            self._lock.release()


def _write_error(error: OSError, path: Path) -> RecordError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return RecordError(
            f"the disk is full ({error.strerror})",
            path=path,
            hint="every run written before is whole; make room and run the same command to go on",
        )
    return RecordError(f"cannot be written: {error.strerror}", path=path)


def _mend_last_line(fd: int, path: Path) -> None:
    size = os.fstat(fd).st_size
    start = _after_last_newline(fd, size)
    if start == size:
        return
    tail = os.pread(fd, size - start, start)
    if _is_whole(tail):
        # Only the newline is missing: an editor's doing, or the very last byte of a torn write.
        os.write(fd, b"\n")
        return
    torn = path.with_name(path.name + ".torn")
    with torn.open("ab") as handle:
        handle.write(tail + b"\n")
        handle.flush()
        os.fsync(handle.fileno())
    os.ftruncate(fd, start)
    os.fsync(fd)
    _log.warning("%s: the last line was torn; moved to %s, its run is asked again", path, torn.name)


def _after_last_newline(fd: int, size: int) -> int:
    end = size
    while end > 0:
        begin = max(0, end - _CHUNK)
        found = os.pread(fd, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _is_whole(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail), dict)
    except (ValueError, RecursionError):
        return False
