"""Token use and text similarity by temperature, a panel per model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dsqa.figures.common import (
    Caption,
    blank,
    counted,
    extent,
    in_order,
    numbers,
    require,
    side_by_side,
    temperature_label,
    title_for,
)
from dsqa.figures.style import EDGE, PALETTE, SMALL, WIDTHS_MM, Width, new_figure, styled

__all__ = [
    "similarity_by_temperature_caption",
    "similarity_by_temperature_data",
    "similarity_by_temperature_figure",
    "tokens_by_temperature_caption",
    "tokens_by_temperature_data",
    "tokens_by_temperature_figure",
]

MAX_POINTS = 100
"""Runs in a group up to which each is drawn as a point."""

_KEYS = ("question_id", "condition_id", "model", "temperature", "run")


@dataclass(frozen=True)
class _Measure:
    """A column to be spread over temperatures."""

    figure: str
    column: str
    axis: str
    title: str
    what: str
    unit_range: bool
    note: str = ""


_TOKENS = _Measure(
    figure="tokens-by-temperature",
    column="tokens_total",
    axis="Tokens per response",
    title="Token use by temperature",
    what="Tokens of the whole response, code and reasoning included",
    unit_range=False,
)
_SIMILARITY = _Measure(
    figure="similarity-by-temperature",
    column="jaccard_first",
    axis="Jaccard index with run 0",
    title="Text similarity by temperature",
    what="Jaccard index of a response's text with that of the first run of its cell (1: the same words)",
    unit_range=True,
    note=" Run 0 is left out, as it would be compared with itself and is 1 by definition.",
)


def tokens_by_temperature_data(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return what `tokens_by_temperature_figure` draws: a row per run that has a token count."""
    return _data(outcomes, _TOKENS)


