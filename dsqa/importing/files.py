"""Source files as streams, packed or not, and their lines as JSON."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import lzma
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from pydantic_core import from_json

from dsqa.errors import MissingDependencyError, SourceError
from dsqa.importing.runs import ImportReport

__all__ = ["bare_name", "first_object", "head", "json_lines", "open_source", "parse_json", "zstd_stream"]

_PACKED = (".gz", ".zst", ".xz", ".zip")
_GZIP, _ZSTD, _XZ, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"PK\x03\x04"
_FIRST_LINE = 1 << 26
_BOM = b"\xef\xbb\xbf"


def bare_name(path: Path) -> str:
    """Return a file's name without the endings that only say how it is packed."""
    name = path.name
    while PurePosixPath(name).suffix.lower() in _PACKED:
        name = name[: -len(PurePosixPath(name).suffix)]
    return name


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked if it is gzip, zstd, xz, or a zip file with one file in it.

    How it is packed is told by its first bytes, not by its name.

    Raises
    ------
    SourceError
        It cannot be read, or a zip file holds several files.
    MissingDependencyError
        It is packed with zstd, and nothing here unpacks that.
    """
    try:
        with contextlib.ExitStack() as stack:
            raw = stack.enter_context(path.open("rb"))
            begins = raw.read(6)
            raw.seek(0)
            yield _unpacked(raw, begins, path, stack)
    except IsADirectoryError:
        raise SourceError("is a folder, not a file", path=path, hint="name the files in it") from None
    except FileNotFoundError:
        raise SourceError("no such file", path=path) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise SourceError(f"is packed, and broken: {error}", path=path, hint="fetch or pack it again") from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path=path) from None


def _unpacked(raw: IO[bytes], begins: bytes, path: Path, stack: contextlib.ExitStack) -> IO[bytes]:
    if begins.startswith(_GZIP):
        return cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=raw)))
    if begins.startswith(_XZ):
        return stack.enter_context(lzma.open(raw))
    if begins.startswith(_ZSTD):
        return stack.enter_context(zstd_stream(raw, path))
    if begins.startswith(_ZIP) and path.suffix.lower() == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(raw))
        names = [i for i in archive.infolist() if not i.is_dir() and not i.filename.startswith("__MACOSX/")]
        if len(names) != 1:
            raise SourceError(f"is a zip file with {len(names)} files in it", path=path, hint="unpack it first")
        return stack.enter_context(archive.open(names[0]))
    return raw


def zstd_stream(raw: Any, path: Path) -> Any:
    """Return packed bytes unpacked, of one zstd frame or several; damaged ones are an `OSError`.

    Raises
    ------
    MissingDependencyError
        Nothing here unpacks zstd.
    """
    pyarrow = importlib.import_module("pyarrow")
    try:
        return io.BufferedReader(_Readable(pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, mode="r"), "zstd")))
    except pyarrow.ArrowNotImplementedError:
        raise MissingDependencyError("is packed with zstd", path=path, hint="unpack it first: zstd -d") from None


class _Readable(io.RawIOBase):
    """pyarrow's stream as Python's own buffer wants it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return int(self._stream.readinto(buffer))


def head(path: Path, size: int = 1 << 16) -> bytes:
    """Return the first bytes of a file, unpacked, without a byte order mark; b"" where it cannot be read."""
    try:
        with open_source(path) as stream:
            return stream.read(size).removeprefix(_BOM)
    except (SourceError, MissingDependencyError):
        return b""


def parse_json(text: bytes | str) -> Any:
    """Return what JSON text says; NaN and the infinities are taken as missing, since JSON has no such numbers.

    Raises
    ------
    ValueError
        It is no JSON, with what is wrong and the column.
    """
    with contextlib.suppress(ValueError):
        return from_json(text, allow_inf_nan=False)
    # Slower, and takes what is left: NaN, half characters, numbers of many digits; and says what is wrong.
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON at column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text (byte 0x{error.object[error.start]:02x})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError("holds a number of thousands of digits") from None


def json_lines(path: Path, report: ImportReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (1-based line, object) for each line of a JSON Lines file.

    A line that is no object is passed over if the report allows it.

    Raises
    ------
    SourceError
        A line is no object, and such lines are not to be passed over.
    """
    with open_source(path) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip(b" \t\r\n"):
                continue
            try:
                row = parse_json(text)
            except ValueError as error:
                cut = "; the file ends in the middle of it" if not line.endswith(b"\n") else ""
                report.skip(path, number, f"{error}{cut}")
                continue
            if isinstance(row, dict):
                yield number, row
            else:
                report.skip(path, number, "holds no {…} object")


def first_object(path: Path) -> dict[str, Any] | None:
    """Return the object in the first line of a JSON Lines file that holds anything, or None where it holds none."""
    try:
        with open_source(path) as stream:
            line = stream.readline(_FIRST_LINE).removeprefix(_BOM)
            while line and not line.strip():
                line = stream.readline(_FIRST_LINE)
        row = parse_json(line) if line.lstrip()[:1] == b"{" else None
    except (SourceError, MissingDependencyError, ValueError):
        return None
    return row if isinstance(row, dict) else None
