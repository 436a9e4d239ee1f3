"""From a run as its source has it to a record like any other; keys that a log holds are struck out."""

from __future__ import annotations

import math
import re
from typing import Any

from dsqa.endpoints.reply import status_of
from dsqa.endpoints.secrets import Secret
from dsqa.errors import SourceError
from dsqa.importing.runs import SourceRun
from dsqa.records import Record, Status
from dsqa.records.soundness import sound
from dsqa.study.design import Condition, fingerprint

__all__ = ["condition_of", "messages_of", "record_of", "run_number", "without_keys"]

_LARGEST = 1 << 62
"""Above it, it is no seed either."""
_MOST_SECONDS = 1e9
"""A larger number is damage, no measurement."""

# What cuts an answer off, and what blocks it, in the words of several tools.
_TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "content-filter", "safety"})

# Far longer than words like sk-learn-style, and with a digit: a key, whoever made it.
_KEY = re.compile(rb"\b(?:sk|pk|rk|gsk|xai)-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}")
_KEY_STARTS = (b"sk-", b"pk-", b"rk-", b"xai-")
_KEY_FIELD = re.compile(
    rb'("(?:api[_-]?key|x-api-key|authorization|password|secret|access[_-]token)":)"(?:[^"\\]|\\.)*"', re.IGNORECASE
)
_KEY_FIELD_STARTS = (b"key", b"uthorization", b"assword", b"secret", b"token", b"KEY", b"SECRET", b"PASSWORD", b"Key")


def condition_of(run: SourceRun, format_name: str) -> Condition:
    """Return what a run was asked under."""
    return Condition(
        endpoint=run.endpoint or format_name,
        model=run.model.encode("utf-8", "replace").decode(),
        temperature=run.temperature,
        system=None,
        request=dict(run.request),
    )


def messages_of(run: SourceRun, question_text: str | None) -> list[dict[str, Any]] | None:
    """Return what was sent as far as it is known: the messages, else the question's text."""
    if run.messages is not None:
        return run.messages
    return None if question_text is None else [{"role": "user", "content": question_text}]


def run_number(run: SourceRun) -> int | None:
    """Return a run's number as a whole one, however the source writes it.

    Raises
    ------
    ValueError
        It is none, or below 0.
    """
    number = run.run
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f"{str(number)[:60]!r} is no run number: it must be a whole number")
    if not float(min(number, _LARGEST)).is_integer():
        raise ValueError(f"{number!r} is no run number: it must be a whole number")
    if not 0 <= number < _LARGEST:
        told = f"{number}" if abs(number) < _LARGEST else "a number of so many digits"
        raise ValueError(f"{told} is no run number: it must be 0 or more")
    return int(number)


def record_of(
    run: SourceRun,
    question_id: str,
    question_text: str | None,
    condition: Condition,
    condition_id: str,
    versions: dict[str, str],
    started_at: str | None = None,
) -> Record:
    """Return the record of a run, with 0 for its number, which is known only when all are read.

    `started_at` is the run's time as records write it. The prompt's fingerprint is that of the messages, else of the
    question's text, else of its id.

    Raises
    ------
    SourceError
        The temperature is no number.
    """
    if run.temperature is not None and not math.isfinite(run.temperature):
        raise SourceError(f"the temperature is {run.temperature}", hint="leave it blank where none was sent")
    request: dict[str, Any] = {"model": run.model}
    messages = messages_of(run, question_text)
    if messages is not None:
        request["messages"] = messages
    if run.temperature is not None:
        request["temperature"] = run.temperature
    record = Record(
        question_id=question_id,
        condition_id=condition_id,
        run=0,
        prompt_hash=fingerprint({"question": question_id} if messages is None else messages),
        condition=condition.to_dict(),
        request={**request, **run.request},
        status=_status(run),
        text=run.text,
        finish_reason=run.finish_reason,
        usage=run.usage,
        seconds=run.seconds if run.seconds is not None and 0 <= run.seconds < _MOST_SECONDS else None,
        started_at=started_at,
        error=run.error,
        reasoning=run.reasoning,
        refusal=run.refusal,
        response_id=run.response_id,
        response_model=run.response_model,
        versions=versions,
    )
    return sound(record)


def _status(run: SourceRun) -> Status:
    if run.status is not None:
        return run.status
    if run.error and not run.text.strip():
        return "failed"
    finish = (run.finish_reason or "").lower()
    known = "length" if finish in _TRUNCATED else "content_filter" if finish in _FILTERED else run.finish_reason
    return status_of(run.text, run.refusal, known)


def without_keys(line: bytes) -> tuple[bytes, int]:
    """Return a line of compact JSON with whatever looks like a key replaced by ``***``, and how many there were.

    Struck out are the values of fields called ``api_key``, ``authorization`` and the like, and ``sk-…`` and its kin
    anywhere.
    """
    struck = 0
    if any(start in line for start in _KEY_STARTS):
        line, times = _KEY.subn(lambda m: Secret(None).strike_message(m[0].decode("ascii")).encode(), line)
        struck += times
    if any(start in line for start in _KEY_FIELD_STARTS):
        line, times = _KEY_FIELD.subn(rb'\1"***"', line)
        struck += times
    return line, struck
