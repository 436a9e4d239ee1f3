"""What came back: an endpoint's answer, taken apart and named for what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsqa.records import Status

__all__ = ["MalformedReplyError", "Reply", "read_reply"]


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
        As the endpoint gave them; `text` is "" where there is none.
    seconds
        From sending the request to the end of its body.
    body
        The whole response, fields we do not know included.
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


def read_reply(body: Any, seconds: float) -> Reply:
    """Take a chat completion apart.

    Raises
    ------
    MalformedReplyError
        It has no choice with a message in it.
    """
    if not isinstance(body, dict):
        raise MalformedReplyError("the body is no JSON object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedReplyError("the body has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise MalformedReplyError("the first choice has no message")
    text = _text_of(message.get("content"))
    refusal = message.get("refusal") or _refusal_in(message.get("content"))
    finish = _string(choices[0].get("finish_reason"))
    usage = body.get("usage")
    return Reply(
        status=_status(text, refusal, finish),
        text=text,
        finish_reason=finish,
        usage=usage if isinstance(usage, dict) else None,
        # llama.cpp, vLLM and DeepSeek say `reasoning_content`, OpenRouter and newer vLLM `reasoning`.
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
        refusal=_string(refusal),
        response_id=_string(body.get("id")),
        response_model=_string(body.get("model")),
        seconds=seconds,
        body=body,
    )


def _status(text: str, refusal: Any, finish: str | None) -> Status:
    if refusal:
        return "refused"
    if finish == "content_filter":
        return "filtered"
    if not text.strip():
        return "empty"
    return "truncated" if finish == "length" else "answered"


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


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
