"""Name what an HTTP error means: try again, or give up, and how much is ruled out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsqa.endpoints.failures import Failure, PassingFailure, PermanentFailure, Scope
from dsqa.endpoints.retry_after import retry_after_seconds
from dsqa.endpoints.secrets import without_credentials
from dsqa.foreign import read_json, visible

__all__ = ["ErrorContext", "classify_response", "error_in", "status_of_error"]

_FILTERED = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
    "invalid_prompt",
}
_NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits"}
_NO_CREDIT_TEXT = re.compile(
    r"credit balance is too low|\b(insufficient|no|any|out of) (account )?(credits?|balance|funds)\b",
    re.I,
)
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_TOO_LONG_TEXT = re.compile(
    r"context (length|size|window)|maximum context|prompt is too long|input is too long", re.I
)
_NO_MODEL = {"model_not_found", "invalid_model", "unknown_model", "deploymentnotfound"}
_NO_MODEL_TEXT = re.compile(
    r"\bmodels?\b.*\b(not found|does not exist|not exist|not a valid|unknown|not supported)"
    r"|\b(not a valid|unknown|no such) model\b|unsupported model",
    re.I,
)
_PASSING = {408: "timeout", 409: "conflict", 425: "too early", 429: "rate limit"}
_LONGEST_MESSAGE = 300


@dataclass(frozen=True)
class ErrorContext:
    """What a message about a failed request may mention."""

    url: str
    model: str
    key_variable: str | None
    models: Sequence[str] = ()
    """Models the endpoint says it has; empty where it did not say."""
    asked_for: str = "chat completions"
    """What the request was one for, in words."""


def classify_response(status: int, headers: Mapping[str, str], body: str, about: ErrorContext) -> Failure:
    """Return the failure that an error response stands for.

    Parameters
    ----------
    status, headers, body
        The response; `body` with the key already struck out.
    about
        Where the request went and what it asked for.
    """
    error = error_in(body)
    codes = {c.lower() for c in _codes(error)}
    said = _one_line(error.get("message") or body)
    wait = retry_after_seconds(headers)

    def permanent(kind: str, scope: Scope, what: str, hint: str | None = None) -> PermanentFailure:
        message = f"{what} (HTTP {status}: {said})" if said else f"{what} (HTTP {status})"
        return PermanentFailure(kind, message, scope=scope, status=status, hint=hint)

    if codes & _FILTERED or (status == 403 and _was_moderated(error)):
        return permanent("content filter", Scope.REQUEST, "the endpoint's content filter blocked the request")
    if status == 402 or codes & _NO_CREDIT or (status in {400, 403} and _NO_CREDIT_TEXT.search(said)):
        return permanent(
            "no credit",
            Scope.ENDPOINT,
            f"{about.url} has no credit left for this key",
            "add credit or use another key",
        )
    if status in {401, 403}:
        name = about.key_variable
        hint = f"check the value of {name}" if name else "name the variable that holds the key as api_key_env"
        return permanent("bad key", Scope.ENDPOINT, f"{about.url} does not accept the key", hint)
    if codes & _TOO_LONG or status == 413 or (status == 400 and _TOO_LONG_TEXT.search(said)):
        return permanent("too long", Scope.REQUEST, "the request is too long for the model")
    if codes & _NO_MODEL or (status in {400, 404, 422} and _NO_MODEL_TEXT.search(said)):
        has = f"it has: {', '.join(about.models)}" if about.models else "check the model's name"
        return permanent("unknown model", Scope.MODEL, f"{about.url} has no model '{about.model}'", has)
    if status == 404:
        return permanent(
            "not found",
            Scope.ENDPOINT,
            f"{about.url} has no {about.asked_for}",
            "check base_url (most end in /v1) and api",
        )
    if 300 <= status < 400:
        where = without_credentials(headers.get("location", "")) or "elsewhere"
        return permanent("moved", Scope.ENDPOINT, f"{about.url} sends us on to {where}", "write that as base_url")
    if status in _PASSING or status >= 500:
        kind = _PASSING.get(status, "server error")
        message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        return PassingFailure(kind, message, status=status, retry_after=wait)
    return permanent(
        "bad request",
        Scope.PARAMETERS,
        f"{about.url} refuses the request to '{about.model}'",
        "change temperatures or request in the study",
    )


def error_in(body: str) -> dict[str, Any]:
    """Return the error object in an error response's body, empty where there is none."""
    try:
        data = read_json(body)
    except ValueError:
        return {}
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return {}
    error = data.get("error", data)
    if isinstance(error, str):
        return {"message": error}
    if not isinstance(error, dict):
        return {}
    # Some servers (vLLM's validation, FastAPI) say `detail` where others say `message`.
    if "message" not in error and "detail" in error:
        return {**error, "message": str(error["detail"])}
    return error


def status_of_error(error: Any) -> int:
    """Return the HTTP status that an error inside a 200 would have had.

    OpenRouter and others report an upstream error there, the Responses API a response that failed.
    """
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and code >= 400:
        return code
    if isinstance(code, str) and code.startswith("invalid"):
        return 400
    return 429 if code == "rate_limit_exceeded" else 502


def _codes(error: Mapping[str, Any]) -> list[str]:
    inner = error.get("innererror")
    found = [error.get("code"), error.get("type"), inner.get("code") if isinstance(inner, dict) else None]
    return [code for code in found if isinstance(code, str)]


def _was_moderated(error: Mapping[str, Any]) -> bool:
    metadata = error.get("metadata")
    return isinstance(metadata, dict) and "reasons" in metadata


def _one_line(text: Any) -> str:
    plain = re.sub(r"<[^>]{0,500}>", " ", str(text))
    line = visible(" ".join(plain.split()))
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"
