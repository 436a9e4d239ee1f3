"""What the figures share: checked columns, labels, an empty state, and points laid side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dsqa.errors import ReportError
from dsqa.figures.style import GREY, LEVELS, SMALL, VERDICTS, Width, new_figure

__all__ = [
    "MAX_PANELS",
    "NOT_SENT",
    "Caption",
    "Panel",
    "blank",
    "clean_left",
    "condition_labels",
    "counted",
    "extent",
    "in_order",
    "known_verdict",
    "legend_columns",
    "level_rank",
    "numbers",
    "page_slice",
    "pages_for",
    "panels_of",
    "require",
    "shorten",
    "shorten_name",
    "side_by_side",
    "temperature_label",
    "title_for",
]

MAX_PANELS = 4
"""Conditions that get a panel or a hue of their own; beyond it they are pooled, and the caption says so."""

NOT_SENT = "not sent"
"""Label of a condition whose request named no temperature."""

_TITLE_MM = 2.0
"""Room for a character of bold 8 pt, a wide one."""

_LABEL_MM = 1.5
"""Room for a character of 7 pt."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Caption:
    """What is written under a figure, and what is read aloud in its place.

    Parameters
    ----------
    title
        One line.
    text
        What the marks and intervals are, and N.
    alt
        What there is to see, for someone who cannot see it.
    """

    title: str
    text: str
    alt: str


@dataclass(frozen=True)
class Panel:
    """Rows of a table that are drawn together, and the heading above them."""

    title: str
    rows: pd.DataFrame


def require(table: pd.DataFrame, columns: Iterable[str], figure: str) -> None:
    """Raise unless `table` has all of `columns`.

    Raises
    ------
    ReportError
        A column is missing; the message names it.
    """
    missing = [name for name in columns if name not in table.columns]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ReportError(
            f"the figure '{figure}' needs the column{'s' if len(missing) > 1 else ''} {names}",
            hint="outcomes come from dsqa.outcomes, cells from dsqa.stats.summarise_cells",
        )


def known_verdict(verdict: object) -> str:
    """Return a verdict by its name; one that is missing is "not known".

    Raises
    ------
    ReportError
        It is none of the verdicts of dsqa.stats.
    """
    if verdict is None or verdict is pd.NA or verdict != verdict:  # noqa: PLR0124 (NaN differs from itself)
        return "not known"
    if str(verdict) not in VERDICTS:
        raise ReportError(f"'{verdict}' is not a verdict", field="verdict", hint=f"one of: {', '.join(VERDICTS)}")
    return str(verdict)


def numbers(column: pd.Series) -> Floats:
    """Return a column as floats, NaN where a value is missing."""
    return np.asarray(pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan), dtype=np.float64)


def in_order(column: pd.Series) -> list[str]:
    """Return the distinct values as text, in order of first appearance; a missing one reads "unknown"."""
    return list(dict.fromkeys("unknown" if pd.isna(value) else str(value) for value in column))


def level_rank(level: object) -> int:
    """Return the place of a level: easy, medium, hard, then any other."""
    known = list(LEVELS)
    return known.index(str(level)) if str(level) in known else len(known)


