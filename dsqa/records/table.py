"""Recorded runs as one tidy data frame, for Parquet and for people."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dsqa.records.record import Record
from dsqa.records.usage import usage_counts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["records_table"]

_DTYPES = {
    "question_id": "string",
    "condition_id": "string",
    "run": "Int64",
    "prompt_hash": "string",
    "endpoint": "string",
    "model": "string",
    "temperature": "Float64",
    "status": "string",
    "text": "string",
    "finish_reason": "string",
    "tokens_in": "Int64",
    "tokens_out": "Int64",
    "tokens_reasoning": "Int64",
    "tokens_cached": "Int64",
    "seconds": "Float64",
    "retries": "Int64",
    "started_at": "string",
    "error_class": "string",
    "error_message": "string",
    "reasoning": "string",
    "refusal": "string",
    "response_id": "string",
    "response_model": "string",
    "condition": "string",
    "request": "string",
    "usage": "string",
    "versions": "string",
}


def records_table(records: Iterable[Record]) -> pd.DataFrame:
    """Return one row per run.

    Parameters
    ----------
    records
        The runs, e.g. from `read_records`.

    Returns
    -------
    pandas.DataFrame
        Names and dtypes are always the same, also for no runs. Token counts come from ``usage`` as the endpoint
        gave it, missing where it gave none. ``condition``, ``request``, ``usage`` and ``versions`` hold JSON. Lone
        surrogates, which Parquet cannot hold, are replaced by U+FFFD; the JSON lines keep them.
    """
    import pandas as pd  # noqa: PLC0415  (takes a second: only who wants a table pays for it)

    rows = [_row(record) for record in records]
    return pd.DataFrame(rows, columns=list(_DTYPES)).astype(_DTYPES)


def _row(record: Record) -> dict[str, Any]:
    counts = usage_counts(record.usage)
    error = record.error or {}
    return {
        "question_id": _clean(record.question_id),
        "condition_id": _clean(record.condition_id),
        "run": record.run,
        "prompt_hash": record.prompt_hash,
        "endpoint": _clean(record.condition.get("endpoint")),
        "model": _clean(record.condition.get("model")),
        "temperature": record.temperature,
        "status": record.status,
        "text": _clean(record.text),
        "finish_reason": _clean(record.finish_reason),
        "tokens_in": counts.prompt,
        "tokens_out": counts.completion,
        "tokens_reasoning": counts.reasoning,
        "tokens_cached": counts.cached,
        "seconds": record.seconds,
        "retries": record.retries,
        "started_at": record.started_at,
        "error_class": error.get("class"),
        "error_message": _clean(error.get("message")),
        "reasoning": _clean(record.reasoning),
        "refusal": _clean(record.refusal),
        "response_id": _clean(record.response_id),
        "response_model": _clean(record.response_model),
        "condition": json.dumps(record.condition, sort_keys=True),
        "request": json.dumps(record.request, sort_keys=True),
        "usage": None if record.usage is None else json.dumps(record.usage, sort_keys=True),
        "versions": json.dumps(record.versions, sort_keys=True),
    }


def _clean(text: str | None) -> str | None:
    if text is None:
        return None
    # UTF-16 pairs up any surrogates that do belong together before the lone ones are replaced.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
