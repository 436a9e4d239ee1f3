"""What chat logs have in common: request parameters under one name, messages of parts, texts out of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from dsqa.importing.runs import ImportReport

__all__ = ["as_number", "as_text", "asked_text", "chat_messages", "condition_parameters", "json_text"]

# As the logs call it → as the chat completions API does.
_PARAMETERS = {
    "best_of": "best_of",
    "do_sample": "do_sample",
    "effort": "effort",
    "frequency_penalty": "frequency_penalty",
    "logit_bias": "logit_bias",
    "max_completion_tokens": "max_completion_tokens",
    "max_gen_toks": "max_tokens",
    "max_output_tokens": "max_output_tokens",
    "max_tokens": "max_tokens",
    "min_p": "min_p",
    "parallel_tool_calls": "parallel_tool_calls",
    "presence_penalty": "presence_penalty",
    "reasoning": "reasoning",
    "reasoning_effort": "reasoning_effort",
    "reasoning_tokens": "reasoning_tokens",
    "repetition_penalty": "repetition_penalty",
    "response_format": "response_format",
    "response_schema": "response_format",
    "seed": "seed",
    "service_tier": "service_tier",
    "stop": "stop",
    "stop_seqs": "stop",
    "text": "text",
    "tool_choice": "tool_choice",
    "tools": "tools",
    "top_k": "top_k",
    "top_p": "top_p",
    "until": "stop",
    "verbosity": "verbosity",
}
_MEDIA = ("image_url", "input_image", "image", "input_audio", "audio", "video", "file", "input_file", "document")


def condition_parameters(given: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
    """Return the temperature, and what else of a request's parameters makes its condition.

    Connections, retries, headers, addresses, keys and labels make none.
    """
    kept = {
        _PARAMETERS[name]: given[name] for name in sorted(given) if name in _PARAMETERS and given[name] is not None
    }
    return as_number(given.get("temperature")), kept


def as_number(value: Any) -> float | None:
    """Return a finite number, also one that is written as text; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def json_text(value: Any) -> str:
    """Return a value as text: itself, where it is text, else JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_text(content: Any) -> str:
    """Return the text of a message's content, which may come in parts; reasoning and pictures are no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part if isinstance(part, str) else part["text"]
        for part in content
        if isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
    )


def chat_messages(given: Iterable[Any], report: ImportReport) -> list[dict[str, Any]]:
    """Return messages as they were sent, less what a log adds to them and the bytes of pictures and files."""
    return [_message(message, report) for message in given if isinstance(message, Mapping)]


def _message(message: Mapping[str, Any], report: ImportReport) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        content = [_part(part, report) for part in content]
        if all(isinstance(part, dict) and set(part) == {"type", "text"} for part in content) and len(content) == 1:
            content = content[0]["text"]
    kept = {"role": message.get("role", "user"), "content": content}
    kept |= {name: message[name] for name in ("name", "tool_calls", "tool_call_id", "function") if message.get(name)}
    return kept


def _part(part: Any, report: ImportReport) -> Any:
    if not isinstance(part, Mapping):
        return part
    kind = str(part.get("type"))
    if kind in _MEDIA:
        held = part.get(kind) or part.get("image_url") or part.get("file_data")
        address = held.get("url") if isinstance(held, Mapping) else held
        if not isinstance(address, str) or not address.startswith(("http://", "https://")):
            report.leave_out("pictures and files in messages", "their bytes stay in the log; the text is kept")
            return {"type": kind}
    return {name: value for name, value in part.items() if value is not None and name != "internal"}


def asked_text(messages: Iterable[Mapping[str, Any]]) -> str:
    """Return the texts of the user's messages, which are the question."""
    texts = (as_text(message.get("content")) for message in messages if message.get("role") == "user")
    return "\n\n".join(text for text in texts if text)
