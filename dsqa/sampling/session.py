"""What the lanes of one sampling session share: the store, the counts, the budget, the reasons to stop."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence

from dsqa.endpoints import Endpoint
from dsqa.errors import DsqaError, EndpointError
from dsqa.records import Record, RecordStore
from dsqa.sampling.budget import Budget
from dsqa.sampling.history import NOTHING, History, Need
from dsqa.sampling.ledger import CHECKPOINT_SECONDS, How, Ledger, SessionEntry, now_utc
from dsqa.sampling.progress import Progress, SamplingState

__all__ = ["Session"]

_log = logging.getLogger("dsqa.sampling")

UPDATE_SECONDS = 0.1
TICK_SECONDS = 0.5


class Session:
    """One sampling session.

    Parameters
    ----------
    store
        Where runs are recorded.
    history
        What the recorded runs took.
    ledger, entry
        The study's account, and this session's line in it.
    budget
        What may be taken; None for as much as it takes.
    log
        The session's log.
    done, total, goal
        Runs recorded already, in the design, and recorded when this session is through.
    progress
        Told a few times a second.
    """

    def __init__(
        self,
        store: RecordStore,
        history: History,
        ledger: Ledger,
        entry: SessionEntry,
        *,
        budget: Budget | None,
        log: logging.Logger,
        done: int,
        total: int,
        goal: int,
        progress: Progress | None = None,
    ) -> None:
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()
        """Set when even what is in flight is not waited for."""
        self.problem: DsqaError | None = None
        self.budget = budget
        self.history = history
        self.entry = entry
        self.log = log
        self._store = store
        self._ledger = ledger
        self._done_before, self._total, self._goal = done, total, goal
        self._progress = progress
        self._begun = time.monotonic()
        self._told = 0.0
        self._out: Counter[float] = Counter()
        """When the requests in flight were sent: oldest first."""
        self._sources: dict[str, Endpoint] = {}
        self._slow: set[str] = set()
        self._proven = {condition for condition, status in store.recorded.statuses if status != "failed"}

    def state(self) -> SamplingState:
        """Return how far the session is."""
        tally = self.entry.tally
        return SamplingState(
            done=self._done_before + tally.runs,
            total=self._total,
            goal=self._goal,
            new=tally.runs,
            failed=tally.failed,
            retried=self.entry.retries,
            tokens_out=tally.tokens_out,
            seconds=time.monotonic() - self._begun,
            money=dict(self.history.total.money),
            money_new=dict(tally.money),
            unpriced=self.history.total.unpriced,
            money_left=None if self.budget is None else self.budget.money_left(),
            stopping=self.stop.is_set() and self.entry.in_flight > 0,
            in_flight=self.entry.in_flight,
            longest_wait=time.monotonic() - next(iter(self._out)) if self._out else 0.0,
            tokens_under_way=sum(getattr(source, "pieces", 0) for source in self._sources.values()),
        )

    def tell(self, *, at_once: bool = False) -> None:
        """Tell whoever follows, unless they were told a moment ago."""
        now = time.monotonic()
        if self._progress is not None and (at_once or now - self._told >= UPDATE_SECONDS):
            self._told = now
            self._progress.update(self.state())

    async def keep_account(self) -> None:
        """Write the account down and tell how far it is, now and then, until cancelled."""
        written = time.monotonic()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.tell()
            if time.monotonic() - written >= CHECKPOINT_SECONDS:
                self._update_entry()
                self._ledger.checkpoint(self.entry)
                written = time.monotonic()

    def close(self, how: How, why: str | None) -> None:
        """Put the session into the account."""
        self._update_entry()
        self.entry.how, self.entry.why = how, why
        self._ledger.end(self.entry)
        self.log.info("end: %s%s; %d runs recorded", how, f": {why}" if why else "", self.entry.tally.runs)

    def _update_entry(self) -> None:
        self.entry.ended = now_utc()
        self.entry.held = NOTHING if self.budget is None else self.budget.held
        self.entry.wall_seconds = round(time.monotonic() - self._begun, 3)
        self.entry.runs_after = len(self._store.recorded)

    def record(self, records: Sequence[Record]) -> Need | None:
        """Write runs that came of one request down, and return what it took; None if they could not be written.

        A disk that does not take them ends the session.
        """
        if self.problem is not None and not isinstance(self.problem, EndpointError):
            return None
        try:
            self._store.append(*records)
        except DsqaError as error:
            self.give_up(error)
            return None
        took = NOTHING
        for record in records:
            took = took.plus(self.history.see(record, self.entry.tally))
            if record.status != "failed":
                self._proven.add(record.condition_id)
        self.tell()
        return took

    def sent(self, at: float) -> None:
        """A request goes out, `at` by the monotonic clock."""
        self.entry.in_flight += 1
        self._out[at] += 1

    def done_with(self, sent_at: float, *, unsure: Need | None = None) -> None:
        """A request came to its end; `unsure`: with no answer, though it may have taken so much."""
        self.entry.in_flight -= 1
        self._out[sent_at] -= 1
        if not self._out[sent_at]:
            del self._out[sent_at]
        self.entry.requests += 1
        if unsure is not None:
            self.entry.unsure = self.entry.unsure.plus(unsure)

    def retrying(self) -> None:
        """A request is going to be sent again."""
        self.entry.retries += 1
        self.tell()

    def slow(self, endpoint: str, limit: int, why: str) -> None:
        """An endpoint does not finish in time what it is asked: it is asked less at once."""
        text = f"endpoint '{endpoint}': {why}; it is asked {limit} at a time now"
        if endpoint in self._slow:
            self.log.warning("%s", text)
        else:
            self.warn(text)
        self._slow.add(endpoint)

    def allowed(self, endpoint: str, limit: int, source: Endpoint) -> None:
        """An endpoint may have so many requests in flight now."""
        self._sources[endpoint] = source
        most = self.entry.concurrency
        most[endpoint] = max(most.get(endpoint, 0), limit)

    def warn(self, text: str) -> None:
        """Say once what a person should know, though nothing is lost by it."""
        self.log.warning("%s", text)
        _log.warning("%s", text)

    def is_proven(self, condition_id: str) -> bool:
        """Whether the endpoint has taken this condition's parameters before."""
        return condition_id in self._proven

    def give_up(self, problem: DsqaError) -> None:
        """End the session for a reason; the first one counts."""
        if self.problem is None:
            self.problem = problem
            self.log.error("%s", problem)
        self.stop.set()
