"""Whether a record is one: checked when it is written and when it is read, so that no reply can block a study."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from dsqa.foreign import MOST_DIGITS
from dsqa.records.record import Record, Status

__all__ = ["check_types", "sound"]

MAX_RUNS = 10_000_000
"""Per cell; a larger number in a file is a damaged line, not a run."""

_STATUSES = frozenset(get_args(Status))
_LONGEST_NAME = 1_000
"""Characters of a finish reason, a model's name, an id: no more than a line of a table."""
_DEEPEST = 8
_LARGEST = 64 << 10
"""Bytes of ``usage`` as JSON; what endpoints send has some hundred."""
_TEXTS = ("question_id", "condition_id", "prompt_hash", "text")
_TEXTS_OR_NONE = (
    "finish_reason",
    "started_at",
    "reasoning",
    "refusal",
    "response_id",
    "response_model",
    "batch",
)
_OBJECTS = ("condition", "request", "versions")
_OBJECTS_OR_NONE = ("usage", "error", "choice")


def sound(record: Record) -> Record:
    """Return a record that can be written and read again, whatever the endpoint put into its answer.

    Names are cut at 1,000 characters; ``usage`` that is deeply nested or larger than 64 KiB is kept as a text under
    ``unreadable``, and a number in it that is none (infinite, or of more than 15 digits) as the text of it, so that
    its tokens count as unknown.

    Raises
    ------
    TypeError
        A field has a type that it cannot have, which is a mistake of the code that made the record.
    """
    changed: dict[str, Any] = {}
    for name in ("finish_reason", "response_id", "response_model"):
        value = getattr(record, name)
        if isinstance(value, str) and len(value) > _LONGEST_NAME:
            changed[name] = value[:_LONGEST_NAME] + "…"
    if isinstance(record.usage, dict) and not _is_flat_and_plain(record.usage):
        changed["usage"] = _usage(record.usage)
    checked = replace(record, **changed) if changed else record
    check_types(checked)
    return checked


def check_types(record: Record) -> None:
    """Make sure that each field has a type and value that the rest of dsqa can count on.

    Raises
    ------
    TypeError
        One has not; the message names it.
    """
    if not _is_count(record.run) or record.run >= MAX_RUNS:
        raise TypeError("field 'run' is no run number")
    if record.status not in _STATUSES:
        raise TypeError(f"field 'status' is none of {', '.join(get_args(Status))}")
    for name in _TEXTS:
        if not isinstance(getattr(record, name), str):
            raise TypeError(f"field '{name}' is no text")
    for name in _TEXTS_OR_NONE:
        if not isinstance(getattr(record, name), str | None):
            raise TypeError(f"field '{name}' is no text")
    for name in _OBJECTS:
        if not isinstance(getattr(record, name), dict):
            raise TypeError(f"field '{name}' is no object")
    for name in _OBJECTS_OR_NONE:
        if not isinstance(getattr(record, name), dict | None):
            raise TypeError(f"field '{name}' is no object")
    if not _is_count(record.retries):
        raise TypeError("field 'retries' is no count")
    seconds = record.seconds
    if seconds is not None and (
        not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds < math.inf
    ):
        raise TypeError("field 'seconds' is no number of seconds")
    _check_nested(record)


def _check_nested(record: Record) -> None:
    notes = record.adapted
    if notes is not None and not (isinstance(notes, list) and all(isinstance(note, dict) for note in notes)):
        raise TypeError("field 'adapted' is no list of objects")
    if record.choice is not None and not all(_is_count(record.choice.get(name, 0)) for name in ("index", "of")):
        raise TypeError("field 'choice' has no counts")
    temperature = record.condition.get("temperature")
    if temperature is not None and (
        not isinstance(temperature, int | float) or isinstance(temperature, bool) or not math.isfinite(temperature)
    ):
        raise TypeError("field 'condition.temperature' is no number")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**MOST_DIGITS


def _is_flat_and_plain(usage: Mapping[str, Any]) -> bool:
    """Whether an object holds nothing but numbers, texts and objects of them, as nearly every one does."""
    if len(usage) > 32:
        return False
    for value in usage.values():
        if isinstance(value, dict):
            if len(value) > 32 or not all(_is_plain(part) for part in value.values()):
                return False
        elif not _is_plain(value):
            return False
    return True


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return bool(abs(value) < 10**MOST_DIGITS)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, str) and len(value) <= _LONGEST_NAME)


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain = _plain(usage, _DEEPEST)
        if len(json.dumps(plain)) <= _LARGEST:
            return dict(plain)
    except (RecursionError, ValueError):
        pass
    return {"unreadable": repr(list(usage)[:8])[:_LONGEST_NAME]}


def _plain(value: Any, levels: int) -> Any:
    if levels < 0:
        raise ValueError("is nested too deeply")
    if isinstance(value, dict):
        return {str(name): _plain(part, levels - 1) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part, levels - 1) for part in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**MOST_DIGITS:
        # Python writes no number of more than 4,300 digits; how long it is says enough.
        return str(value) if abs(value) < 10**100 else f"about 2 to the power of {value.bit_length()}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
