"""Read the head of a data file and count its rows, without holding the file in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dsqa.errors import BankError
from dsqa.installed import openpyxl_for
from dsqa.prompting.kinds import ColumnKind, is_number

__all__ = ["ROWS_TYPED", "Head", "read_head"]

#: Kinds and missing values are taken from this many rows; a longer file is only counted beyond them.
ROWS_TYPED = 10_000
_SNIFFED_LINES = 50
_SPACES = " "


@dataclass
class Head:
    """The head of a table: names and kinds of its columns, its first rows as text, how many rows there are."""

    names: list[str]
    kinds: list[ColumnKind]
    rows: list[list[str]]
    row_count: int
    delimiter: str = ","
    has_header: bool = True
    notes: list[str] = field(default_factory=list)


def read_head(path: Path, rows: int) -> Head | None:
    """Read a table's head.

    Parameters
    ----------
    path
        A CSV, TSV, TXT, DAT or XLSX file.
    rows
        How many rows to keep.

    Returns
    -------
    Head or None
        None for a file of another kind.

    Raises
    ------
    BankError
        The file is not there, is empty, or is not a table.
    MissingDependencyError
        An XLSX file, and openpyxl is not installed.
    """
    suffix = path.suffix.lower()
    try:
        if suffix in {".xlsx", ".xlsm"}:
            return _read_workbook(path, rows)
        if suffix in {".csv", ".tsv", ".tab", ".txt", ".dat"}:
            return _read_text(path, rows, suffix)
        path.stat()
    except csv.Error as error:
        raise BankError(f"is not a readable table: {error}", path=path, hint="look for an unclosed quote") from None
    except FileNotFoundError:
        raise BankError("no such data file", path=path) from None
    except OSError as error:
        raise BankError(f"cannot be read: {error.strerror or error}", path=path) from None
    return None


def _read_text(path: Path, rows: int, suffix: str) -> Head:
    with path.open("rb") as handle:
        start = handle.read(4096)
    utf16 = start[:2] in {b"\xff\xfe", b"\xfe\xff"}
    if not utf16 and b"\0" in start:
        raise BankError("is no text (it holds NUL bytes)", path=path, hint="export the table as CSV")
    for encoding in ["utf-16"] if utf16 else ["utf-8-sig", "latin-1"]:
        try:
            with path.open(encoding=encoding, newline="") as handle:
                first = list(islice((line for line in handle if line.strip()), _SNIFFED_LINES))
                tabs = suffix in {".tsv", ".tab"}
                delimiter = "\t" if tabs else _sniff(first, spaces=suffix != ".csv")
                handle.seek(0)
                head = _head(_cells(handle, delimiter), rows, path)
        except UnicodeDecodeError:
            if encoding == "utf-16":
                raise BankError("is not valid UTF-16 text", path=path, hint="save the file as UTF-8") from None
            continue
        head.delimiter = delimiter
        if encoding != "utf-8-sig":
            head.notes.append(f"The file's encoding is {encoding}.")
        return head
    raise AssertionError("latin-1 decodes every byte")


def _sniff(lines: list[str], *, spaces: bool) -> str:
    """Return the delimiter that cuts the lines into most columns; runs of spaces, or a comma, if none does.

    Cells beyond a quoted line break would upset the count, so most lines must agree rather than all.
    """
    widths = {delimiter: _width(lines, delimiter) for delimiter in ",;\t|"}
    best = max(widths, key=lambda delimiter: widths[delimiter])
    if widths[best] > 1:
        return best
    return _SPACES if spaces and _width(lines, _SPACES) > 1 else ","


def _width(lines: list[str], delimiter: str) -> int:
    widths = [len(row) for row in _cells(lines, delimiter) if row]
    if not widths:
        return 1
    header, body = widths[0], widths[1:] or widths
    width = max(set(body), key=lambda w: (body.count(w), w))
    if body.count(width) < 0.8 * len(body):
        return 1
    # The header may be one short: R's write.table gives row names no heading.
    return width if header == width or (header == width - 1 and header > 1) else 1


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if delimiter == _SPACES:
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=delimiter)


def _head(table: Iterator[list[str]], rows: int, path: Path) -> Head:
    filled: Iterator[list[str]] = (row for row in table if any(cell.strip() for cell in row) or len(row) > 1)
    header = next(filled, None)
    if header is None:
        raise BankError("the data file is empty", path=path)
    has_header = not all(is_number(cell) for cell in header)
    if has_header:
        names = [cell.strip() for cell in header]
    else:
        names = [f"column {i}" for i in range(1, len(header) + 1)]
        filled = chain([header], filled)
    first = list(islice(filled, max(rows, 1)))
    if has_header and first and len(first[0]) == len(names) + 1:
        names.insert(0, "(row name)")
    kinds = [ColumnKind() for _ in names]
    count = 0
    for row in chain(first, filled):
        count += 1
        if count > ROWS_TYPED:
            continue
        for i, kind in enumerate(kinds):
            kind.add(row[i] if i < len(row) else "")
    return Head(names, kinds, first[:rows], count, has_header=has_header)


def _read_workbook(path: Path, rows: int) -> Head:
    openpyxl = openpyxl_for(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except OSError:
        raise
    except Exception as error:  # openpyxl lets zipfile, XML and key errors through
        raise BankError(f"is not a readable Excel file: {error}", path=path) from None
    try:
        sheet = book.worksheets[0]
        head = _head(([_cell_text(c) for c in row] for row in sheet.iter_rows(values_only=True)), rows, path)
        if len(book.worksheets) > 1:
            head.notes.append(f"This is the sheet '{sheet.title}', the first of {len(book.worksheets)}.")
    finally:
        book.close()
    return head


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        return str(
            value.isoformat(sep=" ") if hasattr(value, "hour") and hasattr(value, "year") else value.isoformat()
        )
    return str(value)
