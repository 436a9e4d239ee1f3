"""Rows of plain tables, one by one: CSV and its kin, Excel workbooks, JSON, Parquet."""

from __future__ import annotations

import codecs
import contextlib
import csv
import importlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime, time
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from dsqa.errors import SourceError
from dsqa.importing.columns import known_name
from dsqa.importing.files import bare_name, head, json_lines, open_source, parse_json
from dsqa.importing.runs import ImportReport
from dsqa.installed import openpyxl_for

__all__ = ["Row", "kind_of", "rows_of"]

_DELIMITERS = ",;\t|"
_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHOLE_JSON = 256 << 20
_PARQUET, _WORKBOOK = b"PAR1", b"PK\x03\x04"
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (codecs.BOM_UTF8, "utf-8-sig"))
_ROWS_SEARCHED = 20


class Row(NamedTuple):
    """A row of a table: its values by column, and where it stands (1-based line, or row)."""

    line: int
    values: dict[str, Any]


def kind_of(path: Path) -> str | None:
    """Return csv, xlsx, jsonl, json or parquet, by the file's first bytes, then its name; None for another file."""
    with contextlib.suppress(OSError), path.open("rb") as handle:
        begins = handle.read(4)
        if begins == _PARQUET:
            return "parquet"
        if begins == _WORKBOOK and path.suffix.lower() in {".xlsx", ".xlsm"}:
            return "xlsx"
    text = head(path, 4096)
    name = bare_name(path).lower()
    if text.lstrip()[:1] == b"{":
        return "jsonl"
    if text.lstrip()[:1] == b"[" and not name.endswith((".csv", ".tsv", ".tab", ".txt")):
        return "json"
    utf16 = text[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
    return "csv" if text.strip() and (utf16 or b"\0" not in text) else None


def rows_of(path: Path, report: ImportReport, named: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows of a table, never holding all of them (of Excel and a list in JSON, the format has its own way).

    Parameters
    ----------
    path
        The table.
    report
        Where rows and sheets that are left out are told.
    named
        Columns that a person named: they tell a header as known names do.

    Raises
    ------
    SourceError
        It is no table, or a row cannot be read and is not to be passed over.
    MissingDependencyError
        It is a workbook, and openpyxl is not installed.
    """
    kind = kind_of(path)
    wanted = {name.strip().casefold() for name in named if name.strip()}
    if kind == "csv":
        return _delimited(path, report, wanted)
    if kind == "xlsx":
        return _workbook(path, report, wanted)
    if kind == "jsonl":
        return (Row(line, _flat(row)) for line, row in json_lines(path, report))
    if kind == "json":
        return _document(path, report)
    if kind == "parquet":
        return _parquet(path)
    raise SourceError("is no table", path=path, hint="a table is a .csv, .tsv, .xlsx, .jsonl or .parquet file")


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested objects as columns with dots: usage.completion_tokens."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and value:
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _delimited(path: Path, report: ImportReport, wanted: Collection[str]) -> Iterator[Row]:
    encoding = _encoding(path, report)
    with open_source(path) as raw, _long_cells():
        text = io.TextIOWrapper(raw, encoding=encoding, newline="", errors="replace")
        first = text.readline()
        said = _SEP_LINE.fullmatch(first)
        skipped = int(said is not None)
        # A quoted name may hold the end of a line: a few lines more are enough to see the delimiter.
        begins = [] if said else [first]
        begins += list(islice(text, 5))
        delimiter = said[1] if said else _delimiter("".join(begins), wanted)
        reader = csv.reader(chain(begins, text), delimiter=delimiter)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1 + skipped
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                report.skip(path, line, f"cannot be read as a table: {error}")
                continue
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_header(header, path, line)
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                mark = {"\t": "tab"}.get(delimiter, f"'{delimiter}'")
                hint = f'put a text with a {mark} in it into "quotes"'
                report.skip(path, line, f"has {len(cells)} cells, and the header has {len(header)}", hint)
                continue
            yield Row(line, {name: cell for name, cell in zip(header, cells, strict=False) if name})


@contextlib.contextmanager
def _long_cells() -> Iterator[None]:
    # The limit is the whole process's: whoever else reads CSV keeps their own.
    before = csv.field_size_limit(min(sys.maxsize, (1 << 31) - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: Path, report: ImportReport) -> str:
    """Return a file's encoding: by its mark, else UTF-8 where all of it is, else that of Excel on many machines."""
    with open_source(path) as raw:
        begins = raw.read(4)
        marked = next((name for mark, name in _MARKS if begins.startswith(mark)), None)
        if marked is not None:
            return marked
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(begins)
            while piece := raw.read(1 << 20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            # Five of its bytes stand for nothing; they are replaced when the file is read.
            report.note("files are not UTF-8 and were read as Windows-1252: look that accents came out right")
            return "cp1252"
    return "utf-8"


def _is_known(name: str, wanted: Collection[str]) -> bool:
    return known_name(name) is not None or name.strip().casefold() in wanted


def _delimiter(text: str, wanted: Collection[str]) -> str:
    """Return the delimiter under which most of the first row's cells are known names."""
    best, most = ",", (0, 0)
    for delimiter in _DELIMITERS:
        try:
            cells = next(iter(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), [])
        except csv.Error:
            continue
        found = (sum(_is_known(cell, wanted) for cell in cells), len(cells))
        if found > most:
            best, most = delimiter, found
    return best


def _check_header(header: list[str], path: Path, line: int) -> None:
    named = [name for name in header if name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise SourceError(f"has two columns '{twice}'", path=path, line=line, hint="rename one of them")


def _workbook(path: Path, report: ImportReport, wanted: Collection[str]) -> Iterator[Row]:
    openpyxl = openpyxl_for(path)
    try:
        book = openpyxl.load_workbook(path, data_only=True, read_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
        hint = "open it in Excel and save it as .xlsx, without a password"
        raise SourceError("is not a readable Excel file", path=path, hint=hint) from None
    try:
        read = 0
        for sheet in book.worksheets:
            header: list[str] | None = None
            for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                if header is None:
                    names = ["" if cell is None else str(cell).strip() for cell in cells]
                    if sum(_is_known(name, wanted) for name in names) >= 2:
                        header = names
                        _check_header(header, path, number)
                    elif number >= _ROWS_SEARCHED:
                        break
                elif any(cell is not None for cell in cells):
                    read += 1
                    values = {n: _cell(c) for n, c in zip(header, cells, strict=False) if n}
                    yield Row(number, values)
            if header is None and sheet.max_row and len(book.worksheets) > 1:
                report.leave_out(f"sheet '{sheet.title}'", "none of its first rows names columns")
        if not read:
            hint = "say what its columns are: --format table --column text=COLUMN --column question=COLUMN"
            raise SourceError("no sheet has a row of known column names and rows below it", path=path, hint=hint)
    finally:
        book.close()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), value) if isinstance(value, str) else value


def _document(path: Path, report: ImportReport) -> Iterator[Row]:
    with open_source(path) as raw:
        text = raw.read(_WHOLE_JSON + 1)
    if len(text) > _WHOLE_JSON:
        hint = "write one row to a line first: jq -c '.[]' FILE > FILE.jsonl"
        raise SourceError("is too long for one list in JSON", path=path, hint=hint)
    try:
        rows = parse_json(text.removeprefix(codecs.BOM_UTF8))
    except ValueError as error:
        raise SourceError(str(error), path=path) from None
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield Row(number, _flat(row))
        else:
            report.skip(path, number, "is no {…} object")


def _parquet(path: Path) -> Iterator[Row]:
    parquet = importlib.import_module("pyarrow.parquet")
    arrow = importlib.import_module("pyarrow")
    try:
        with parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield Row(number, _flat({k: _cell(v) for k, v in row.items()}))
    except arrow.ArrowException as error:
        raise SourceError(f"is not a readable Parquet file: {error}", path=path) from None


def as_json_text(value: Any) -> str:
    """Return a value as the text it stands for: a text itself, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
