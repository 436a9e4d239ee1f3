"""Sampling that stops by itself, on the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder
from dsqa.study.sections import StopConfig

if TYPE_CHECKING:
    import pandas as pd

    from dsqa.adaptive import Look
    from dsqa.adaptive.run import Ask
    from dsqa.outcomes.score import Execute
    from dsqa.sampling import Progress, SamplingState, SamplingSummary, Selection

__all__ = ["Besides", "ask_until_precise"]


class Besides:
    """Shows sampling's progress with the runs that the cells not asked this time have already."""

    def __init__(self, shown: Progress, besides: int) -> None:
        self._shown = shown
        self._besides = besides

    def update(self, state: SamplingState) -> None:
        """Pass a state on, counted with them."""
        more = {name: getattr(state, name) + self._besides for name in ("done", "total", "goal")}
        self._shown.update(replace(state, **more))


def ask_until_precise(
    folder: StudyFolder,
    stop: StopConfig,
    ask: Ask,
    *,
    config: StudyConfig,
    only: Selection | None,
    limit: int | None,
    unsafe: bool,
    workers: int | None,
    executor: Execute | None = None,
) -> SamplingSummary:
    """Ask, mark and look until every cell has had enough runs; what each look found goes to stderr."""
    from dsqa.adaptive import Marks, sample_until_precise
    from dsqa.sampling.prepare import requests_of

    cells = None
    if only is not None:
        cells = frozenset(cell.id for cell in only.apply(requests_of(folder, folder.describe(), config)))
    marks = Marks(folder, unsafe=unsafe, workers=workers, executor=executor)
    done = sample_until_precise(folder, stop, ask, marks, cells=cells, limit=limit, looked=_say)
    if done.through:
        click.echo(_saved(done.table), err=True)
    return done.summary


def _say(look: Look) -> None:
    click.echo(
        f"{look.runs:,} runs looked at: {_cells(look.precise)} precise enough, {look.at_most} at max_runs, "
        f"{look.going_on} asked further",
        err=True,
    )


def _saved(table: pd.DataFrame) -> str:
    """Return in a line what stopping saved."""
    through = table[table["state"] != "open"]
    most = int(through["max_runs"].sum())
    saved = int(through["saved"].sum())
    share = f" ({saved / most:.0%})" if most else ""
    precise = int((through["state"] == "precise").sum())
    return f"{_cells(precise)} of {len(table)} stopped early enough to save {saved:,} of {most:,} runs{share}"


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"
