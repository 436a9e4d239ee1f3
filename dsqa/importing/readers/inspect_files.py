"""Inspect's two kinds of log file, opened: the header, then sample by sample.

Format: https://inspect.aisi.org.uk/eval-logs.html. An ``.eval`` file is a zip archive with ``header.json`` (while the
evaluation runs, or where it was killed: ``_journal/start.json``) and a member ``samples/ID_epoch_N.json`` per sample;
a ``.json`` file holds the same as one object.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

from dsqa.errors import MissingDependencyError, SourceError
from dsqa.importing.files import head, open_source, parse_json, zstd_stream
from dsqa.importing.readers.json_stream import Place, json_members
from dsqa.importing.runs import ImportReport

__all__ = ["begins_like_a_log", "read_header", "read_samples", "reads_with"]

_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json")
_IN_CHUNKS = re.compile(r"samples/.+_epoch_\d+/sample\.json")
_ZIP, _ZSTD = b"PK\x03\x04", 93
_UNUSED = frozenset({"events", "events_data", "store", "timelines"})
"""Of a sample: its transcript, most of its bytes, of which nothing is needed."""
# What is long in a sample and is read piece by piece; a name of "" stands for an object's members.
_PIECES: tuple[Place, ...] = (
    ("events",),
    ("events_data", "messages"),
    ("events_data", "calls"),
    ("store", ""),
    ("attachments", ""),
)
_DAMAGED = (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile)
_WHOLE_IN_MEMORY = 64 << 20
"""Larger JSON logs are read here, since inspect_ai holds the whole of one."""


def begins_like_a_log(path: Path) -> float:
    """Return how sure it is that a file is one of Inspect's logs."""
    begins = head(path)
    if begins.startswith(_ZIP):
        return 1.0 if path.suffix.lower() == ".eval" else 0.9 * _has_log_members(path)
    if begins.lstrip().startswith(b"{") and b'"eval"' in begins and b'"task"' in begins and b'"version"' in begins:
        return 0.95
    return 0.0


def _has_log_members(path: Path) -> bool:
    with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        return any(name in archive.NameToInfo for name in ("header.json", "_journal/start.json"))
    return False


def reads_with(path: Path) -> str | None:
    """Return inspect_ai's version where it is installed and is to read a log; DSQA_OWN_READER=1 says it is not."""
    if os.environ.get("DSQA_OWN_READER") == "1":
        return None
    if not _is_archive(path) and path.stat().st_size > _WHOLE_IN_MEMORY:
        return None
    try:
        return version("inspect_ai")
    except PackageNotFoundError:
        return None


