"""The two ways of asking: chat completions, and the Responses API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dsqa.endpoints.reply import Reply, read_replies
from dsqa.endpoints.responses import read_response, response_request

__all__ = ["DIALECTS", "Dialect"]


@dataclass(frozen=True)
class Dialect:
    """How an API is asked, and its answers read.

    Parameters
    ----------
    name
        As `api` in a study.
    path
        After the endpoint's address.
    asked_for
        What it gives, in words.
    write
        The body for a request, which dsqa plans as one for chat completions; None where that is the body.
    read
        Replies from a response's body, seconds and rate-limit headers.
    """

    name: str
    path: str
    asked_for: str
    write: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    read: Callable[[Any, float, Mapping[str, str]], tuple[Reply, ...]]


DIALECTS = {
    "chat": Dialect("chat", "/chat/completions", "chat completions", lambda _request: None, read_replies),
    "responses": Dialect("responses", "/responses", "Responses API", response_request, read_response),
}
