"""What an endpoint's rate-limit headers say of the time to come.

Read are ``x-ratelimit-{limit,remaining,reset}-{requests,tokens}`` (OpenAI, vLLM proxies, Groq, Together, Azure: reset
as ``6m0s`` or seconds), ``x-ratelimit-{limit,remaining,reset}`` (OpenRouter and GitHub: reset as POSIX time),
``anthropic-ratelimit-{requests,tokens,…}-{limit,remaining,reset}`` (reset as RFC 3339), and the fields of the IETF
draft, ``ratelimit-{limit,remaining,reset}`` and ``ratelimit: "name";r=50;t=30``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from dsqa.endpoints.headers import header_number

__all__ = ["Allowance", "allowances"]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ITEM = re.compile(r";\s*([rt])\s*=\s*(\d+(?:\.\d+)?)")
_POSIX = 1e9
_POSIX_MS = 1e12


class Allowance(NamedTuple):
    """What is left of a limit.

    Parameters
    ----------
    unit
        ``requests`` or ``tokens``.
    remaining
        Units left.
    seconds
        Until it is whole again.
    limit
        Units when it is whole, where the endpoint says so.
    """

    unit: str
    remaining: float
    seconds: float
    limit: float | None = None

    def wait_for(self, units: float) -> float:
        """Return the seconds until so many units are there, taken to come back evenly."""
        if self.remaining >= units:
            return 0.0
        if self.remaining <= 0 or self.limit is None or self.limit <= max(self.remaining, units):
            return self.seconds
        return self.seconds * (units - self.remaining) / (self.limit - self.remaining)


def allowances(headers: Mapping[str, str], now: float | None = None) -> list[Allowance]:
    """Return what is left of each limit that the headers speak of.

    Parameters
    ----------
    headers
        Names in lower case.
    now
        POSIX time that points in time are compared with; the present one by default.
    """
    if not headers:
        return []
    now = time.time() if now is None else now
    found = []
    for name, text in headers.items():
        if "remaining" not in name:
            continue
        remaining = header_number(text)
        reset = _seconds(headers.get(name.replace("remaining", "reset")), now)
        if remaining is not None and reset is not None:
            unit = "tokens" if "token" in name else "requests"
            found.append(
                Allowance(unit, remaining, reset, header_number(headers.get(name.replace("remaining", "limit"))))
            )
    items = dict(_ITEM.findall(headers.get("ratelimit", "")))
    if "r" in items and "t" in items:
        found.append(Allowance("requests", float(items["r"]), float(items["t"])))
    return found


def _seconds(text: str | None, now: float) -> float | None:
    if text is None:
        return None
    value = header_number(text)
    if value is not None:
        if value >= _POSIX_MS:
            return max(0.0, value / 1000 - now)
        return max(0.0, value - now) if value >= _POSIX else value
    parts = _DURATION.findall(text.strip())
    if parts and "".join(number + unit for number, unit in parts) == text.strip():
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    try:
        return max(0.0, datetime.fromisoformat(text.strip()).timestamp() - now)
    except ValueError:
        return None
