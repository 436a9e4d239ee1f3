"""Mean instability of the questions of a category and level, with intervals over questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dsqa.figures.common import (
    Caption,
    blank,
    clean_left,
    counted,
    extent,
    in_order,
    level_rank,
    numbers,
    panels_of,
    require,
    shorten,
    title_for,
)
from dsqa.figures.style import EDGE, GREY, LEVELS, SMALL, WIDTHS_MM, Mark, Width, new_figure, styled
from dsqa.figures.tables import StudyTables
from dsqa.stats import NOTABLE, summarise_groups

__all__ = [
    "InstabilityGroups",
    "instability_groups_caption",
    "instability_groups_data",
    "instability_groups_figure",
    "instability_groups_of",
]

ALL = "all questions"
"""The group of every category, and the level of every level."""

MAX_ROWS = 56
"""Rows up to which a category's levels have rows of their own; beyond it categories alone are drawn, then levels."""

_COLUMNS = (
    "question_id", "category", "level", "condition_id", "endpoint", "model", "temperature", "runs", "instability",
    "accuracy", "score_mean",
)  # fmt: skip
_MEAN: Mark = ("#FFFFFF", "D")
_OTHER: Mark = ("#FFFFFF", "v")
_ROW_MM = 3.5


@dataclass(frozen=True)
class InstabilityGroups:
    """Group means by `dsqa.stats.summarise_groups`.

    Parameters
    ----------
    table
        A row per condition (or all pooled), category and level, `ALL` for every one of them.
    extent
        N in words.
    """

    table: pd.DataFrame
    extent: str


def instability_groups_of(tables: StudyTables) -> InstabilityGroups:
    """Estimate mean instability by category and level, per condition (pooled beyond 4)."""
    cells = tables.cells
    require(cells, _COLUMNS, "instability-by-category")
    known = cells.assign(
        category=cells["category"].astype("object").where(cells["category"].notna(), "unknown").astype("string"),
        level=cells["level"].astype("object").where(cells["level"].notna(), "unknown").astype("string"),
    )
    parts = []
    for panel in panels_of(known):
        for by in (("level",), ("category",), ("category", "level")):
            parts.append(summarise_groups(panel.rows, by, seed=tables.seed).assign(condition=panel.title))
        every = panel.rows.assign(every=ALL)
        parts.append(summarise_groups(every, ("every",), seed=tables.seed).assign(condition=panel.title))
    table = pd.concat(parts, ignore_index=True)
    for name in ("category", "level"):
        table[name] = table[name].astype("object").where(table[name].notna(), ALL)
    conditions, categories = in_order(table["condition"]), [ALL, *in_order(known["category"])]
    order = sorted(
        range(len(table)),
        key=lambda i: (
            conditions.index(table["condition"].iloc[i]),
            categories.index(table["category"].iloc[i]),
            -1 if table["level"].iloc[i] == ALL else level_rank(table["level"].iloc[i]),
        ),
    )
    columns = [
        "condition", "category", "level", "n_questions", "n_cells", "n_not_known", "runs", "instability",
        "instability_low", "instability_high", "instability_method",
    ]  # fmt: skip
    return InstabilityGroups(table.iloc[order][columns].reset_index(drop=True), extent(cells))


def instability_groups_data(groups: InstabilityGroups) -> pd.DataFrame:
    """Return the estimates: a row per condition, category and level, with n, interval and the interval's name."""
    return groups.table


