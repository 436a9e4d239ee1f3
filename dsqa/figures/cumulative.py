"""The share of right runs as runs come in, with a band that holds at every N at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dsqa.errors import ReportError
from dsqa.figures.common import Caption, condition_labels, counted, extent, in_order, numbers, require, title_for
from dsqa.figures.style import EDGE, PALETTE, WIDTHS_MM, Width, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables
from dsqa.stats import proportion_bounds
from dsqa.stats.sequential import PROPORTION_SEQUENCE, proportion_sequence

__all__ = [
    "CumulativeMean",
    "cumulative_mean_caption",
    "cumulative_mean_data",
    "cumulative_mean_figure",
    "cumulative_of",
]

MAX_CONDITIONS = 12
"""Conditions that get a panel."""

_COLUMNS = ("question_id", "condition_id", "endpoint", "model", "temperature", "run")
_AXES = {"accuracy": "Share of right runs so far", "completion": "Share of completed runs so far"}


@dataclass(frozen=True, eq=False)
class CumulativeMean:
    """The runs of one question as they came in.

    Parameters
    ----------
    metric
        ``accuracy`` or ``completion``.
    question, chosen
        The question's id, and why it was chosen ("" where it was asked for).
    table
        A row per run: see `cumulative_mean_data`.
    unmarked
        Runs without a mark, left out.
    extent
        N in words.
    """

    metric: str
    question: str
    chosen: str
    table: pd.DataFrame
    unmarked: int
    extent: str


def cumulative_of(
    tables: StudyTables, *, question: str | None = None, metric: Literal["accuracy", "completion"] = "accuracy"
) -> CumulativeMean:
    """Follow the running share of a question's runs, in the order of their numbers.

    Parameters
    ----------
    tables
        The study.
    question
        By default the one that is least stable, by the mean instability of its cells.
    metric
        Of the runs: 0 or 1 each.

    Raises
    ------
    ReportError
        There is no run of that question, or no such metric.
    """
    outcomes = tables.outcomes
    if metric not in _AXES:
        raise ReportError(f"the running mean of '{metric}' has no confidence sequence", hint="accuracy or completion")
    require(outcomes, (*_COLUMNS, metric), "cumulative-mean")
    chosen = ""
    if question is None:
        question, chosen = _least_stable(tables.cells)
    mine = outcomes[outcomes["question_id"] == question]
    if mine.empty:
        raise ReportError(f"there is no run of a question '{question}'", hint="question ids are in the overview")
    parts = []
    for condition, label in condition_labels(outcomes).items():
        here = mine[mine["condition_id"] == condition].sort_values("run", kind="stable")
        marks = numbers(here[metric])
        here, marks = here[np.isfinite(marks)], marks[np.isfinite(marks)]
        if not len(marks):
            continue
        n, right = np.arange(1, len(marks) + 1), np.cumsum(marks)
        low, high = proportion_sequence(right, n)
        wilson_low, wilson_high = proportion_bounds(right, n)
        parts.append(
            pd.DataFrame(
                {
                    "question_id": question, "condition_id": condition, "condition": label,
                    "run": here["run"].to_numpy(), "n": n, "successes": right.astype(int), "mean": right / n,
                    "low": low, "high": high, "wilson_low": wilson_low, "wilson_high": wilson_high,
                }
            )
        )  # fmt: skip
    if not parts:
        raise NotApplicableError(f"no run of question '{question}' is marked")
    table = pd.concat(parts, ignore_index=True)
    return CumulativeMean(metric, question, chosen, table, len(mine) - len(table), extent(mine))


def cumulative_mean_data(shown: CumulativeMean) -> pd.DataFrame:
    """Return what `cumulative_mean_figure` draws, a row per run.

    Columns: question_id, condition_id, condition, run, n (runs so far), successes, mean, low and high (confidence
    sequence), wilson_low and wilson_high (the interval for an N fixed beforehand).
    """
    return shown.table


@styled
def cumulative_mean_figure(shown: CumulativeMean, *, width: Width = "double") -> Figure:
    """Draw the running share with its confidence sequence over N, a panel per condition (the first 12).

    Parameters
    ----------
    shown
        From `cumulative_of`.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    conditions = in_order(shown.table["condition_id"])[:MAX_CONDITIONS]
    across = min(len(conditions), 1 if width == "single" else 4 if len(conditions) > 4 else len(conditions))
    down = -(-len(conditions) // across)
    each = 46 if down > 1 or across > 2 else 58
    figure = new_figure(width, each * down + 18)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for place, (axes, condition) in enumerate(zip(grid.flat, conditions, strict=False)):
        rows = shown.table[shown.table["condition_id"] == condition]
        n, mean = numbers(rows["n"]), numbers(rows["mean"])
        axes.fill_between(n, numbers(rows["low"]), numbers(rows["high"]), color=PALETTE[2], alpha=0.45, linewidth=0)
        for end in ("low", "high"):
            axes.plot(n, numbers(rows[end]), color=PALETTE[0], linewidth=0.6)
            axes.plot(n, numbers(rows[f"wilson_{end}"]), color=EDGE, linewidth=0.6, linestyle=(0, (1, 1.5)))
        axes.plot(n, mean, color=PALETTE[1], linewidth=1.4, marker="o" if len(n) == 1 else None, markersize=4)
        axes.set_title(title_for(str(rows["condition"].iloc[0]), WIDTHS_MM[width] / across - 14))
        axes.grid(axis="y")
        if place + across >= len(conditions):
            axes.tick_params(axis="x", labelbottom=True)
    for axes in list(grid.flat)[len(conditions) :]:
        axes.set_visible(False)
    longest = int(shown.table["n"].max())
    grid[0, 0].set(ylim=(-0.03, 1.03), xlim=(0.5, longest + 0.5), yticks=np.arange(0, 1.01, 0.25))
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.supxlabel("N, runs so far", size=8)
    figure.supylabel(_AXES[shown.metric], size=8)
    handles = [
        Line2D([], [], color=PALETTE[1], linewidth=1.4, label="share so far"),
        Patch(
            facecolor=PALETTE[2], alpha=0.45, edgecolor=PALETTE[0], linewidth=0.6, label="95 % confidence sequence"
        ),
        Line2D(
            [], [], color=EDGE, linewidth=0.8, linestyle=(0, (1, 1.5)), label="95 % Wilson interval, for a fixed N"
        ),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3 if width == "double" else 1)
    return figure


def cumulative_mean_caption(shown: CumulativeMean) -> Caption:
    """Return the caption of `cumulative_mean_figure` for the same runs."""
    last = shown.table.groupby("condition_id", sort=False).tail(1)
    what = "right" if shown.metric == "accuracy" else "completed"
    text = (
        f"Question {shown.question}{shown.chosen}: share of {what} runs as they came in. The band is a 95 % "
        f"{PROPORTION_SEQUENCE}: with probability 95 % the true share lies in it at every N at once, so one may "
        "look at any time and stop. Dotted: Wilson's interval, narrower, and valid only at one N fixed beforehand. "
        f"{shown.extent}."
    )
    hidden = len(last) - MAX_CONDITIONS
    if hidden > 0:
        text += f" Of {len(last)} conditions the first {MAX_CONDITIONS} are drawn; the data hold all."
    if shown.unmarked:
        text += f" Without a mark, and so left out: {counted(shown.unmarked, 'run')}."
    ends = "; ".join(
        f"{row.condition}: {row.mean:.2f} ({row.low:.2f} to {row.high:.2f}) after {counted(n, 'run')}"
        for n, row in zip(last["n"].tolist(), last.head(MAX_CONDITIONS).itertuples(), strict=False)
    )
    title = "Accuracy" if shown.metric == "accuracy" else "Completion"
    return Caption(
        f"{title} run by run, with a confidence sequence", text, f"Running share with a narrowing band. {ends}."
    )


def _least_stable(cells: pd.DataFrame) -> tuple[str, str]:
    require(cells, ("question_id", "instability"), "cumulative-mean")
    values = pd.Series(numbers(cells["instability"]), index=cells.index)
    means = values.groupby(cells["question_id"].astype(str), sort=False).mean()
    if not means.notna().any():
        return in_order(cells["question_id"])[0], ""
    best = str(means.round(12).idxmax())
    return best, f", the least stable one (mean normalised instability {means[best]:.2f})"
