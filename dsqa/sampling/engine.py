"""Ask the planned runs, as many at a time as allowed, and record each as soon as its answer is there."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dsqa import __version__
from dsqa.endpoints import Endpoint, Failure, PassingFailure, PermanentFailure, Reply, Scope
from dsqa.errors import DsqaError, EndpointError
from dsqa.records import Record, RecordStore, Status
from dsqa.sampling.breaker import Breaker
from dsqa.sampling.pacing import LONGEST_WAIT, Pacer, backoff_seconds, wait_unless
from dsqa.sampling.plan import PlannedRun
from dsqa.sampling.progress import Progress, SamplingState
from dsqa.study.sections import SamplingConfig

__all__ = ["Lane", "Session"]

STOP_SECONDS = 2.0
"""What is in flight when sampling stops may take this long to arrive."""
UPDATE_SECONDS = 0.1


class Session:
    """What the lanes of one sampling session share: the store, the counts, the reason to stop.

    Parameters
    ----------
    store
        Where runs are recorded.
    done, total, goal
        Runs recorded already, in the design, and recorded when this session is through.
    progress
        Told a few times a second.
    """

    def __init__(
        self, store: RecordStore, *, done: int, total: int, goal: int, progress: Progress | None = None
    ) -> None:
        self.stop = asyncio.Event()
        self.problem: DsqaError | None = None
        self.retried = 0
        self._store = store
        self._done_before, self._total, self._goal = done, total, goal
        self._new = self._failed = self._tokens = 0
        self._progress = progress
        self._begun = time.monotonic()
        self._told = 0.0
        self._proven = {condition for condition, status in store.recorded.statuses if status != "failed"}

    def state(self) -> SamplingState:
        """Return how far the session is."""
        return SamplingState(
            done=self._done_before + self._new,
            total=self._total,
            goal=self._goal,
            new=self._new,
            failed=self._failed,
            retried=self.retried,
            tokens_out=self._tokens,
            seconds=time.monotonic() - self._begun,
        )

    def tell(self, *, at_once: bool = False) -> None:
        """Tell whoever follows, unless they were told a moment ago."""
        now = time.monotonic()
        if self._progress is not None and (at_once or now - self._told >= UPDATE_SECONDS):
            self._told = now
            self._progress.update(self.state())

    def record(self, record: Record) -> None:
        """Write a run down; a disk that does not take it ends the session."""
        if self.problem is not None and not isinstance(self.problem, EndpointError):
            return
        try:
            self._store.append(record)
        except DsqaError as error:
            self.give_up(error)
            return
        self._new += 1
        self._failed += record.status == "failed"
        tokens = (record.usage or {}).get("completion_tokens")
        self._tokens += tokens if isinstance(tokens, int) else 0
        if record.status != "failed":
            self._proven.add(record.condition_id)
        self.tell()

    def is_proven(self, condition_id: str) -> bool:
        """Whether the endpoint has taken this condition's parameters before."""
        return condition_id in self._proven

    def give_up(self, problem: DsqaError) -> None:
        """End the session for a reason; the first one counts."""
        if self.problem is None:
            self.problem = problem
        self.stop.set()


class Lane:
    """One endpoint: its share of the plan, and as many workers as it may have requests in flight.

    Parameters
    ----------
    name
        The endpoint's name in the study.
    endpoint
        The open endpoint.
    plan
        Its runs, in order; read as workers become free.
    session
        What is shared.
    settings
        Concurrency and retries.
    rng
        Where the jitter of waits comes from.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        plan: Iterator[PlannedRun],
        session: Session,
        settings: SamplingConfig,
        rng: np.random.Generator,
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._plan = plan
        self._session = session
        self._retries = settings.retries
        self._workers = min(settings.concurrency, endpoint.concurrency_limit or settings.concurrency)
        self._rng = rng
        self._pacer = Pacer()
        self._breaker = Breaker(self._workers)
        self._versions = {"dsqa": __version__, "python": platform.python_version(), **endpoint.versions}

    async def run(self) -> None:
        """Ask until the plan is through or the session stops; then wait a little for what is in flight."""
        tasks = [asyncio.create_task(self._work()) for _ in range(self._workers)]
        stopped = asyncio.create_task(self._session.stop.wait())
        try:
            pending: set[asyncio.Task[Any]] = set(tasks)
            while pending and not stopped.done():
                finished, rest = await asyncio.wait({*pending, stopped}, return_when=asyncio.FIRST_COMPLETED)
                pending = rest - {stopped}
                for task in finished - {stopped}:
                    task.result()
            if pending:
                finished, pending = await asyncio.wait(pending, timeout=STOP_SECONDS)
                for task in finished:
                    task.result()
        finally:
            for task in (*tasks, stopped):
                task.cancel()
            await asyncio.gather(*tasks, stopped, return_exceptions=True)
        if not self._session.stop.is_set():
            self._settle()

    def _settle(self) -> None:
        """The plan is through: record the failed runs still held, unless nothing was ever answered here."""
        held, why = self._breaker.answered(), self._breaker.last
        if any(self._session.is_proven(record.condition_id) for record in held):
            for record in held:
                self._session.record(record)
        elif held:
            # A wrong address, or something that is no such endpoint: no model has failed.
            self._session.give_up(
                EndpointError(
                    f"endpoint '{self._name}' ({self._endpoint.base_url}) answered none of {len(held)} runs: {why}",
                    hint="nothing is recorded of them; check base_url, then run the same command again",
                )
            )

    async def _work(self) -> None:
        for planned in self._plan:
            if self._session.stop.is_set():
                return
            await self._ask(planned)

    async def _ask(self, planned: PlannedRun) -> None:
        stop = self._session.stop
        started_at: str | None = None
        tries = 0
        while True:
            await self._pacer.turn(stop)
            if stop.is_set():
                return
            started_at = started_at or datetime.now(UTC).isoformat(timespec="milliseconds")
            try:
                reply = await self._endpoint.ask(planned.cell.request, run=planned.run)
            except PassingFailure as failure:
                tries += 1
                wait = backoff_seconds(tries - 1, failure.retry_after, self._rng)
                if tries > self._retries or (failure.retry_after or 0) > LONGEST_WAIT:
                    self._exhausted(self._failed(planned, failure, started_at, tries - 1), failure)
                    return
                if failure.retry_after:
                    self._pacer.pause(failure.retry_after)
                self._session.retried += 1
                self._session.tell()
                await wait_unless(stop, wait)
            except PermanentFailure as failure:
                self._refused(planned, failure, started_at, tries)
                return
            else:
                self._answered(self._record(planned, reply, started_at, tries))
                return

    def _answered(self, record: Record) -> None:
        for held in self._breaker.answered():
            self._session.record(held)
        self._session.record(record)

    def _exhausted(self, record: Record, failure: PassingFailure) -> None:
        self._breaker.exhausted(record, failure)
        if self._breaker.down is not None:
            self._session.give_up(
                EndpointError(
                    f"endpoint '{self._name}' ({self._endpoint.base_url}) {self._breaker.down}",
                    hint="what is recorded is kept; run the same command to go on",
                )
            )

    def _refused(self, planned: PlannedRun, failure: PermanentFailure, started_at: str, tries: int) -> None:
        alone = failure.scope is Scope.REQUEST or (
            failure.scope is Scope.PARAMETERS and self._session.is_proven(planned.cell.condition_id)
        )
        if alone:
            self._answered(self._failed(planned, failure, started_at, tries))
        else:
            self._session.give_up(EndpointError(f"endpoint '{self._name}': {failure.message}", hint=failure.hint))

    def _record(self, planned: PlannedRun, reply: Reply, started_at: str, retries: int) -> Record:
        return Record(
            **self._common(planned, reply, started_at, retries),
            choice={"index": reply.choice, "of": reply.choices} if reply.choices > 1 else None,
            status=reply.status,
            text=reply.text,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            seconds=round(reply.seconds, 6),
            reasoning=reply.reasoning,
            refusal=reply.refusal,
            response_id=reply.response_id,
            response_model=reply.response_model,
        )

    def _failed(self, planned: PlannedRun, failure: Failure, started_at: str, retries: int) -> Record:
        status: Status = "filtered" if failure.kind == "content filter" else "failed"
        return Record(**self._common(planned, failure, started_at, retries), status=status, error=failure.to_error())

    def _common(
        self, planned: PlannedRun, outcome: Reply | Failure, started_at: str, retries: int
    ) -> Mapping[str, Any]:
        cell = planned.cell
        return {
            **planned.key._asdict(),
            "condition": {**cell.condition, "base_url": self._endpoint.base_url},
            # What was sent may differ from what was planned; a run played back has a past of its own.
            "request": outcome.request or cell.request,
            "adapted": list(outcome.adapted) or None,
            "started_at": outcome.started_at or started_at,
            "retries": retries if outcome.retries is None else outcome.retries,
            "versions": self._versions,
        }
