"""The study's account: what each sampling session did, from its begin to its end, however that came.

``sessions.jsonl`` has one line per session that has ended. The session that is under way is in ``session.json``,
written anew every two seconds and each time whole; where one was killed, the next session finds it there, adds the
runs that were recorded after it was last written, and puts it into ``sessions.jsonl``.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from dsqa.errors import RecordError
from dsqa.sampling.history import Need, Tally
from dsqa.study.folder import replace_text

__all__ = ["CHECKPOINT_SECONDS", "How", "Ledger", "SessionEntry", "now_utc", "read_sessions"]

CHECKPOINT_SECONDS = 2.0
SESSIONS = "sessions.jsonl"
UNDER_WAY = "session.json"

How = Literal["under way", "complete", "limit", "budget", "interrupted", "error", "killed"]


def now_utc() -> str:
    """Return the time as records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass
class SessionEntry:
    """One session.

    Parameters
    ----------
    session
        Its number in the study, from 1.
    begun, ended
        UTC, ISO 8601.
    how, why
        How it ended, and the message where that was an error or a cap.
    wall_seconds
        From begin to end; for a killed one, to the last moment that is written down.
    runs_before, runs_after
        Runs in the study's records at its begin and its end.
    requests
        Sent and done with: answered, refused or failed; the runs' own and those that left no record.
    retries
        Requests sent again after a passing failure.
    in_flight
        Sent when it was last written down, and not yet done with.
    held
        What the budget had set aside for these.
    unsure
        Requests that brought no answer though the endpoint may have worked on them (timeouts, broken
        connections, in flight at the end), with the tokens and the money that they may have taken at most, where
        anything was set aside for them.
    tally
        What its recorded runs took.
    concurrency
        Most requests that each endpoint was allowed at once.
    settings
        Limit, selection and budget of the session.
    """

    session: int
    begun: str
    how: How = "under way"
    why: str | None = None
    ended: str | None = None
    wall_seconds: float = 0.0
    runs_before: int = 0
    runs_after: int = 0
    requests: int = 0
    retries: int = 0
    in_flight: int = 0
    held: Need = field(default_factory=Need)
    unsure: Need = field(default_factory=Need)
    tally: Tally = field(default_factory=Tally)
    concurrency: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    pid: int = 0
    version: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain data."""
        row = asdict(self)
        return {**row, "tally": self.tally.to_dict(), "held": self.held._asdict(), "unsure": self.unsure._asdict()}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Self:
        """Rebuild a session from `to_dict`'s output; fields of a later version are left out."""
        known = {name: row[name] for name in cls.__dataclass_fields__ if name in row}
        tally = {name: value for name, value in row["tally"].items() if name in Tally.__dataclass_fields__}
        needs = {name: Need(**row[name]) for name in ("held", "unsure")}
        return cls(**{**known, **needs, "tally": Tally(**tally)})


def read_sessions(root: Path) -> list[SessionEntry]:
    """Return the sessions of a study's folder, the one that is under way (or was killed) last.

    Raises
    ------
    RecordError
        A line is no session.
    """
    entries = []
    path = root / SESSIONS
    with contextlib.suppress(FileNotFoundError):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            entry = _parse(line)
            if entry is not None:
                entries.append(entry)
            elif not line.startswith(b"{") or line.endswith(b"}"):
                raise RecordError("is no session", path=path, line=number, hint="delete this line; no run is lost")
    under_way = _read_under_way(root)
    if under_way is not None and all(entry.session != under_way.session for entry in entries):
        entries.append(under_way)
    return entries


def _read_under_way(root: Path) -> SessionEntry | None:
    try:
        return _parse((root / UNDER_WAY).read_bytes())
    except FileNotFoundError:
        return None


def _parse(text: bytes) -> SessionEntry | None:
    try:
        return SessionEntry.from_dict(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class Ledger:
    """Writes the account of one session; open it while the study is locked.

    A disk that is full does not end a session here: the records themselves tell of it, and nothing is lost but the
    last two seconds of this account.

    Parameters
    ----------
    root
        The study's folder.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / SESSIONS
        self._under_way = root / UNDER_WAY
        self.before = read_sessions(root)
        self._killed = self.before[-1] if self.before and self.before[-1].how == "under way" else None

    @property
    def killed_at(self) -> int | None:
        """How many runs were recorded when the killed session was last written down; None if none was killed."""
        return None if self._killed is None else self._killed.runs_after

    def close_killed(self, rest: Tally) -> None:
        """Put a killed session into the account, with the runs recorded after it was last written down."""
        if self._killed is None:
            return
        killed, self._killed = self._killed, None
        killed.how, killed.why = "killed", "the process ended without a word"
        killed.ended = killed.ended or killed.begun
        killed.runs_after += rest.runs
        # As many were on their way when it was killed as when it was last written down.
        lost = Need(killed.in_flight, killed.held.tokens, killed.held.money)
        killed.unsure, killed.held, killed.in_flight = killed.unsure.plus(lost), Need(), 0
        killed.requests += rest.requests + lost.requests
        killed.retries += rest.retries
        killed.tally.add(rest)
        self._append(killed)

    def begin(self, entry: SessionEntry) -> None:
        """Write the session down as under way."""
        entry.session = max((e.session for e in self.before), default=0) + 1
        self.checkpoint(entry)

    def checkpoint(self, entry: SessionEntry) -> None:
        """Write the session down as it is now."""
        with contextlib.suppress(OSError):
            replace_text(self._under_way, json.dumps(entry.to_dict()))

    def end(self, entry: SessionEntry) -> None:
        """Put the session into the account."""
        self.checkpoint(entry)
        self._append(entry)

    def _append(self, entry: SessionEntry) -> None:
        line = json.dumps(entry.to_dict()).encode() + b"\n"
        with contextlib.suppress(OSError):
            fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                try:
                    os.write(fd, b"\n" + line if torn else line)
                    os.fsync(fd)
                except OSError:
                    os.ftruncate(fd, size)
                    raise
            finally:
                os.close(fd)
            self._under_way.unlink(missing_ok=True)