def similarity_by_temperature_data(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return what `similarity_by_temperature_figure` draws: a row per run but run 0 that has an index."""
    return _data(outcomes, _SIMILARITY)


@styled
def tokens_by_temperature_figure(outcomes: pd.DataFrame, *, width: Width | None = None) -> Figure:
    """Draw tokens per response by temperature, a panel per model.

    Up to 100 runs in a group each is a point; always, a bar spans the quartiles with a tick at the median,
    and a line the 5th to the 95th percentile.

    Parameters
    ----------
    outcomes
        The outcome table, a row per run.
    width
        ``single`` (89 mm) or ``double`` (183 mm); by default what the number of models asks for.
    """
    return _draw(outcomes, _TOKENS, width)


@styled
def similarity_by_temperature_figure(outcomes: pd.DataFrame, *, width: Width | None = None) -> Figure:
    """Draw the Jaccard index with the cell's first run by temperature, a panel per model; run 0 is left out.

    The marks and parameters are those of `tokens_by_temperature_figure`.
    """
    return _draw(outcomes, _SIMILARITY, width)


def tokens_by_temperature_caption(outcomes: pd.DataFrame) -> Caption:
    """Return the caption of `tokens_by_temperature_figure` for the same table."""
    return _caption(outcomes, _TOKENS)


def similarity_by_temperature_caption(outcomes: pd.DataFrame) -> Caption:
    """Return the caption of `similarity_by_temperature_figure` for the same table."""
    return _caption(outcomes, _SIMILARITY)


def _eligible(outcomes: pd.DataFrame, measure: _Measure) -> pd.DataFrame:
    require(outcomes, (*_KEYS, measure.column), measure.figure)
    return outcomes[numbers(outcomes["run"]) != 0] if measure is _SIMILARITY else outcomes


def _data(outcomes: pd.DataFrame, measure: _Measure) -> pd.DataFrame:
    table = _eligible(outcomes, measure)[[*_KEYS, measure.column]]
    return table[np.isfinite(numbers(table[measure.column]))].reset_index(drop=True)


def _heats(table: pd.DataFrame) -> list[str]:
    """Return the temperatures as labels, rising; one not sent comes last."""
    values = sorted(set(numbers(table["temperature"]).tolist()), key=lambda v: (np.isnan(v), v))
    return list(dict.fromkeys(temperature_label(value) for value in values))


def _groups(data: pd.DataFrame, column: str) -> dict[tuple[str, str], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return the values of each (model, temperature label), in drawing order."""
    keys = list(zip(data["model"].astype(str), (temperature_label(t) for t in data["temperature"]), strict=True))
    values = numbers(data[column])
    return {
        (model, heat): np.array([v for v, key in zip(values, keys, strict=True) if key == (model, heat)])
        for model in in_order(data["model"])
        for heat in _heats(data)
    }


def _draw(outcomes: pd.DataFrame, measure: _Measure, width: Width | None) -> Figure:
    data = _data(outcomes, measure)
    if data.empty:
        return blank(f"No run has a value to draw: {measure.axis.lower()}.", width or "single")
    groups, models, heats = _groups(data, measure.column), in_order(data["model"]), _heats(data)
    if width is None:
        width = "single" if len(models) == 1 and len(heats) <= 6 else "double"
    per_row = max(1, min(len(models), int(WIDTHS_MM[width] // max(42, 9 * len(heats) + 14))))
    down = -(-len(models) // per_row)
    figure = new_figure(width, 52 * down + 10)
    grid = figure.subplots(down, per_row, sharex=True, sharey=True, squeeze=False)
    top = 1.0 if measure.unit_range else float(numbers(data[measure.column]).max()) or 1.0
    for place, (axes, model) in enumerate(zip(grid.flat, models, strict=False)):
        for x, heat in enumerate(heats):
            _draw_group(axes, x, groups[model, heat], top)
        axes.set_title(title_for(model, WIDTHS_MM[width] / per_row - 14))
        axes.grid(axis="y")
        # The lowest panel of a column names its temperatures, even above a gap in the last row.
        if place + per_row >= len(models):
            axes.tick_params(axis="x", labelbottom=True)
    for axes in list(grid.flat)[len(models) :]:
        axes.set_visible(False)
    first = grid[0, 0]
    first.set_xticks(range(len(heats)), heats)
    first.set_xlim(-0.6, len(heats) - 0.4)
    first.set_ylim(0, top * 1.13)
    if measure.unit_range:
        first.set_yticks(np.arange(0, 1.01, 0.2))
    figure.supxlabel("Temperature", size=8)
    figure.supylabel(measure.axis, size=8)
    return figure


def _draw_group(axes: Axes, x: int, values: np.ndarray[tuple[int], np.dtype[np.float64]], top: float) -> None:
    if not len(values):
        return
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    points = len(values) <= MAX_POINTS
    if points:
        offsets = side_by_side(values, bin_size=top / 45, spacing=0.07, reach=0.36)
        axes.scatter(
            x + offsets, values, s=7, facecolor=PALETTE[2], edgecolor=EDGE, linewidth=0.35, zorder=3, clip_on=False
        )
    axes.vlines(x, low, high, colors="#8C8C8C", linewidth=0.8, zorder=1)
    axes.vlines(x, first, third, colors="#BDBDBD" if points else PALETTE[2], linewidth=9, zorder=1.5)
    axes.hlines(middle, x - 0.3, x + 0.3, colors=EDGE, linewidth=1.4, zorder=2)
    axes.text(x, 0.995, f"n={len(values):,}", transform=axes.get_xaxis_transform(), size=SMALL, ha="center", va="top")


def _caption(outcomes: pd.DataFrame, measure: _Measure) -> Caption:
    data = _data(outcomes, measure)
    if data.empty:
        return Caption(measure.title, f"No run has a value: {measure.axis.lower()}.", "An empty figure: no values.")
    groups = {key: values for key, values in _groups(data, measure.column).items() if len(values)}
    few = [values for values in groups.values() if len(values) <= MAX_POINTS]
    points = (
        "Every run is a point, moved sideways only, to be seen. "
        if len(few) == len(groups)
        else f"In groups of at most {MAX_POINTS} runs every run is a point, moved sideways only. "
        if few
        else ""
    )
    questions = in_order(data["question_id"])
    pooled = f"question {questions[0]}" if len(questions) == 1 else "runs of all questions together"
    missing = len(_eligible(outcomes, measure)) - len(data)
    text = (
        f"{measure.what}, by temperature and model; {pooled}. {points}The thick bar spans the quartiles, the tick is "
        f"the median, the thin line runs from the 5th to the 95th percentile; n counts the runs drawn.{measure.note} "
        f"{extent(outcomes)}; {counted(len(data), 'run')} drawn."
    )
    if missing:
        text += f" Without a value, and so not drawn: {counted(missing, 'run')}."
    digits = 2 if measure.unit_range else 0
    medians = "; ".join(
        f"{model} at {heat}: {np.median(values):.{digits}f} ({np.quantile(values, 0.25):.{digits}f} to "
        f"{np.quantile(values, 0.75):.{digits}f})"
        for (model, heat), values in list(groups.items())[:8]
    )
    more = f"; and {counted(len(groups) - 8, 'group')} more" if len(groups) > 8 else ""
    alt = f"{measure.axis} by model and temperature, median and quartiles. {medians}{more}."
    return Caption(measure.title, text, alt)
