"""What a session is to ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from dsqa.errors import StudyError
from dsqa.records import RunIndex
from dsqa.sampling.plan import CellId, CellRequest, PlannedRequest, plan_requests, runs_wanted
from dsqa.sampling.select import Selection

__all__ = ["Wish"]


@dataclass(frozen=True)
class Wish:
    """Cells, how many runs each is to have, and which of them are meant this time."""

    cells: tuple[CellRequest, ...]
    runs: int | Mapping[CellId, int]
    seed: int
    choices: int = 1
    limit: int | None = None
    only: Selection | None = None
    asked: frozenset[CellId] | None = None

    @classmethod
    def of(
        cls,
        cells: tuple[CellRequest, ...],
        *,
        runs: int,
        seed: int,
        choices: int,
        limit: int | None,
        only: Selection | None,
        targets: Mapping[CellId, int] | None,
    ) -> Self:
        """Check what is wanted against the study.

        Raises
        ------
        StudyError
            `only` or `targets` names what the study does not have.
        """
        unknown = (targets or {}).keys() - {cell.id for cell in cells}
        if unknown:
            raise StudyError(f"targets names a cell that the study does not have: {min(unknown)}")
        asked = None if only is None else frozenset(cell.id for cell in only.apply(cells))
        return cls(cells, runs if targets is None else targets, seed, choices, limit, only, asked)

    @property
    def total(self) -> int:
        """Runs that the cells are to have."""
        return sum(self.runs_of(cell) for cell in self.cells)

    def runs_of(self, cell: CellRequest) -> int:
        """Return how many runs a cell is to have."""
        return runs_wanted(cell, self.runs)

    def plan(self, recorded: RunIndex) -> Iterator[PlannedRequest]:
        """Yield what is still to be asked."""
        return plan_requests(
            self.cells,
            self.runs,
            self.seed,
            recorded,
            self.limit,
            asked=self.asked,
            choices=self.choices,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was restricted, as plain data; empty for a whole study."""
        row = {
            "limit": self.limit,
            "only": None if self.only is None else self.only.to_dict(),
            "cells": None if isinstance(self.runs, int) else len(self.runs),
            "choices_per_request": None if self.choices == 1 else self.choices,
        }
        return {name: value for name, value in row.items() if value is not None}
