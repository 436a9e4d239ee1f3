"""Ground truths that stand in a file of their own, as in InfiAgent-DABench: joined to the questions by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsqa.bank.checks import format_names
from dsqa.bank.fields import as_text
from dsqa.bank.findings import Finding
from dsqa.bank.formats.jsonfile import read_lines
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["add_labels", "labels_beside"]


def labels_beside(path: Path) -> Path | None:
    """Return ``X-labels.jsonl`` beside ``X-questions.jsonl``, if it is there."""
    if path.suffix != ".jsonl" or not path.stem.endswith("questions"):
        return None
    beside = path.with_name(path.stem.removesuffix("questions") + "labels.jsonl")
    return beside if beside.is_file() else None


def add_labels(source: Source, path: Path) -> Source:
    """Return the questions with their ground truths.

    A public bank is used as it is: a part that a question asks for and its labels lack is left unmarked, and that is
    a warning; so is a label without a question.

    Raises
    ------
    BankError
        The labels cannot be read.
    """
    try:
        labelled = read_lines(path)
    except OSError as error:
        raise BankError(f"cannot be read: {error.strerror or error}", path=path) from None
    findings = [*source.findings, *(replace(f, path=path) for f in labelled.findings)]
    by_id = {str(as_text(row.values.get("id"))): row for row in labelled.rows}
    rows = []
    used: set[str] = set()
    for row in source.rows:
        name = str(as_text(row.values.get("id")))
        label = by_id.get(name)
        if label is None:
            message = f"'{name}' has no label in {path.name}"
            hint = f"add a line with its id and common_answers to {path.name}"
            findings.append(Finding("common_answers", message, hint, line=row.line, question=name))
            continue
        used.add(name)
        joined = dict(row.values) | {"common_answers": label.values.get("common_answers")}
        lacking = tuple(_lacking(joined))
        if lacking:
            joined["unmarked"] = list(lacking)
            given = ", ".join(str(pair[0]) for pair in joined["common_answers"])
            message = f"asks for {', '.join(lacking)}, for which the labels have no answer: not marked"
            hint = f"the answers that are marked: {given}"
            findings.append(Finding("format", message, hint, severity="warning", line=row.line, question=name))
        rows.append(Row(joined, row.line, exact=True))
    for name, label in by_id.items():
        if name not in used:
            message = f"labels '{name}', which is no question's id"
            findings.append(Finding("id", message, severity="warning", line=label.line, question=name, path=path))
    return Source(tuple(rows), tuple(findings))


def _lacking(values: dict[str, Any]) -> Iterator[str]:
    pairs, form = values.get("common_answers"), values.get("format")
    if isinstance(pairs, list) and isinstance(form, str) and all(isinstance(p, list) and p for p in pairs):
        given = {str(pair[0]) for pair in pairs}
        yield from (name for name in format_names(form) if name not in given)
