"""Tell a run that fails from an endpoint that is down, and an endpoint from something that is none.

A run that outlives all its retries is recorded as failed and stays in every denominator. An outage must not be
counted against a model so. Failed runs are therefore held back until the endpoint answers a request that was sent
after they had failed; when too many come in a row, sampling stops and they are not recorded, so that they are asked
again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from dsqa.endpoints import PassingFailure
from dsqa.records import Record

__all__ = ["Breaker"]

LONGEST_STREAK = 30
"""Were half of the runs to fail by themselves, 30 in a row would come once in 10⁹."""
FIRST_STREAK = 3
"""As many when nothing was ever answered: no run has shown yet that it is an endpoint at all."""
SENSELESS = 4
"""So many bodies that are no answer, all alike and none before that was one, are no accident."""


class Breaker:
    """Watches one endpoint.

    Parameters
    ----------
    proven
        It has answered in an earlier session.
    clock
        Seconds, monotonic.
    """

    def __init__(self, *, proven: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proven = proven
        self._held: list[tuple[float, Record]] = []
        self._malformed = 0
        self.down: str | None = None
        """Why the endpoint counts as down, or None."""
        self.last = ""
        """The last failure's message."""

    def answered(self, sent_at: float) -> list[Record]:
        """Return the failed runs that may be recorded, now that a request sent then (by the clock) was answered."""
        self._proven = True
        if not self._held:
            return []
        # An answer that was on its way while the others failed does not show that the endpoint is there.
        free = [record for failed_at, record in self._held if failed_at <= sent_at]
        self._held = [held for held in self._held if held[0] > sent_at]
        return free

    def rest(self) -> list[Record]:
        """Return the failed runs that are still held back."""
        return [record for _, record in self._held]

    def failed(self, failure: PassingFailure) -> None:
        """A request failed; it may be sent again."""
        if failure.kind != "malformed body" or self._proven:
            return
        self._malformed = self._malformed + 1 if failure.message == self.last else 1
        self.last = failure.message
        if self._malformed >= SENSELESS:
            self.down = (
                f"does not answer as an endpoint does: {failure.message}, "
                f"{self._malformed} times and never anything else"
            )

    def exhausted(self, record: Record, failure: PassingFailure, in_flight: int) -> None:
        """A run failed after all its retries; an outage fails as many at once as are in flight."""
        self._held.append((self._clock(), record))
        self.last = failure.message
        most = max(LONGEST_STREAK, 2 * in_flight) if self._proven else FIRST_STREAK
        if failure.unreachable:
            self.down = f"cannot be reached any more: {failure.message}"
        elif len(self._held) >= most:
            since = "in a row" if self._proven else "and to none before"
            self.down = f"gave no answer to {len(self._held)} runs {since}, retries included: {failure.message}"
