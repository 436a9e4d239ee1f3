"""The Batch API's files: requests one per line, results one per line.

Format: https://platform.openai.com/docs/guides/batch. Nothing here knows of studies, so any such file can be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from dsqa.errors import RecordError
from dsqa.foreign import read_json

__all__ = ["BatchRequest", "BatchResult", "RequestFile", "encode_request", "read_requests", "read_results"]


class BatchRequest(NamedTuple):
    """A line of an input file."""

    custom_id: str
    url: str
    body: dict[str, Any]


class BatchResult(NamedTuple):
    """A line of an output or error file.

    Parameters
    ----------
    custom_id
        The request's.
    status
        HTTP status of the response, None where the request was not executed (see `error`).
    body
        The response's body: an answer, or an error object.
    error
        Why it was not executed: ``{"code": "batch_expired", "message": …}``.
    """

    custom_id: str
    status: int | None
    body: Any
    error: dict[str, Any] | None


def encode_request(custom_id: str, url: str, body: Mapping[str, Any]) -> bytes:
    """Return one line of an input file, newline included, in ASCII: lone surrogates have no UTF-8 form."""
    row = {"custom_id": custom_id, "method": "POST", "url": url, "body": body}
    return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"


def read_requests(path: Path) -> Iterator[BatchRequest]:
    """Yield the lines of an input file.

    Raises
    ------
    RecordError
        The file cannot be read, or a line is no request; the message names it.
    """
    for number, row in _rows(path):
        body = row.get("body")
        if not isinstance(body, dict):
            raise RecordError("is no request of a batch: it has no body", path=path, line=number)
        yield BatchRequest(row["custom_id"], str(row.get("url")), body)


class RequestFile:
    """An input file whose requests are read by their custom id, one at a time: only their places are held in memory.

    Use it as a context manager.

    Raises
    ------
    RecordError
        The file cannot be read, or a line is no request; the message names it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        try:
            self._handle = path.open("rb")
        except OSError as error:
            raise RecordError(f"cannot be read: {error.strerror}", path=path) from None
        place = 0
        for number, line in enumerate(self._handle, start=1):
            if not line.isspace():
                self._places[_parsed(line, path, number)["custom_id"]] = place
            place += len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()

    def __contains__(self, custom_id: str) -> bool:
        return custom_id in self._places

    def __len__(self) -> int:
        return len(self._places)

    def body(self, custom_id: str) -> dict[str, Any]:
        """Return what a request asked."""
        self._handle.seek(self._places[custom_id])
        body: dict[str, Any] = json.loads(self._handle.readline())["body"]
        return body


def read_results(path: Path, on_bad: Callable[[RecordError], None] | None = None) -> Iterator[BatchResult]:
    """Yield the lines of an output or error file, in their order, which is none.

    Parameters
    ----------
    path
        The file.
    on_bad
        Told of each line that is no result, which is then passed over; None: it is an error.

    Raises
    ------
    RecordError
        The file cannot be read, or a line is no result; the message names it.
    """
    for number, row in _rows(path, on_bad):
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(response.get("status_code"), int):
            yield BatchResult(row["custom_id"], response["status_code"], response.get("body"), None)
        elif isinstance(error, dict):
            yield BatchResult(row["custom_id"], None, None, error)
        else:
            what = "is no result of a batch: it has neither a response nor an error"
            _bad(RecordError(what, path=path, line=number), on_bad)


def _bad(error: RecordError, on_bad: Callable[[RecordError], None] | None) -> None:
    if on_bad is None:
        raise error
    on_bad(error)


def _rows(path: Path, on_bad: Callable[[RecordError], None] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        handle = path.open("rb")
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", path=path) from None
    with handle:
        for number, line in enumerate(handle, start=1):
            if line.isspace():
                continue
            try:
                row = _parsed(line, path, number)
            except RecordError as error:
                _bad(error, on_bad)
                continue
            yield number, row


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = read_json(line)
    except ValueError as error:
        raise RecordError(f"is no JSON: {error}", path=path, line=number) from None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        raise RecordError("has no custom_id", path=path, line=number)
    return row
