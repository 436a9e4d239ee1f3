"""Runs within their cells: numbers given, repeats found, in a few bytes per run."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from dsqa.errors import SourceError

__all__ = ["Cells", "Numbered", "OnDuplicate"]

OnDuplicate = Literal["error", "first", "last", "all"]

_NONE, _WAITING = -1, -2
_SPARSE = 10
"""Numbers that reach so many times beyond the largest cell are seeds or ids, not run numbers."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """What became of the runs.

    Parameters
    ----------
    numbers
        By position in the source: the run's number in its cell, or -1 for one that is left out.
    most
        The largest number, plus one: N.
    repeats
        Runs dropped because the very same one came before.
    conflicts
        Positions, in pairs, of runs of one cell and number that differ: the first and a later one.
    notes
        What was done, as sentences.
    """

    numbers: npt.NDArray[np.int64]
    most: int
    repeats: int
    conflicts: list[tuple[int, int]]
    notes: list[str] = field(default_factory=list)


class Cells:
    """The runs of all cells: which cell, which number, which content."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}
        self._cell = array("q")
        self._given = array("q")
        self._content = array("Q")
        self.prompts: list[set[str]] = []
        """By cell: the prompts that its runs were asked with."""

    def __len__(self) -> int:
        return len(self._cell)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Question and condition of each cell, in order of appearance."""
        return list(self._ids)

    def cell_of(self, position: int) -> int:
        """Return which cell a run belongs to."""
        return self._cell[position]

    def given(self, position: int) -> int | None:
        """Return the number that the source gives a run."""
        number = self._given[position]
        return None if number == _NONE else number

    def add(self, question_id: str, condition_id: str, number: int | None, prompt_hash: str, content: bytes) -> None:
        """Add the next run."""
        cell = self._ids.setdefault((question_id, condition_id), len(self._ids))
        if cell == len(self.prompts):
            self.prompts.append(set())
        self.prompts[cell].add(prompt_hash)
        self._cell.append(cell)
        self._given.append(_NONE if number is None else number)
        self._content.append(int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big"))

    def number(self, on_duplicate: OnDuplicate, first_run: int | None = None) -> Numbered:
        """Give each run its number within its cell.

        Parameters
        ----------
        on_duplicate
            What becomes of runs of one cell and number that differ: all but the first or the last left out, or all
            kept under numbers of their own. With ``error`` they are only listed.
        first_run
            The number that the source gives a cell's first run; None: for each condition, 1 if none of its runs has a
            number below 1.

        Raises
        ------
        SourceError
            A run has a number below `first_run`.
        """
        notes: list[str] = []
        cell, given = np.asarray(self._cell, dtype=np.int64), np.asarray(self._given, dtype=np.int64)
        numbered = given != _NONE
        lowest, highest = (int(given[numbered].min()), int(given[numbered].max())) if numbered.any() else (0, 0)
        if first_run is not None and numbered.any() and first_run > lowest:
            raise SourceError(f"a run has the number {lowest}, and the source counts from {first_run}")
        first, told = self._firsts(cell, given, first_run)
        notes.extend(told)
        numbers = np.where(numbered, given - first, _WAITING)
        repeats, conflicts = self._settle(numbers, cell, on_duplicate)
        if numbered.any() and int(numbers.max(initial=0)) >= _SPARSE * int(np.bincount(cell).max()):
            notes.append(f"run numbers go up to {highest}, so they number no runs: numbered anew in their order")
            _renumber(numbers, cell, np.unique(cell))
        elif on_duplicate == "all" and conflicts:
            _renumber(numbers, cell, np.unique(cell[[later for _, later in conflicts]]))
        if conflicts and on_duplicate == "all":
            notes.append(f"{len(conflicts)} runs had the number of another one and were given numbers of their own")
        elif conflicts and on_duplicate != "error":
            notes.append(f"{len(conflicts)} runs had the number of another one; the {on_duplicate} of them is kept")
        if not numbered.all():
            notes.append(f"{int((~numbered).sum())} runs have no number in the source: numbered as they come")
            _fill(numbers, cell)
        return Numbered(numbers, int(numbers.max(initial=-1)) + 1, repeats, conflicts, notes)

    def _firsts(
        self, cell: npt.NDArray[np.int64], given: npt.NDArray[np.int64], first_run: int | None
    ) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the number that each run's condition counts from, and what to say of it.

        Files of one source, each of one condition, may count differently; a cell that lacks its first run is no
        reason to think so, as its condition's other cells tell.
        """
        names = list(dict.fromkeys(condition for _, condition in self._ids))
        place = {name: index for index, name in enumerate(names)}
        of_cell = np.array([place[condition] for _, condition in self._ids], dtype=np.int64)
        lowest = np.full(len(names), np.iinfo(np.int64).max)
        numbered = given != _NONE
        condition = of_cell[cell]
        np.minimum.at(lowest, condition[numbered], given[numbered])
        first = (lowest == 1).astype(np.int64) if first_run is None else np.full(len(names), first_run)
        counted = lowest < np.iinfo(np.int64).max
        if not first[counted].any():
            return first[condition], []
        if len(set(first[counted].tolist())) == 1:
            return first[condition], [f"the source counts runs from {first[counted][0]}; here they count from 0"]
        told = ", ".join(name for name, number in zip(names, first, strict=True) if number)
        return first[condition], [f"the source counts runs from 1 in {told}, elsewhere from 0; here all from 0"]

    def _settle(
        self, numbers: npt.NDArray[np.int64], cell: npt.NDArray[np.int64], on_duplicate: OnDuplicate
    ) -> tuple[int, list[tuple[int, int]]]:
        """Take the number from runs that are left out; return how many repeats there are, and what differs."""
        order = np.lexsort((numbers, cell))  # stable: runs of one cell and number stay as they came
        same = (np.diff(cell[order]) == 0) & (np.diff(numbers[order]) == 0) & (numbers[order][1:] >= 0)
        starts = np.flatnonzero(same & ~np.concatenate([[False], same[:-1]]))
        repeats = 0
        conflicts: list[tuple[int, int]] = []
        for start in starts:
            end = start + 1
            while end < len(order) and same[end - 1]:
                end += 1
            members = [int(position) for position in order[start:end]]
            kept: list[int] = []
            contents: set[int] = set()
            for position in members:
                if self._content[position] in contents:
                    repeats += 1
                    numbers[position] = _NONE
                else:
                    contents.add(self._content[position])
                    kept.append(position)
            conflicts.extend((kept[0], later) for later in kept[1:])
            if on_duplicate != "all":
                numbers[kept[:-1] if on_duplicate == "last" else kept[1:]] = _NONE
        return repeats, sorted(conflicts)


