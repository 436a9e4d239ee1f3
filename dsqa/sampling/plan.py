"""The order in which runs are asked: blocked over cells, shuffled within a block, made as it is needed."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsqa.records import RunIndex, RunKey
from dsqa.study.design import Cell, fingerprint
from dsqa.study.sections import SEED_PER_RUN

__all__ = [
    "CellId",
    "CellRequest",
    "PlannedRequest",
    "PlannedRun",
    "count_recorded",
    "plan_requests",
    "plan_runs",
    "runs_wanted",
]

CellId = tuple[str, str, str]
"""Question id, condition id, prompt hash."""


@dataclass(frozen=True, slots=True, eq=False)
class CellRequest:
    """A cell, ready to be asked: its ids, and the body to send."""

    question_id: str
    condition_id: str
    prompt_hash: str
    endpoint: str
    condition: dict[str, Any]
    request: dict[str, Any]

    @classmethod
    def of(cls, cell: Cell) -> CellRequest:
        """Write the body that asks a cell: model, messages, temperature if any, then the other parameters."""
        condition = cell.condition
        request: dict[str, Any] = {"model": condition.model, "messages": list(cell.messages)}
        if condition.temperature is not None:
            request["temperature"] = condition.temperature
        request.update(condition.request)
        return cls(
            question_id=cell.question_id,
            condition_id=condition.id,
            prompt_hash=cell.prompt_hash,
            endpoint=condition.endpoint,
            condition=condition.to_dict(),
            request=request,
        )

    def body(self, runs: Sequence[int], seed: int) -> dict[str, Any]:
        """Return the body that asks for runs of the cell in one request.

        Parameters
        ----------
        runs
            Their numbers; more than one are asked for as choices (``n``).
        seed
            The study's; where the request's ``seed`` is ``per-run``, the one that is sent is made from it, the cell
            and the first run's number.
        """
        body = self.request if len(runs) == 1 else {**self.request, "n": len(runs)}
        if body.get("seed") == SEED_PER_RUN:
            body = {**body, "seed": int(fingerprint([seed, *self.id, runs[0]], 8), 16) >> 1}
        return body

    @property
    def id(self) -> CellId:
        """What tells the cell from every other."""
        return self.question_id, self.condition_id, self.prompt_hash

    def key(self, run: int) -> RunKey:
        """Return the key of the cell's run of that number."""
        return RunKey(self.question_id, self.condition_id, run, self.prompt_hash)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run still to be asked."""

    cell: CellRequest
    run: int

    @property
    def key(self) -> RunKey:
        """The run's key."""
        return self.cell.key(self.run)


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request still to be sent: runs of one cell, as many as it is to have choices."""

    cell: CellRequest
    runs: tuple[int, ...]


def plan_requests(
    cells: Sequence[CellRequest],
    runs: int | Mapping[CellId, int],
    seed: int,
    recorded: RunIndex,
    limit: int | None = None,
    *,
    asked: Container[CellId] | None = None,
    choices: int = 1,
) -> Iterator[PlannedRequest]:
    """Yield the requests for the runs that are not recorded yet.

    Block k holds run k of every cell, in an order drawn from ``(seed, k)``: whenever sampling stops, no cell is
    more than one run ahead of another, and drift over time falls on all conditions alike. With several choices to a
    request, a block holds that many runs of every cell, and a cell may be that many ahead.

    Parameters
    ----------
    cells
        The design's cells, all of them: the order within a block does not depend on what is asked of it.
    runs
        Runs per cell, N; or a number for each cell, where a cell that is not named is not asked.
    seed
        The study's seed, any integer.
    recorded
        Runs to leave out. Must not change while the plan is read.
    limit
        Plan at most so many runs.
    asked
        Cells to ask; all by default.
    choices
        Runs that one request may ask for.
    """
    # SeedSequence takes no negative numbers; the sign becomes a word of its own.
    entropy = (abs(seed), int(seed < 0))
    goals = [runs_wanted(cell, runs) if asked is None or cell.id in asked else 0 for cell in cells]
    left = math.inf if limit is None else limit
    for first in range(0, max(goals, default=0), choices):
        order = np.random.default_rng([*entropy, first]).permutation(len(cells))
        for position in order:
            if left <= 0:
                return
            cell, end = cells[position], min(first + choices, goals[position])
            missing = tuple(run for run in range(first, end) if cell.key(run) not in recorded)
            if missing:
                chosen = missing if len(missing) <= left else missing[: int(left)]
                left -= len(chosen)
                yield PlannedRequest(cell, chosen)


def plan_runs(
    cells: Sequence[CellRequest],
    runs: int | Mapping[CellId, int],
    seed: int,
    recorded: RunIndex,
    limit: int | None = None,
    *,
    asked: Container[CellId] | None = None,
) -> Iterator[PlannedRun]:
    """Yield the runs that are not recorded yet, in the order of `plan_requests`."""
    for planned in plan_requests(cells, runs, seed, recorded, limit, asked=asked):
        yield PlannedRun(planned.cell, planned.runs[0])


def runs_wanted(cell: CellRequest, runs: int | Mapping[CellId, int]) -> int:
    """Return how many runs a cell is to have."""
    return runs if isinstance(runs, int) else runs.get(cell.id, 0)


def count_recorded(cells: Sequence[CellRequest], runs: int | Mapping[CellId, int], recorded: RunIndex) -> int:
    """Return how many of the wanted runs are recorded."""
    return sum(cell.key(run) in recorded for cell in cells for run in range(runs_wanted(cell, runs)))
