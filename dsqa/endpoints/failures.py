"""The two ways a request can fail: for now, or for good."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

__all__ = ["Failure", "PassingFailure", "PermanentFailure", "Scope"]


class Scope(Enum):
    """How much a permanent failure rules out."""

    ENDPOINT = "endpoint"
    """Every request to the endpoint: wrong key, no credit."""
    MODEL = "model"
    """Every request for this model: there is no such model."""
    PARAMETERS = "parameters"
    """Requests with these parameters, unless others with the same ones were answered."""
    REQUEST = "request"
    """This request alone: too long for the model, blocked by a content filter."""


class Failure(Exception):  # noqa: N818  (a failed request is an outcome here, not an error)
    """A request that brought no answer.

    Parameters
    ----------
    kind
        The class of the error, as the record keeps it: ``timeout``, ``connection``, ``rate limit``, ….
    message
        One line, free of keys.
    status
        The HTTP status, or None where no response came.

    Attributes
    ----------
    headers
        Rate-limit headers of the response, names in lower case; empty where no response came.
    request
        The body that was sent, where it is not the one that was asked for; else None.
    adapted
        What the endpoint made us change in the request; see `Reply`.
    started_at, retries
        Of the recorded run, where this is one played back; else None.
    """

    def __init__(self, kind: str, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.headers: Mapping[str, str] = {}
        self.request: dict[str, Any] | None = None
        self.adapted: tuple[dict[str, Any], ...] = ()
        self.started_at: str | None = None
        self.retries: int | None = None

    def to_error(self) -> dict[str, Any]:
        """Return the failure as a record's `error`."""
        return {"class": self.kind, "message": self.message, "status": self.status}


class PassingFailure(Failure):
    """Worth another try: rate limit, server error, timeout, broken connection or body.

    Parameters
    ----------
    retry_after
        Seconds to wait, where the endpoint named them.
    """

    def __init__(
        self, kind: str, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(kind, message, status=status)
        self.retry_after = retry_after

    @property
    def unreachable(self) -> bool:
        """Nothing answered at all: no connection could be made."""
        return self.kind == "connection"


class PermanentFailure(Failure):
    """Another try gives the same.

    Parameters
    ----------
    scope
        What else will fail likewise.
    hint
        How to mend it, for a person.
    """

    def __init__(
        self, kind: str, message: str, *, scope: Scope, status: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(kind, message, status=status)
        self.scope = scope
        self.hint = hint
