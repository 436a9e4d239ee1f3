"""Columns that no field takes up, and data files that are not there: each said once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from dsqa.bank.cells import JSON_MARK
from dsqa.bank.columns import fields_of
from dsqa.bank.findings import Finding
from dsqa.bank.model import Question
from dsqa.bank.rows import Row
from dsqa.bank.written import option_columns

__all__ = ["say_once", "with_files"]

_MOST_FILES = 1_000


def with_files(rows: Sequence[Row], data_dir: Path, findings: list[Finding]) -> Sequence[Row]:
    """Say which columns are not read, and take one that holds names of files in the data folder for the data files.

    Only tables are looked at: other formats have a field where its author wants one.
    """
    by_hand = [row for row in rows if row.cells or row.tabular]
    written = list(dict.fromkeys(str(name) for row in by_hand for name in row.values))
    kept = fields_of(written)
    options = set(option_columns(written).values())
    unread = [
        name
        for name in written
        if kept[name] not in Question.model_fields and not name.endswith(JSON_MARK) and name not in options
    ]
    holds_files = None
    if unread and "file_name" not in kept.values():
        holds_files = next((name for name in unread if _names_files(name, by_hand, data_dir)), None)
    if holds_files is not None:
        unread.remove(holds_files)
        message = f"column '{holds_files}' holds names of files in {data_dir} and is read as the data file"
        findings.append(Finding("file_name", message, "call it 'data'", severity="note"))
        rows = [
            replace(
                row,
                values={("data" if name == holds_files else name): value for name, value in row.values.items()},
                cells={("data" if name == holds_files else name): place for name, place in row.cells.items()},
            )
            for row in rows
        ]
    if unread:
        shown = ", ".join(f"'{name}'" for name in unread[:12]) + (" …" if len(unread) > 12 else "")
        message = f"{'columns' if len(unread) > 1 else 'column'} {shown} kept, and not read as a field"
        hint = "the fields are in docs/authoring.md: question, answer, format, data, level, options, …"
        findings.append(Finding(None, message, hint, severity="note"))
    return rows


def _names_files(name: str, rows: Sequence[Row], data_dir: Path) -> bool:
    """Whether a column's values, all that are there, are names of existing data files."""
    values = {str(row.values[name]).strip() for row in rows if name in row.values}
    if not values or len(values) > _MOST_FILES or any(len(v) > 255 or ".." in v or "\0" in v for v in values):
        return False
    try:
        return all("." in value and (data_dir / value).is_file() for value in values)
    except OSError:
        return False


def say_once(
    missing: dict[str, list[Finding]],
    findings: list[Finding],
    named: set[str | None],
    path: Path,
    data_dir: Path,
) -> None:
    """Put one finding in the place of the many of a missing data file, or of a missing folder of data files."""
    if not missing or sum(map(len, missing.values())) == 1:
        return
    whole = (
        len(missing) > 1
        and named - {None} == set(missing)
        and all("no data file" in m[0].message for m in missing.values())
    )
    dropped = {id(finding) for group in missing.values() for finding in (group if whole else group[1:])}
    kept = [finding for finding in findings if id(finding) not in dropped]
    if whole:
        elsewhere = _folder_with(next(iter(missing)), path.parent)
        message = f"none of the bank's {len(missing)} data files is in {data_dir}"
        hint = "name the folder that holds them: --data FOLDER, or 'data: FOLDER' in study.yaml"
        hint += f"; {elsewhere} has {next(iter(missing))}" if elsewhere else ""
        kept.append(Finding("file_name", message, hint, whole=True))
    else:
        for group in missing.values():
            place = next((i for i, finding in enumerate(kept) if finding is group[0]), None)
            if place is not None and len(group) > 1:
                kept[place] = replace(kept[place], message=f"{kept[place].message} (for {len(group)} questions)")
    findings[:] = kept


def _folder_with(name: str, beside: Path) -> Path | None:
    """Return a folder near the bank that holds a file, if there is one."""
    try:
        near = [p for p in islice(beside.iterdir(), _MOST_FILES) if p.is_dir()]
        near += [p for p in islice(beside.resolve().parent.iterdir(), _MOST_FILES) if p.is_dir()]
        return next((folder for folder in sorted(near) if (folder / name).is_file()), None)
    except OSError:
        return None
