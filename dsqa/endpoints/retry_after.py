"""How long an endpoint asks us to wait (RFC 9110, section 10.2.3, and the millisecond form)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from dsqa.endpoints.headers import header_number

__all__ = ["retry_after_seconds"]


def retry_after_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds to wait that response headers name, or None.

    Parameters
    ----------
    headers
        Response headers, names in any case if the mapping is caseless, else in lower case.
    now
        POSIX time that an HTTP date is compared with; by default the response's own ``Date``, so that clocks which
        differ do not matter, else the present one.
    """
    value = header_number(headers.get("retry-after-ms"))
    if value is not None:
        return value / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    value = header_number(text)
    if value is not None:
        return value
    until = _posix(text)
    if until is None:
        return None
    if now is None:
        now = _posix(headers.get("date"))
    return max(0.0, until - (time.time() if now is None else now))


def _posix(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date or "").timestamp()
    except (ValueError, OverflowError):
        return None
