"""What running each distinct piece of code gave, kept in `executions.jsonl`, so that nothing is run twice."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from dsqa.errors import StudyError
from dsqa.execution import Artefact, ArtefactStore, ExecutionResult, Outcome
from dsqa.study import ExecutionConfig, fingerprint

__all__ = ["ExecutionCache", "snippet_key"]

SCHEMA = 1
_FIELDS = frozenset(f.name for f in fields(ExecutionResult)) - {"snippet_id"}


def snippet_key(code: str, data_hashes: Mapping[str, str], limits: ExecutionConfig, environment: str = "") -> str:
    """Return the key of a piece of code.

    It is equal for equal code, data files (by their SHA-256), limits and environment (by its fingerprint): what was
    run under another Python or other versions of its packages is never taken for a result of this one.
    """
    parts = {"code": code, "data": dict(data_hashes), "limits": limits.per_snippet(), "environment": environment}
    return fingerprint(parts, length=32)


class ExecutionCache:
    """Results of executions by `snippet_key`, in memory and, if a path is given, on disk.

    The file is append-only, one JSON object per line; a result is on disk as soon as it is added, so scoring that
    was interrupted goes on where it stopped. A last line that a kill left torn is cut off. Where two processes
    wrote the same key, the first line counts. Code that was run several times has several results, told apart by
    ``rerun``; the first (0) is what is scored. What runs drew, showed and wrote goes into the folder `artefacts`
    beside the file, each content once; results in here only name it.

    Parameters
    ----------
    path
        The file, or None to keep results in memory only, without the contents of artefacts.
    read_only
        Leave the file as it is, a torn last line too: another process may be writing it.

    Raises
    ------
    StudyError
        The file cannot be read or written, or a line of it (not the torn last one) is damaged.
    """

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        self.path = path
        self._results: dict[str, dict[int, ExecutionResult]] = {}
        self._file: int | None = None
        self.artefacts = ArtefactStore(None if path is None else path.parent / "artefacts")
        if path is not None and path.exists():
            self._load(path, read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return 0 in self._results.get(key, ())

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, key: str) -> ExecutionResult:
        return self._results[key][0]

    def reruns(self, key: str) -> dict[int, ExecutionResult]:
        """Return every result of a key by its number, the first (0) included."""
        return dict(sorted(self._results.get(key, {}).items()))

    def add(self, key: str, result: ExecutionResult, rerun: int = 0) -> None:
        """Keep a result; a key that has one of this number already keeps that.

        What a run after the first drew and wrote is not kept.
        """
        mine = self._results.setdefault(key, {})
        if rerun in mine:
            return
        made = result.artefacts if rerun == 0 else ()
        result = replace(result, artefacts=tuple(self.artefacts.put(artefact) for artefact in made))
        mine[rerun] = result
        if self.path is None:
            return
        row: dict[str, Any] = {"schema": SCHEMA, "key": key, **asdict(result)}
        if rerun:
            row["rerun"] = rerun
        row["artefacts"] = [artefact.to_dict() for artefact in result.artefacts]
        del row["snippet_id"]
        # ASCII, since output that is no Unicode has no other way into JSON.
        line = json.dumps(row).encode("ascii") + b"\n"
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise StudyError(f"cannot be written: {error.strerror}", path=self.path) from None

    def close(self) -> None:
        """Close the file; results stay readable."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _load(self, path: Path, read_only: bool) -> None:
        try:
            content = path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content) and not read_only:
                os.truncate(path, whole)
        except OSError as error:
            raise StudyError(f"cannot be read: {error.strerror}", path=path) from None
        for number, line in enumerate(content[:whole].split(b"\n"), start=1):
            if line.strip():
                self._load_line(line, path, number)

    def _load_line(self, line: bytes, path: Path, number: int) -> None:
        try:
            row = json.loads(line)
            if row["schema"] > SCHEMA:
                raise StudyError("was written by a later dsqa", path=path, line=number, hint="upgrade dsqa")
            values = {name: row[name] for name in _FIELDS if name in row}
            values["artefacts"] = tuple(Artefact.from_dict(item) for item in row.get("artefacts", ()))
            values["artefact_notes"] = tuple(row.get("artefact_notes", ()))
            if values["outcome"] not in get_args(Outcome):
                raise ValueError(f"'{values['outcome']}' is no outcome")
            mine = self._results.setdefault(row["key"], {})
            mine.setdefault(int(row.get("rerun", 0)), ExecutionResult(snippet_id=row["key"], **values))
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(
                f"is no execution result: {type(error).__name__}: {error}",
                path=path,
                line=number,
                hint="delete the line; its code is then run again",
            ) from None
