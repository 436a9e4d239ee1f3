"""Excel workbooks: a header in each sheet, one question per row; numbers as their cells show them."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from dsqa.bank.cells import table_of
from dsqa.bank.columns import field_named
from dsqa.bank.findings import Finding
from dsqa.bank.formats.delimited import HEADER_HINT
from dsqa.bank.model import Question
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError
from dsqa.installed import openpyxl_for

__all__ = ["read", "write"]

_ROWS_SEARCHED = 20
_LONGEST_CELL = 32_767
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_DECIMALS = re.compile(r"[0#?]\.([0#?]+)")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NEEDS_ESCAPE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def read(path: Path) -> Source:
    """Read every sheet that has a question column.

    Raises
    ------
    BankError
        It is no workbook, or no sheet of it has such a column.
    MissingDependencyError
        openpyxl is not installed.
    """
    shown, formulas = _open(path, data_only=True), _open(path, data_only=False)
    findings: list[Finding] = []
    rows: list[Row] = []
    with_header = 0
    for sheet in shown.worksheets:
        prefix = f"{sheet.title}!" if len(shown.worksheets) > 1 else ""
        header = _header(sheet)
        if header is None:
            if any(cell.value is not None for row in sheet.iter_rows(max_row=_ROWS_SEARCHED) for cell in row):
                message = f"sheet '{sheet.title}' has no column 'question' and is passed over"
                findings.append(Finding(None, message, HEADER_HINT, severity="note"))
            continue
        with_header += 1
        top, names = header
        twice = next((name for name in names.values() if list(names.values()).count(name) > 1), None)
        if twice is not None:
            raise BankError(f"has two columns '{twice}'", path=path, line=top, hint="rename one of them")
        for cells in sheet.iter_rows(min_row=top + 1):
            row, found = _row(cells, names, formulas[sheet.title], prefix)
            findings.extend(found)
            if row is not None:
                rows.append(row)
    if not with_header:
        raise BankError("no sheet has a column 'question'", path=path, hint=HEADER_HINT)
    return Source(tuple(rows), tuple(findings))


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write one sheet; every cell is text, so that 34.50 and 007 stay as they are.

    Raises
    ------
    BankError
        A text is longer than a cell of Excel may be.
    MissingDependencyError
        openpyxl is not installed.
    """
    openpyxl = openpyxl_for(path)
    styles = importlib.import_module("openpyxl.styles")
    header, rows = table_of(questions)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "questions"
    for i, values in enumerate([header, *rows], start=1):
        for j, value in enumerate(values, start=1):
            if not value:
                continue
            cell = sheet.cell(row=i, column=j)
            text = _NEEDS_ESCAPE.sub(lambda m: f"_x{ord(m[0]):04X}_", value)
            if len(text) > _LONGEST_CELL:
                message = f"'{header[j - 1]}' of question {i - 1} has {len(text)} characters"
                hint = f"a cell of Excel holds {_LONGEST_CELL}; choose another format"
                raise BankError(message, path=path, field=header[j - 1], hint=hint)
            cell.value = text
            # Set again: openpyxl takes '=1' for a formula and '#N/A' for an error.
            cell.data_type = "s"
            cell.number_format = "@"
            cell.alignment = styles.Alignment(wrap_text=True, vertical="top")
            if i == 1:
                cell.font = styles.Font(bold=True)
    for j, name in enumerate(header, start=1):
        letter = openpyxl.utils.get_column_letter(j)
        sheet.column_dimensions[letter].width = 60 if name in {"question", "format", "code"} else 18
    sheet.freeze_panes = "A2"
    book.save(path)


def _open(path: Path, *, data_only: bool) -> Any:
    openpyxl = openpyxl_for(path)
    with path.open("rb"):  # a missing or forbidden file is told by its own error
        pass
    try:
        return openpyxl.load_workbook(path, data_only=data_only)
    except OSError:
        raise
    except Exception:  # openpyxl lets zipfile, XML and key errors through
        hint = "open it in Excel and save it as .xlsx, without a password"
        raise BankError("is not a readable Excel file", path=path, hint=hint) from None


def _header(sheet: Any) -> tuple[int, dict[int, str]] | None:
    for cells in sheet.iter_rows(max_row=_ROWS_SEARCHED):
        names = {c.column: str(c.value).strip() for c in cells if c.value is not None and str(c.value).strip()}
        if sum(field_named(name) is not None for name in names.values()) >= min(2, len(names)) and any(
            field_named(name) == "question" for name in names.values()
        ):
            return cells[0].row, names
    return None


def _row(
    cells: Sequence[Any], names: dict[int, str], formulas: Any, prefix: str
) -> tuple[Row | None, Iterator[Finding]]:
    values: dict[str, str] = {}
    places: dict[str, str] = {}
    findings: list[Finding] = []
    unrounded: set[str] = set()
    for cell in cells:
        name = names.get(cell.column)
        if name is None:
            continue
        line, where = cell.row, f"{prefix}{cell.coordinate}"
        places[name] = where
        field = field_named(name) or name
        if cell.data_type == "e":
            message = f"holds Excel's error {cell.value}"
            findings.append(Finding(field, message, "mend the formula", line=line, cell=where))
            continue
        if cell.value is None and formulas[cell.coordinate].data_type == "f":
            message = "holds a formula that was never worked out"
            hint = "open the file in Excel or LibreOffice and save it"
            findings.append(Finding(field, message, hint, line=line, cell=where))
            continue
        text = _shown(cell.value, cell.number_format)
        if not text.strip():
            continue
        values[name] = text
        if isinstance(cell.value, int | float) and cell.number_format == "General":
            unrounded.add(name)
        if isinstance(cell.value, float) and field == "common_answers" and not _same(cell.value, text):
            message = f"shows {text} and holds {cell.value!r}; what it shows is taken"
            hint = "show more decimals, or round it, if that is not meant"
            findings.append(Finding(field, message, hint, severity="note", line=line, cell=where))
    if not values:
        return None, iter(findings)
    return Row(values, cells[0].row, cells=places, unrounded=frozenset(unrounded)), iter(findings)


def _same(value: float, text: str) -> bool:
    scale = 100 if text.endswith("%") else 1
    try:
        return math.isclose(float(text.rstrip("%")), value * scale, rel_tol=1e-12)
    except ValueError:
        return True


def _shown(value: Any, number_format: str) -> str:
    """Return a cell's value as text, as the cell shows it: 0.2 in a per cent cell is 20%."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int | float):
        return _number(value, number_format)
    if isinstance(value, datetime):
        midnight = value.time() == time(0)
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("minutes" if value.second == 0 else "seconds")
    if isinstance(value, timedelta):
        return str(value)
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), str(value))


def _number(value: float, number_format: str) -> str:
    pattern = _QUOTED.sub("", number_format.split(";", maxsplit=1)[0])
    found = _DECIMALS.search(pattern)
    decimals = len(found[1]) if found else 0
    if "%" in pattern:
        return f"{value * 100:.{decimals}f}%"
    if "E" in pattern.upper() and "GENERAL" not in pattern.upper():
        return f"{value:.{decimals}e}"
    if found or ("0" in pattern and "/" not in pattern):
        return f"{value:.{decimals}f}"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"
