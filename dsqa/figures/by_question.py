"""Token use and text similarity of the runs of one question, by model or by temperature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dsqa.errors import ReportError
from dsqa.figures.common import (
    MAX_PANELS,
    Caption,
    Floats,
    clean_left,
    counted,
    extent,
    in_order,
    legend_columns,
    numbers,
    require,
    shorten_name,
    side_by_side,
    temperature_label,
)
from dsqa.figures.style import EDGE, GREY, MARKERS, PALETTE, SMALL, WIDTHS_MM, Width, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables

__all__ = [
    "QuestionRuns",
    "question_by_model_of",
    "question_by_temperature_of",
    "question_caption",
    "question_data",
    "question_figure",
]

MAX_POINTS = 100
"""Runs in a group up to which each is drawn as a point."""

MAX_ROWS = 30
"""Rows that a figure has room for."""

By = Literal["model", "temperature"]

_COLUMNS = (
    "question_id", "condition_id", "model", "temperature", "run", "tokens_total", "jaccard_first",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class QuestionRuns:
    """The runs of one question.

    Parameters
    ----------
    by
        What the rows of the figure are; the other is told by colour and marker.
    question, chosen
        The question's id, and why it was chosen ("" where it was asked for).
    runs
        question_id, condition_id, model, temperature (as a label), run, tokens_total, jaccard_first (missing for
        run 0, which would be compared with itself).
    extent
        N in words.
    """

    by: By
    question: str
    chosen: str
    runs: pd.DataFrame
    extent: str

    @property
    def inner(self) -> By:
        """What colour and marker tell."""
        return "temperature" if self.by == "model" else "model"

    def rows(self) -> list[str]:
        """The values of `by`, in drawing order."""
        return _values(self.runs, self.by)

    def groups(self) -> list[str]:
        """The values of `inner`; none where there is one only, or more than colours."""
        values = _values(self.runs, self.inner)
        return values if 1 < len(values) <= MAX_PANELS else []

    def select(self, row: str, group: str | None) -> pd.DataFrame:
        """Return the runs of a row and, unless None, a group."""
        chosen = self.runs[self.by] == row
        return self.runs[chosen if group is None else chosen & (self.runs[self.inner] == group)]


def question_by_model_of(tables: StudyTables, *, question: str | None = None) -> QuestionRuns:
    """Take the runs of a question, to be shown by model; by default of the question where models differ most.

    Raises
    ------
    NotApplicableError
        There is one model only.
    ReportError
        There is no run of that question.
    """
    return _runs_of(tables.outcomes, "model", question)


def question_by_temperature_of(tables: StudyTables, *, question: str | None = None) -> QuestionRuns:
    """Take the runs of a question, to be shown by temperature; by default where temperatures differ most.

    Raises
    ------
    NotApplicableError
        There is one temperature only.
    ReportError
        There is no run of that question.
    """
    return _runs_of(tables.outcomes, "temperature", question)


def question_data(shown: QuestionRuns) -> pd.DataFrame:
    """Return what `question_figure` draws: a row per run of the question."""
    return shown.runs


@styled
def question_figure(shown: QuestionRuns, *, width: Width = "double") -> Figure:
    """Draw tokens per response and the Jaccard index with the first run, a row per model or temperature.

    Up to 4 values of the other of the two have a line of their own in each row, told by colour and marker. Up to
    100 runs each is a point; always, a bar spans the quartiles with a tick at the median, and a line the 5th to the
    95th percentile.

    Parameters
    ----------
    shown
        From `question_by_model_of` or `question_by_temperature_of`.
    width
        ``single`` (89 mm, panels above each other) or ``double`` (183 mm, side by side).
    """
    rows, groups = shown.rows()[:MAX_ROWS], shown.groups()
    lanes = max(1, len(groups))
    height = max(len(rows) * (4.2 * lanes + 2.2), 22)
    figure = new_figure(width, (height + 8) * (2 if width == "single" else 1) + 22)
    left, right = figure.subplots(1, 2, sharey=True) if width == "double" else figure.subplots(2, 1)
    panels = ((left, "tokens_total", "Tokens per response"), (right, "jaccard_first", "Jaccard index with run 0"))
    for axes, column, label in panels:
        values = numbers(shown.runs[column])
        top = 1.0 if column == "jaccard_first" else float(np.nanmax(values, initial=0)) or 1.0
        for place, row in enumerate(rows):
            for lane, group in enumerate(groups or [None]):
                at = place + (lane - (lanes - 1) / 2) * 0.86 / lanes
                here = numbers(shown.select(row, group)[column])
                _draw_group(axes, at, here[np.isfinite(here)], top, lane, 0.86 / lanes)
        axes.set(xlim=(0, top * 1.02), ylim=(len(rows) - 0.45, -0.55), xlabel=label)
        axes.set_yticks(range(len(rows)), [shorten_name(row, 26) for row in rows])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.grid(axis="x")
        clean_left(axes)
        for line in range(1, len(rows)):
            axes.axhline(line - 0.5, color="#C8C8C8", linewidth=0.5, zorder=0)
    figure.supylabel("Model" if shown.by == "model" else "Temperature", size=8)
    if groups:
        names = [f"T = {name}" if shown.inner == "temperature" else shorten_name(name, 30) for name in groups]
        handles = [
            Line2D(
                [], [], linestyle="", marker=MARKERS[i], markerfacecolor=PALETTE[i], markeredgecolor=EDGE,
                markeredgewidth=0.5, markersize=4.5, label=name,
            )
            for i, name in enumerate(names)
        ]  # fmt: skip
        columns = legend_columns(names, WIDTHS_MM[width])
        figure.legend(handles=handles, loc="outside upper left", ncols=columns)
    return figure


def question_caption(shown: QuestionRuns) -> Caption:
    """Return the caption of `question_figure` for the same runs."""
    title = f"Token use and text similarity of one question by {shown.by}"
    pooled = ""
    inner = _values(shown.runs, shown.inner)
    if shown.groups():
        pooled = f"; colour and marker tell the {shown.inner}"
    elif len(inner) > 1:
        pooled = f"; runs of all {len(inner)} {shown.inner}s together"
    sizes = shown.runs.groupby([shown.by, *([shown.inner] if shown.groups() else [])]).size()
    each = f"{sizes.min():,}" if sizes.min() == sizes.max() else f"{sizes.min():,} to {sizes.max():,}"
    points = "Every run is a point, moved sideways only, to be seen. " if sizes.max() <= MAX_POINTS else ""
    text = (
        f"Question {shown.question}{shown.chosen}: tokens of the whole response, code and reasoning included, and "
        f"Jaccard index of its text with that of the first run of its cell (1: the same words; run 0 itself is left "
        f"out), a row per {shown.by}{pooled}. {points}The thick bar spans the quartiles, the tick is the median, the "
        f"thin line runs from the 5th to the 95th percentile. {shown.extent}; {each} runs in a group."
    )
    hidden = len(shown.rows()) - MAX_ROWS
    if hidden > 0:
        text += f" Of {len(shown.rows())} {shown.by}s the first {MAX_ROWS} are drawn; the data hold all."
    for column, what in (("tokens_total", "token count"), ("jaccard_first", "similarity")):
        eligible = shown.runs if column == "tokens_total" else shown.runs[numbers(shown.runs["run"]) != 0]
        missing = int(eligible[column].isna().sum())
        if missing:
            text += f" Without a {what}: {counted(missing, 'run')}."
    medians = "; ".join(
        f"{row}: {_median(here['tokens_total'], 0)} tokens, similarity {_median(here['jaccard_first'], 2)}"
        for row, here in ((row, shown.select(row, None)) for row in shown.rows()[:12])
    )
    return Caption(title, text, f"Dot plot by {shown.by} for question {shown.question}. Medians: {medians}.")


def _median(column: pd.Series, digits: int) -> str:
    values = numbers(column)
    values = values[np.isfinite(values)]
    return f"{np.median(values):.{digits}f}" if len(values) else "unknown"


def _values(runs: pd.DataFrame, by: By) -> list[str]:
    if by == "model":
        return in_order(runs["model"])
    heats = set(runs["temperature"].astype(str))
    return sorted(heats, key=lambda label: (not _is_number(label), float(label) if _is_number(label) else 0.0))


def _is_number(label: str) -> bool:
    return label.replace(".", "", 1).replace("e-", "", 1).isdigit()


def _runs_of(outcomes: pd.DataFrame, by: By, question: str | None) -> QuestionRuns:
    figure = f"question-by-{by}"
    require(outcomes, _COLUMNS, figure)
    table = outcomes[list(_COLUMNS)].assign(
        question_id=outcomes["question_id"].astype(str),
        model=outcomes["model"].astype("string").fillna("unknown").astype(str),
        temperature=[temperature_label(value) for value in outcomes["temperature"]],
    )
    table["jaccard_first"] = table["jaccard_first"].where(numbers(table["run"]) != 0)
    if len(_values(table, by)) < 2:
        raise NotApplicableError(f"there is one {by} only")
    chosen = ""
    if question is None:
        question, spread = _most_spread(table, by)
        chosen = f", on which the {by}s differ most in mean similarity (by {spread:.2f})" if spread > 0 else ""
    runs = table[table["question_id"] == question].reset_index(drop=True)
    if runs.empty:
        raise ReportError(f"there is no run of a question '{question}'", hint="question ids are in the overview")
    return QuestionRuns(by, question, chosen, runs, extent(runs))


def _most_spread(table: pd.DataFrame, by: By) -> tuple[str, float]:
    """Return the question whose mean similarity differs most between values of `by`, the first of equals."""
    similarity = pd.Series(numbers(table["jaccard_first"]), index=table.index)
    means = similarity.groupby([table["question_id"], table[by]], sort=False).mean().unstack()
    reach = (means.max(axis=1) - means.min(axis=1)).round(12).fillna(0.0)
    questions = in_order(table["question_id"])
    best = max(questions, key=lambda name: (float(reach.get(name, 0.0)), -questions.index(name)))
    return best, float(reach.get(best, 0.0))


def _draw_group(axes: Axes, at: float, values: Floats, top: float, lane: int, room: float) -> None:
    if not len(values):
        axes.text(0.0, at, " none", size=SMALL, color=GREY, va="center")
        return
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    points = len(values) <= MAX_POINTS
    axes.hlines(at, low, high, colors="#8C8C8C", linewidth=0.8, zorder=1)
    axes.hlines(at, first, third, colors="#C4C4C4", linewidth=6, zorder=1.5)
    axes.vlines(middle, at - 0.42 * room, at + 0.42 * room, colors=EDGE, linewidth=1.4, zorder=3.5)
    if points:
        offsets = side_by_side(values, bin_size=top / 60, spacing=0.09 * room, reach=0.4 * room)
        axes.scatter(
            values, at + offsets, s=6, marker=MARKERS[lane], facecolor=PALETTE[lane], edgecolor=EDGE, linewidth=0.3,
            zorder=3, clip_on=False,
        )  # fmt: skip
    else:
        axes.scatter(
            middle, at, s=20, marker=MARKERS[lane], facecolor=PALETTE[lane], edgecolor=EDGE, linewidth=0.5, zorder=4
        )
