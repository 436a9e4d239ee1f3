"""What a prompt shows of a data file: its size, its columns with their kinds, its first rows."""

from __future__ import annotations

import csv
import io
import re
from functools import lru_cache
from pathlib import Path

from dsqa.errors import BankError
from dsqa.prompting.tables import ROWS_TYPED, Head, read_head

__all__ = ["MOST_CHARACTERS", "MOST_COLUMNS", "preview"]

#: A wider table, or a longer cell, is cut, and the preview says by how much.
MOST_COLUMNS = 40
MOST_CHARACTERS = 80
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "vertical bar", " ": "spaces"}


def preview(path: Path, rows: int) -> str:
    """Describe a data file in a few lines; the same file gives the same text everywhere.

    Parameters
    ----------
    path
        The data file. Tables (CSV, TSV, TXT, DAT, XLSX) are shown; of other files only the name.
    rows
        How many of the first rows to show; 0 for none.

    Returns
    -------
    str
        Lines without a final line break. An empty cell is shown as NA.

    Raises
    ------
    BankError
        The file is not there or is not a readable table.
    MissingDependencyError
        An XLSX file, and openpyxl is not installed.
    """
    try:
        stat = path.stat()
    except FileNotFoundError:
        raise BankError("no such data file", path=path) from None
    except OSError as error:
        raise BankError(f"cannot be read: {error.strerror or error}", path=path) from None
    # A study asks for the same preview once per cell; a large file should be counted once.
    return _preview(path, rows, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _preview(path: Path, rows: int, _size: int, _changed: int) -> str:
    head = read_head(path, rows)
    if head is None:
        return f"File: {path.name}"
    return "\n".join(_lines(path.name, head))


def _lines(name: str, head: Head) -> list[str]:
    width = len(head.names)
    details = [_count(head.row_count, "row"), _count(width, "column")]
    if head.delimiter in _SEPARATORS:
        details.append(f"separator: {_SEPARATORS[head.delimiter]}")
    if not head.has_header:
        details.append("no header line")
    columns = [
        f"{_cut(column) or '(no name)'} ({kind.name}{f', {kind.missing} missing' if kind.missing else ''})"
        for column, kind in zip(head.names[:MOST_COLUMNS], head.kinds, strict=False)
    ]
    if width > MOST_COLUMNS:
        columns.append(f"… and {_count(width - MOST_COLUMNS, 'more column')}")
    lines = [f"File: {name} ({', '.join(details)})", f"Columns: {', '.join(columns)}"]
    if head.row_count > ROWS_TYPED:
        lines.append(f"(Kinds and missing values are those of the first {ROWS_TYPED} rows.)")
    lines.extend(head.notes)
    if head.rows:
        first = "row" if len(head.rows) == 1 else f"{len(head.rows)} rows"
        lines.append(f"First {first}:")
        if head.has_header:
            lines.append(_row(head.names, head.delimiter))
        lines.extend(_row([c if c.strip() else "NA" for c in cells], head.delimiter) for cells in head.rows)
    return lines


def _row(cells: list[str], delimiter: str) -> str:
    texts = [_cut(cell) for cell in cells[:MOST_COLUMNS]]
    if len(cells) > MOST_COLUMNS:
        texts.append("…")
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow(texts)
    return line.getvalue()


def _cut(cell: str) -> str:
    # One line per row: a line break within a cell is shown as the two characters \n. Not str.isprintable(),
    # whose answer changes with Python's edition of Unicode.
    text = _CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), cell)
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… ({len(text) - MOST_CHARACTERS} more characters)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
