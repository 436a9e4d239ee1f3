"""Token against word verbosity ratio on log–log axes, with a fitted line and its residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from dsqa.errors import ReportError
from dsqa.figures.common import Caption, blank, counted, extent, numbers, require
from dsqa.figures.style import EDGE, PALETTE, SMALL, Width, new_figure, styled

__all__ = ["LogLogFit", "verbosity_caption", "verbosity_data", "verbosity_figure"]

MAX_POINTS = 1500
"""Runs up to which each is a point; beyond it they are counted in hexagons."""

_COUNTS = LinearSegmentedColormap.from_list("dsqa-counts", ["#BDBDBD", EDGE])
_NAME = "verbosity"
_COLUMNS = ("question_id", "condition_id", "run", "word_ratio", "token_ratio")


@dataclass(frozen=True)
class LogLogFit:
    """The line log(token ratio) = intercept + slope × log(word ratio), natural logarithms.

    Parameters
    ----------
    slope, intercept
        As fitted; the slope is the exponent.
    residual_sd
        SD of the residuals of log(token ratio).
    slope_low, slope_high
        The slope's confidence interval, where there is one.
    """

    slope: float
    intercept: float
    residual_sd: float
    slope_low: float | None = None
    slope_high: float | None = None

    def __post_init__(self) -> None:
        if not all(np.isfinite([self.slope, self.intercept, self.residual_sd])) or self.residual_sd < 0:
            raise ReportError("a log–log fit needs a finite slope and intercept and a residual SD of at least 0")


def verbosity_data(outcomes: pd.DataFrame, fit: LogLogFit) -> pd.DataFrame:
    """Return what `verbosity_figure` draws: a row per run with both ratios above 0.

    Columns: question_id, condition_id, run, word_ratio, token_ratio, fitted (token ratio by the line) and
    residual (log(token ratio) less the line).
    """
    require(outcomes, _COLUMNS, _NAME)
    words, tokens = numbers(outcomes["word_ratio"]), numbers(outcomes["token_ratio"])
    keep = np.isfinite(words) & np.isfinite(tokens) & (words > 0) & (tokens > 0)
    table = outcomes.loc[keep, list(_COLUMNS)].reset_index(drop=True)
    line = fit.intercept + fit.slope * np.log(words[keep])
    return table.assign(fitted=np.exp(line), residual=np.log(tokens[keep]) - line)


@styled
def verbosity_figure(outcomes: pd.DataFrame, fit: LogLogFit, *, width: Width = "double") -> Figure:
    """Draw the ratios with the fitted line, and the residuals with the band of ±2 SD.

    Up to 1,500 runs each is a point; beyond that, hexagons are shaded by the number of runs in them.

    Parameters
    ----------
    outcomes
        The outcome table, a row per run.
    fit
        The line's numbers; nothing is fitted here.
    width
        ``single`` (89 mm, panels above each other) or ``double`` (183 mm, side by side).
    """
    data = verbosity_data(outcomes, fit)
    if data.empty:
        return blank("No run has both verbosity ratios.", width)
    words, tokens = numbers(data["word_ratio"]), numbers(data["token_ratio"])
    figure = new_figure(width, 72 if width == "double" else 130)
    left, right = figure.subplots(1, 2) if width == "double" else figure.subplots(2, 1)
    ends = np.array([words.min(), words.max()])
    _draw_runs(figure, left, words, tokens, log_y=True)
    left.plot(ends, np.exp(fit.intercept + fit.slope * np.log(ends)), color=PALETTE[1], linewidth=1.4, zorder=4)
    left.set_yscale("log")
    left.set_ylabel("Token ratio (input ÷ output)")
    left.set_title("Log–log fit")
    left.text(0.03, 0.97, _equation(fit), transform=left.transAxes, size=SMALL, va="top")
    band = 2 * fit.residual_sd
    _draw_runs(figure, right, words, numbers(data["residual"]), log_y=False)
    right.axhspan(-band, band, facecolor="#EFEFEF", edgecolor="none", zorder=0)
    right.axhline(0, color=PALETTE[1], linewidth=1.4, zorder=4)
    for edge, text in ((band, "+2 SD"), (-band, "−2 SD")):
        right.axhline(edge, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=4)
        right.text(
            1.0, edge, text, transform=right.get_yaxis_transform(), size=SMALL, ha="right", va="bottom", zorder=5
        )
    reach = 1.25 * max(band, float(np.abs(numbers(data["residual"])).max()), 1e-6)
    right.set_ylim(-reach, reach)
    right.set_ylabel("Residual of log(token ratio)")
    right.set_title("Residuals")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("Word ratio (input ÷ output)")
        axes.grid(which="major")
        _plain_ticks(axes.xaxis, words)
    _plain_ticks(left.yaxis, tokens)
    return figure


def verbosity_caption(outcomes: pd.DataFrame, fit: LogLogFit) -> Caption:
    """Return the caption of `verbosity_figure` for the same arguments."""
    data = verbosity_data(outcomes, fit)
    title = "Verbosity ratios in tokens and words"
    if data.empty:
        return Caption(title, "No run has both verbosity ratios.", "An empty figure: no values.")
    beyond = float((np.abs(numbers(data["residual"])) > 2 * fit.residual_sd).mean())
    marks = "A point is a run" if len(data) <= MAX_POINTS else "Hexagons are shaded by the number of runs in them"
    missing = len(outcomes) - len(data)
    text = (
        f"Verbosity ratio (input ÷ output) in tokens over that in words, both axes logarithmic. {marks}; the line is "
        f"{_equation(fit).replace(chr(10), ', ')}. The other panel shows the residuals of log(token ratio) with the "
        f"band of ±2 SD ({2 * fit.residual_sd:.3g}); {beyond:.1%} of runs lie beyond it. {extent(outcomes)}; "
        f"{counted(len(data), 'run')} drawn."
    )
    if missing:
        text += f" Without both ratios, and so not drawn: {counted(missing, 'run')}."
    alt = (
        f"Scatter plot of {counted(len(data), 'run')} along a line of slope {fit.slope:.2f} on log–log axes, and a "
        f"residual plot in which {beyond:.1%} of runs lie beyond ±2 SD."
    )
    return Caption(title, text, alt)


def _plain_ticks(axis: Axis, values: NDArray[np.float64]) -> None:
    """Write plain numbers on a logarithmic axis, more of them the fewer decades it spans."""
    decades = float(np.log10(values.max() / values.min()))
    subs = (1, 2, 3, 5) if decades < 1 else (1, 2, 5) if decades < 2 else (1,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _equation(fit: LogLogFit) -> str:
    sign = "+" if fit.intercept >= 0 else "−"
    text = f"log(tokens) = {fit.slope:.3f} × log(words) {sign} {abs(fit.intercept):.3f}"
    if fit.slope_low is not None and fit.slope_high is not None:
        text += f"\nslope's interval {fit.slope_low:.3f} to {fit.slope_high:.3f}"
    return text


def _draw_runs(figure: Figure, axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], *, log_y: bool) -> None:
    if len(x) <= MAX_POINTS:
        axes.scatter(x, y, s=6, facecolor=PALETTE[2], edgecolor=EDGE, linewidth=0.3, zorder=3)
        return
    cells = axes.hexbin(
        x, y, gridsize=36, xscale="log", yscale="log" if log_y else "linear", bins="log", mincnt=1, cmap=_COUNTS,
        linewidths=0.1, zorder=3,
    )  # fmt: skip
    bar = figure.colorbar(cells, ax=axes, shrink=0.7, label="Runs in a hexagon")
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
