"""When to send: how long to wait after a failure, and for how long a whole endpoint is left alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import numpy as np

__all__ = ["LONGEST_WAIT", "Pacer", "backoff_seconds", "duration", "wait_unless"]

FIRST_WAIT = 1.0
LONGEST_BACKOFF = 60.0
LONGEST_WAIT = 300.0
"""An endpoint that asks for a longer pause (a daily quota) is not waited for."""


def backoff_seconds(attempt: int, retry_after: float | None, rng: np.random.Generator) -> float:
    """Return the seconds to wait before trying again.

    Exponential backoff with full jitter, U(0, min(60, 2^attempt)) [1]_, on top of what the endpoint asks for.

    Parameters
    ----------
    attempt
        Failed tries before this one, from 0.
    retry_after
        Seconds the endpoint asks for.
    rng
        Where the jitter comes from.

    References
    ----------
    .. [1] M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    ceiling = min(LONGEST_BACKOFF, FIRST_WAIT * 2.0 ** min(attempt, 30))
    return (retry_after or 0.0) + float(rng.uniform(0, ceiling))


def duration(seconds: float) -> str:
    """Return a long time in words: minutes up to two hours, hours up to two days, else days."""
    for unit, size in (("days", 86400), ("hours", 3600)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 60:.0f} minutes"


class Pacer:
    """Holds back every request to an endpoint that has asked for a pause."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = 0.0

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds from now."""
        self._not_before = max(self._not_before, self._clock() + seconds)

    async def turn(self, stop: asyncio.Event) -> None:
        """Return when a request may be sent, or when `stop` is set."""
        while (wait := self._not_before - self._clock()) > 0 and not stop.is_set():
            await wait_unless(stop, wait)


async def wait_unless(stop: asyncio.Event, seconds: float) -> None:
    """Sleep, but no longer than until `stop` is set."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass
