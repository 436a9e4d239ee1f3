"""One endpoint's share of the plan: workers that ask, as many at a time as it takes, and record what comes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dsqa.endpoints import Endpoint, PassingFailure, PermanentFailure, Reply, Scope
from dsqa.errors import EndpointError
from dsqa.prices.cost import MAY_BE_BILLED
from dsqa.records import Record
from dsqa.sampling.breaker import Breaker
from dsqa.sampling.concurrency import Concurrency
from dsqa.sampling.gate import Gate
from dsqa.sampling.history import Need
from dsqa.sampling.ledger import now_utc
from dsqa.sampling.pacing import LONGEST_WAIT, backoff_seconds, duration, wait_unless
from dsqa.sampling.plan import PlannedRequest
from dsqa.sampling.scribe import Attempt, Scribe
from dsqa.sampling.session import Session

__all__ = ["Lane", "LaneSettings"]

STOP_SECONDS = 1.2
"""What is in flight when sampling stops may take this long to arrive; with closing, that is within two."""

ROOM_SECONDS = 0.05
"""Between two looks whether there is room for a request."""

_OVERLOAD = frozenset({408, 429, 503, 529})


@dataclass(frozen=True)
class LaneSettings:
    """How a lane asks.

    Parameters
    ----------
    retries
        Times that a run is asked again after a passing failure.
    seed
        The study's, for runs that are sent a seed of their own.
    proven
        The endpoint has answered in an earlier session.
    singly
        Ids of the conditions whose runs each have a request of their own.
    """

    retries: int
    seed: int
    proven: bool
    singly: frozenset[str] = frozenset()


class Lane:
    """One endpoint: its share of the plan, and as many workers as it may have requests in flight.

    Parameters
    ----------
    name
        The endpoint's name in the study.
    endpoint
        The open endpoint.
    plan
        Its requests, in order; read as workers become free.
    session
        What is shared.
    gate
        The endpoint's limits.
    concurrency
        How many requests may be in flight.
    settings
        How it asks.
    rng
        Where the jitter of waits comes from.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        plan: Iterator[PlannedRequest],
        session: Session,
        *,
        gate: Gate,
        concurrency: Concurrency,
        settings: LaneSettings,
        rng: np.random.Generator,
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._plan = plan
        self._again: deque[PlannedRequest] = deque()
        self._session = session
        self._gate = gate
        self._control = concurrency
        self._settings = settings
        self._rng = rng
        self._breaker = Breaker(proven=settings.proven)
        self._scribe = Scribe(endpoint)
        self._singly = set(settings.singly)
        self._workers: set[asyncio.Task[None]] = set()
        self._active = self._in_flight = 0
        self._idle = asyncio.Event()
        self._through = False
        self._error: BaseException | None = None

    async def run(self) -> None:
        """Ask until the plan is through or the session stops; then wait a little for what is in flight."""
        self._hire()
        waits = [asyncio.create_task(event.wait()) for event in (self._idle, self._session.stop, self._session.hurry)]
        try:
            await asyncio.wait(waits[:2], return_when=asyncio.FIRST_COMPLETED)
            if not self._idle.is_set():
                await asyncio.wait((waits[0], waits[2]), timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (*self._workers, *waits)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._error is not None:
            raise self._error
        if not self._session.stop.is_set():
            self._settle()

    def _hire(self) -> None:
        """Have as many workers as may ask at once; those too many leave by themselves."""
        self._session.allowed(self._name, self._control.limit, self._endpoint)
        wanted = len(self._again) if self._through else self._control.limit
        for _ in range(min(wanted, self._control.limit - self._active)):
            self._active += 1
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._left)

    def _left(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        error = None if worker.cancelled() else worker.exception()
        if error is not None:
            self._error = self._error or error
            self._session.stop.set()
        if not self._active and not self._session.stop.is_set():
            # All left because too many were; or runs came back after the plan was found to be through.
            self._hire()
        if not self._active:
            self._idle.set()

    def _next(self) -> PlannedRequest | None:
        if self._again:
            return self._again.popleft()
        planned = next(self._plan, None)
        if planned is None:
            self._through = True
        elif len(planned.runs) > 1 and planned.cell.condition_id in self._singly:
            self._ask_singly(planned)
            return self._again.popleft()
        return planned

    async def _work(self) -> None:
        stop = self._session.stop
        try:
            while not stop.is_set() and self._active <= self._control.limit:
                planned = self._next()
                if planned is None:
                    return
                await self._ask(planned)
                if self._active < self._control.limit:
                    self._hire()
        finally:
            # At once: a worker that has left must not count when the next one looks whether too many are here.
            self._active -= 1

    async def _ask(self, planned: PlannedRequest) -> None:
        session = self._session
        attempt = Attempt(planned, planned.cell.body(planned.runs, self._settings.seed))
        wait: float | None = 0.0
        while wait is not None:
            if wait:
                await wait_unless(session.stop, wait)
            need = await self._gate.enter(planned, session.stop)
            if need is None:
                if session.budget is not None and session.budget.used_up:
                    session.stop.set()
                if self._gate.closed is not None:
                    self._give_up(self._gate.closed, "what is recorded is kept; run the same command then")
                return
            attempt.started_at = attempt.started_at or now_utc()
            await self._room()
            if session.stop.is_set():
                self._gate.leave(need, Need())
                return
            wait = await self._send(attempt, need)

    async def _room(self) -> None:
        """Wait until fewer are in flight than may be: after a time-out that is less than there are workers."""
        while self._in_flight >= self._control.limit and not self._session.stop.is_set():
            await wait_unless(self._session.stop, ROOM_SECONDS)

    async def _send(self, attempt: Attempt, need: Need) -> float | None:
        """Send a request once; return the seconds after which to send it again, or None if it is done with."""
        planned, session = attempt.planned, self._session
        # What is set aside is settled whatever happens; a request cut off may have been worked on.
        took, unsure = need, True
        self._in_flight += 1
        attempt.sent_at = time.monotonic()
        session.sent(attempt.sent_at)
        try:
            replies = await self._endpoint.ask_many(attempt.request, run=planned.runs[0])
            self._control.answered(attempt.sent_at, time.monotonic() - attempt.sent_at, self._in_flight)
            self._gate.learn(planned, replies[0].headers)
            recorded = self._answered(attempt, replies)
            # An answer that nothing could be written of was paid for all the same.
            took, unsure = (need, True) if recorded is None else (recorded, False)
            return None
        except PassingFailure as failure:
            unsure = failure.kind in MAY_BE_BILLED
            took = need if unsure else Need(1)
            self._gate.learn(planned, failure.headers)
            return self._failed_once(attempt, failure)
        except PermanentFailure as failure:
            unsure = failure.kind in MAY_BE_BILLED
            took = need if unsure else Need(1)
            self._gate.learn(planned, failure.headers)
            self._refused(attempt, failure)
            return None
        finally:
            self._in_flight -= 1
            session.done_with(attempt.sent_at, unsure=need if unsure else None)
            self._gate.leave(need, took, unsure=unsure)

    def _answered(self, attempt: Attempt, replies: Sequence[Reply]) -> Need | None:
        planned = attempt.planned
        left = planned.runs[len(replies) :]
        if left:
            # Fewer choices than asked for: the rest is asked again. (More: nobody asked for them.)
            if len(replies) == 1:
                self._stop_sharing(planned, "it gives one choice to a request")
                self._ask_singly(PlannedRequest(planned.cell, left))
            else:
                self._again.append(PlannedRequest(planned.cell, left))
        self._record_held(attempt)
        return self._session.record(self._scribe.answered(attempt, replies))

    def _failed_once(self, attempt: Attempt, failure: PassingFailure) -> float | None:
        """Take note of a passing failure; return the seconds to wait before another try, None for no other."""
        planned, session = attempt.planned, self._session
        attempt.tries += 1
        session.log.info(
            "%s: %s, try %d: %s: %s",
            self._name,
            planned.cell.question_id,
            attempt.tries,
            failure.kind,
            failure.message,
        )
        if failure.status in _OVERLOAD or failure.kind == "timeout":
            before = self._control.limit
            self._control.congested(attempt.sent_at, timed_out=failure.kind == "timeout")
            if failure.kind == "timeout" and self._control.limit < before:
                session.slow(self._name, self._control.limit, failure.message)
        asks = failure.retry_after or 0.0
        if asks > LONGEST_WAIT:
            self._give_up(f"asks to wait {duration(asks)}: {failure.message}", "run the same command then")
            return None
        if asks:
            self._gate.pause(planned, asks)
        self._breaker.failed(failure)
        if self._breaker.down is not None:
            self._give_up(self._breaker.down, "nothing is recorded of it; check base_url (most end in /v1)")
            return None
        if attempt.tries <= self._settings.retries:
            session.retrying()
            return backoff_seconds(attempt.tries - 1, failure.retry_after, self._rng)
        if len(planned.runs) > 1:
            self._ask_singly(planned)
            return None
        record = self._scribe.failed(attempt, failure, attempt.tries - 1)
        self._breaker.exhausted(record, failure, self._control.limit)
        if self._breaker.down is not None:
            self._give_up(self._breaker.down, "what is recorded is kept; run the same command to go on")
        return None

    def _refused(self, attempt: Attempt, failure: PermanentFailure) -> None:
        planned, session = attempt.planned, self._session
        shared = len(planned.runs) > 1
        if shared and failure.scope is Scope.PARAMETERS:
            self._stop_sharing(planned, failure.message)
        if shared and failure.scope in {Scope.PARAMETERS, Scope.REQUEST}:
            # One request that is refused says nothing of the other runs: each gets its own.
            self._ask_singly(planned)
            return
        alone = failure.scope is Scope.REQUEST or (
            failure.scope is Scope.PARAMETERS and session.is_proven(planned.cell.condition_id)
        )
        if not alone:
            session.give_up(EndpointError(f"endpoint '{self._name}': {failure.message}", hint=failure.hint))
            return
        session.log.info("%s: %s refused: %s", self._name, planned.cell.question_id, failure.message)
        self._record_held(attempt)
        session.record([self._scribe.failed(attempt, failure, attempt.tries)])

    def _ask_singly(self, planned: PlannedRequest) -> None:
        self._again.extend(PlannedRequest(planned.cell, (run,)) for run in planned.runs)

    def _stop_sharing(self, planned: PlannedRequest, why: str) -> None:
        if planned.cell.condition_id not in self._singly:
            self._singly.add(planned.cell.condition_id)
            self._session.warn(
                f"endpoint '{self._name}': '{planned.cell.condition['model']}' is asked for one run at a time: {why}"
            )

    def _record_held(self, attempt: Attempt) -> None:
        for record in self._breaker.answered(attempt.sent_at):
            self._session.record([record])

    def _settle(self) -> None:
        """The plan is through: record the failed runs still held, unless nothing was ever answered here."""
        held: list[Record] = self._breaker.rest()
        if any(self._session.is_proven(record.condition_id) for record in held):
            for record in held:
                self._session.record([record])
        elif held:
            # A wrong address, or something that is no such endpoint: no model has failed.
            self._give_up(
                f"answered none of {len(held)} runs: {self._breaker.last}",
                "nothing is recorded of them; check base_url, then run the same command again",
            )

    def _give_up(self, why: str, hint: str) -> None:
        self._session.give_up(EndpointError(f"endpoint '{self._name}' ({self._endpoint.base_url}) {why}", hint=hint))
