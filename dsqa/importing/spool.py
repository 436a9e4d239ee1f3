"""Runs put by on disk until all are read: only then is it known which number each of them has."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Spool", "Spooled"]


@dataclass(frozen=True, slots=True)
class Spooled:
    """A run: its record, its original row and its metrics, each a line of JSON with its newline."""

    record: bytes
    row: bytes
    metrics: bytes


class Spool:
    """A file of runs, three lines each; written once, then read from its beginning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = path.open("wb")
        self._starts = array("q")
        self._size = 0

    def add(self, run: Spooled) -> None:
        """Put a run by."""
        self._starts.append(self._size)
        for line in (run.record, run.row, run.metrics):
            self._handle.write(line)
            self._size += len(line)

    def close(self) -> None:
        """Finish writing; harmless when done already."""
        self._handle.close()

    def __iter__(self) -> Iterator[Spooled]:
        self.close()
        with self._path.open("rb") as handle:
            for record in handle:
                yield Spooled(record, handle.readline(), handle.readline())

    def __getitem__(self, position: int) -> Spooled:
        self._handle.flush() if not self._handle.closed else None
        with self._path.open("rb") as handle:
            handle.seek(self._starts[position])
            return Spooled(handle.readline(), handle.readline(), handle.readline())
