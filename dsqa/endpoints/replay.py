"""A study's recorded runs as an endpoint: the same answers again, without key, network, cost or clock."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import tempfile
from array import array
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

from dsqa.endpoints.failures import PermanentFailure, Scope
from dsqa.endpoints.reply import Reply
from dsqa.errors import RecordError
from dsqa.records import Record
from dsqa.records.lines import decode_line
from dsqa.study.design import fingerprint
from dsqa.study.sections import SEED_PER_RUN

__all__ = ["ReplayEndpoint"]

_NAMES = ("records.jsonl", "records.jsonl.gz")
_LATER = ("n", "seed")
"""Parameters that say which run it is rather than what was asked."""


class _Asked(NamedTuple):
    prompt: str
    model: str
    temperature: float | None
    parameters: str
    seed: Any


class ReplayEndpoint:
    """Recorded runs, each given back to whoever asks the same messages for the same run number.

    A run is found by its messages, model, temperature, other parameters and number, and comes back as it was
    recorded: text, status, usage, times, error. A run that is not there is a `PermanentFailure` that says what is.
    Make one with `ReplayEndpoint.open`, use it as a context manager. Only where each run lies in the file is held in
    memory.
    """

    def __init__(self, name: str, path: Path, handle: BinaryIO) -> None:
        self.name = name
        self.base_url = f"replay:{path.parent.name}/{path.name}"
        self.concurrency_limit: int | None = None
        self.versions: dict[str, str] = {}
        self._path = path
        self._handle = handle
        self._places: dict[_Asked, array[int]] = {}
        self._prompts: set[str] = set()
        self._index()

    @classmethod
    def open(cls, name: str, path: Path) -> Self:
        """Open records to play back.

        Parameters
        ----------
        name
            The endpoint's name. Where the records have runs of an endpoint of this name, only those count: a study
            with several endpoints is replayed by as many.
        path
            A study's folder, or a ``records.jsonl``, which may be gzipped.

        Raises
        ------
        RecordError
            It is not there, cannot be read, or a line is no record.
        """
        found = path
        if path.is_dir():
            found = next((path / file for file in _NAMES if (path / file).is_file()), path / _NAMES[0])
        try:
            handle: BinaryIO = found.open("rb")
            if found.suffix == ".gz":
                handle = _unpacked(handle)
        except FileNotFoundError:
            raise RecordError(
                f"no such records to replay (endpoint '{name}')",
                path=found,
                hint="records: names a folder under runs/, or a records.jsonl, as seen from the study.yaml",
            ) from None
        except (OSError, EOFError) as error:
            raise RecordError(f"cannot be read: {error}", path=found) from None
        try:
            return cls(name, found, handle)
        except BaseException:
            handle.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.close()

    async def ask(self, request: Mapping[str, Any], *, run: int = 0) -> Reply:
        """Return the recorded run; see `ask_many`."""
        return (await self.ask_many({**request, "n": 1}, run=run))[0]

    async def ask_many(self, request: Mapping[str, Any], *, run: int = 0) -> tuple[Reply, ...]:
        """Return the recorded runs from `run` on, as many as `request` has ``n``, up to the first that failed.

        Raises
        ------
        PermanentFailure
            The run was recorded as one that failed (it fails alike), or it is not recorded (nothing goes on).
        """
        # A turn for whoever else waits, Ctrl-C among them; the order in which runs are asked stays what it was.
        await asyncio.sleep(0)
        asked = _asked_by(request)
        replies = [_reply(self._recorded(asked, run), request)]
        for later in range(run + 1, run + int(request.get("n") or 1)):
            try:
                replies.append(_reply(self._recorded(asked, later), request))
            except PermanentFailure:
                break
        return tuple(replies)

    def _index(self) -> None:
        self._handle.seek(0)
        every: list[tuple[str, _Asked, int, int]] = []
        place = 0
        for number, line in enumerate(self._handle, start=1):
            if not line.endswith(b"\n"):
                break
            if not line.isspace():
                record = decode_line(line, self._path, number)
                every.append((str(record.condition.get("endpoint")), _asked_of(record), record.run, place))
            place += len(line)
        mine = {asked for endpoint, asked, _, _ in every if endpoint == self.name}
        for endpoint, asked, run, start in every:
            if mine and endpoint != self.name:
                continue
            places = self._places.setdefault(asked, array("q"))
            places.extend([-1] * (run + 1 - len(places)))
            if places[run] < 0:
                places[run] = start
        self._prompts = {asked.prompt for asked in self._places}

    def _recorded(self, asked: _Asked, run: int) -> Record:
        places = self._places.get(asked) or self._places.get(asked._replace(seed=SEED_PER_RUN))
        if places is None or run >= len(places) or places[run] < 0:
            raise PermanentFailure(
                "not recorded",
                f"{self._path} holds no such run: {self._what_is_missing(asked, run, places)}",
                scope=Scope.ENDPOINT,
                hint="replay a study that has it, or ask for fewer runs, models, temperatures or questions",
            )
        self._handle.seek(places[run])
        return decode_line(self._handle.readline(), self._path, 0)

    def _what_is_missing(self, asked: _Asked, run: int, places: array[int] | None) -> str:
        heat = "no temperature" if asked.temperature is None else f"temperature {asked.temperature:g}"
        what = f"'{asked.model}' at {heat}"
        if places is not None:
            return f"run {run} of a question to {what}; of that it has {sum(p >= 0 for p in places)} runs"
        if asked.prompt not in self._prompts:
            return "no run of it was asked these messages (another question, prompt template or system message)"
        have = {(a.model, a.temperature) for a in self._places if a.prompt == asked.prompt}
        if (asked.model, asked.temperature) in have:
            return f"a question to {what} was asked with other request parameters"
        listed = ", ".join(f"'{m}' at {'none' if t is None else format(t, 'g')}" for m, t in sorted(have, key=str))
        return f"a question to {what}; it was asked of {listed}"


def _unpacked(handle: BinaryIO) -> BinaryIO:
    # Runs are read where they lie, which a compressed file does not allow.
    plain = tempfile.TemporaryFile()  # noqa: SIM115  (it outlives this function)
    try:
        with handle, gzip.open(handle) as packed:
            shutil.copyfileobj(packed, plain)
    except BaseException:
        plain.close()
        raise
    return plain


def _asked(prompt: str, model: Any, temperature: Any, parameters: Mapping[str, Any]) -> _Asked:
    rest = {name: value for name, value in parameters.items() if name not in _LATER}
    return _Asked(
        prompt,
        str(model),
        None if temperature is None else float(temperature),
        fingerprint(rest),
        parameters.get("seed"),
    )


def _asked_by(request: Mapping[str, Any]) -> _Asked:
    rest = {k: v for k, v in request.items() if k not in {"model", "messages", "temperature"}}
    return _asked(fingerprint(list(request["messages"])), request.get("model"), request.get("temperature"), rest)


def _asked_of(record: Record) -> _Asked:
    condition = record.condition
    return _asked(
        record.prompt_hash, condition.get("model"), condition.get("temperature"), condition.get("request") or {}
    )


def _reply(record: Record, request: Mapping[str, Any]) -> Reply:
    sent = record.request if record.request != request else None
    adapted = tuple(record.adapted or ())
    if record.error is not None or record.status == "failed":
        error = record.error or {}
        failure = PermanentFailure(
            str(error.get("class") or "failed"),
            str(error.get("message") or "recorded as failed, without a reason"),
            scope=Scope.REQUEST,
            status=error.get("status"),
        )
        failure.request, failure.adapted = sent, adapted
        failure.started_at, failure.retries = record.started_at, record.retries
        raise failure
    choice = record.choice or {}
    return Reply(
        status=record.status,
        text=record.text,
        finish_reason=record.finish_reason,
        usage=record.usage,
        reasoning=record.reasoning,
        refusal=record.refusal,
        response_id=record.response_id,
        response_model=record.response_model,
        seconds=record.seconds or 0.0,
        body={},
        choice=choice.get("index", 0),
        choices=choice.get("of", 1),
        request=sent,
        adapted=adapted,
        started_at=record.started_at,
        retries=record.retries,
    )
