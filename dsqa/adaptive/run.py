"""Alternate between asking and looking until every cell has had enough runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import pandas as pd

from dsqa.adaptive.marks import Marks
from dsqa.outcomes import save_table
from dsqa.sampling import SamplingSummary
from dsqa.sampling.plan import CellId
from dsqa.stats.sequential import stopping_table
from dsqa.study import StudyFolder
from dsqa.study.sections import StopConfig

__all__ = ["AdaptiveSampling", "Ask", "Look", "sample_until_precise"]


class Ask(Protocol):
    """What asks: `dsqa.sampling.sample_study` with the study and everything else filled in."""

    def __call__(self, *, targets: Mapping[CellId, int], limit: int | None, besides: int) -> SamplingSummary:
        """Bring every cell named in `targets` to so many runs, with at most `limit` new ones.

        `besides` is how many runs the other cells have, for whoever follows.
        """
        ...


@dataclass(frozen=True)
class Look:
    """What a look found.

    Parameters
    ----------
    precise, at_most, going_on
        Cells that meet the study's criteria, that have all the runs they may have, and that are asked further.
    runs
        Runs looked at.
    """

    precise: int
    at_most: int
    going_on: int
    runs: int


@dataclass(frozen=True)
class AdaptiveSampling:
    """What it came to.

    Parameters
    ----------
    summary
        Of all sessions of asking together; `total`: the runs of cells that are through, and those that open cells
        are to have at their next look.
    table
        See `dsqa.stats.sequential.stopping_table`.
    looks
        How often runs were marked and looked at.
    through
        Every cell that was to be asked has had enough runs.
    """

    summary: SamplingSummary
    table: pd.DataFrame
    looks: int
    through: bool


def sample_until_precise(
    folder: StudyFolder,
    stop: StopConfig,
    ask: Ask,
    marks: Marks,
    *,
    cells: frozenset[CellId] | None = None,
    limit: int | None = None,
    looked: Callable[[Look], None] | None = None,
) -> AdaptiveSampling:
    """Ask every open cell up to its next look, mark the new runs, decide, and go on with the cells still open.

    What is decided depends on the recorded runs and their marks alone: interrupted at any moment and started again,
    it comes to the same runs per cell. `stopping.parquet` holds the last look's table.

    Parameters
    ----------
    folder
        The prepared study.
    stop
        The criteria.
    ask
        Asks the runs up to each cell's target.
    marks
        The marks of the study's runs.
    cells
        Ask only these; all by default.
    limit
        Record at most so many new runs.
    looked
        Told what each look found.

    Raises
    ------
    DsqaError
        Whatever `ask` and `marks` raise; what is recorded is kept.
    """
    description = folder.describe()
    order = [(c.question_id, c.condition_id, c.prompt_hash) for c in description.cells]
    asked = [cell for cell in order if cells is None or cell in cells]
    first = stop.looks(description.runs)[0]
    done: list[SamplingSummary] = []
    looks = 0
    while True:
        table = stopping_table(marks.update(), stop, description.runs)
        looks += 1
        save_table(table, folder.stopping_path)
        found = _found(table)
        open_at = {cell: found.get(cell, _NEW) for cell in asked}
        targets = {cell: now.next_look or first for cell, now in open_at.items() if now.state == "open"}
        recorded = total = sum(now.runs for now in found.values())
        total += sum(target - open_at[cell].runs for cell, target in targets.items())
        if looked is not None and not table.empty:
            states = [now.state for now in open_at.values()]
            looked(Look(states.count("precise"), states.count("max_runs"), len(targets), recorded))
        left = None if limit is None else limit - sum(summary.new for summary in done)
        if not targets or left == 0 or (done and _ended(done[-1])):
            break
        done.append(ask(targets=targets, limit=left, besides=total - sum(targets.values())))
        if done[-1].interrupted:
            break
    if done and done[-1].interrupted:
        recorded += done[-1].new
    # Asking nothing tells what the sessions before this one took.
    summary = _together(done or [ask(targets={}, limit=None, besides=total)], recorded, total)
    return AdaptiveSampling(summary, table, looks, not targets)


class _Now(NamedTuple):
    """A cell as the last look found it."""

    state: str
    runs: int
    next_look: int | None


_NEW = _Now("open", 0, None)


def _found(table: pd.DataFrame) -> dict[CellId, _Now]:
    ids = zip(*(table[name].astype(str) for name in ("question_id", "condition_id", "prompt_hash")), strict=True)
    upcoming = [None if pd.isna(look) else int(look) for look in table["next_look"]]
    states = zip(table["state"].astype(str), table["runs"].astype(int), upcoming, strict=True)
    return {cell: _Now(*state) for cell, state in zip(ids, states, strict=True)}


def _ended(summary: SamplingSummary) -> bool:
    """Whether asking stopped before every target was reached: a limit, a budget."""
    return summary.recorded < summary.total or not summary.new


_ADD_UP = (
    "new",
    "failed",
    "retried",
    "tokens",
    "tokens_in",
    "tokens_cached",
    "tokens_reasoning",
    "requests",
    "seconds",
)


def _together(sessions: list[SamplingSummary], recorded: int, total: int) -> SamplingSummary:
    money: Counter[str] = Counter()
    for session in sessions:
        money.update(session.money or {})
    sums: dict[str, Any] = {name: sum(getattr(session, name) for session in sessions) for name in _ADD_UP}
    return replace(sessions[-1], **sums, money=dict(money), recorded=recorded, total=total)
