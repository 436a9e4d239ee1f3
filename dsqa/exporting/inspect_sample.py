"""One run as a sample of an Inspect log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from dsqa.bank import Question
from dsqa.records import Record, usage_counts
from dsqa.study.design import Condition, fingerprint
from dsqa.values import parse_time

__all__ = ["ABOUT", "SCORERS", "inspect_sample", "inspect_usage", "later"]

SCORERS = ("score", "accuracy", "completion", "executability")
"""Outcome columns that become scores, the total first: viewers show the first one."""

_STOP = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
ABOUT = ("words_out", "tokens_out", "jaccard_first", "execution", "answer_status", "answer_convention")
"""Outcome columns that go into a sample's metadata."""


def inspect_sample(
    record: Record, question: Question | None, marks: Mapping[str, Any], condition: Condition
) -> dict[str, Any]:
    """Return the sample: question, epoch (run + 1), messages, output, scores, usage, times, error.

    Parameters
    ----------
    record
        The run.
    question
        Of the study's bank; None where the bank lacks it.
    marks
        The run's row of the outcome table, None for missing; empty where it is not marked.
    condition
        The run's.
    """
    messages = [_message(message) for message in record.messages]
    text = question.question if question is not None else ""
    usage = inspect_usage(record)
    answer = {"role": "assistant", "content": _said(record), "model": condition.model, "source": "generate"}
    failed = record.status == "failed"
    # What was sent, or else the question: a sample must have an input.
    asked: Any = messages or text
    given = messages or [{"role": "user", "content": text}]
    sample: dict[str, Any] = {
        "id": record.question_id,
        "epoch": record.run + 1,
        "input": asked,
        "target": _target(question),
        "messages": given if failed else [*given, answer],
        "output": {
            "model": record.response_model or condition.model,
            "choices": [] if failed else [{"message": answer, "stop_reason": _stop_reason(record)}],
            "usage": usage,
            "time": record.seconds,
            "response_id": record.response_id,
        },
        "scores": {
            name: _score(name, marks) for name in SCORERS if marks.get(name) is not None
        } or None,
        "metadata": _about(record, question, marks),
        "model_usage": {condition.model: usage} if usage else {},
        "total_time": record.seconds,
        "uuid": fingerprint(list(record.key), 22),
    }  # fmt: skip
    if began := parse_time(record.started_at):
        sample["started_at"] = began.isoformat()
        sample["completed_at"] = later(began, record.seconds or 0.0)
    if failed:
        error = record.error or {}
        message = ": ".join(str(error[part]) for part in ("class", "message") if error.get(part)) or "no reply"
        sample["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
        sample["output"]["error"] = message
    return sample


def _score(name: str, marks: Mapping[str, Any]) -> dict[str, Any]:
    score: dict[str, Any] = {"value": marks[name]}
    if name in {"score", "accuracy"}:
        score["answer"] = marks["answer"]
    if name == "executability" and marks["execution"]:
        score["explanation"] = ": ".join(part for part in (marks["execution"], marks["execution_detail"]) if part)
    return score


def _about(record: Record, question: Question | None, marks: Mapping[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {
        "run": record.run,
        "condition_id": record.condition_id,
        "prompt_hash": record.prompt_hash,
        "status": record.status,
        "retries": record.retries,
    }
    if question is not None:
        about |= {"category": question.category, "level": question.level, "file_name": question.file_name}
    about |= {name: marks[name] for name in ABOUT if marks.get(name) is not None}
    return about


def _target(question: Question | None) -> str | list[str]:
    values = [value for _, value in question.common_answers] if question is not None else []
    return values[0] if len(values) == 1 else values or ""


def _said(record: Record) -> Any:
    text = record.text or record.refusal or ""
    if not record.reasoning:
        return text
    return [{"type": "reasoning", "reasoning": record.reasoning}, {"type": "text", "text": text}]


def _stop_reason(record: Record) -> str:
    if record.status == "truncated":
        return "max_tokens"
    if record.status == "filtered":
        return "content_filter"
    return _STOP.get(record.finish_reason or "", "unknown")


def inspect_usage(record: Record) -> dict[str, int] | None:
    """Return the usage in Inspect's words: there, input tokens do not include those read from a cache."""
    counts = usage_counts(record.usage)
    if counts.prompt is None and counts.completion is None:
        return None
    read, written, cached = counts.prompt or 0, counts.completion or 0, counts.cached or 0
    usage = {"input_tokens": read - cached, "output_tokens": written, "total_tokens": read + written}
    if counts.cached is not None:
        usage["input_tokens_cache_read"] = cached
    if counts.reasoning is not None:
        usage["reasoning_tokens"] = counts.reasoning
    return usage


def _message(message: Any) -> dict[str, Any]:
    role = str(message.get("role")) if isinstance(message, dict) else "user"
    content = message.get("content") if isinstance(message, dict) else message
    known = {"developer": "system", "system": "system", "assistant": "assistant"}
    if isinstance(content, list):
        content = [_part(part) for part in content]
    elif not isinstance(content, str):
        content = "" if content is None else json.dumps(content, ensure_ascii=False)
    return {"role": known.get(role, "user"), "content": content}


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if isinstance(url, str):
            return {"type": "image", "image": url}
    return {"type": "text", "text": json.dumps(part, ensure_ascii=False)}


def later(start: datetime, seconds: float) -> str:
    """Return the time some seconds after another, in ISO 8601."""
    return (start + timedelta(seconds=seconds)).isoformat()
