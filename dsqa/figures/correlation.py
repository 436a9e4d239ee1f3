"""How the metrics go together: their correlations as a heatmap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from dsqa.errors import ReportError
from dsqa.figures.common import Caption, blank, counted, shorten
from dsqa.figures.style import GREY, INK, PALETTE, SMALL, Width, ink_on, new_figure, styled

__all__ = ["correlation_caption", "correlation_data", "correlation_figure"]

# Both ends are dark in grey print, so the printed sign carries the direction.
_DIVERGING = LinearSegmentedColormap.from_list("dsqa-signed", [PALETTE[1], "#FFFFFF", PALETTE[0]])


def correlation_data(correlations: pd.DataFrame) -> pd.DataFrame:
    """Return the lower triangle that `correlation_figure` draws: metric, other and correlation, a row per pair."""
    _check(correlations)
    names = [str(name) for name in correlations.columns]
    rows = [(names[i], names[j], correlations.iloc[i, j]) for i in range(len(names)) for j in range(i)]
    return pd.DataFrame(rows, columns=["metric", "other", "correlation"]).astype({"correlation": float})


@styled
def correlation_figure(correlations: pd.DataFrame, *, width: Width = "double") -> Figure:
    """Draw the lower triangle of a correlation matrix, every value printed.

    Parameters
    ----------
    correlations
        Square and symmetric, metrics as index and columns, values in [-1, 1]; NaN where a metric is constant.
    width
        ``single`` (89 mm, up to about 8 metrics) or ``double`` (183 mm).
    """
    _check(correlations)
    names = [shorten(str(name).replace("_", " "), 22) for name in correlations.columns]
    if len(names) < 2:
        return blank("It takes two metrics to correlate.", width)
    values = correlations.to_numpy(dtype=float)[1:, :-1]
    upper = np.triu(np.ones_like(values, dtype=bool), k=1)
    figure = new_figure(width, 5.6 * len(names) + 26)
    axes = figure.subplots()
    sns.heatmap(
        values, ax=axes, vmin=-1, vmax=1, cmap=_DIVERGING, mask=upper | np.isnan(values), linewidths=0.8,
        linecolor="white", cbar=False,
    )  # fmt: skip
    for row, column in zip(*np.nonzero(~upper), strict=True):
        value = values[row, column]
        text = "–" if np.isnan(value) else f"{value:+.2f}".replace("-", "−")
        ink = GREY if np.isnan(value) else ink_on(_DIVERGING((value + 1) / 2))
        axes.text(column + 0.5, row + 0.5, text, size=SMALL, color=ink, ha="center", va="center_baseline")
    axes.set_xticks(np.arange(len(names) - 1) + 0.5, names[:-1], rotation=90)
    axes.set_yticks(np.arange(len(names) - 1) + 0.5, names[1:], rotation=0)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_facecolor("none")
    return figure


def correlation_caption(correlations: pd.DataFrame, *, runs: int, method: str = "Spearman") -> Caption:
    """Return the caption of `correlation_figure`.

    Parameters
    ----------
    correlations
        As for `correlation_figure`.
    runs
        The number of runs they were computed from.
    method
        The coefficient's name.
    """
    data = correlation_data(correlations)
    title = "Correlation of the metrics"
    known = data.dropna()
    if known.empty:
        return Caption(
            title, f"No pair of metrics varies. N = {counted(runs, 'run')}.", "An empty figure: no values."
        )
    text = (
        f"{method} correlation of every pair of metrics over N = {counted(runs, 'run')}; blue is positive, orange "
        "negative, darker is stronger."
    )
    if len(known) < len(data):
        text += " – stands where a metric does not vary."
    strongest = known.reindex(known["correlation"].abs().sort_values(ascending=False, kind="stable").index).head(3)
    listed = "; ".join(
        f"{m} with {o} {r:+.2f}"
        for m, o, r in zip(strongest["metric"], strongest["other"], strongest["correlation"], strict=True)
    )
    return Caption(title, text, f"Heatmap of {counted(len(data), 'correlation')}. The strongest: {listed}.")


def _check(correlations: pd.DataFrame) -> None:
    if list(correlations.index) != list(correlations.columns):
        raise ReportError(
            "the figure 'correlation' needs a square matrix with the same metrics as rows and columns",
            hint="outcomes[metrics].corr(method='spearman') makes one",
        )
