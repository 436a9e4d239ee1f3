"""So many a minute, evenly: a token bucket that many coroutines draw from, first come, first served."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from dsqa.sampling.pacing import wait_unless

__all__ = ["Bucket"]

BURST_SECONDS = 0.1


class Bucket:
    """Lets `per_minute` units through each minute, spread over it.

    It holds what a tenth of a second brings in, at least one unit: in any minute no more than that goes through
    beyond the limit. A request larger than the bucket waits until it is full and leaves a debt, so that large
    requests are spread out like small ones.

    Parameters
    ----------
    per_minute
        Requests, or tokens.
    clock
        Seconds, monotonic.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._capacity = max(1.0, self._rate * BURST_SECONDS)
        self._level = self._capacity
        self._clock = clock
        self._filled = clock()
        self._line = asyncio.Lock()

    async def take(self, units: float, stop: asyncio.Event) -> None:
        """Return when so many units are free and taken, or when `stop` is set."""
        # A lock is a queue: whoever waits for much is not overtaken for ever by those who want little.
        async with self._line:
            while not stop.is_set():
                missing = min(units, self._capacity) - self._fill()
                # Below a microsecond it is rounding, and would be waited for in a busy loop.
                if missing <= self._rate * 1e-6:
                    self._level -= units
                    return
                await wait_unless(stop, missing / self._rate)

    def give_back(self, units: float) -> None:
        """Correct what was taken by what was used; a negative number takes more."""
        self._level = min(self._capacity, self._fill() + units)

    def _fill(self) -> float:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled) * self._rate)
        self._filled = now
        return self._level