@styled
def instability_groups_figure(groups: InstabilityGroups, *, mark: float = NOTABLE, width: Width = "double") -> Figure:
    """Draw mean instability by category and level with its intervals, a panel per condition.

    Parameters
    ----------
    groups
        From `instability_groups_of`.
    mark
        From which instability is notable.
    width
        ``single`` (89 mm, panels above each other) or ``double`` (183 mm, side by side).
    """
    table = groups.table
    if not np.isfinite(numbers(table["instability"])).any():
        return blank("No question has an instability yet: it takes two runs.", width)
    rows = _rows(table)
    panels = in_order(table["condition"])
    across = 1 if width == "single" else len(panels)
    down = -(-len(panels) // across)
    tall = max(place for place, _ in rows.values()) + 1
    figure = new_figure(width, down * (_ROW_MM * tall + 9) + 20)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    room = (WIDTHS_MM[width] - 42) / across
    for axes, name in zip(grid.flat, panels, strict=True):
        _draw_panel(axes, table[table["condition"] == name], rows)
        axes.axvline(mark, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        axes.set_title(title_for(name, room - 8))
    first = grid[0, 0]
    first.set_yticks([place for place, _ in rows.values()], [label for _, label in rows.values()])
    first.set(ylim=(tall - 0.3, -0.7), xlim=(-0.03, 1.03), xticks=np.arange(0, 1.01, 0.25 if room < 45 else 0.2))
    for axes in grid[:, 0]:
        for key, text in zip(rows, axes.get_yticklabels(), strict=True):
            text.set_fontweight("bold" if key[1] == ALL else "normal")
    figure.supxlabel("Mean normalised instability (population SD of the score ÷ 1.5; 0 to 1)", size=8)
    figure.legend(handles=_legend(table), loc="outside upper left", ncols=5)
    return figure


def instability_groups_caption(groups: InstabilityGroups, *, mark: float = NOTABLE) -> Caption:
    """Return the caption of `instability_groups_figure` for the same arguments."""
    table, title = groups.table, "Mean instability by category and level"
    known = table[np.isfinite(numbers(table["instability"]))]
    if known.empty:
        return Caption(title, f"No question has an instability yet. {groups.extent}.", "An empty figure: no values.")
    methods = [name for name in in_order(known["instability_method"]) if not name.startswith("not available")]
    bare = int(np.isnan(numbers(known["instability_low"])).sum())
    text = (
        "Normalised instability (population SD of the score ÷ 1.5), averaged over the questions of a category and "
        f"level; n counts questions. Dashed: {mark:g}, from which a cell's instability is notable. "
    )
    if methods:
        text += f"Lines are 95 % intervals for other questions of the kind ({_kinds(methods)}, questions resampled). "
    if bare:
        text += f"{counted(bare, 'group')} without one: a single question, or questions all alike. "
    text += f"{groups.extent}."
    lost = int(known.loc[(known["category"] == ALL) & (known["level"] == ALL), "n_not_known"].sum())
    if lost:
        text += f" Left out: {counted(lost, 'cell')} with fewer than two runs."
    means = known[known["level"] == ALL]
    said = "; ".join(
        f"{condition}, {category}: {value:.2f}"
        for condition, category, value in zip(
            means["condition"], means["category"], numbers(means["instability"]), strict=True
        )
    )
    return Caption(title, text, f"Dot plot of mean instability by category and level. {shorten(said, 600)}.")


def _kinds(methods: list[str]) -> str:
    # "studentised bootstrap, 9,999 resamples" and "studentised bootstrap, exact" are one kind.
    return " or ".join(dict.fromkeys(method.split(",")[0] for method in methods))


_Key = tuple[str, str]


def _rows(table: pd.DataFrame) -> dict[_Key, tuple[float, str]]:
    """Return each (category, level)'s place, downwards, and its label with n."""
    pairs = list(dict.fromkeys(zip(table["category"], table["level"], strict=True)))
    if len(pairs) > MAX_ROWS:
        pairs = [pair for pair in pairs if ALL in pair][:MAX_ROWS]
    sizes = table.groupby(["category", "level"], sort=False)["n_questions"].max()
    rows: dict[_Key, tuple[float, str]] = {}
    place, before = 0.0, pairs[0][0]
    several = len({category for category, _ in pairs}) < len(pairs)
    for category, level in pairs:
        if category != before:
            place += 0.4 if several else 0.0
            before = category
        name = category if level == ALL else level
        rows[category, level] = (
            place,
            f"{shorten(name.capitalize() if name == ALL else name, 26)}  n={sizes[category, level]}",
        )
        place += 1
    return rows


def _draw_panel(axes: Axes, table: pd.DataFrame, rows: dict[_Key, tuple[float, str]]) -> None:
    values = numbers(table["instability"])
    low, high = numbers(table["instability_low"]), numbers(table["instability_high"])
    for i, key in enumerate(zip(table["category"], table["level"], strict=True)):
        if key not in rows or not np.isfinite(values[i]):
            continue
        place = rows[key][0]
        colour, shape = _MEAN if key[1] == ALL else LEVELS.get(key[1], _OTHER)
        if np.isfinite(low[i]):
            axes.hlines(place, low[i], high[i], colors=GREY, linewidth=1.1, zorder=2)
        axes.scatter(
            values[i],
            place,
            s=20,
            marker=shape,
            facecolor=colour,
            edgecolor=EDGE,
            linewidth=0.6,
            zorder=3,
            clip_on=False,
        )
    axes.grid(axis="x")
    clean_left(axes)
    axes.tick_params(axis="y", labelsize=SMALL)


def _legend(table: pd.DataFrame) -> list[Line2D]:
    levels = sorted((level for level in in_order(table["level"]) if level != ALL), key=level_rank)
    marks = [("all levels", _MEAN), *((level, LEVELS.get(level, _OTHER)) for level in levels)]
    return [
        Line2D(
            [], [], linestyle="", marker=shape, markerfacecolor=colour, markeredgecolor=EDGE, markeredgewidth=0.5,
            markersize=4.5, label=label,
        )
        for label, (colour, shape) in marks
    ]  # fmt: skip
