"""Accuracy against instability: what a cell gets right, and whether it can be relied on to do so."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dsqa.figures.common import (
    Caption,
    blank,
    condition_labels,
    counted,
    extent,
    known_verdict,
    numbers,
    panels_of,
    require,
    shorten_name,
    title_for,
)
from dsqa.figures.labels import Dot, place_labels
from dsqa.figures.style import EDGE, GREY, SMALL, VERDICTS, WIDTHS_MM, Width, new_figure, styled
from dsqa.stats import NOTABLE

__all__ = ["RIGHT", "accuracy_instability_caption", "accuracy_instability_data", "accuracy_instability_figure"]

RIGHT = 0.5
"""Share of right runs above which a stable cell is called right."""

MAX_LABELS = 14
"""Places in a panel up to which each is named."""

MAX_SPANS = 60
"""Cells in a panel up to which their intervals are drawn."""

_NAME = "accuracy-instability"
_COLUMNS = (
    "question_id", "condition_id", "endpoint", "model", "temperature", "runs", "instability", "instability_low",
    "instability_high", "accuracy", "accuracy_low", "accuracy_high", "verdict",
)  # fmt: skip
_CROWD = 9
"""Cells in one place from which a panel of more than `MAX_SPANS` still says their number."""
_REGIONS = ("#F1F1F1", "#D6D6D6", "#FFFFFF")


def accuracy_instability_data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what `accuracy_instability_figure` draws: a row per cell, in the table's order."""
    require(cells, _COLUMNS, _NAME)
    labels = condition_labels(cells)
    table = cells[list(_COLUMNS)].assign(condition=[labels[str(key)] for key in cells["condition_id"]])
    return table.drop(columns=["endpoint", "model", "temperature"]).reset_index(drop=True)


