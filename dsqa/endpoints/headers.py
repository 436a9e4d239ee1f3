"""The few response headers that say how fast an endpoint may be asked."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["header_number", "rate_limit_headers"]

_PREFIXES = ("x-ratelimit-", "ratelimit", "anthropic-ratelimit-", "retry-after")


def rate_limit_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the rate-limit headers of a response, names in lower case.

    These are ``x-ratelimit-*`` (OpenAI and most others), ``ratelimit*`` (the IETF draft), ``anthropic-ratelimit-*``
    and ``retry-after*``; no other header is kept.
    """
    lowered = ((name.lower(), value) for name, value in headers.items())
    return {name: value for name, value in lowered if name.startswith(_PREFIXES)}


def header_number(text: str | None) -> float | None:
    """Return a header's number; None where it holds none, or one below 0 (some proxies say -1 for "no limit")."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