def _is_archive(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as stream:
        return stream.read(4) == _ZIP
    return False


def read_header(path: Path) -> dict[str, Any]:
    """Return everything of a log but its samples.

    Raises
    ------
    SourceError
        The file is no log, or a broken one.
    """
    if _is_archive(path):
        with _archive(path) as archive:
            name = next((n for n in ("header.json", "_journal/start.json") if n in archive.NameToInfo), None)
            if name is None:
                raise SourceError("is a zip archive without an Inspect log in it", path=path)
            with _member(archive, name, path) as stream:
                header = _parsed(stream.read(), path, name)
        header.setdefault("status", "started")
    else:
        header = {}
        with _said(path), open_source(path) as stream:
            for place, value in json_members(stream, [("samples",)]):
                if place == ("samples",) and "eval" in header:
                    break
                if len(place) == 1 and place != ("samples",):
                    header[place[0]] = value
    if not isinstance(header.get("eval"), dict) or not isinstance(header["eval"].get("model"), str):
        raise SourceError("is no Inspect log: it does not say which model was asked", path=path)
    return header


def read_samples(path: Path, report: ImportReport) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where a sample stands, and the sample without its transcript, one at a time.

    Raises
    ------
    SourceError
        The file is broken, and such places are not to be passed over.
    """
    if reads_with(path) is not None:
        yield from _through_inspect(path)
    elif _is_archive(path):
        yield from _from_archive(path, report)
    else:
        yield from _from_json(path, report)


def _through_inspect(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    log = importlib.import_module("inspect_ai.log")
    fields: dict[str, Any] = {}
    if "exclude_fields" in inspect.signature(log.read_eval_log_samples).parameters:
        fields["exclude_fields"] = set(_UNUSED)
    try:
        if _is_archive(path):
            samples = log.read_eval_log_samples(str(path), all_samples_required=False, **fields)
        else:
            samples = iter(log.read_eval_log(str(path)).samples or ())
        for sample in samples:
            found = sample.model_dump(mode="json", exclude_none=True, exclude=_UNUSED)
            yield f"{path}:{sample.id} epoch {sample.epoch}", found
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        first = str(error).strip().splitlines()
        hint = "DSQA_OWN_READER=1 reads it without inspect_ai"
        raise SourceError(
            f"inspect_ai cannot read it: {first[0] if first else type(error).__name__}", path=path, hint=hint
        ) from None


def _from_archive(path: Path, report: ImportReport) -> Iterator[tuple[str, dict[str, Any]]]:
    with _archive(path) as archive:
        # A sample that was tried again is there twice under one name; the directory's last entry counts.
        names = [name for name in archive.NameToInfo if _SAMPLE.fullmatch(name)]
        again = sum(1 for entry in archive.infolist() if _SAMPLE.fullmatch(entry.filename)) - len(names)
        if again:
            report.leave_out("samples that were replaced later in the log", "the last one of a name counts", again)
        chunked = sum(1 for name in archive.NameToInfo if _IN_CHUNKS.fullmatch(name))
        if chunked:
            report.leave_out("samples in chunks", "a trial layout of Inspect's that it does not read itself", chunked)
        for name in names:
            sample: dict[str, Any] = {}
            try:
                with _member(archive, name, path) as stream:
                    for place, value in json_members(stream, _PIECES):
                        _put(sample, place, value)
            except _DAMAGED as error:
                report.skip(path, None, f"{name} cannot be read: {error}")
                continue
            yield f"{path}:{name}", sample


def _from_json(path: Path, report: ImportReport) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with open_source(path) as stream:
            for place, value in json_members(stream, [("samples",)]):
                if place == ("samples",) and isinstance(value, dict):
                    sample = {name: member for name, member in value.items() if name not in _UNUSED}
                    yield f"{path}:{sample.get('id')} epoch {sample.get('epoch')}", sample
    except ValueError as error:
        report.skip(path, None, str(error))


def _put(sample: dict[str, Any], place: Place, value: Any) -> None:
    if place[0] in _UNUSED:
        return
    if len(place) == 1:
        sample[place[0]] = value
    else:
        sample.setdefault(place[0], {})[place[1]] = value


def _parsed(text: bytes, path: Path, name: str) -> dict[str, Any]:
    try:
        found = parse_json(text)
    except ValueError as error:
        raise SourceError(f"{name} in it is {error}", path=path) from None
    if not isinstance(found, dict):
        raise SourceError(f"{name} in it holds no {{…}} object", path=path)
    return found


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise SourceError(str(error), path=path) from None


@contextlib.contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        hint = "the end of an archive is what is written last: was the log cut short, or copied while it was written?"
        raise SourceError(f"is a broken zip archive: {error}", path=path, hint=hint) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path=path) from None


@contextlib.contextmanager
def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[IO[bytes]]:
    entry = archive.NameToInfo[name]
    if entry.compress_type != _ZSTD:
        try:
            with archive.open(entry) as stream:
                yield stream
        except NotImplementedError:
            raise MissingDependencyError(
                f"{name} in it is packed in a way that is not known here (method {entry.compress_type})", path=path
            ) from None
        return
    # Python's zipfile unpacks zstd from 3.14 on; and stops after one frame, of which Inspect writes several.
    with path.open("rb") as raw, zstd_stream(_Part(raw, *_extent(raw, entry, path)), path) as stream:
        yield stream


def _extent(raw: IO[bytes], entry: zipfile.ZipInfo, path: Path) -> tuple[int, int]:
    """Return where a member's packed bytes begin and how many they are; its own header's lengths may differ."""
    raw.seek(entry.header_offset)
    header = raw.read(30)
    if len(header) < 30 or header[:4] != _ZIP:
        raise SourceError(f"is a broken zip archive: {entry.filename} is not where it should be", path=path)
    name, extra = struct.unpack("<HH", header[26:30])
    return entry.header_offset + 30 + name + extra, entry.compress_size


class _Part(io.RawIOBase):
    """Some bytes in the middle of a file, as a file."""

    def __init__(self, raw: IO[bytes], start: int, size: int) -> None:
        self._raw, self._left = raw, size
        raw.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._raw.read(min(len(buffer), self._left))
        self._left -= len(found)
        buffer[: len(found)] = found
        return len(found)
