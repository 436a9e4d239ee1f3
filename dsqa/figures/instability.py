"""Normalised instability by category and level, against the mark from which it is notable."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dsqa.figures.common import (
    MAX_PANELS,
    Caption,
    blank,
    clean_left,
    condition_labels,
    counted,
    extent,
    in_order,
    level_rank,
    numbers,
    panels_of,
    require,
    shorten,
    shorten_name,
    side_by_side,
    title_for,
)
from dsqa.figures.style import EDGE, GREY, LEVELS, SMALL, WIDTHS_MM, Mark, Width, new_figure, styled
from dsqa.stats import NOTABLE

__all__ = ["instability_caption", "instability_data", "instability_figure"]

MAX_ROWS = 50
"""Rows a figure has for questions; beyond it a row is a category's level."""

_NAME = "instability"
_COLUMNS = (
    "question_id", "category", "level", "condition_id", "endpoint", "model", "temperature", "runs",
    "instability", "instability_low", "instability_high",
)  # fmt: skip
_OTHER: Mark = ("#FFFFFF", "v")
_ROW_MM = 3.3


def instability_data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what `instability_figure` draws: a row per cell, by category, level and question.

    Columns: category, level, question_id, condition_id, condition (its label), runs, and instability with
    its interval, all three in [0, 1].
    """
    require(cells, _COLUMNS, _NAME)
    labels = condition_labels(cells)
    table = cells[list(_COLUMNS)].assign(condition=[labels[str(key)] for key in cells["condition_id"]])
    categories, questions, conditions = in_order(table["category"]), in_order(table["question_id"]), list(labels)
    order = sorted(
        range(len(table)),
        key=lambda i: (
            categories.index(_text(table["category"].iloc[i])),
            level_rank(table["level"].iloc[i]),
            questions.index(str(table["question_id"].iloc[i])),
            conditions.index(str(table["condition_id"].iloc[i])),
        ),
    )
    columns = ["category", "level", "question_id", "condition_id", "condition", *_COLUMNS[7:]]
    return table.iloc[order][columns].reset_index(drop=True)


@styled
def instability_figure(cells: pd.DataFrame, *, mark: float = NOTABLE, width: Width = "double") -> Figure:
    """Draw instability by category and level, a panel per condition.

    Up to 4 conditions and 50 rows (one above the other; panels side by side count once), each question has a
    row with its dot and interval. Beyond either, a row is a category's level: every cell is a dot, and a bar
    spans the quartiles with a tick at the median; beyond 4 conditions all share one panel.

    Parameters
    ----------
    cells
        A row per cell, as `dsqa.stats.summarise_cells` makes it; instability in [0, 1].
    mark
        Instability from which a cell is unstable; drawn as a line.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    data = instability_data(cells)
    if not np.isfinite(numbers(data["instability"])).any():
        return blank("No cell has an instability yet: it takes two runs of a question.", width)
    single_rows = _has_single_rows(cells, width)
    rows = _rows(data, single_rows=single_rows)
    panels = panels_of(cells)
    across = 1 if width == "single" else len(panels)
    down = -(-len(panels) // across)
    row_mm = _ROW_MM if single_rows else 2 * _ROW_MM
    margin = 4 + 1.6 * max(len(text) for _, text in rows.values())
    top = max(y for y, _ in rows.values())
    figure = new_figure(width, down * ((top + 1.4) * row_mm + (21 if across > 2 else 17)) + 14)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=True):
        ids = set(panel.rows["condition_id"])
        _draw_panel(axes, data[data["condition_id"].isin(ids)], rows, single_rows=single_rows)
        axes.axvline(mark, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        axes.text(mark, 1.0, f" notable from {mark:g}", transform=axes.get_xaxis_transform(), size=SMALL, va="bottom")
        title = panel.title.replace(", T", ",\nT") if across > 2 else panel.title
        axes.set_title(title_for(title, (WIDTHS_MM[width] - margin) / across - 3), pad=13)
    grid[0, 0].set_ylim(top + 0.7, -0.7)
    grid[0, 0].set_xlim(-0.03, 1.03)
    grid[0, 0].set_xticks(np.arange(0, 1.01, 0.2))
    grid[0, 0].set_yticks([y for y, _ in rows.values()], [text for _, text in rows.values()])
    for axes in grid[:, 0]:
        for key, text in zip(rows, axes.get_yticklabels(), strict=True):
            text.set_fontweight("bold" if key[1] is None else "normal")
    figure.supxlabel("Normalised instability (population SD of the score ÷ 1.5; 0 to 1)", size=8)
    figure.legend(
        handles=_legend(data), loc="outside upper left", ncols=4, title="Level", alignment="left", borderaxespad=0.2
    )
    return figure


def instability_caption(cells: pd.DataFrame, *, mark: float = NOTABLE, width: Width = "double") -> Caption:
    """Return the caption of `instability_figure` for the same arguments."""
    data = instability_data(cells)
    values = numbers(data["instability"])
    known = values[np.isfinite(values)]
    if not len(known):
        return Caption(
            "Instability by category and level", "No cell has an instability yet.", "An empty figure: no values."
        )
    over = int((known >= mark).sum())
    unknown = len(values) - len(known)
    bare = int(np.isnan(numbers(data["instability_low"])[np.isfinite(values)]).sum())
    single_rows = _has_single_rows(cells, width)
    if single_rows:
        marks = "Dots are cells, a row each; lines are their 95 % intervals."
    else:
        marks = (
            "Dots are cells; the grey bar spans their quartiles, its tick is the median. The cells' own intervals "
            "are left out, as there are too many rows for them; the data beside the figure hold them."
        )
    text = (
        f"Normalised instability (population SD of the score ÷ 1.5) by category and level. {marks} "
        f"Dashed: {mark:g}, from which instability is notable. {extent(cells)}."
    )
    if bare and single_rows:
        text += f" {counted(bare, 'cell')} without an interval."
    if unknown:
        text += f" Not drawn: {counted(unknown, 'cell')} with fewer than two runs."
    groups = counted(len({(c, str(v)) for c, v in zip(data["category"], data["level"], strict=True)}), "group")
    alt = (
        f"Dot plot of instability in {groups} of category and level. {over} of {counted(len(known), 'cell')} "
        f"reach {mark:g}; the values run from {known.min():.2f} to {known.max():.2f}, the median is "
        f"{np.median(known):.2f}."
    )
    return Caption("Instability by category and level", text, alt)


def _text(value: object) -> str:
    return in_order(pd.Series([value], dtype="object"))[0]


def _has_single_rows(cells: pd.DataFrame, width: Width) -> bool:
    conditions = cells["condition_id"].nunique()
    stacked = conditions if width == "single" else 1
    return conditions <= MAX_PANELS and cells["question_id"].nunique() * stacked <= MAX_ROWS


_Key = tuple[str, str | None, str | None]


def _rows(data: pd.DataFrame, *, single_rows: bool) -> dict[_Key, tuple[float, str]]:
    """Return each row's place (downwards) and label; a key without a level is a category's heading."""
    rows: dict[_Key, tuple[float, str]] = {}
    place = 0.0
    for category in in_order(data["category"]):
        if rows:
            place += 0.4
        rows[(category, None, None)] = (place, shorten(category, 26))
        place += 1
        here = data[[_text(value) == category for value in data["category"]]]
        keys = zip(here["level"], here["question_id"], strict=True)
        for level, question in dict.fromkeys((_text(v), str(q) if single_rows else None) for v, q in keys):
            rows[(category, level, question)] = (place, shorten_name(question or level, 26))
            place += 1
    return rows


def _draw_panel(axes: Axes, data: pd.DataFrame, rows: dict[_Key, tuple[float, str]], *, single_rows: bool) -> None:
    values = numbers(data["instability"])
    low, high = numbers(data["instability_low"]), numbers(data["instability_high"])
    keys: list[_Key] = [
        (_text(category), _text(level), str(question) if single_rows else None)
        for category, level, question in zip(data["category"], data["level"], data["question_id"], strict=True)
    ]
    for key, (place, _) in rows.items():
        members = np.array([i for i, k in enumerate(keys) if k == key and np.isfinite(values[i])], dtype=int)
        if key[1] is None:
            axes.axhline(place, color="#DEDEDE", linewidth=0.5, zorder=0)
            continue
        if not len(members):
            continue
        colour, shape = LEVELS.get(key[1], _OTHER)
        here = values[members]
        if single_rows:
            places = np.full(len(here), place)
            spans = members[np.isfinite(low[members]) & np.isfinite(high[members])]
            axes.hlines(np.full(len(spans), place), low[spans], high[spans], colors=GREY, linewidth=1.1, zorder=2)
        else:
            places = place + side_by_side(here, bin_size=0.02, spacing=0.13, reach=0.38)
            first, middle, third = np.quantile(here, [0.25, 0.5, 0.75])
            axes.hlines(place, first, third, colors="#BDBDBD", linewidth=5, zorder=1)
            axes.vlines(middle, place - 0.42, place + 0.42, colors=EDGE, linewidth=1.4, zorder=2)
        axes.scatter(
            here,
            places,
            s=18 if single_rows else 9,
            marker=shape,
            facecolor=colour,
            edgecolor=EDGE,
            linewidth=0.5,
            zorder=3,
            clip_on=False,
        )
    axes.grid(axis="x")
    clean_left(axes)


def _legend(data: pd.DataFrame) -> list[Line2D]:
    return [
        Line2D(
            [],
            [],
            linestyle="",
            marker=LEVELS.get(level, _OTHER)[1],
            markerfacecolor=LEVELS.get(level, _OTHER)[0],
            markeredgecolor=EDGE,
            markeredgewidth=0.5,
            markersize=4.5,
            label=level,
        )
        for level in sorted(in_order(data["level"]), key=level_rank)
    ]
