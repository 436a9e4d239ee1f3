"""The order in which runs are asked: blocked over cells, shuffled within a block, made as it is needed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dsqa.records import RunIndex, RunKey
from dsqa.study.design import Cell

__all__ = ["CellId", "CellRequest", "PlannedRun", "count_recorded", "plan_runs", "runs_wanted"]

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


def plan_runs(
    cells: Sequence[CellRequest],
    runs: int | Mapping[CellId, int],
    seed: int,
    recorded: RunIndex,
    limit: int | None = None,
    *,
    asked: Container[CellId] | None = None,
) -> Iterator[PlannedRun]:
    """Yield the runs that are not recorded yet.

    Block k holds run k of every cell, in an order drawn from ``(seed, k)``: whenever sampling stops, no cell is
    more than one run ahead of another, and drift over time falls on all conditions alike.

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
        Yield at most so many.
    asked
        Cells to ask; all by default.
    """
    # SeedSequence takes no negative numbers; the sign becomes a word of its own.
    entropy = (abs(seed), int(seed < 0))

    goals = [runs_wanted(cell, runs) if asked is None or cell.id in asked else 0 for cell in cells]

    def remaining() -> Iterator[PlannedRun]:
        for run in range(max(goals, default=0)):
            order = np.random.default_rng([*entropy, run]).permutation(len(cells))
            for position in order:
                cell = cells[position]
                if run < goals[position] and cell.key(run) not in recorded:
                    yield PlannedRun(cell, run)

    return islice(remaining(), limit)


def runs_wanted(cell: CellRequest, runs: int | Mapping[CellId, int]) -> int:
    """Return how many runs a cell is to have."""
    return runs if isinstance(runs, int) else runs.get(cell.id, 0)


def count_recorded(cells: Sequence[CellRequest], runs: int | Mapping[CellId, int], recorded: RunIndex) -> int:
    """Return how many of the wanted runs are recorded."""
    return sum(cell.key(run) in recorded for cell in cells for run in range(runs_wanted(cell, runs)))
