"""The tidy outcome table for other programs: rows in the design's order, labels as factors, what columns mean."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import get_args

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dsqa.bank import Bank
from dsqa.foreign import spreadsheet_text
from dsqa.outcomes import COLUMNS
from dsqa.records import Status
from dsqa.study.folder import StudyDescription

__all__ = ["FACTORS", "KNOWN_LEVELS", "columns_markdown", "csv_bytes", "factor_levels", "parquet_bytes", "tidy_table"]

FACTORS = (
    "study", "question_id", "category", "level", "condition_id", "endpoint", "model", "status", "finish_reason",
    "error_class", "tokens_source", "execution", "isolation", "environment", "flaky", "answer_source",
    "answer_status", "answer_convention",
)  # fmt: skip
"""Columns with few distinct labels; the other text columns hold something of their own in each row."""

KNOWN_LEVELS: dict[str, tuple[str, ...]] = {
    "level": ("easy", "medium", "hard"),
    "status": get_args(Status),
    "answer_status": ("matched", "partial", "mismatched", "unparsed", "unmarked"),
    "flaky": ("no", "code", "machine"),
}
"""Labels that have an order in every study."""


def factor_levels(outcomes: pd.DataFrame, description: StudyDescription, bank: Bank) -> dict[str, tuple[str, ...]]:
    """Return each label column's labels in order: as the bank and the study list them, then others by name.

    Labels of the study that no run has are listed too; labels of runs that the study lacks come last, none is lost.
    """
    conditions = description.conditions
    orders: dict[str, Sequence[str]] = {
        **KNOWN_LEVELS,
        "question_id": [question.id for question in bank],
        "category": [question.category for question in bank],
        "condition_id": [condition.id for condition in conditions],
        "endpoint": [condition.endpoint for condition in conditions],
        "model": [condition.model for condition in conditions],
    }
    levels = {}
    for name in FACTORS:
        first = dict.fromkeys(value for value in orders.get(name, ()) if value)
        rest = sorted(set(outcomes[name].dropna().astype(str)) - first.keys())
        levels[name] = (*first, *rest)
    return levels


def tidy_table(outcomes: pd.DataFrame, levels: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the outcome table with label columns as categories, sorted by question, condition and run."""
    # Text even where there is no label at all, so that Parquet has a dictionary of texts.
    kinds = {name: pd.CategoricalDtype(pd.Index(list(levels[name]), dtype="string")) for name in FACTORS}
    labelled = {name: pd.Categorical(outcomes[name].astype("string"), dtype=kinds[name]) for name in FACTORS}
    table = outcomes.assign(**labelled)
    return table.sort_values(["question_id", "condition_id", "run"], kind="stable").reset_index(drop=True)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return the table as CSV (RFC 4180, UTF-8): an empty field is a missing value, booleans are TRUE and FALSE.

    Numbers are written with the fewest digits that give the same double again. Text that a spreadsheet would take
    for a formula has a ``'`` before it, which the R script takes off again; see `spreadsheet_text`.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    columns = [_fields(table[name]) for name in table.columns]
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode("utf-8", "replace")


def _fields(column: pd.Series) -> list[str]:
    truths = {True: "TRUE", False: "FALSE"}
    values = column.astype(object).where(column.notna(), None)
    if column.dtype == "boolean":
        return ["" if value is None else truths[bool(value)] for value in values]
    return [
        ""
        if value is None
        else repr(float(value))
        if isinstance(value, float)
        else spreadsheet_text(value)
        if isinstance(value, str)
        else str(value)
        for value in values
    ]


def parquet_bytes(table: pd.DataFrame) -> bytes:
    """Return the table as Parquet, label columns as dictionaries (factors in R), each column's meaning with it."""
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    meanings = {column.name: column.meaning for column in COLUMNS}
    schema = pa.schema([
        field.with_metadata({"description": meanings[field.name]}) if field.name in meanings else field
        for field in arrow.schema
    ], metadata=arrow.schema.metadata)  # fmt: skip
    sink = io.BytesIO()
    pq.write_table(arrow.cast(schema), sink, compression="zstd")
    return sink.getvalue()


def columns_markdown() -> str:
    """Return the page that says what each column holds; it is written from `dsqa.outcomes.COLUMNS`."""
    from dsqa.exporting.rscript import r_type  # noqa: PLC0415  (which needs this module's names)

    lines = [
        "# The columns of the outcome table",
        "",
        "One row per run. `dsqa export STUDY --to csv,parquet,r` writes it; `--to columns` writes this list as CSV.",
        "An empty field of the CSV is a missing value. Made by `python -m analysis.make_columns_page`.",
        "",
        "| column | pandas | R | holds |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{c.name}` | {c.dtype} | {r_type(c.name, c.dtype)} | {c.meaning} |" for c in COLUMNS]
    return "\n".join(lines) + "\n"
