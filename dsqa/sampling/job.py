"""One sampling session: what earlier ones left, the endpoints, their lanes, and how it ended."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from dsqa import __version__
from dsqa.endpoints import Endpoint
from dsqa.records import Record, RecordStore, RunIndex
from dsqa.sampling.caps import open_budget
from dsqa.sampling.concurrency import MOST, Adaptive, Concurrency, Pinned
from dsqa.sampling.gate import Gate
from dsqa.sampling.history import History, Need, Tally
from dsqa.sampling.lane import Lane, LaneSettings
from dsqa.sampling.ledger import How, Ledger, SessionEntry, now_utc
from dsqa.sampling.loop import Stopper
from dsqa.sampling.plan import CellRequest, count_recorded
from dsqa.sampling.progress import Progress, SamplingState
from dsqa.sampling.session import Session
from dsqa.sampling.summary import SamplingSummary, Stopped
from dsqa.sampling.wish import Wish
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder
from dsqa.study.sections import SEED_PER_RUN, BudgetConfig, EndpointConfig

__all__ = ["LOG_FOLDER", "Job", "Opener", "Past"]

LOG_FOLDER = "logs"


class Opener(Protocol):
    """Opens an endpoint for the length of a block, as `dsqa.endpoints.open_endpoint` does."""

    def __call__(
        self, name: str, config: EndpointConfig, *, timeout: float, log_dir: Path | None = None
    ) -> AbstractAsyncContextManager[Endpoint]:
        """Return what opens it."""
        ...


class Past:
    """Reads what earlier sessions left, while the records are read and the study is locked."""

    def __init__(self, folder: StudyFolder, history: History) -> None:
        self._root = folder.root
        self._read = 0
        self.history = history
        self.rest = Tally()

    @cached_property
    def ledger(self) -> Ledger:
        """The study's account; read when it is first needed, which is under the study's lock."""
        return Ledger(self._root)

    def see(self, record: Record) -> None:
        """Take note of a recorded run; those after a killed session's last word belong to it."""
        self._read += 1
        killed_at = self.ledger.killed_at
        if killed_at is not None and self._read > killed_at:
            self.history.see(record, self.rest)
        else:
            self.history.see(record)


