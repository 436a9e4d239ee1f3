"""What a condition costs against how reliable it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from dsqa.errors import ReportError
from dsqa.figures.common import (
    MAX_PANELS,
    Caption,
    Floats,
    condition_labels,
    counted,
    extent,
    legend_columns,
    numbers,
    require,
    shorten_name,
)
from dsqa.figures.labels import Dot, place_labels
from dsqa.figures.style import EDGE, GREY, MARKERS, PALETTE, SMALL, WIDTHS_MM, Width, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables
from dsqa.stats import NOTABLE
from dsqa.stats.jackknife import jackknife_interval, leave_out
from dsqa.stats.over_questions import question_intervals

__all__ = [
    "CostReliability",
    "cost_reliability_caption",
    "cost_reliability_data",
    "cost_reliability_figure",
    "cost_reliability_of",
]

LEVEL = 0.95

_CELLS = ("question_id", "condition_id", "endpoint", "model", "temperature", "accuracy", "instability")
_RUNS = ("question_id", "condition_id", "accuracy", "tokens_in", "tokens_total")


@dataclass(frozen=True, eq=False)
class CostReliability:
    """Cost, accuracy and instability per condition, each a mean over questions.

    Parameters
    ----------
    table
        See `cost_reliability_data`.
    unit
        A currency, or ``tokens`` where there are no prices.
    why_tokens
        Why there is no money, in words; "" where there is.
    per
        ``run`` or ``right`` (right answer).
    unknown
        Runs whose cost is not known, left out of the cost.
    extent
        N in words.
    """

    table: pd.DataFrame
    unit: str
    why_tokens: str
    per: str
    unknown: int
    extent: str


def cost_reliability_of(tables: StudyTables, *, per: Literal["run", "right"] = "run") -> CostReliability:
    """Estimate each condition's cost, accuracy and instability, with intervals over questions.

    Cost, accuracy and instability are means over questions of the question's own mean, with Student's t
    intervals; the cost per right answer is mean cost ÷ mean accuracy, with a jackknife interval over
    questions. Where any condition has no price, or prices are all 0 or in several currencies, tokens (prompt and
    response) take the place of money in all.

    Parameters
    ----------
    tables
        The study.
    per
        ``run``, or ``right`` for the cost per right answer.

    Raises
    ------
    NotApplicableError
        There is one condition only, or neither cost nor tokens are known.
    ReportError
        `per` is neither.
    """
    if per not in ("run", "right"):
        raise ReportError(f"there is no cost per '{per}'", hint="run or right")
    outcomes, cells = tables.outcomes, tables.cells
    require(cells, _CELLS, "cost-reliability")
    require(outcomes, _RUNS, "cost-reliability")
    labels = condition_labels(cells)
    if len(labels) < 2:
        raise NotApplicableError("there is one condition only: nothing to set its cost against")
    costs, unit, why = _costs(tables, list(labels))
    known = costs[np.isfinite(costs["cost"])]
    if set(labels) - set(known["condition_id"]):
        raise NotApplicableError("neither prices nor token counts are known for every condition")
    spent = known.groupby(["condition_id", "question_id"], sort=True)["cost"].mean()
    marks = cells[["question_id", "condition_id"]].astype(str)
    marks = marks.assign(**{name: numbers(cells[name]) for name in ("accuracy", "instability")})
    marks = marks.groupby(["condition_id", "question_id"], sort=True).mean()
    rows = []
    for condition, label in labels.items():
        mine = marks.loc[condition].join(spent.loc[condition])
        row: dict[str, object] = {"condition_id": condition, "condition": label, "questions": len(mine)}
        for name, top in (("cost", np.inf), ("accuracy", 1.0), ("instability", 1.0)):
            row |= _mean(name, numbers(mine[name].dropna()), top)
        row |= _per_right(numbers(mine["cost"]), numbers(mine["accuracy"]))
        rows.append(row)
    table = pd.DataFrame(rows).assign(unit=unit)
    if per == "right" and not np.isfinite(numbers(table["cost_per_right"])).any():
        raise NotApplicableError("no condition has a right answer")
    return CostReliability(table, unit, why, per, len(costs) - len(known), extent(cells))


def cost_reliability_data(estimates: CostReliability) -> pd.DataFrame:
    """Return what `cost_reliability_figure` draws, a row per condition.

    Columns: condition_id, condition, questions; cost (per run), accuracy, instability and cost_per_right, each with
    its interval (``…_low``, ``…_high``); unit.
    """
    return estimates.table


@styled
def cost_reliability_figure(estimates: CostReliability, *, mark: float = NOTABLE, width: Width = "double") -> Figure:
    """Draw accuracy and instability over cost, a point per condition, with their intervals.

    Up to 4 conditions are told by colour and marker, more by a number beside the mark.

    Parameters
    ----------
    estimates
        From `cost_reliability_of`.
    mark
        From which instability is notable.
    width
        ``single`` (89 mm, panels above each other) or ``double`` (183 mm, side by side).
    """
    table = estimates.table
    labels = [str(name) for name in table["condition"]]
    few = len(labels) <= MAX_PANELS
    names = [
        shorten_name(name, 40) if few else f"{i} {shorten_name(name, 40)}" for i, name in enumerate(labels, start=1)
    ]
    columns = legend_columns(names, WIDTHS_MM[width])
    key = 4.4 * -(-len(names) // columns) + 4
    figure = new_figure(width, (74 if width == "double" else 130) + key)
    panels = figure.subplots(1, 2) if width == "double" else figure.subplots(2, 1)
    scale = _scale(table, estimates)
    column = "cost" if estimates.per == "run" else "cost_per_right"
    x, low, high = (numbers(table[f"{column}{end}"]) * scale for end in ("", "_low", "_high"))
    for axes, measure, label in (
        (panels[0], "accuracy", "Accuracy (mean over questions)"),
        (panels[1], "instability", "Normalised instability (mean over questions)"),
    ):
        y = numbers(table[measure])
        _draw_spans(axes, x, y, low, high, numbers(table[f"{measure}_low"]), numbers(table[f"{measure}_high"]))
        for i in np.flatnonzero(np.isfinite(x) & np.isfinite(y)):
            colour, shape = (PALETTE[i], MARKERS[i]) if few else ("#FFFFFF", "o")
            axes.scatter(
                x[i],
                y[i],
                s=24 if few else 14,
                marker=shape,
                facecolor=colour,
                edgecolor=EDGE,
                linewidth=0.6,
                zorder=3,
                clip_on=False,
            )
        axes.set(ylim=(-0.03, 1.03), ylabel=label, yticks=np.arange(0, 1.01, 0.2))
        _cost_axis(axes, np.concatenate([x, low, high]))
        axes.set_xlabel(_axis(estimates, scale))
        axes.grid(which="major")
    panels[1].axhline(mark, color=EDGE, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    handles = [
        Line2D(
            [], [], linestyle="", marker=MARKERS[i] if few else None, markerfacecolor=PALETTE[i] if few else "none",
            markeredgecolor=EDGE, markeredgewidth=0.5, markersize=5, label=name,
        )
        for i, name in enumerate(names)
    ]  # fmt: skip
    spacing = {} if few else {"handlelength": 0.0, "handletextpad": 0.0}
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, **spacing)
    if not few:
        figure.draw_without_rendering()
        for axes, measure in ((panels[0], "accuracy"), (panels[1], "instability")):
            y = numbers(table[measure])
            known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
            place_labels(axes, [Dot(x[i], y[i], 2.2, str(i + 1)) for i in known])
    return figure


def cost_reliability_caption(estimates: CostReliability, *, mark: float = NOTABLE) -> Caption:
    """Return the caption of `cost_reliability_figure` for the same arguments."""
    table, unit = estimates.table, estimates.unit
    money = (
        f"in {unit}, by the prices recorded with the study" if unit != "tokens" else "in tokens, prompt and response"
    )
    what = "Cost per run" if estimates.per == "run" else "Cost per right answer (mean cost of a run ÷ accuracy)"
    intervals = "Student's t over questions"
    if estimates.per == "right":
        intervals += "; of the cost per right answer, jackknife over questions"
    text = (
        f"{what} {money}, against accuracy and normalised instability, a mark per condition. All are means over "
        f"questions of the question's mean; lines are 95 % intervals ({intervals}). Dashed: "
        f"{mark:g}, from which a cell's instability is notable. {estimates.extent}."
    )
    if estimates.why_tokens:
        text += f" Tokens and not money: {estimates.why_tokens}."
    if estimates.unknown:
        lacking = "number of tokens" if unit == "tokens" else "cost"
        text += f" Left out of the cost: {counted(estimates.unknown, 'run')} whose {lacking} is not known."
    scale = _scale(table, estimates)
    column = "cost" if estimates.per == "run" else "cost_per_right"
    said = "; ".join(
        f"{row['condition']}: {row[column] * scale:.3g}, accuracy {row['accuracy']:.2f}, instability "
        f"{row['instability']:.2f}"
        for row in table.head(12).to_dict("records")
    )
    return Caption("Cost against reliability", text, f"Scatter plots. {_axis(estimates, scale)}: {said}.")


def _costs(tables: StudyTables, conditions: list[str]) -> tuple[pd.DataFrame, str, str]:
    """Return question_id, condition_id and cost of every run, its unit, and why it is not money."""
    costs = tables.costs
    paid = costs[np.isfinite(costs["cost"])]
    currencies = sorted(set(paid["currency"].dropna()))
    why = ""
    if paid.empty or not (paid["cost"] > 0).any():
        why = "no run of the study has a price above 0"
    elif len(currencies) > 1:
        why = f"prices are in several currencies ({', '.join(currencies)})"
    elif set(conditions) - set(paid["condition_id"]):
        why = "not every condition has a price"
    if not why:
        # Runs that were recorded and are not in the table (of a question since taken out, say) do not count.
        keys = tables.outcomes[["question_id", "condition_id", "run"]].astype({"run": "Int64"})
        return keys.merge(costs, how="left", on=["question_id", "condition_id", "run"]), currencies[0], ""
    outcomes = tables.outcomes
    tokens = numbers(outcomes["tokens_in"]) + numbers(outcomes["tokens_total"])
    table = pd.DataFrame(
        {
            "question_id": outcomes["question_id"].astype(str),
            "condition_id": outcomes["condition_id"].astype(str),
            "cost": tokens,
        }
    )
    return table, "tokens", why


def _mean(name: str, values: Floats, top: float) -> dict[str, object]:
    """Return the mean with its interval over questions, as columns."""
    if not len(values):
        return {name: np.nan, f"{name}_low": np.nan, f"{name}_high": np.nan}
    [interval] = question_intervals([values], level=LEVEL, bounds=(0.0, top))
    ends = (interval.low, interval.high)
    return {name: float(values.mean()), f"{name}_low": ends[0], f"{name}_high": ends[1]}


def _per_right(cost: Floats, accuracy: Floats) -> dict[str, object]:
    """Return mean cost ÷ mean accuracy with its jackknife interval over questions, as columns."""
    known = np.isfinite(cost) & np.isfinite(accuracy)
    cost, accuracy = cost[known], accuracy[known]
    nothing: dict[str, object] = {
        "cost_per_right": np.nan,
        "cost_per_right_low": np.nan,
        "cost_per_right_high": np.nan,
    }
    if not len(cost) or accuracy.sum() == 0:
        return nothing
    estimate = float(cost.sum() / accuracy.sum())
    kept = leave_out(len(cost))
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (kept @ cost) / (kept @ accuracy)
    # Without its one question with a right answer a study costs infinitely much per right answer.
    without = np.where(np.isfinite(without), without, np.nan)
    interval = jackknife_interval(
        estimate, without, kind="cost per right answer", level=LEVEL, scale="log", clusters=len(cost)
    )
    low, high = interval.low, interval.high
    return {"cost_per_right": estimate, "cost_per_right_low": float(low), "cost_per_right_high": float(high)}


def _scale(table: pd.DataFrame, estimates: CostReliability) -> float:
    """Return 1, or for small amounts of money the 1,000 or 1,000,000 runs that are priced together."""
    if estimates.unit == "tokens":
        return 1.0
    largest = float(np.nanmax(numbers(table["cost" if estimates.per == "run" else "cost_per_right"])))
    return 1.0 if largest >= 0.1 else 1000.0 if largest >= 1e-4 else 1e6


def _axis(estimates: CostReliability, scale: float) -> str:
    thing = "run" if estimates.per == "run" else "right answer"
    unit = "Tokens (prompt + response)" if estimates.unit == "tokens" else f"Cost, {estimates.unit}"
    return f"{unit} per {thing}" if scale == 1 else f"{unit} per {scale:,.0f} {thing}s"


def _draw_spans(axes: Axes, x: Floats, y: Floats, left: Floats, right: Floats, low: Floats, high: Floats) -> None:
    across = np.isfinite(x) & np.isfinite(y) & np.isfinite(left) & np.isfinite(right)
    axes.hlines(y[across], left[across], right[across], colors=GREY, linewidth=0.7, zorder=2)
    up = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    axes.vlines(x[up], low[up], high[up], colors=GREY, linewidth=0.7, zorder=2)


def _cost_axis(axes: Axes, values: Floats) -> None:
    """Set the cost axis: logarithmic where costs differ tenfold and none is 0."""
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > 10 * low:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.3, high * 1.3)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        room = 0.08 * (high - low) or 0.1 * high or 1.0
        axes.set_xlim(max(low - room, 0.0) if low >= 0 else low - room, high + room)
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.tick_params(axis="x", labelsize=SMALL)
