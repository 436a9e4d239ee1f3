"""How the metrics go together: their correlations as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from dsqa.figures.common import Caption, counted, extent, numbers, require, shorten
from dsqa.figures.style import GREY, INK, PALETTE, SMALL, WIDTHS_MM, Width, ink_on, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables
from dsqa.stats.correlation import METRICS, CorrelationKind, correlation_matrix

__all__ = [
    "Correlations",
    "correlation_heatmap_caption",
    "correlation_heatmap_data",
    "correlation_heatmap_figure",
    "correlations_of",
]

# Both ends are dark in grey print, so the printed sign carries the direction.
_DIVERGING = LinearSegmentedColormap.from_list("dsqa-signed", [PALETTE[1], "#FFFFFF", PALETTE[0]])
_LEAST = 4
"""Runs that a correlation takes; see `dsqa.stats.correlation`."""
_NUMBER_MM = 8.5
"""Room that a correlation or an N takes across."""


@dataclass(frozen=True)
class Correlations:
    """Correlations of metrics over runs.

    Parameters
    ----------
    kind
        As in `dsqa.stats.correlation`.
    r, n
        Square, metrics as rows and columns: the coefficient (NaN where undefined), and the runs that have both
        metrics (on the diagonal: that one).
    extent
        N in words.
    """

    kind: str
    r: pd.DataFrame
    n: pd.DataFrame
    extent: str


def correlations_of(
    tables: StudyTables, *, kind: CorrelationKind = "spearman", metrics: Sequence[str] | None = None
) -> Correlations:
    """Correlate every pair of metrics over the runs that have both (partial ones: that have all).

    Parameters
    ----------
    tables
        The study.
    kind
        See `dsqa.stats.correlation`.
    metrics
        Columns of the outcome table; None for the usual ones.

    Raises
    ------
    NotApplicableError
        No two metrics vary together in four runs or more.
    StatisticsError
        Unknown kind, or a column is missing.
    """
    outcomes = tables.outcomes
    names = list(metrics) if metrics is not None else [name for name in METRICS if name in outcomes.columns]
    require(outcomes, ("question_id", *names), "correlation-heatmap")
    has = pd.DataFrame({name: np.isfinite(numbers(outcomes[name])) for name in names})
    if kind.startswith("partial"):
        found = correlation_matrix(outcomes, [name for name in names if has[name].any()], kind=kind)
        names = [name for name in names if name in found.columns]
        r = found.loc[names, names]
        n = pd.DataFrame(int(has[names].all(axis=1).sum()), index=names, columns=names)
    else:
        counts = has.to_numpy(dtype=np.int64)
        both = counts.T @ counts
        values = np.eye(len(names))
        for i, j in combinations(range(len(names)), 2):
            pair = correlation_matrix(outcomes, [names[i], names[j]], kind=kind) if both[i, j] >= _LEAST else None
            values[i, j] = values[j, i] = np.nan if pair is None else pair.to_numpy()[0, 1]
        r = pd.DataFrame(values, index=names, columns=names)
        n = pd.DataFrame(both, index=names, columns=names)
    if not np.isfinite(r.to_numpy(dtype=float)[np.triu_indices(len(names), 1)]).any():
        raise NotApplicableError("no two metrics vary together in at least four runs")
    return Correlations(kind, r, n, extent(outcomes))


def correlation_heatmap_data(correlations: Correlations) -> pd.DataFrame:
    """Return metric, other, correlation (missing where undefined) and n (runs that have both), a row per pair."""
    names, counts = list(correlations.r.columns), correlations.n.to_numpy(dtype=int)
    rows = [
        (names[i], names[j], correlations.r.iloc[i, j], int(counts[i, j]))
        for i in range(len(names))
        for j in range(i)
    ]
    return pd.DataFrame(rows, columns=["metric", "other", "correlation", "n"]).astype({"correlation": float})


@styled
def correlation_heatmap_figure(correlations: Correlations, *, width: Width = "double") -> Figure:
    """Draw the correlations below the diagonal, every value printed, and the runs behind each above it.

    Parameters
    ----------
    correlations
        From `correlations_of`.
    width
        ``single`` (89 mm, up to about 6 metrics) or ``double`` (183 mm).
    """
    names = [shorten(str(name).replace("_", " "), 22) for name in correlations.r.columns]
    values, counts = correlations.r.to_numpy(dtype=float), correlations.n.to_numpy()
    size = len(names)
    # Several metrics on a narrow page: the counts do not fit and are left to the data.
    with_counts = (WIDTHS_MM[width] - 40) / size >= _NUMBER_MM
    figure = new_figure(width, 6.2 * size + 30)
    axes = figure.subplots()
    upper = np.triu(np.ones_like(values, dtype=bool))
    sns.heatmap(
        values, ax=axes, vmin=-1, vmax=1, cmap=_DIVERGING, mask=upper | np.isnan(values), linewidths=0.8,
        linecolor="white", cbar=False,
    )  # fmt: skip
    for row in range(size):
        for column in range(size):
            value = values[row, column]
            if column < row:
                text = "–" if np.isnan(value) else f"{value:+.2f}".replace("-", "−")
                ink = GREY if np.isnan(value) else ink_on(_DIVERGING((value + 1) / 2))
            elif column > row and with_counts:
                text, ink = f"{counts[row, column]:,}", GREY
            else:
                continue
            axes.text(column + 0.5, row + 0.5, text, size=SMALL, color=ink, ha="center", va="center_baseline")
    axes.plot([0, size], [0, size], color="#C8C8C8", linewidth=0.6)
    axes.set_xticks(np.arange(size) + 0.5, names, rotation=90)
    axes.set_yticks(np.arange(size) + 0.5, names, rotation=0)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_facecolor("none")
    below = f"Below the diagonal: {correlations.kind.capitalize()} correlation"
    axes.set_xlabel(f"{below}; above: runs that have both metrics" if with_counts else below)
    return figure


def correlation_heatmap_caption(correlations: Correlations) -> Caption:
    """Return the caption of `correlation_heatmap_figure` for the same estimates."""
    data = correlation_heatmap_data(correlations)
    known = data.dropna(subset=["correlation"])
    low, high = int(known["n"].min()), int(known["n"].max())
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    rule = (
        "over the runs that have all of them"
        if correlations.kind.startswith("partial")
        else "each over the runs that have both"
    )
    text = (
        f"{correlations.kind.capitalize()} correlation of every pair of metrics over runs, {rule} (n = {each}, "
        "printed above the diagonal where there is room). Blue is positive, orange negative, darker is stronger."
    )
    if correlations.kind != "repeated":
        text += " Differences between questions and differences between runs both count."
    undefined = len(data) - len(known)
    if undefined:
        text += f" – stands for {counted(undefined, 'pair')} without a correlation: a metric does not vary there."
    text += f" {correlations.extent}."
    strongest = known.reindex(known["correlation"].abs().sort_values(ascending=False, kind="stable").index).head(3)
    listed = "; ".join(
        f"{m} with {o} {r:+.2f}"
        for m, o, r in zip(strongest["metric"], strongest["other"], strongest["correlation"], strict=True)
    )
    return Caption(
        "Correlation of the metrics",
        text,
        f"Heatmap of {counted(len(known), 'correlation')}. The strongest: {listed}.",
    )
