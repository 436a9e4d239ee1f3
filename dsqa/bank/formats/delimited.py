"""CSV and its kin: a header, one question per row; commas, semicolons, tabs or bars between the cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from dsqa.bank.cells import table_of
from dsqa.bank.columns import field_named
from dsqa.bank.findings import Finding
from dsqa.bank.formats.text import read_text
from dsqa.bank.model import Question
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["HEADER_HINT", "read", "write"]

HEADER_HINT = "the first row names the columns; at least 'question' and 'answer'"
_DELIMITERS = ",;\t|"
_LONGEST_CELL = 10_000_000
_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_DECIMAL_POINT = re.compile(r"-?\d+\.\d+\s?%?")


def read(path: Path) -> Source:
    """Read a delimited file; the delimiter is the one under which the header reads best.

    Raises
    ------
    BankError
        It has no header with a question column.
    """
    text, findings = read_text(path)
    skipped = 0
    said = _SEP_LINE.match(text)
    if said:
        text, skipped = text[said.end() :], 1
    delimiter = said[1] if said else _delimiter(text)
    with _long_cells():
        header, rows = _rows(text, delimiter, skipped, path, findings)
    if header is None:
        raise BankError("holds no question", path=path, hint=HEADER_HINT)
    comma = delimiter == ";" and not any(_has_decimal_point(row) for row in rows)
    return Source(tuple(rows), tuple(findings), decimal_comma=comma)


@contextmanager
def _long_cells() -> Iterator[None]:
    # The limit is the whole process's: whoever else reads CSV keeps their own.
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _rows(
    text: str, delimiter: str, skipped: int, path: Path, findings: list[Finding]
) -> tuple[list[str] | None, list[Row]]:
    """Return the header and the rows; what cannot be read is added to `findings`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] | None = None
    rows: list[Row] = []
    while True:
        line = reader.line_num + 1 + skipped
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            findings.append(Finding(None, f"cannot be read as a table: {error}", line=line))
            break
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = cells
            _check_header(header, path, line)
            continue
        extra = [cell for cell in cells[len(header) :] if cell.strip()]
        if extra:
            message = f"has {len(cells)} cells, and the header has {len(header)}"
            mark = {"\t": "tab"}.get(delimiter, f"'{delimiter}'")
            findings.append(Finding(None, message, f'put a text with a {mark} in it into "quotes"', line=line))
            continue
        values = {name: cell for name, cell in zip(header, cells, strict=False) if name.strip() and cell.strip()}
        rows.append(Row(values, line, tabular=True))
    return header, rows


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write a table that Excel opens as it is: with a byte order mark, quotes only where needed."""
    header, rows = table_of(questions)
    delimiter = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ","
    with path.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.writer(handle, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


def _delimiter(text: str) -> str:
    """Return the delimiter under which most of the first row's cells are names of fields."""
    best, most = ",", (0, 0)
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(text[:100_000], newline=""), delimiter=delimiter)
        try:
            first = next((row for row in islice(reader, 20) if any(c.strip() for c in row)), [])
        except csv.Error:
            continue
        known = sum(field_named(cell) is not None for cell in first)
        if (known, len(first)) > most:
            best, most = delimiter, (known, len(first))
    return best


def _check_header(header: list[str], path: Path, line: int) -> None:
    if not any(field_named(name) == "question" for name in header):
        names = ", ".join(name.strip() or "(blank)" for name in header[:8]) + (" …" if len(header) > 8 else "")
        raise BankError(f"has no column 'question' (it has: {names})", path=path, line=line, hint=HEADER_HINT)
    named = [name.strip() for name in header if name.strip()]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise BankError(f"has two columns '{twice}'", path=path, line=line, hint="rename one of them")


def _has_decimal_point(row: Row) -> bool:
    return any(
        field_named(name) in {"common_answers", "tolerance"} and _DECIMAL_POINT.fullmatch(str(value).strip())
        for name, value in row.values.items()
    )
