"""OpenAI's Responses API: a planned request written as one for it, and its answers read as replies.

Fields as in the API reference, https://platform.openai.com/docs/api-reference/responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsqa.endpoints.reply import MalformedReplyError, Reply, status_of, string_or_none

__all__ = ["read_response", "response_request"]

_PART_TYPES = {"text": "input_text", "image_url": "input_image"}
_FINISH = {"completed": "stop", "max_output_tokens": "length", "content_filter": "content_filter"}


def response_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that asks the Responses API what `request` asks chat completions.

    System messages become ``instructions``, the others ``input``. ``max_tokens`` becomes ``max_output_tokens``,
    ``reasoning_effort`` ``reasoning.effort``, ``verbosity`` ``text.verbosity``, ``response_format`` ``text.format``;
    other parameters go as they are. ``store`` is false unless the study says otherwise: runs stand alone, and the
    endpoint need not keep them.
    """
    body: dict[str, Any] = {"model": request["model"]}
    messages = request["messages"]
    instructions = [_plain(m["content"]) for m in messages if m["role"] in {"system", "developer"}]
    if instructions:
        body["instructions"] = "\n\n".join(instructions)
    body["input"] = [
        {**message, "content": _parts(message["content"])}
        for message in messages
        if message["role"] not in {"system", "developer"}
    ]
    body["store"] = False
    for name, value in request.items():
        if name in {"max_tokens", "max_completion_tokens"}:
            body["max_output_tokens"] = value
        elif name == "reasoning_effort":
            body["reasoning"] = {**body.get("reasoning", {}), "effort": value}
        elif name == "reasoning":
            body["reasoning"] = {**body.get("reasoning", {}), **value}
        elif name == "verbosity":
            body["text"] = {**body.get("text", {}), "verbosity": value}
        elif name == "response_format":
            body["text"] = {**body.get("text", {}), "format": _format(value)}
        elif name == "text":
            body["text"] = {**body.get("text", {}), **value}
        elif name not in {"model", "messages"}:
            body[name] = value
    return body


def read_response(body: Any, seconds: float, headers: Mapping[str, str] | None = None) -> tuple[Reply, ...]:
    """Take a response apart: always one reply.

    The text is that of all its messages; what else it did (calls of tools, searches) is in `Reply.body` alone.
    `Reply.finish_reason` is put in the words of chat completions: ``stop``, ``length`` (``max_output_tokens``) or
    ``content_filter``. `Reply.usage` stays as it came.

    Raises
    ------
    MalformedReplyError
        It is no response, or one that has not ended.
    """
    if not isinstance(body, dict):
        raise MalformedReplyError("the body is no JSON object")
    output, state = body.get("output"), body.get("status", "completed")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise MalformedReplyError("the body has no output")
    if state not in {"completed", "incomplete"}:
        raise MalformedReplyError(f"the response has not ended: its status is '{state}'")
    details = body.get("incomplete_details")
    reason = details.get("reason") if state == "incomplete" and isinstance(details, dict) else state
    finish = string_or_none(_FINISH.get(str(reason), reason))
    messages = [item for item in output if item.get("type") == "message"]
    text = "".join(_texts(messages, "output_text", "text"))
    refusal = "".join(_texts(messages, "refusal", "refusal")) or None
    usage = body.get("usage")
    reply = Reply(
        status=status_of(text, refusal, finish),
        text=text,
        finish_reason=finish,
        usage=usage if isinstance(usage, dict) else None,
        reasoning=_reasoning([item for item in output if item.get("type") == "reasoning"]),
        refusal=refusal,
        response_id=string_or_none(body.get("id")),
        response_model=string_or_none(body.get("model")),
        seconds=seconds,
        body=body,
        headers=headers or {},
    )
    return (reply,)


def _texts(items: list[dict[str, Any]], kind: str, name: str, under: str = "content") -> Iterator[str]:
    for item in items:
        parts = item.get(under)
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == kind and isinstance(part.get(name), str):
                yield part[name]


def _reasoning(items: list[dict[str, Any]]) -> str | None:
    # Open models give the reasoning itself, OpenAI's a summary, if anything.
    whole = "".join(_texts(items, "reasoning_text", "text"))
    return whole or "\n\n".join(_texts(items, "summary_text", "text", "summary")) or None


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _parts(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [_part(part) for part in content]


def _part(part: dict[str, Any]) -> dict[str, Any]:
    kind = _PART_TYPES.get(str(part.get("type")))
    if kind is None:
        return part
    changed = {**part, "type": kind}
    image = part.get("image_url")
    if isinstance(image, dict):
        changed["image_url"] = image.get("url")
        if "detail" in image:
            changed["detail"] = image["detail"]
    return changed


def _format(value: Any) -> Any:
    # Chat completions nest what the Responses API has side by side.
    if isinstance(value, dict) and isinstance(value.get("json_schema"), dict):
        return {"type": "json_schema", **value["json_schema"]}
    return value
