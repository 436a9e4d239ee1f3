"""How many runs a wanted precision takes, for one cell and for the mean over questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dsqa import stats
from dsqa.errors import ReportError
from dsqa.figures.common import (
    MAX_PANELS,
    Caption,
    condition_labels,
    counted,
    extent,
    in_order,
    legend_columns,
    numbers,
    shorten_name,
)
from dsqa.figures.style import EDGE, GREY, MARKERS, PALETTE, SMALL, WIDTHS_MM, Width, new_figure, styled
from dsqa.figures.tables import StudyTables

__all__ = ["RunsNeeded", "runs_needed_caption", "runs_needed_data", "runs_needed_figure", "runs_needed_of"]

RUNS = (5, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500)
"""Numbers of runs that are tried."""

TARGET = 0.1
SIMULATIONS = 200

_CELL, _MEAN = "one cell", "mean over questions"


@dataclass(frozen=True, eq=False)
class RunsNeeded:
    """Half-widths of 95 % intervals for accuracy, simulated with the study as pilot.

    Parameters
    ----------
    table
        See `runs_needed_data`.
    target
        The half-width that is wanted.
    questions
        The study's number of questions.
    simulations
        Simulated studies per number of runs.
    extent
        N of the pilot, in words.
    """

    table: pd.DataFrame
    target: float
    questions: int
    simulations: int
    extent: str


def runs_needed_of(
    tables: StudyTables,
    *,
    target: float = TARGET,
    runs: Sequence[int] = RUNS,
    simulations: int = SIMULATIONS,
) -> RunsNeeded:
    """Simulate studies with other numbers of runs; see `dsqa.stats.planning`.

    Parameters
    ----------
    tables
        The pilot.
    target
        The half-width that is wanted, between 0 and 0.5.
    runs
        Numbers of runs per cell to try, each at least 2.
    simulations
        Simulated studies per number of runs.

    Raises
    ------
    ReportError
        The target is none.
    StatisticsError
        The pilot says nothing (one run per cell, or one question), or a setting is out of range.
    """
    if not 0 < target < 0.5:
        raise ReportError(f"a half-width of {target:g} cannot be aimed at", hint="between 0 and 0.5, such as 0.1")
    pilot = stats.read_pilot(tables.outcomes)
    tried = sorted(set(runs))
    questions = len(pilot.questions)
    cells = stats.plan_cells(pilot, runs=tried, seed=tables.seed, simulations=simulations, calls=False)
    means = stats.plan_precision(
        pilot,
        target=target,
        questions=(questions, 2 * questions),
        runs=tried,
        seed=tables.seed,
        simulations=simulations,
    )
    labels = condition_labels(tables.outcomes)
    table = pd.concat([cells.assign(of=_CELL, questions=1), means.assign(of=_MEAN)], ignore_index=True)
    table = table.rename(columns={"condition": "condition_id"})
    table["condition"] = table["condition_id"].map(labels)
    order = {key: i for i, key in enumerate(labels)}
    table = table.assign(_place=table["condition_id"].map(order)).sort_values(
        ["of", "questions", "_place", "runs"], ascending=[False, True, True, True], kind="stable"
    )
    columns = ["of", "condition_id", "condition", "questions", "runs", "requests", "half_width", "half_width_90"]
    return RunsNeeded(table[columns].reset_index(drop=True), target, questions, simulations, extent(tables.outcomes))


def runs_needed_data(needed: RunsNeeded) -> pd.DataFrame:
    """Return what `runs_needed_figure` draws.

    Columns: of (one cell, or mean over questions), condition_id, condition, questions, runs, requests, half_width
    (mean over simulated studies) and half_width_90 (nine in ten are narrower).
    """
    return needed.table


@styled
def runs_needed_figure(needed: RunsNeeded, *, width: Width = "double") -> Figure:
    """Draw the half-width of the 95 % interval over the number of runs, for a cell and for the mean over questions.

    Parameters
    ----------
    needed
        From `runs_needed_of`.
    width
        ``single`` (89 mm, panels above each other) or ``double`` (183 mm, side by side).
    """
    table = needed.table
    figure = new_figure(width, 90 if width == "double" else 146)
    panels = figure.subplots(1, 2, sharey=True) if width == "double" else figure.subplots(2, 1)
    conditions = in_order(table["condition_id"])
    coloured = conditions if len(conditions) <= MAX_PANELS else []
    for axes, part, title in zip(panels, (_CELL, _MEAN), _titles(needed), strict=True):
        rows = table[table["of"] == part]
        for questions, here in rows.groupby("questions", sort=False):
            dashes = "-" if questions in (1, needed.questions) else (0, (3, 1.5))
            _draw_lines(axes, here, coloured, dashes)
        axes.axhline(needed.target, color=EDGE, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
        axes.set(xscale="log", title=title, xlabel="Runs per question and condition")
        axes.grid(which="major")
        shown = [
            run for run in (5, 10, 20, 50, 100, 200, 500, 1000) if rows["runs"].min() <= run <= rows["runs"].max()
        ]
        axes.xaxis.set_major_locator(FixedLocator(shown or [int(rows["runs"].min())]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(0, max(1.08 * float(table["half_width"].max()), 1.3 * needed.target))
    for axes in panels if width == "single" else panels[1:]:
        place = axes.get_yaxis_transform()
        axes.text(1.01, needed.target, f"±{needed.target:g}", transform=place, size=SMALL, va="center")
    figure.supylabel("Half-width of the 95 % interval for accuracy", size=8)
    names = [shorten_name(str(name), 30) for name in in_order(table["condition"])] if coloured else []
    handles = [
        Line2D(
            [],
            [],
            color=PALETTE[i],
            marker=MARKERS[i],
            markersize=3.5,
            markeredgecolor=EDGE,
            markeredgewidth=0.4,
            label=name,
        )
        for i, name in enumerate(names)
    ] or [
        Line2D([], [], color=EDGE, linewidth=1.6, label="mean of the conditions"),
        Line2D([], [], color="#9A9A9A", linewidth=0.7, label="each condition"),
    ]
    handles.append(
        Line2D([], [], color=GREY, linestyle=(0, (3, 1.5)), label=f"with {2 * needed.questions} questions (right)")
    )
    columns = legend_columns([str(handle.get_label()) for handle in handles], WIDTHS_MM[width])
    figure.legend(handles=handles, loc="outside upper left", ncols=columns)
    return figure


def runs_needed_caption(needed: RunsNeeded) -> Caption:
    """Return the caption of `runs_needed_figure` for the same estimates."""
    at_once = needed.table[needed.table["questions"].isin([1, needed.questions])]
    said = []
    for part, name in ((_CELL, "a single cell"), (_MEAN, f"the mean over {needed.questions} questions")):
        mean = at_once[at_once["of"] == part].groupby("runs")["half_width"].mean()
        reached = mean[mean <= needed.target]
        most = int(mean.index.max())
        said.append(
            f"{name} from {int(reached.index.min()):,} runs on"
            if len(reached)
            else f"{name} not even with {most:,} runs (±{mean.iloc[-1]:.2f} there)"
        )
    text = (
        "Half-width of the 95 % interval for accuracy against the number of runs: of Wilson's interval of a single "
        "cell, and of Student's t interval for the mean over questions of a condition, for as many questions as here "
        f"({needed.questions}, solid) and twice as many (dashed). Means over {needed.simulations:,} simulated "
        f"studies per number of runs, with this study as pilot ({needed.extent}). Dotted: ±{needed.target:g}, "
        "reached by "
        f"{'; by '.join(said)} (of the numbers of runs tried, averaged over conditions)."
    )
    alt = f"Falling lines of half-width over runs. ±{needed.target:g} is reached by {'; '.join(said)}."
    return Caption("Runs needed for a precision", text, alt)


def _titles(needed: RunsNeeded) -> tuple[str, str]:
    return "One question, one condition", f"Mean over questions ({counted(needed.questions, 'question')})"


def _draw_lines(
    axes: Axes, rows: pd.DataFrame, coloured: list[str], dashes: str | tuple[int, tuple[float, float]]
) -> None:
    for condition, here in rows.groupby("condition_id", sort=False):
        x, y = numbers(here["runs"]), numbers(here["half_width"])
        if coloured:
            i = coloured.index(str(condition))
            axes.plot(
                x, y, color=PALETTE[i], linestyle=dashes, linewidth=1.2, marker=MARKERS[i], markersize=3.5,
                markeredgecolor=EDGE, markeredgewidth=0.4, zorder=3,
            )  # fmt: skip
        else:
            axes.plot(x, y, color="#9A9A9A", linestyle=dashes, linewidth=0.7, zorder=2)
    if not coloured:
        mean = rows.groupby("runs")["half_width"].mean()
        axes.plot(
            np.asarray(mean.index, dtype=float),
            mean.to_numpy(),
            color=EDGE,
            linestyle=dashes,
            linewidth=1.6,
            zorder=3,
        )
