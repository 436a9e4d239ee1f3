"""What came back: an endpoint's answer, taken apart and named for what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dsqa.records import Status

__all__ = ["MalformedReplyError", "Reply", "read_replies", "status_of", "string_or_none"]


class MalformedReplyError(ValueError):
    """A body that is no chat completion."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Parameters
    ----------
    status
        What became of the request; see `dsqa.records.Status`. Never ``failed``.
    text, reasoning, refusal, finish_reason, usage, response_id, response_model
        As the endpoint gave them; `text` is "" where there is none. `usage` is of the whole request: where that
        had several choices, only the first has it, see `read_replies`.
    seconds
        From sending the request to the end of its body.
    body
        The whole response, fields we do not know included.
    headers
        Rate-limit headers of the response, names in lower case.
    choice, choices
        Which choice of the request this is, from 0, and of how many.
    request
        The body that was sent, where it is not the one that was asked for; else None.
    adapted
        What the endpoint made us change in the request, and why, as `Record.adapted` keeps it.
    started_at, retries
        Of the recorded run, where this is one played back; else None.
    """

    status: Status
    text: str
    finish_reason: str | None
    usage: dict[str, Any] | None
    reasoning: str | None
    refusal: str | None
    response_id: str | None
    response_model: str | None
    seconds: float
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    choice: int = 0
    choices: int = 1
    request: dict[str, Any] | None = None
    adapted: tuple[dict[str, Any], ...] = ()
    started_at: str | None = None
    retries: int | None = None

    def as_sent(self, request: dict[str, Any], adapted: tuple[dict[str, Any], ...]) -> Reply:
        """Return the reply with the body that was sent, and what was adapted in it."""
        return replace(self, request=request, adapted=adapted)


def read_replies(body: Any, seconds: float, headers: Mapping[str, str] | None = None) -> tuple[Reply, ...]:
    """Take a chat completion apart: one reply per choice, in the order of their indices.

    An endpoint counts tokens for the whole request. They are kept once: the first reply has `usage` as it came
    (prompt counted once, completion tokens summed over the choices), the others have None, so that sums over
    replies or records are what was paid. How many tokens one of several choices had, the endpoint does not say.
    `seconds` is the whole request's for each of them.

    Raises
    ------
    MalformedReplyError
        A choice has no message in it, or there is none.
    """
    if not isinstance(body, dict):
        raise MalformedReplyError("the body is no JSON object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
        raise MalformedReplyError("the body has no choices")
    if len(choices) > 1:
        choices = sorted(choices, key=_index_of)
    usage = body.get("usage")
    return tuple(
        _read_choice(body, choice, number, len(choices), usage if number == 0 else None, seconds, headers or {})
        for number, choice in enumerate(choices)
    )


def _index_of(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _read_choice(
    body: dict[str, Any],
    choice: Mapping[str, Any],
    number: int,
    count: int,
    usage: Any,
    seconds: float,
    headers: Mapping[str, str],
) -> Reply:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise MalformedReplyError("a choice has no message")
    text = _text_of(message.get("content"))
    refusal = message.get("refusal") or _refusal_in(message.get("content"))
    finish = string_or_none(choice.get("finish_reason"))
    return Reply(
        status=status_of(text, refusal, finish),
        text=text,
        finish_reason=finish,
        usage=usage if isinstance(usage, dict) else None,
        # llama.cpp, vLLM and DeepSeek say `reasoning_content`, OpenRouter and newer vLLM `reasoning`.
        reasoning=string_or_none(message.get("reasoning_content")) or string_or_none(message.get("reasoning")),
        refusal=string_or_none(refusal),
        response_id=string_or_none(body.get("id")),
        response_model=string_or_none(body.get("model")),
        seconds=seconds,
        body=body,
        headers=headers,
        choice=number,
        choices=count,
    )


def status_of(text: str, refusal: Any, finish: str | None) -> Status:
    """Name an answer for what it is."""
    if refusal:
        return "refused"
    if finish == "content_filter":
        return "filtered"
    if finish == "length":
        return "truncated"  # without a text too: all its tokens went into reasoning
    return "answered" if text.strip() else "empty"


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        # Some endpoints answer in parts, as they accept them.
        return "".join(p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str))
    return ""


def _refusal_in(content: Any) -> str | None:
    parts = content if isinstance(content, list) else []
    return next((str(p["refusal"]) for p in parts if isinstance(p, dict) and p.get("refusal")), None)


def string_or_none(value: Any) -> str | None:
    """Return a text that is one and not empty."""
    return value if isinstance(value, str) and value else None
