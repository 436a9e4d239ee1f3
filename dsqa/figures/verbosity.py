"""Token against word verbosity ratio on log–log axes: the fitted line with its band, and its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from scipy.special import stdtrit

from dsqa import stats
from dsqa.figures.common import Caption, Floats, counted, extent, numbers, require
from dsqa.figures.style import EDGE, PALETTE, SMALL, Width, new_figure, styled
from dsqa.figures.tables import StudyTables

if TYPE_CHECKING:
    from dsqa.stats.regression import LinearFit

__all__ = [
    "Verbosity",
    "verbosity_fit_caption",
    "verbosity_fit_data",
    "verbosity_fit_figure",
    "verbosity_of",
    "verbosity_residuals_caption",
    "verbosity_residuals_data",
    "verbosity_residuals_figure",
]

MAX_POINTS = 1500
"""Runs up to which each is a point; beyond it they are counted in hexagons."""

LEVEL = 0.95

_COUNTS = LinearSegmentedColormap.from_list("dsqa-counts", ["#BDBDBD", EDGE])
_COLUMNS = ("question_id", "condition_id", "run", "word_ratio", "token_ratio")


@dataclass(frozen=True, eq=False)
class Verbosity:
    """The line log(token ratio) = intercept + slope × log(word ratio), natural logarithms, and the runs behind it.

    Parameters
    ----------
    runs
        question_id, condition_id, run, word_ratio, token_ratio, of the runs that have both ratios above 0.
    fit
        By `dsqa.stats.verbosity_fit`.
    missing
        Runs without both ratios.
    extent
        N in words.
    """

    runs: pd.DataFrame
    fit: LinearFit
    missing: int
    extent: str

    @property
    def slope(self) -> float:
        """The exponent."""
        return next(value for name, value in self.fit.coefficients.items() if name != "Intercept")

    @property
    def intercept(self) -> float:
        """The logarithm of the factor."""
        return self.fit.coefficients["Intercept"]

    @property
    def slope_text(self) -> str:
        """The exponent with its interval, and what kind of interval it is."""
        term = next(name for name in self.fit.coefficients if name != "Intercept")
        interval = self.fit.interval(term, level=LEVEL)
        whom = f"errors clustered by question, {self.fit.clusters} of them" if self.fit.clusters else "HC3 errors"
        return (
            f"{self.slope:.3f} (95 % CI {interval.low:.3f} to {interval.high:.3f}; t interval, {whom}"
            f"{', ' + self.fit.best_kind if self.fit.clusters else ''})"
        )

    def line(self, words: Floats) -> Floats:
        """Return log(token ratio) on the line."""
        return np.asarray(self.intercept + self.slope * np.log(words), dtype=np.float64)

    def half_band(self, words: Floats) -> Floats:
        """Return the half-width of the pointwise interval for the line at each word ratio, on the log scale.

        t · √(x' V x), x = (1, log word ratio), V the covariance of the estimates with the errors of `slope_text`.
        """
        x = np.column_stack([np.ones(len(words)), np.log(words)])
        if next(iter(self.fit.coefficients)) != "Intercept":
            x = x[:, ::-1]
        variance = np.einsum("ij,jk,ik->i", x, self.fit.covariances[self.fit.best_kind], x)
        t = float(stdtrit(self.fit.degrees_of_freedom(self.fit.best_kind), (1 + LEVEL) / 2))
        return np.asarray(t * np.sqrt(np.maximum(variance, 0)), dtype=np.float64)


def verbosity_of(tables: StudyTables) -> Verbosity:
    """Fit the line, with errors clustered by question where there are several.

    Raises
    ------
    StatisticsError
        Too few runs have both ratios, or the word ratio does not vary.
    """
    outcomes = tables.outcomes
    require(outcomes, _COLUMNS, "verbosity-fit")
    words, tokens = numbers(outcomes["word_ratio"]), numbers(outcomes["token_ratio"])
    keep = np.isfinite(words) & np.isfinite(tokens) & (words > 0) & (tokens > 0)
    runs = outcomes.loc[keep, list(_COLUMNS)].reset_index(drop=True)
    runs = runs.astype({"word_ratio": "float64", "token_ratio": "float64"})
    fit = stats.verbosity_fit(runs, cluster="question_id" if runs["question_id"].nunique() > 1 else None)
    return Verbosity(runs, fit, int((~keep).sum()), extent(outcomes))


def verbosity_fit_data(verbosity: Verbosity) -> pd.DataFrame:
    """Return a row per run drawn, with the token ratio by the line and its band: fitted, band_low, band_high."""
    words = numbers(verbosity.runs["word_ratio"])
    line, half = verbosity.line(words), verbosity.half_band(words)
    return verbosity.runs.assign(fitted=np.exp(line), band_low=np.exp(line - half), band_high=np.exp(line + half))


def verbosity_residuals_data(verbosity: Verbosity) -> pd.DataFrame:
    """Return a row per run drawn: fitted, residual (log(token ratio) less the line) and beyond (±2 SD)."""
    words, tokens = numbers(verbosity.runs["word_ratio"]), numbers(verbosity.runs["token_ratio"])
    line = verbosity.line(words)
    residual = np.log(tokens) - line
    return verbosity.runs.assign(
        fitted=np.exp(line), residual=residual, beyond=np.abs(residual) > 2 * verbosity.fit.sigma
    )


@styled
def verbosity_fit_figure(verbosity: Verbosity, *, width: Width = "single") -> Figure:
    """Draw the token ratio over the word ratio, with the fitted line and its band.

    Up to 1,500 runs each is a point; beyond that, hexagons are shaded by the number of runs in them.

    Parameters
    ----------
    verbosity
        From `verbosity_of`.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    words, tokens = numbers(verbosity.runs["word_ratio"]), numbers(verbosity.runs["token_ratio"])
    figure = new_figure(width, 76)
    axes = figure.subplots()
    _draw_runs(figure, axes, words, tokens, log_y=True)
    grid = np.geomspace(words.min(), words.max(), 101)
    line, half = verbosity.line(grid), verbosity.half_band(grid)
    # The band's edges are drawn too: with many runs it is narrower than the line.
    axes.fill_between(
        grid, np.exp(line - half), np.exp(line + half), facecolor=PALETTE[1], alpha=0.3, linewidth=0, zorder=3.5
    )
    axes.plot(grid, np.exp(line), color=PALETTE[1], linewidth=1.4, zorder=4)
    axes.plot(grid, np.exp(line - half), color=PALETTE[1], linewidth=0.5, linestyle=(0, (4, 2)), zorder=4)
    axes.plot(grid, np.exp(line + half), color=PALETTE[1], linewidth=0.5, linestyle=(0, (4, 2)), zorder=4)
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("Word ratio (words in ÷ words out)")
    axes.set_ylabel("Token ratio (tokens in ÷ tokens out)")
    axes.grid(which="major")
    _plain_ticks(axes.xaxis, words)
    _plain_ticks(axes.yaxis, tokens)
    axes.set_title(
        f"token ratio = {np.exp(verbosity.intercept):.3g} × (word ratio)^{verbosity.slope:.3f}", weight="normal"
    )
    return figure


@styled
def verbosity_residuals_figure(verbosity: Verbosity, *, width: Width = "single") -> Figure:
    """Draw the residuals of log(token ratio) over the word ratio, with lines at ±2 SD.

    The marks and parameters are those of `verbosity_fit_figure`.
    """
    data = verbosity_residuals_data(verbosity)
    words, residuals = numbers(data["word_ratio"]), numbers(data["residual"])
    beyond = data["beyond"].to_numpy(dtype=bool)
    band = 2 * verbosity.fit.sigma
    figure = new_figure(width, 76)
    axes = figure.subplots()
    axes.axhspan(-band, band, facecolor="#EFEFEF", edgecolor="none", zorder=0)
    axes.axhline(0, color=PALETTE[1], linewidth=1.4, zorder=4)
    _draw_runs(figure, axes, words, residuals, log_y=False)
    if len(words) <= MAX_POINTS and beyond.any():
        axes.scatter(
            words[beyond], residuals[beyond], s=14, marker="D", facecolor=PALETTE[3], edgecolor=EDGE, linewidth=0.5,
            zorder=3.2,
        )  # fmt: skip
    for edge, text in ((band, "+2 SD"), (-band, "−2 SD")):
        axes.axhline(edge, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=4)
        axes.text(1.01, edge, text, transform=axes.get_yaxis_transform(), size=SMALL, va="center")
    reach = 1.3 * max(band, float(np.abs(residuals).max()), 1e-6)
    axes.set(ylim=(-reach, reach), xscale="log")
    axes.set_xlabel("Word ratio (words in ÷ words out)")
    axes.set_ylabel("Residual of log(token ratio)")
    axes.grid(which="major")
    _plain_ticks(axes.xaxis, words)
    axes.set_title(f"{_percent(beyond.mean())} of runs beyond ±2 SD", weight="normal")
    return figure


def verbosity_fit_caption(verbosity: Verbosity) -> Caption:
    """Return the caption of `verbosity_fit_figure` for the same estimates."""
    factor = np.exp(verbosity.intercept)
    text = (
        "Verbosity ratio (prompt ÷ response) in tokens over that in words, both axes logarithmic. "
        f"{_marks(verbosity)}; the line is the least-squares fit token ratio = {factor:.3g} × (word ratio)^b with "
        f"b = {verbosity.slope_text}, R² = {verbosity.fit.r_squared:.3f}; the band is its pointwise 95 % interval. "
        f"{_extent(verbosity)}"
    )
    alt = (
        f"Scatter plot of {counted(len(verbosity.runs), 'run')} along a line of slope {verbosity.slope:.2f} on "
        f"log–log axes; word ratios from {numbers(verbosity.runs['word_ratio']).min():.2g} to "
        f"{numbers(verbosity.runs['word_ratio']).max():.2g}."
    )
    return Caption("Verbosity ratios in tokens and words", text, alt)


def verbosity_residuals_caption(verbosity: Verbosity) -> Caption:
    """Return the caption of `verbosity_residuals_figure` for the same estimates."""
    beyond = int(verbosity_residuals_data(verbosity)["beyond"].sum())
    share = beyond / len(verbosity.runs)
    text = (
        f"Residuals of log(token ratio) from the line of exponent {verbosity.slope:.3f} fitted to the word ratio, "
        f"which is on a logarithmic axis. {_marks(verbosity)}. Dashed: ±2 SD (±{2 * verbosity.fit.sigma:.3g}); "
        f"{beyond:,} of {counted(len(verbosity.runs), 'run')} ({_percent(share)}) lie beyond; of normal residuals "
        f"4.6 % would. {_extent(verbosity)}"
    )
    alt = f"Residual plot of {counted(len(verbosity.runs), 'run')}, of which {_percent(share)} lie beyond ±2 SD."
    return Caption("Residuals of the verbosity fit", text, alt)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _marks(verbosity: Verbosity) -> str:
    if len(verbosity.runs) <= MAX_POINTS:
        return "A point is a run"
    return "Hexagons are shaded by the number of runs in them"


def _extent(verbosity: Verbosity) -> str:
    text = f"{verbosity.extent}; {counted(len(verbosity.runs), 'run')} drawn."
    if verbosity.missing:
        text += f" Without both ratios, and so not drawn: {counted(verbosity.missing, 'run')}."
    return text


def _plain_ticks(axis: Axis, values: Floats) -> None:
    """Write plain numbers on a logarithmic axis, more of them the fewer decades it spans."""
    decades = float(np.log10(values.max() / values.min()))
    subs = (1, 2, 3, 5) if decades < 1 else (1, 2, 5) if decades < 2 else (1,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_runs(figure: Figure, axes: Axes, x: Floats, y: Floats, *, log_y: bool) -> None:
    if len(x) <= MAX_POINTS:
        axes.scatter(x, y, s=6, facecolor=PALETTE[2], edgecolor=EDGE, linewidth=0.3, zorder=3)
        return
    cells = axes.hexbin(
        x, y, gridsize=30, xscale="log", yscale="log" if log_y else "linear", bins="log", mincnt=1, cmap=_COUNTS,
        linewidths=0.1, zorder=3,
    )  # fmt: skip
    bar = figure.colorbar(cells, ax=axes, shrink=0.7, label="Runs in a hexagon")
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