def shorten(text: str, length: int) -> str:
    """Return `text` on one line, at most `length` characters, with … where something was cut from its end."""
    line = " ".join(str(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def shorten_name(name: str, length: int) -> str:
    """Return a name on one line, at most `length` characters, with … in its middle: names differ at their ends."""
    line = " ".join(str(name).split())
    if len(line) <= length:
        return line
    tail = (length - 1) // 2
    return f"{line[: length - 1 - tail]}…{line[len(line) - tail :]}"


def legend_columns(labels: Sequence[str], width_mm: float) -> int:
    """Return how many columns of a legend in 7 pt fit side by side, at most 4."""
    return min(4, len(labels), max(1, int((width_mm - 4) / (_LABEL_MM * max(map(len, labels)) + 10))))


def title_for(text: str, room_mm: float) -> str:
    """Return `text` cut, line by line, to what a panel's heading has room for."""
    room = max(8, int(room_mm / _TITLE_MM))
    lines = text.split("\n")
    if len(lines) == 1 and len(text) > room:
        # A model and its temperature: one below the other before either is cut.
        lines = text.rsplit(", ", 1)
    return "\n".join(shorten_name(line, room) for line in lines)


def temperature_label(value: object) -> str:
    """Return a temperature as it is written on an axis."""
    return NOT_SENT if pd.isna(value) else f"{float(value):g}"  # type: ignore[arg-type, call-overload]


def counted(number: int, noun: str) -> str:
    """Return "1 run", "2 runs", "1,200 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def condition_labels(table: pd.DataFrame, length: int = 28) -> dict[str, str]:
    """Return a label for each condition, in the order they are to be drawn.

    A label says only what tells the conditions apart: the model if there are several, the temperature if
    there are several, the endpoint likewise; where these do not suffice (two system messages, say), the last
    characters of the condition's id. Models keep their order of appearance; temperatures rise, one not sent
    comes last.
    """
    columns = ["condition_id", "endpoint", "model", "temperature"]
    rows = table[columns].drop_duplicates("condition_id")
    models, endpoints = in_order(rows["model"]), in_order(rows["endpoint"])
    heats = numbers(rows["temperature"])
    several_heats = len({temperature_label(heat) for heat in heats}) > 1
    order = sorted(
        range(len(rows)),
        key=lambda i: (models.index(str(rows["model"].iloc[i])), np.inf if np.isnan(heats[i]) else heats[i], i),
    )
    labels: dict[str, str] = {}
    for i in order:
        parts = []
        if len(models) > 1 or not (several_heats or len(endpoints) > 1):
            parts.append(shorten_name(str(rows["model"].iloc[i]), length))
        if len(endpoints) > 1:
            parts.append(shorten_name(str(rows["endpoint"].iloc[i]), length))
        if several_heats:
            parts.append(f"T = {temperature_label(heats[i])}" if not np.isnan(heats[i]) else f"T {NOT_SENT}")
        labels[str(rows["condition_id"].iloc[i])] = ", ".join(parts)
    texts = list(labels.values())
    told = {key: text if texts.count(text) == 1 else f"{text} [{key[-8:]}]" for key, text in labels.items()}
    if len(set(told.values())) < len(told):  # ids that were not made by dsqa may end alike
        return {key: f"{text} #{i}" for i, (key, text) in enumerate(told.items(), start=1)}
    return told


def panels_of(table: pd.DataFrame) -> list[Panel]:
    """Return one panel per condition, or a single pooled one where there are more than `MAX_PANELS`."""
    labels = condition_labels(table)
    if len(labels) > MAX_PANELS:
        return [Panel(f"All {len(labels)} conditions", table)]
    return [Panel(label, table[table["condition_id"] == key]) for key, label in labels.items()]


def extent(table: pd.DataFrame) -> str:
    """Return N in words: runs, questions, cells and runs per cell.

    Takes a cells table (with the column ``runs``) or an outcome table (a row per run).
    """
    cells = table[["question_id", "condition_id"]].drop_duplicates()
    if "runs" in table.columns:
        per_cell = numbers(table["runs"]).astype(int)
    else:
        per_cell = table.groupby(["question_id", "condition_id"], sort=False).size().to_numpy(dtype=int)
    total = int(per_cell.sum())
    each = f"{per_cell.min():,}" if per_cell.min() == per_cell.max() else f"{per_cell.min():,} to {per_cell.max():,}"
    return (
        f"N = {counted(total, 'run')} of {counted(cells['question_id'].nunique(), 'question')} under "
        f"{counted(cells['condition_id'].nunique(), 'condition')}: {counted(len(cells), 'cell')} of {each} "
        f"run{'' if per_cell.max() == 1 else 's'}"
    )


def blank(message: str, width: Width = "single") -> Figure:
    """Return a figure that says why there is nothing to draw."""
    figure = new_figure(width, 30)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", color=GREY, size=SMALL + 1, wrap=True)
    return figure


def side_by_side(values: Sequence[float] | Floats, *, bin_size: float, spacing: float, reach: float) -> Floats:
    """Return sideways offsets that keep points of about the same value apart.

    Points are put into bins of `bin_size` and laid out symmetrically in each, `spacing` apart, closer where
    they would pass `reach`. Nothing is random and no value is moved.

    Parameters
    ----------
    values
        Positions along the value axis, shape (n,), without NaN.
    bin_size
        In the unit of `values`.
    spacing, reach
        In the unit of the other axis.

    Returns
    -------
    numpy.ndarray
        Shape (n,), within [-reach, reach].
    """
    points = np.asarray(values, dtype=np.float64)
    offsets = np.zeros_like(points)
    bins = np.floor(points / bin_size) if bin_size > 0 else np.zeros_like(points)
    for place in np.unique(bins):
        members = np.flatnonzero(bins == place)
        members = members[np.argsort(points[members], kind="stable")]
        step = min(spacing, 2 * reach / max(len(members) - 1, 1))
        # The middle first, then left and right by turns: a bin looks alike whichever way it is sorted.
        turns = np.arange(len(members))
        steps = np.where(turns % 2 == 1, (turns + 1) // 2, -(turns // 2)).astype(np.float64)
        offsets[members] = (steps - steps.mean()) * step
    return offsets


def pages_for(items: int, per_page: int) -> int:
    """Return how many pages `items` fill, at least one."""
    return max(1, -(-items // per_page))


def page_slice(items: int, per_page: int, page: int, figure: str) -> slice:
    """Return the slice of items that page `page`, counted from 1, shows; pages are filled evenly.

    Raises
    ------
    ReportError
        There is no such page.
    """
    pages = pages_for(items, per_page)
    if not 1 <= page <= pages:
        raise ReportError(f"the figure '{figure}' has no page {page}", hint=f"pages run from 1 to {pages}")
    size = -(-items // pages)
    return slice((page - 1) * size, min(page * size, items))


def clean_left(axes: Axes) -> None:
    """Take away the left spine and the ticks' strokes: the labels stand by themselves."""
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