@styled
def accuracy_instability_figure(
    cells: pd.DataFrame, *, mark: float = NOTABLE, right: float = RIGHT, width: Width = "double"
) -> Figure:
    """Draw each cell's accuracy over its instability, a panel per condition (one panel beyond 4).

    Cells in the same place share a larger mark, with their number beside it where there is room. Where a panel
    has at most 14 marks, those of one or two questions are named; beyond 60 cells the intervals are left out.

    Parameters
    ----------
    cells
        A row per cell, as `dsqa.stats.summarise_cells` makes it, with its verdict.
    mark, right
        Where the verdicts' regions meet: instability and accuracy.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    data = accuracy_instability_data(cells)
    if not _drawn(data).any():
        return blank("No cell has both an accuracy and an instability yet: it takes two runs of a question.", width)
    panels = panels_of(cells)
    across = 1 if width == "single" else min(len(panels), 2)
    down = -(-len(panels) // across)
    height = 74 if width == "single" or across == 2 else 92
    figure = new_figure(width, height * down + 8)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    shown = []
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_regions(axes, mark, right)
        rows = data[data["condition_id"].isin(set(panel.rows["condition_id"])) & _drawn(data)]
        if len(rows) <= MAX_SPANS:
            _draw_spans(axes, rows)
        shown.append((axes, rows))
        axes.set_title(title_for(panel.title, WIDTHS_MM[width] / across - 14))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid.flat[max(0, len(panels) - across) : len(panels)]:
        axes.tick_params(axis="x", labelbottom=True)
    ticks = np.arange(0, 1.01, 0.2)
    grid[0, 0].set(xlim=(-0.06, 1.06), ylim=(-0.08, 1.08), xticks=ticks, yticks=ticks)
    figure.supxlabel("Normalised instability (population SD of the score ÷ 1.5; 0 to 1)", size=8)
    figure.supylabel("Accuracy (share of runs that are right)", size=8)
    figure.legend(handles=_legend(data), loc="outside upper left", ncols=4 if width == "double" else 2)
    figure.draw_without_rendering()
    for axes, rows in shown:
        if len(rows):
            place_labels(axes, _draw_marks(axes, rows))
    return figure


def accuracy_instability_caption(cells: pd.DataFrame, *, mark: float = NOTABLE, right: float = RIGHT) -> Caption:
    """Return the caption of `accuracy_instability_figure` for the same arguments."""
    data = accuracy_instability_data(cells)
    title = "Accuracy against instability"
    drawn = _drawn(data)
    if not drawn.any():
        return Caption(title, "No cell has both an accuracy and an instability yet.", "An empty figure: no values.")
    missing = len(data) - int(drawn.sum())
    counts = [
        f"{counted(sum(known_verdict(v) == verdict for v in data.loc[drawn, 'verdict']), 'cell')} {verdict}"
        for verdict in _verdicts(data)
    ]
    methods = set(cells["accuracy_method"].dropna()) if "accuracy_method" in cells else set()
    name = "Wilson intervals" if methods <= {"Wilson"} else "confidence sequences"
    spans = f"Vertical lines are 95 % {name} of the accuracy, horizontal ones 95 % intervals of the instability."
    if max(len(panel.rows) for panel in panels_of(cells)) > MAX_SPANS:
        spans = (
            f"Intervals are left out in panels of more than {MAX_SPANS} cells; the data beside the figure hold them."
        )
    text = (
        "Accuracy (share of all runs that are right) against normalised instability (population SD of the score "
        f"÷ 1.5), a mark per cell. {spans} A larger mark stands for several cells in the same place, ×2 for two of "
        "them where there is room to say so. Shades are the verdicts' "
        f"regions: unstable from {mark:g}; below it, right above an accuracy of {right:g}. {extent(cells)}."
    )
    if missing:
        text += f" Not drawn: {counted(missing, 'cell')} with fewer than two runs, without any reply, or not read."
    return Caption(title, text, f"Scatter plot of cells by accuracy and instability: {', '.join(counts)}.")


def _drawn(data: pd.DataFrame) -> pd.Series:
    finite = np.isfinite(numbers(data["instability"])) & np.isfinite(numbers(data["accuracy"]))
    # Runs that never got a reply, or could not be read, are neither stable nor wrong.
    lost = data["verdict"].isin(["no answers", "not read"]).fillna(False).to_numpy(dtype=bool)
    return pd.Series(finite & ~lost, index=data.index)


def _verdicts(data: pd.DataFrame) -> list[str]:
    present = {known_verdict(verdict) for verdict in data.loc[_drawn(data), "verdict"]}
    return [verdict for verdict in VERDICTS if verdict in present]


def _draw_regions(axes: Axes, mark: float, right: float) -> None:
    corners = (
        ((-0.06, right), mark + 0.06, 1.08 - right, _REGIONS[0], "stable and right", (0.5 * mark, right + 0.02)),
        ((-0.06, -0.08), mark + 0.06, right + 0.08, _REGIONS[1], "stable and wrong", (0.5 * mark, right - 0.03)),
        ((mark, -0.08), 1.06 - mark, 1.16, _REGIONS[2], "unstable", (1.04, -0.06)),
    )
    for corner, wide, high, shade, name, place in corners:
        axes.add_patch(Rectangle(corner, wide, high, facecolor=shade, edgecolor="none", zorder=0))
        ha = "right" if name == "unstable" else "center"
        va = "top" if name == "stable and wrong" else "bottom"
        axes.text(*place, name, size=SMALL, style="italic", color=GREY, ha=ha, va=va, zorder=0.5)
    axes.axvline(mark, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.plot([-0.06, mark], [right, right], color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)


def _draw_spans(axes: Axes, data: pd.DataFrame) -> None:
    x, y = numbers(data["instability"]), numbers(data["accuracy"])
    for draw, at, ends in ((axes.vlines, x, "accuracy"), (axes.hlines, y, "instability")):
        low, high = numbers(data[f"{ends}_low"]), numbers(data[f"{ends}_high"])
        known = np.isfinite(low) & np.isfinite(high)
        draw(at[known], low[known], high[known], colors=GREY, linewidth=0.6, zorder=2)


def _draw_marks(axes: Axes, data: pd.DataFrame) -> list[Dot]:
    """Draw a mark per place, the largest first, and return the marks with what to write beside them."""
    x, y = numbers(data["instability"]), numbers(data["accuracy"])
    places: dict[tuple[float, float, str], list[str]] = {}
    for i, verdict in enumerate(data["verdict"]):
        places.setdefault((round(x[i], 9), round(y[i], 9), known_verdict(verdict)), []).append(
            str(data["question_id"].iloc[i])
        )
    named = len(places) <= MAX_LABELS
    dots = []
    for (at_x, at_y, verdict), names in sorted(places.items(), key=lambda item: -len(item[1])):
        colour, shape = VERDICTS[verdict]
        size = 20 * (1 + 0.6 * np.log2(len(names)))
        axes.scatter(
            at_x, at_y, s=size, marker=shape, facecolor=colour, edgecolor=EDGE, linewidth=0.6, zorder=3, clip_on=False
        )
        dots.append(Dot(at_x, at_y, float(np.sqrt(size)) / 2, _name(names, named=named, few=len(data) <= MAX_SPANS)))
    return dots


def _name(names: list[str], *, named: bool, few: bool) -> str:
    """Return what to write beside a mark: up to two questions if they are named, how many cells it is if not."""
    distinct = list(dict.fromkeys(names))
    text = ", ".join(shorten_name(name, 14) for name in distinct) if named and len(distinct) <= 2 else ""
    if text and len(names) == len(distinct):
        return text
    return f"{text} ×{len(names)}".strip() if len(names) > (1 if few else _CROWD) else ""


def _legend(data: pd.DataFrame) -> list[Line2D]:
    return [
        Line2D(
            [],
            [],
            linestyle="",
            marker=VERDICTS[verdict][1],
            markerfacecolor=VERDICTS[verdict][0],
            markeredgecolor=EDGE,
            markeredgewidth=0.5,
            markersize=5.5,
            label=verdict,
        )
        for verdict in _verdicts(data)
    ]
