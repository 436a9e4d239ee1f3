"""Records as lines of JSON: to bytes, back, and through a whole file without holding it."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic_core import to_json

from dsqa.errors import RecordError
from dsqa.records.index import RunIndex
from dsqa.records.record import SCHEMA, Record
from dsqa.records.soundness import check_types

__all__ = ["decode_line", "encode_line", "json_bytes", "lines_of", "read_records", "scan_records"]

_log = logging.getLogger("dsqa.records")


def encode_line(record: Record) -> bytes:
    r"""Return the record as one line of UTF-8 JSON, newline included.

    A text with lone surrogates has no UTF-8 form; such a record is written with ``\u`` escapes instead and
    survives the round trip.
    """
    return json_bytes(record.to_dict()) + b"\n"


def json_bytes(value: Any) -> bytes:
    r"""Return `value` as compact JSON in UTF-8; in ASCII, with ``\u`` escapes, where it holds lone surrogates."""
    try:
        # Ten times as quick as json.dumps, which is a tenth of what a whole run costs.
        return to_json(value, inf_nan_mode="constants")
    except ValueError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def decode_line(line: bytes, path: Path, number: int) -> Record:
    """Return the record that a line holds.

    Raises
    ------
    RecordError
        The line is no record; the message names `path` and the 1-based line `number`.
    """
    try:
        row = json.loads(line)
        if not isinstance(row, dict):
            raise TypeError(f"a JSON {type(row).__name__}, not an object")
        if not isinstance(row.get("schema", SCHEMA), int):
            raise TypeError("field 'schema' is no number")
        if row.get("schema", SCHEMA) > SCHEMA:
            raise RecordError(
                f"was written by a later dsqa (record schema {row['schema']}, this one reads {SCHEMA})",
                path=path,
                line=number,
                hint="upgrade dsqa",
            )
        record = Record.from_dict(row)
        check_types(record)
        return record
    except KeyError as missing:
        raise RecordError(f"is no record: it has no field {missing}", path=path, line=number) from None
    except (ValueError, RecursionError, TypeError) as error:
        # Python's own words for it speak of its settings.
        what = "a number in it has thousands of digits" if "integer string" in str(error) else str(error)
        raise RecordError(
            f"is no record: {what}",
            path=path,
            line=number,
            hint="'dsqa records check STUDY --mend' sets such lines aside; the others stay",
        ) from None


def scan_records(path: Path, index: RunIndex) -> Iterator[Record]:
    """Yield the records of a file in file order, adding each to `index`; of two with one key only the first.

    What follows the last newline is a line still being written (or torn by a kill), and is left out.
    """
    repeats = 0
    for number, line in enumerate(lines_of(path), start=1):
        if not line.endswith(b"\n"):
            break
        if line.isspace():
            continue
        record = decode_line(line, path, number)
        if index.add(record.key, record.status):
            yield record
        else:
            repeats += 1
    if repeats:
        _log.warning("%s: %d line(s) repeat a run that is recorded before; the first one counts", path, repeats)


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file of records, packed or not, as they are; none where there is no such file.

    Raises
    ------
    RecordError
        It cannot be read, or its packing is damaged.
    """
    try:
        # A study that was packed to be handed on; nothing is ever appended to it.
        packed = path.suffix == ".gz"
        handle = cast("BinaryIO", gzip.GzipFile(path)) if packed else path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", path=path) from None
    with handle:
        try:
            yield from handle
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise RecordError(
                f"is damaged: {error}", path=path, hint="fetch it again from where the study came from"
            ) from None


def read_records(path: Path) -> Iterator[Record]:
    """Yield the recorded runs of a `records.jsonl` (or `.jsonl.gz`), in file order, one at a time.

    Parameters
    ----------
    path
        The file. One that is not there holds no runs.

    Yields
    ------
    Record
        Each run once: where two lines have one key, the first counts, and a warning on the logger
        ``dsqa.records`` says so.

    Raises
    ------
    RecordError
        A line is no record; the message names it.
    """
    yield from scan_records(path, RunIndex())
