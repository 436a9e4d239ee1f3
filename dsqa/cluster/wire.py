"""What travels between the process that was started and its workers: plain data, never a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsqa import errors
from dsqa.endpoints import Failure, PassingFailure, PermanentFailure, Reply, Scope
from dsqa.errors import ClusterError, DsqaError

__all__ = ["Ask", "Opened", "Order", "Outcome", "error_of", "pack_error", "pack_failure", "raise_failure"]


@dataclass(frozen=True)
class Ask:
    """A request to send; with `request` None the endpoint is only to be opened."""

    id: int
    endpoint: str
    request: dict[str, Any] | None
    run: int = 0


@dataclass(frozen=True)
class Order:
    """What a worker is told at a time.

    Parameters
    ----------
    token
        Which session it belongs to.
    endpoints
        Settings of the session's endpoints, as plain data.
    timeout
        Seconds that a request may take.
    asks
        Requests to send.
    dropped
        Ids of requests whose answers nobody waits for any more.
    wait
        Seconds to wait for something to report.
    """

    token: str
    endpoints: dict[str, dict[str, Any]]
    timeout: float
    asks: tuple[Ask, ...]
    dropped: tuple[int, ...]
    wait: float


@dataclass(frozen=True)
class Opened:
    """An endpoint as a worker has opened it."""

    base_url: str
    concurrency_limit: int | None
    versions: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """What came of an `Ask`: one of the fields is set."""

    id: int
    replies: tuple[Reply, ...] | None = None
    opened: Opened | None = None
    failure: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


_KEPT = ("headers", "request", "adapted", "started_at", "retries")


def pack_failure(failure: Failure) -> dict[str, Any]:
    """Return a failure as plain data: exceptions with named arguments do not survive pickling."""
    row: dict[str, Any] = {"kind": failure.kind, "message": failure.message, "status": failure.status}
    if isinstance(failure, PassingFailure):
        row["retry_after"] = failure.retry_after
    elif isinstance(failure, PermanentFailure):
        row |= {"scope": failure.scope.value, "hint": failure.hint}
    kept = {name: getattr(failure, name) for name in _KEPT}
    return {**row, "kept": {**kept, "headers": dict(failure.headers)}}


def raise_failure(row: dict[str, Any]) -> None:
    """Raise the failure that `pack_failure` made `row` of."""
    failure: Failure
    common = (row["kind"], row["message"])
    if "scope" in row:
        failure = PermanentFailure(*common, status=row["status"], scope=Scope(row["scope"]), hint=row["hint"])
    else:
        failure = PassingFailure(*common, status=row["status"], retry_after=row["retry_after"])
    for name, value in row["kept"].items():
        setattr(failure, name, value)
    raise failure


def pack_error(error: DsqaError) -> dict[str, Any]:
    """Return an error as plain data."""
    return {
        "class": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "where": str(error.path or ""),
    }


def error_of(row: dict[str, Any], worker: str) -> DsqaError:
    """Return the error that `pack_error` made `row` of, with the worker it happened on."""
    kind = getattr(errors, row["class"], ClusterError)
    where = f"{row['where']}: " if row["where"] else ""
    error: DsqaError = kind(f"on the worker {worker}: {where}{row['message']}", hint=row["hint"])
    return error
