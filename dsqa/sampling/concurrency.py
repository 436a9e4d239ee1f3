"""How many requests to have in flight: a fixed number, or as many as the endpoint turns out to take.

Additive increase, multiplicative decrease [1]_, as congestion control has it: doubling at first, then one more for
each round of answers; fewer at once on a rate limit, an overload or a timeout. An endpoint that only queues what it
is sent gives none of these signs, but its answers take longer and come no faster. By Little's law requests in flight
= answers per second × seconds per answer: when the number in flight has grown by a factor g and more than √g of it
went into the seconds, less than √g into the rate, the growth is taken back.

A request that ran into its time-out was for nothing, and the server may have worked on it all the while. Whatever the
limit, also one that the study names, it is halved then, and grows again only while the answers would stay well within
the time allowed: to n + 1 in flight while seconds · (n + 1) / n < 0.7 · time-out.

References
----------
.. [1] D.-M. Chiu and R. Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
   Networks", Computer Networks and ISDN Systems 17 (1989) 1-14.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

__all__ = ["FIRST", "MOST", "Adaptive", "Concurrency", "Pinned"]

FIRST = 4
MOST = 256
"""Beyond it one process is no faster, and few endpoints are pleased."""

_SHRINK = 0.7
_SHRINK_TIMED_OUT = 0.5
_WELL_IN_TIME = 0.7
_ROUND = 16
_WORTH_COMPARING = 1.25


class Pinned:
    """The number that the study names; fewer while the endpoint does not finish as many in time.

    Parameters
    ----------
    limit
        Requests in flight.
    timeout
        Seconds that one may take.
    clock
        Seconds, monotonic.
    """

    def __init__(self, limit: int, timeout: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = self.limit = limit
        self._timeout = timeout
        self._clock = clock
        self._cut_at = float("-inf")
        self._seconds: list[float] = []

    def answered(self, sent_at: float, seconds: float, in_flight: int) -> None:
        """Take note of an answer; after a round of quick ones there may be one request more again."""
        if self.limit < self._most and sent_at >= self._cut_at:
            self._seconds.append(seconds)
            if len(self._seconds) >= self.limit:
                if _leaves_room(max(self._seconds), self.limit, self.limit + 1, self._timeout):
                    self.limit += 1
                self._seconds = []

    def congested(self, sent_at: float, *, timed_out: bool = False) -> None:
        """Take note of a rate limit, which is left to the pacing, or of a time-out."""
        if timed_out and sent_at > self._cut_at:
            self._cut_at = self._clock()
            self.limit = max(1, self.limit // 2)
            self._seconds = []


def _leaves_room(seconds: float, now: float, then: float, timeout: float) -> bool:
    """Whether answers that take so long with `now` in flight would come well in time with `then`."""
    return seconds * then / now < _WELL_IN_TIME * timeout


class _Seen(NamedTuple):
    window: float
    rate: float
    seconds: float


class Adaptive:
    """Finds out how many requests an endpoint takes at once.

    Parameters
    ----------
    most
        Never more than this.
    timeout
        Seconds that a request may take.
    clock
        Seconds, monotonic.
    """

    def __init__(
        self, most: int = MOST, timeout: float = math.inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._timeout = timeout
        self._clock = clock
        self._window = float(min(FIRST, most))
        self._doubling = True
        self._cut_at = float("-inf")
        self._before: _Seen | None = None
        self._answers = 0
        self._seconds: list[float] = []
        self._full = True
        self._began = clock()

    @property
    def limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._window)

    def answered(self, sent_at: float, seconds: float, in_flight: int) -> None:
        """Take note of an answer.

        Parameters
        ----------
        sent_at, seconds
            When its request was sent (by the clock), and how long it took.
        in_flight
            Requests in flight when it came, itself included.
        """
        # Where rate limits hold requests back, or few are left, more in flight would change nothing.
        self._full = self._full and in_flight >= self.limit
        self._answers += 1
        if sent_at >= self._began:
            self._seconds.append(seconds)
        if len(self._seconds) >= max(_ROUND, self.limit):
            self._end_round()

    def congested(self, sent_at: float, *, timed_out: bool = False) -> None:
        """Take note of a rate limit, an overload or a time-out."""
        # What was sent before the last cut tells nothing of what it did.
        if sent_at > self._cut_at:
            self._cut_at = self._clock()
            self._doubling = False
            self._window = max(1.0, self._window * (_SHRINK_TIMED_OUT if timed_out else _SHRINK))
            self._before = None
            self._begin_round()

    def _begin_round(self) -> None:
        self._began = self._clock()
        self._answers = 0
        self._seconds = []
        self._full = True

    def _end_round(self) -> None:
        seen = _Seen(
            window=self._window,
            rate=self._answers / max(self._clock() - self._began, 1e-9),
            seconds=max(median(self._seconds), 1e-9),
        )
        if self._full:
            before = self._before or seen
            growth = seen.window / before.window
            if growth >= _WORTH_COMPARING and (seen.seconds / before.seconds > growth**0.5 > seen.rate / before.rate):
                self._window, self._doubling = before.window, False
            else:
                if self._before is None or growth >= _WORTH_COMPARING:
                    self._before = seen
                wider = min(self._most, self._window * 2 if self._doubling else self._window + 1)
                if _leaves_room(seen.seconds, self._window, wider, self._timeout):
                    self._window = wider
        self._begin_round()


Concurrency = Pinned | Adaptive
