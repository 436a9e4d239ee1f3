"""Tell a run that fails from an endpoint that is down.

A run that outlives all its retries is recorded as failed and stays in every denominator. An outage must not be
counted against a model so. Failed runs are therefore held back until the endpoint answers something again; when
too many come in a row, sampling stops and they are not recorded, so that they are asked again.
"""

from __future__ import annotations

from dsqa.endpoints import PassingFailure
from dsqa.records import Record

__all__ = ["Breaker"]

LONGEST_STREAK = 30
"""Were half of the runs to fail by themselves, 30 in a row would come once in 10⁹."""


class Breaker:
    """Watches one endpoint.

    Parameters
    ----------
    concurrency
        Requests in flight: an outage fails that many at once.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = max(LONGEST_STREAK, 2 * concurrency)
        self._held: list[Record] = []
        self.down: str | None = None
        """Why the endpoint counts as down, or None."""
        self.last = ""
        """The last failure's message."""

    def answered(self) -> list[Record]:
        """The endpoint answered: return the failed runs that may be recorded now."""
        held, self._held = self._held, []
        return held

    def exhausted(self, record: Record, failure: PassingFailure) -> None:
        """A run failed after all its retries."""
        self._held.append(record)
        self.last = failure.message
        if failure.unreachable:
            self.down = f"cannot be reached any more: {failure.message}"
        elif len(self._held) >= self._most:
            self.down = f"gave no answer to {len(self._held)} runs in a row, retries included: {failure.message}"
