"""What is stored for a run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

__all__ = ["SCHEMA", "Record", "RunKey", "Status"]

SCHEMA = 1

Status = Literal["answered", "truncated", "refused", "empty", "filtered", "failed"]
"""The ledger: what became of the request.

answered: a text came back and the model stopped by itself;
truncated: the answer was cut at the token limit (``finish_reason: length``);
refused: the model declined (``refusal`` field); filtered: the endpoint's content filter cut or blocked it;
empty: the endpoint answered, with no text; failed: no answer came, after all retries (see ``error``).
"""


class RunKey(NamedTuple):
    """What makes a run the run it is; a repeat has another `run`, so it is never a cached copy."""

    question_id: str
    condition_id: str
    run: int
    prompt_hash: str


@dataclass(frozen=True, slots=True)
class Record:
    """One run as it was recorded, never with a key in it.

    Parameters
    ----------
    question_id, condition_id, run, prompt_hash
        The run's key. `run` counts from 0 within its cell.
    condition
        Every request parameter and where it was sent: ``endpoint``, ``model``, ``temperature``, ….
    request
        The body that was sent, messages included.
    status
        What became of it; see `Status`.
    text
        The response's text; "" where none came.
    finish_reason
        As the endpoint gave it.
    usage
        As the endpoint gave it, or None.
    seconds
        Wall time from sending the request that was answered to the end of its body.
    retries
        Requests before this one that were sent for this run and failed for a passing reason.
    started_at
        UTC, ISO 8601, when the first request of the run was sent.
    error
        ``{"class": …, "message": …, "status": …}`` for a run that failed.
    reasoning, refusal
        The endpoint's separate fields of those names, where it has them.
    response_id, response_model
        As the endpoint gave them.
    versions
        Of dsqa, Python and the client that sent it.
    adapted
        What the endpoint made us change in the request, one entry per parameter: ``{"parameter": "temperature",
        "asked": 0.7, "sent": null, "why": …}``, where ``sent`` null says that it was left out, and ``sent_as`` names
        the parameter that was sent in its place. None where the request went out as the study has it.
    choice
        ``{"index": 0, "of": 4}`` for a run that shared one request (``n`` > 1) with others: ``usage`` of that
        request is with index 0 alone. None for a run that had a request of its own.
    batch
        The id of the batch that the run was asked in, which is cheaper; None for a run that was asked by itself.
    """

    question_id: str
    condition_id: str
    run: int
    prompt_hash: str
    condition: dict[str, Any]
    request: dict[str, Any]
    status: Status
    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    seconds: float | None = None
    retries: int = 0
    started_at: str | None = None
    error: dict[str, Any] | None = None
    reasoning: str | None = None
    refusal: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    adapted: list[dict[str, Any]] | None = None
    choice: dict[str, int] | None = None
    batch: str | None = None
    schema: int = SCHEMA

    @property
    def temperature(self) -> float | None:
        """The temperature that was sent; None where none was, because none was asked for or the model refused it."""
        refused = any(note.get("parameter") == "temperature" for note in self.adapted or ())
        return None if refused else self.condition.get("temperature")

    @property
    def messages(self) -> list[Any]:
        """The messages that were sent, in either API's request; empty where the request has none."""
        request = self.request
        if "messages" in request:
            messages = request["messages"]
        else:
            given, system = request.get("input"), request.get("instructions")
            messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
            if system and isinstance(messages, list):
                messages = [{"role": "system", "content": system}, *messages]
        return messages if isinstance(messages, list) else []

    @property
    def key(self) -> RunKey:
        """The run's key."""
        return RunKey(self.question_id, self.condition_id, self.run, self.prompt_hash)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON-able data, `schema` first; its parts are shared, not copied.

        `adapted`, `choice` and `batch` are left out where they are None: few runs have them.
        """
        row = {name: getattr(self, name) for name in _ALWAYS}
        for name in _SELDOM:
            value = getattr(self, name)
            if value is not None:
                row[name] = value
        return row

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Record:
        """Rebuild a record from `to_dict`'s output; fields of a later schema are left out.

        Raises
        ------
        KeyError
            A field without a default is missing.
        """
        required = ("question_id", "condition_id", "run", "prompt_hash", "condition", "request", "status")
        for name in required:
            if name not in row:
                raise KeyError(name)
        return cls(**{name: row[name] for name in _FIELDS if name in row})


_FIELDS = tuple(f.name for f in fields(Record))
_SELDOM = ("adapted", "choice", "batch")
_ALWAYS = ("schema", *(name for name in _FIELDS if name not in {"schema", *_SELDOM}))
