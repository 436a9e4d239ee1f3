"""Sample a prepared study: open what it needs, ask what is missing, stop cleanly when told to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from dsqa.endpoints import open_endpoint
from dsqa.errors import StudyError
from dsqa.records import RecordStore, RunIndex
from dsqa.sampling.engine import Lane, Session
from dsqa.sampling.loop import Stopper, run_loop
from dsqa.sampling.plan import CellId, CellRequest, PlannedRun, count_recorded, plan_runs, runs_wanted
from dsqa.sampling.prepare import requests_of
from dsqa.sampling.progress import Progress, SamplingState
from dsqa.sampling.select import Selection
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyDescription, StudyFolder

__all__ = ["SamplingSummary", "sample_study"]

LOG_FOLDER = "logs"


@dataclass(frozen=True)
class SamplingSummary:
    """What a sampling session came to.

    Parameters
    ----------
    new, failed, retried
        In this session: runs recorded, those of them that failed, requests sent again.
    recorded, total
        Runs of the design that are recorded now, and that it has.
    tokens
        Tokens written in this session, as the endpoints report them.
    seconds
        How long the session took, loading an embedded model included.
    interrupted
        It was told to stop (Ctrl-C) before it was through.
    """

    new: int
    failed: int
    retried: int
    recorded: int
    total: int
    tokens: int
    seconds: float
    interrupted: bool

    @property
    def tokens_per_second(self) -> float:
        """Tokens written per second, over the session."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {**asdict(self), "tokens_per_second": self.tokens_per_second}


def sample_study(
    folder: StudyFolder,
    *,
    progress: Progress | None = None,
    limit: int | None = None,
    only: Selection | None = None,
    targets: Mapping[CellId, int] | None = None,
) -> SamplingSummary:
    """Ask every run of a prepared study that is not recorded yet, and record it as soon as it is answered.

    A recorded run is never asked again, a failed one neither: it stays in every denominator. Ctrl-C (and SIGTERM)
    stops sending, waits two seconds for what is on its way, and returns.

    Parameters
    ----------
    folder
        From `prepare_study`, or `StudyFolder.open`.
    progress
        Told how far it is; see `terminal_progress`.
    limit
        Ask for at most so many runs.
    only
        Ask only these questions, models, temperatures or conditions.
    targets
        Runs that a cell (question id, condition id, prompt hash) is to have after this session, in place of the
        study's N; cells that are not named are not asked. `SamplingSummary.total` is then what they add up to.

    Raises
    ------
    EndpointError
        A key is missing or wrong, a model unknown, an address unreachable, or the endpoint went down: none of the
        runs that failed of it are recorded.
    StudyLockedError
        Another process is sampling this study.
    RecordError
        The disk is full, or a recorded line is damaged.
    StudyError
        `study.json` does not fit the rest of the folder; `only` names what the study does not have; `targets`
        names a cell that it does not have.
    MissingDependencyError
        The embedded model is asked for and not installed.
    """
    description = folder.describe()
    try:
        config = StudyConfig.model_validate(description.settings)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        where = ".".join(("settings", *map(str, first["loc"])))
        raise StudyError(first["msg"], path=folder.description_path, field=where) from None
    cells = requests_of(folder, description, config)
    wish = _wish(cells, description, limit, only, targets)
    with RecordStore.open(folder.records_path) as store:
        return run_loop(lambda stopper: _sample(folder, config, wish, store, progress, stopper))


@dataclass(frozen=True)
class _Wish:
    """What a session is to ask."""

    cells: tuple[CellRequest, ...]
    runs: int | Mapping[CellId, int]
    seed: int
    limit: int | None
    asked: frozenset[CellId] | None

    @property
    def total(self) -> int:
        return sum(runs_wanted(cell, self.runs) for cell in self.cells)

    def plan(self, recorded: RunIndex) -> Iterator[PlannedRun]:
        return plan_runs(self.cells, self.runs, self.seed, recorded, self.limit, asked=self.asked)


def _wish(
    cells: tuple[CellRequest, ...],
    description: StudyDescription,
    limit: int | None,
    only: Selection | None,
    targets: Mapping[CellId, int] | None,
) -> _Wish:
    unknown = (targets or {}).keys() - {cell.id for cell in cells}
    if unknown:
        raise StudyError(f"targets names a cell that the study does not have: {min(unknown)}")
    asked = None if only is None else frozenset(cell.id for cell in only.apply(cells))
    return _Wish(cells, description.runs if targets is None else targets, description.seed, limit, asked)


async def _sample(
    folder: StudyFolder,
    config: StudyConfig,
    wish: _Wish,
    store: RecordStore,
    progress: Progress | None,
    stopper: Stopper,
) -> SamplingSummary:
    begun = time.monotonic()
    # The plans are read while the store grows: they go by what was recorded when the session began.
    recorded = store.recorded.copy()
    total = wish.total
    done = count_recorded(wish.cells, wish.runs, recorded)
    names: set[str] = set()
    wanted = 0
    for planned in wish.plan(recorded):
        names.add(planned.cell.endpoint)
        wanted += 1
    if not wanted:
        return _summary(SamplingState(done, total, done, 0, 0, 0, 0, 0.0), begun, interrupted=False)
    # Jitter is there to keep clients apart, so it must not come from the study's seed.
    rng = np.random.default_rng()
    async with AsyncExitStack() as stack:
        endpoints = {
            name: await stack.enter_async_context(
                open_endpoint(
                    name,
                    config.endpoints[name],
                    timeout=config.sampling.timeout,
                    log_dir=folder.root / LOG_FOLDER,
                )
            )
            for name in sorted(names)
        }
        session = Session(store, done=done, total=total, goal=done + wanted, progress=progress)
        session.tell(at_once=True)
        lanes = []
        for name, endpoint in endpoints.items():
            share = _share_of(name, wish.plan(recorded))
            lanes.append(Lane(name, endpoint, share, session, config.sampling, rng))
        with stopper.attached(session.stop):
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    group.create_task(lane.run())
        session.tell(at_once=True)
        if session.problem is not None:
            raise session.problem
        return _summary(session.state(), begun, interrupted=stopper.requested)


def _share_of(endpoint: str, plan: Iterator[PlannedRun]) -> Iterator[PlannedRun]:
    return (planned for planned in plan if planned.cell.endpoint == endpoint)


def _summary(state: SamplingState, begun: float, *, interrupted: bool) -> SamplingSummary:
    return SamplingSummary(
        new=state.new,
        failed=state.failed,
        retried=state.retried,
        recorded=state.done,
        total=state.total,
        tokens=state.tokens_out,
        seconds=time.monotonic() - begun,
        interrupted=interrupted,
    )
