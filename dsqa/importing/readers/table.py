"""Plain tables with a row for each run: CSV, TSV, XLSX, JSON Lines, Parquet; columns by name or as a person says."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from dsqa.errors import DsqaError, SourceError
from dsqa.importing.columns import REQUEST_FIELDS, choose_columns, known_name
from dsqa.importing.readers.data_sets import DataSets
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun
from dsqa.importing.tables import Row, as_json_text, kind_of, rows_of
from dsqa.records import Status
from dsqa.values import day_comes_first, parse_number, parse_time, time_text

__all__ = ["READER"]

_SAMPLE = 200
_LONG = 200
# 0,7 is a number with a decimal comma; 1,500 may be fifteen hundred.
_COMMA = re.compile(r"^(-?\d+),(\d{1,2}|\d{4,})$")
_TRUE, _FALSE = {"true", "yes"}, {"false", "no"}
_STATUSES: dict[str, Status] = {
    "answered": "answered", "truncated": "truncated", "refused": "refused", "empty": "empty",
    "filtered": "filtered", "failed": "failed", "error": "failed", "timeout": "failed",
}  # fmt: skip


class _Table:
    name = "table"
    title = "a plain table"

    def detect(self, path: Path) -> float:
        if kind_of(path) is None:
            return 0.0
        report = ImportReport(skip_bad=True)
        try:
            first = next(iter(rows_of(path, report)), None)
        except SourceError:
            # A workbook whose columns have other names: a table all the same, and reading it says what is missing.
            if kind_of(path) != "xlsx":
                raise
            return 0.3
        if first is None:
            return 0.0
        known = {known_name(column) for column in first.values} - {None}
        # Less than any format of its own: it knows nothing but names.
        return 0.4 if {"text", "model"} & known and len(known) >= 2 else 0.0

    def plan(self, paths: Sequence[Path], options: ReadOptions) -> list[str]:
        lines = []
        seen: list[dict[str, str]] = []
        for path in paths:
            try:
                columns, _ = _columns(path, options)
            except SourceError:
                if len(paths) == 1 or not options.skip_bad:
                    raise
                continue  # told when it is read
            if columns not in seen:
                seen.append(columns)
                lines.append(f"{path}: columns taken as")
                lines += [f"  {field:<18} {column}" for field, column in columns.items()]
        return [*lines, "Another one: --column FIELD=COLUMN; none: --column FIELD="]

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        ids: dict[str, str] = {}
        sets = _data_sets(paths, options, report)
        for path in paths:
            with report.passing_over(path):
                columns, day_first = _columns(path, options)
                for field, column in columns.items():
                    report.map(column, field)
                for row in rows_of(path, report, options.columns.values()):
                    with report.row(path, row.line):
                        run = _run(row, f"{path}:{row.line}", columns, ids, options, report)
                        moment = time_text(parse_time(run.started_at, day_first=day_first))
                        question = (
                            f"{sets.prefix(path.stem)}{run.question}" if "question" in columns else run.question
                        )
                        yield replace(run, question=question, started_at=moment or run.started_at)


def _data_sets(paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> DataSets:
    """Return which files number the same questions; read beforehand only where there are several."""
    sets = DataSets()
    if len(paths) < 2:
        return sets
    for path in paths:
        with contextlib.suppress(DsqaError):
            columns, _ = _columns(path, options)
            if "question" in columns:
                for row in rows_of(path, ImportReport(skip_bad=True), options.columns.values()):
                    named = [n for n in ("question_text", "truth") if n in columns]
                    facts: dict[str, Any] = {n: row.values.get(columns[n]) for n in named}
                    known: dict[str, Any] = {n: " ".join(str(v).split()) for n, v in facts.items() if v is not None}
                    sets.see(path.stem, _id(str(row.values.get(columns["question"]))), known)
    sets.settle(report)
    return sets


def _columns(path: Path, options: ReadOptions) -> tuple[dict[str, str], bool | None]:
    """Return field → column, and whether its dates begin with the day, where they tell."""
    # Of each value as much as tells a text from an id: a row may hold megabytes.
    sample = [
        {name: value[:_LONG] if isinstance(value, str) else value for name, value in row.values.items()}
        for row in islice(rows_of(path, ImportReport(skip_bad=True), options.columns.values()), _SAMPLE)
    ]
    names = list(dict.fromkeys(name for row in sample for name in row))
    columns = choose_columns(names, options.columns, sample, path)
    return columns, day_comes_first(row.get(columns.get("started_at", "")) for row in sample)


def _run(
    row: Row,
    where: str,
    columns: Mapping[str, str],
    ids: dict[str, str],
    options: ReadOptions,
    report: ImportReport,
) -> SourceRun:
    values = row.values

    def get(field: str) -> Any:
        value = values.get(columns.get(field, ""))
        return None if value is None or (isinstance(value, float) and math.isnan(value)) else value

    def word(field: str) -> str | None:
        value = get(field)
        text = None if value is None else as_json_text(value)
        return text if text and text.strip() else None

    text = word("question_text")
    question = word("question")
    if question is None:
        if text is None:
            raise ValueError("does not say which question it is")
        key = " ".join(text.split())
        question = ids.setdefault(key, f"q{len(ids) + 1}")
        report.note("runs have no question id: questions are numbered q1, q2, … in the order of their texts")
    temperature = _number(get("temperature"), "temperature")
    milliseconds = _number(get("milliseconds"), "milliseconds")
    seconds = _number(get("seconds"), "seconds")
    tokens = {name: _number(get(name), name) for name in ("prompt_tokens", "completion_tokens")}
    request = {name: _plain(get(name)) for name in REQUEST_FIELDS if get(name) not in (None, "")}
    system = request.get("system")
    messages = [{"role": "system", "content": str(system)}] if system else []
    error = word("error")
    said = (word("status") or "").strip().lower()
    return SourceRun(
        question=_id(question),
        model=word("model") or options.model or "",
        temperature=options.temperature if temperature is None else temperature,
        run=_run_number(get("run")),
        text="" if get("text") is None else as_json_text(get("text")),
        where=where,
        status=_STATUSES.get(said),
        finish_reason=word("finish_reason"),
        usage={k: int(v) for k, v in tokens.items() if v is not None} or None,
        seconds=seconds if seconds is not None else None if milliseconds is None else milliseconds / 1000,
        started_at=get("started_at"),
        error=None if error is None else {"class": "SourceError", "message": error},
        reasoning=word("reasoning"),
        messages=[*messages, {"role": "user", "content": text}] if system and text else None,
        request=request,
        question_text=text,
        category=word("category"),
        level=word("level"),
        truth=word("truth"),
        file_name=word("file_name"),
        metrics=_metrics(values, set(columns.values()), options, report),
        row=values,
    )


def _id(question: str) -> str:
    # Excel and Parquet write whole numbers as 3.0 where a column has a gap.
    return question.strip().removesuffix(".0") if question.strip().replace(".", "", 1).isdigit() else question.strip()


def _number(value: Any, field: str) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if str(value).strip().casefold() in {"", "none", "null", "na", "n/a", "nan", "default"}:
        return None
    number = parse_number(_COMMA.sub(r"\1.\2", str(value).strip()))
    if number is None or not number.finite:
        raise ValueError(f"'{value}' is no number, and stands where {field} should")
    return float(number.value)


def _run_number(value: Any) -> int | None:
    number = _number(value, "the run number")
    if number is None:
        return None
    if not number.is_integer():
        raise ValueError(f"{value} is no run number: it must be a whole number")
    return int(number)


def _plain(value: Any) -> Any:
    """Return a cell of text as the number that it is, so that conditions do not depend on the kind of file."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def _metrics(
    values: Mapping[str, Any], taken: set[str], options: ReadOptions, report: ImportReport
) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    for name, value in values.items():
        if name in taken:
            continue
        if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > _LONG):
            report.leave_out(name, "a long text or a list; it stays in the original row")
            continue
        report.map(name, "metric of the source")
        metrics[name] = _metric(value)
        if metrics[name] is None and name.strip().casefold() in {"accuracy", "correct", "is_correct", "score"}:
            if options.unfilled_accuracy == "wrong":
                metrics[name] = 0.0
            else:
                report.note(f"runs have no mark in '{name}': missing, not wrong")
    return metrics


def _metric(value: Any) -> Metric:
    if not isinstance(value, str):
        is_gap = isinstance(value, float) and not math.isfinite(value)
        return (
            value
            if isinstance(value, bool | int | float) and not is_gap
            else None
            if value is None or is_gap
            else str(value)
        )
    text = value.strip()
    if text.casefold() in _TRUE | _FALSE:
        return text.casefold() in _TRUE
    try:
        number = float(_COMMA.sub(r"\1.\2", text))
    except ValueError:
        return text or None
    return number if math.isfinite(number) else None


READER = _Table()