def _renumber(numbers: npt.NDArray[np.int64], cell: npt.NDArray[np.int64], cells: npt.NDArray[np.int64]) -> None:
    """Number the runs of some cells from 0, in the order of their numbers and then as they came."""
    chosen = np.flatnonzero(np.isin(cell, cells) & (numbers >= 0))
    ordered = chosen[np.lexsort((numbers[chosen], cell[chosen]))]
    numbers[ordered] = _ranks(cell[ordered])


def _fill(numbers: npt.NDArray[np.int64], cell: npt.NDArray[np.int64]) -> None:
    """Number the runs that still wait for a number, after those of their cell that have one."""
    following = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(following, cell, numbers + 1)
    following = np.maximum(following, 0)
    waiting = np.flatnonzero(numbers == _WAITING)
    ordered = waiting[np.argsort(cell[waiting], kind="stable")]
    numbers[ordered] = following[cell[ordered]] + _ranks(cell[ordered])


def _ranks(sorted_cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return 0, 1, 2, … within each stretch of equal cells."""
    if not sorted_cells.size:
        return sorted_cells
    begins = np.flatnonzero(np.concatenate([[True], np.diff(sorted_cells) != 0]))
    lengths = np.diff(np.append(begins, sorted_cells.size))
    return np.arange(sorted_cells.size) - np.repeat(begins, lengths)