@dataclass(frozen=True)
class Job:
    """One session's work, from opening the endpoints to the line in the account."""

    folder: StudyFolder
    config: StudyConfig
    wish: Wish
    store: RecordStore
    history: History
    ledger: Ledger
    log: logging.Logger
    progress: Progress | None
    caps: BudgetConfig
    opener: Opener

    async def run(self, stopper: Stopper, begun: float) -> SamplingSummary:
        """Ask what is wanted and not recorded; `begun`: when the session began, by the monotonic clock."""
        # The plans are read while the store grows: they go by what was recorded when the session began.
        recorded = self.store.recorded.copy()
        total = self.wish.total
        done = count_recorded(self.wish.cells, self.wish.runs, recorded)
        entry = self._entry(len(recorded))
        in_batches = self._leave_to_batches(recorded)
        names: set[str] = set()
        wanted = 0
        for planned in self.wish.plan(recorded):
            names.add(planned.cell.endpoint)
            wanted += len(planned.runs)
        if not wanted:
            money = dict(self.history.total.money)
            state = SamplingState(done, total, done, 0, 0, 0, 0, 0.0, money, {}, self.history.total.unpriced)
            return SamplingSummary.of(state, entry, time.monotonic() - begun, stopped=None, why=None)
        budget = open_budget(self.caps, self._asked(), self.config.endpoints, self.history, self.ledger)
        if budget is not None:
            budget.spent = budget.spent.plus(in_batches)
        async with AsyncExitStack() as stack:
            endpoints = {name: await self._open(stack, name) for name in sorted(names)}
            entry = self._entry(len(recorded))
            self.ledger.begin(entry)
            session = Session(
                self.store,
                self.history,
                self.ledger,
                entry,
                budget=budget,
                log=self.log,
                done=done,
                total=total,
                goal=done + wanted,
                progress=self.progress,
            )
            self.log.info("begin: %d of %d runs recorded, %d to ask, dsqa %s", done, total, wanted, __version__)
            session.tell(at_once=True)
            # Jitter is there to keep clients apart, so it must not come from the study's seed.
            rng = np.random.default_rng()
            lanes = [self._lane(name, endpoint, session, recorded, rng) for name, endpoint in endpoints.items()]
            how: How = "error"
            why: str | None = None
            try:
                with stopper.attached(session.stop, session.hurry):
                    await _run(lanes, session)
                how, why = self._how(session, stopper)
            except BaseException as error:
                why = str(error) or type(error).__name__
                raise
            finally:
                session.close(how, why)
            session.tell(at_once=True)
            if session.problem is not None:
                raise session.problem
            stopped: Stopped | None = how if how in {"interrupted", "budget"} else None
            return SamplingSummary.of(session.state(), entry, time.monotonic() - begun, stopped=stopped, why=why)

    def _leave_to_batches(self, recorded: RunIndex) -> Need:
        """Runs that wait in a batch are asked already; return the most that they may take."""
        # The batches are built on this module.
        from dsqa.sampling.batch.budget import waiting_need  # noqa: PLC0415
        from dsqa.sampling.batch.state import BatchFolder  # noqa: PLC0415

        waiting = [key for key in BatchFolder(self.folder.batch_path).pending() if recorded.add(key, "waiting")]
        if waiting:
            logging.getLogger("dsqa.sampling").warning(
                "%d runs wait in a batch and are left to it (dsqa batch collect, or dsqa batch cancel)", len(waiting)
            )
        return waiting_need(self.history, self.wish.cells, self.config.endpoints, waiting)

    def _asked(self) -> Iterator[CellRequest]:
        return (cell for cell in self.wish.cells if self.wish.asked is None or cell.id in self.wish.asked)

    def _how(self, session: Session, stopper: Stopper) -> tuple[How, str | None]:
        if session.problem is not None:
            return "error", str(session.problem)
        if stopper.requested:
            return "interrupted", None
        if session.budget is not None and session.budget.used_up:
            return "budget", session.budget.used_up
        state = session.state()
        return ("complete" if self.wish.limit is None or state.done >= state.total else "limit"), None

    def _entry(self, recorded: int) -> SessionEntry:
        settings = self.wish.to_dict()
        caps = {name: value for name, value in self.caps.model_dump().items() if value is not None}
        if caps:
            settings["budget"] = caps
        return SessionEntry(
            session=0,
            begun=now_utc(),
            runs_before=recorded,
            runs_after=recorded,
            settings=settings,
            pid=os.getpid(),
            version=__version__,
        )

    async def _open(self, stack: AsyncExitStack, name: str) -> Endpoint:
        return await stack.enter_async_context(
            self.opener(
                name,
                self.config.endpoints[name],
                timeout=self.config.sampling.timeout,
                log_dir=self.folder.root / LOG_FOLDER,
            )
        )

    def _lane(
        self, name: str, endpoint: Endpoint, session: Session, recorded: RunIndex, rng: np.random.Generator
    ) -> Lane:
        config = self.config.endpoints[name]
        mine = [cell for cell in self.wish.cells if cell.endpoint == name]
        settings = LaneSettings(
            retries=self.config.sampling.retries,
            seed=self.wish.seed,
            proven=any(session.is_proven(cell.condition_id) for cell in mine),
            singly=frozenset(cell.condition_id for cell in mine if not _may_share(cell, config)),
        )
        return Lane(
            name,
            endpoint,
            (planned for planned in self.wish.plan(recorded) if planned.cell.endpoint == name),
            session,
            gate=Gate(config, endpoint.base_url, self.history, session.budget),
            concurrency=_concurrency(config, self.config, endpoint),
            settings=settings,
            rng=rng,
        )


async def _run(lanes: list[Lane], session: Session) -> None:
    account = asyncio.create_task(session.keep_account())
    try:
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(lane.run())
    finally:
        account.cancel()
        await asyncio.gather(account, return_exceptions=True)


def _may_share(cell: CellRequest, config: EndpointConfig) -> bool:
    """Whether several choices may be asked for: not where each run has a seed, a record or a protocol of its own."""
    return config.kind == "openai" and config.api == "chat" and cell.request.get("seed") != SEED_PER_RUN


def _concurrency(endpoint: EndpointConfig, study: StudyConfig, opened: Endpoint) -> Concurrency:
    wanted = endpoint.concurrency or study.sampling.concurrency
    limit, timeout = opened.concurrency_limit, study.sampling.timeout
    if wanted == "auto":
        return Adaptive(MOST, timeout) if limit is None else Pinned(limit, timeout)
    return Pinned(wanted if limit is None else min(wanted, limit), timeout)
