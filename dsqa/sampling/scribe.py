"""What came of a request, as the records of its runs."""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dsqa import __version__
from dsqa.endpoints import Failure, Reply
from dsqa.records import Record, Status
from dsqa.records.answered import same_model
from dsqa.sampling.plan import PlannedRequest

__all__ = ["Attempt", "Scribe"]

_log = logging.getLogger("dsqa.sampling")


@dataclass(slots=True)
class Attempt:
    """A planned request on its way.

    Parameters
    ----------
    planned
        The runs it is for.
    request
        The body.
    started_at
        UTC, when it was first sent.
    sent_at
        By the monotonic clock, when it was last sent.
    tries
        Times that it has failed for a passing reason.
    """

    planned: PlannedRequest
    request: dict[str, Any]
    started_at: str = ""
    sent_at: float = 0.0
    tries: int = 0


class Source(Protocol):
    """Where answers come from: an open endpoint, or its batches."""

    @property
    def base_url(self) -> str: ...

    @property
    def versions(self) -> dict[str, str]: ...


class Scribe:
    """Writes the records of an endpoint's runs."""

    def __init__(self, endpoint: Source) -> None:
        self._base_url = endpoint.base_url
        self._versions = {"dsqa": __version__, "python": platform.python_version(), **endpoint.versions}
        self._told: set[tuple[str, str]] = set()

    def answered(self, attempt: Attempt, replies: Sequence[Reply]) -> list[Record]:
        """Return a record for each reply, in the order of the runs asked for."""
        self._look_at_models(attempt, replies)
        return [
            Record(
                **self._common(attempt, run, reply, attempt.tries),
                choice={"index": reply.choice, "of": reply.choices} if reply.choices > 1 else None,
                status=reply.status,
                text=reply.text,
                finish_reason=reply.finish_reason,
                usage=reply.usage,
                seconds=round(reply.seconds, 6),
                reasoning=reply.reasoning,
                refusal=reply.refusal,
                response_id=reply.response_id,
                response_model=reply.response_model,
            )
            for run, reply in zip(attempt.planned.runs, replies, strict=False)
        ]

    def _look_at_models(self, attempt: Attempt, replies: Sequence[Reply]) -> None:
        asked = str(attempt.planned.cell.condition.get("model"))
        for said in {reply.response_model for reply in replies if reply.response_model}:
            # The embedded model answers under its file's name, whatever the study calls it.
            known = (asked, said) in self._told or self._base_url == "embedded"
            if not known and not same_model(asked, said):
                _log.warning("'%s' was asked, and the endpoint says that '%s' answered", asked, said)
            self._told.add((asked, said))

    def failed(self, attempt: Attempt, failure: Failure, retries: int) -> Record:
        """Return the record of a run that got no answer."""
        status: Status = "filtered" if failure.kind == "content filter" else "failed"
        common = self._common(attempt, attempt.planned.runs[0], failure, retries)
        return Record(**common, status=status, error=failure.to_error())

    def _common(self, attempt: Attempt, run: int, outcome: Reply | Failure, retries: int) -> dict[str, Any]:
        cell = attempt.planned.cell
        return {
            "question_id": cell.question_id,
            "condition_id": cell.condition_id,
            "run": run,
            "prompt_hash": cell.prompt_hash,
            "condition": {**cell.condition, "base_url": self._base_url},
            # What was sent may differ from what was planned; a run played back has a past of its own.
            "request": outcome.request or attempt.request,
            "adapted": list(outcome.adapted) or None,
            "started_at": outcome.started_at or attempt.started_at,
            "retries": retries if outcome.retries is None else outcome.retries,
            "versions": self._versions,
        }
