"""The map of a study: a row per question, a column per condition, instability printed in every field."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dsqa.figures.common import (
    Caption,
    blank,
    condition_labels,
    counted,
    extent,
    in_order,
    numbers,
    page_slice,
    pages_for,
    require,
    shorten,
)
from dsqa.figures.instability import NOTABLE
from dsqa.figures.style import GREY, HEAT, INK, SMALL, VERDICTS, Width, new_figure, styled

__all__ = ["question_map_caption", "question_map_data", "question_map_figure", "question_map_pages"]

ROWS_PER_PAGE = 45
COLUMNS_PER_PAGE = 16

SIGNS = {"stable and right": "✓", "stable and wrong": "✗", "unstable": "~"}
"""What stands behind the number for each verdict; "?" for any other."""

_NAME = "question-map"
_COLUMNS = (
    "question_id", "category", "level", "condition_id", "endpoint", "model", "temperature", "runs",
    "instability", "verdict",
)  # fmt: skip


def question_map_data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what `question_map_figure` draws: a row per cell, questions sorted by verdict.

    A question's verdict here is the least favourable of its cells': stable and right before stable and wrong
    before unstable. Among equals, those with fewer cells of that verdict come first, then the table's order.
    """
    require(cells, _COLUMNS, _NAME)
    labels = condition_labels(cells)
    ranks: dict[str, list[int]] = {}
    for question, verdict in zip(cells["question_id"].astype(str), cells["verdict"], strict=True):
        ranks.setdefault(question, []).append(_rank(verdict))
    places = {question: i for i, question in enumerate(ranks)}
    order = sorted(ranks, key=lambda q: (max(ranks[q]), ranks[q].count(max(ranks[q])), places[q]))
    table = cells[list(_COLUMNS)].assign(condition=[labels[str(key)] for key in cells["condition_id"]])
    rows, columns = {q: i for i, q in enumerate(order)}, {c: i for i, c in enumerate(labels)}
    by = sorted(
        range(len(table)),
        key=lambda i: (rows[str(table["question_id"].iloc[i])], columns[str(table["condition_id"].iloc[i])]),
    )
    keep = ["question_id", "category", "level", "condition_id", "condition", "runs", "instability", "verdict"]
    return table.iloc[by][keep].reset_index(drop=True)


def question_map_pages(cells: pd.DataFrame) -> int:
    """Return how many pages the map fills: 45 questions × 16 conditions go on one."""
    down = pages_for(cells["question_id"].nunique(), ROWS_PER_PAGE)
    return down * pages_for(cells["condition_id"].nunique(), COLUMNS_PER_PAGE)


@styled
def question_map_figure(cells: pd.DataFrame, *, page: int = 1, width: Width | None = None) -> Figure:
    """Draw a page of the map, its fields shaded by instability with the number and the verdict's sign.

    Parameters
    ----------
    cells
        A row per cell, as `dsqa.stats.summarise_cells` makes it, with its verdict.
    page
        From 1 to `question_map_pages`; questions run on first, then conditions.
    width
        ``single`` (89 mm) or ``double`` (183 mm); by default what the number of conditions asks for.
    """
    data = question_map_data(cells)
    if data.empty:
        return blank("No cell to show: the study has no runs yet.", width or "single")
    questions, conditions = _page(cells, data, page)
    labels = condition_labels(cells, length=22)
    if width is None:
        width = "single" if len(conditions) <= 4 else "double"
    values = np.full((len(questions), len(conditions)), np.nan)
    texts = np.full(values.shape, "", dtype=object)
    rows, columns = {q: i for i, q in enumerate(questions)}, {c: i for i, c in enumerate(conditions)}
    wide = len(conditions) <= (6 if width == "single" else 12)
    instability = numbers(data["instability"])
    for i, (question, condition, verdict) in enumerate(
        zip(data["question_id"].astype(str), data["condition_id"].astype(str), data["verdict"], strict=True)
    ):
        if question not in rows or condition not in columns:
            continue
        at = rows[question], columns[condition]
        values[at] = instability[i]
        number = "–" if np.isnan(instability[i]) else f"{instability[i]:.2f}"
        sign = SIGNS.get("" if pd.isna(verdict) else str(verdict), "?")
        texts[at] = f"{number} {sign}" if wide else f"{number.removeprefix('0')}{sign}"
    upright = len(conditions) <= (3 if width == "single" else 5)
    head = 14.0 if upright else 10 + 1.5 * max(len(labels[c]) for c in conditions)
    figure = new_figure(width, 4.2 * len(questions) + head + 14)
    axes = figure.subplots()
    axes.set_facecolor("#FFFFFF")
    sns.heatmap(
        values, ax=axes, vmin=0, vmax=1, cmap=HEAT, annot=texts, fmt="", annot_kws={"size": SMALL},
        mask=np.isnan(values), linewidths=0.8, linecolor="white", cbar=False,
    )  # fmt: skip
    # A cell without a number is masked, and seaborn then writes nothing: say that it is there.
    for row, column in zip(*np.where(np.isnan(values)), strict=True):
        axes.text(column + 0.5, row + 0.5, texts[row, column], size=SMALL, color=GREY, ha="center", va="center")
    wrapped = [labels[c].replace(", T", ",\nT") for c in conditions] if upright else [labels[c] for c in conditions]
    axes.set_xticks(np.arange(len(conditions)) + 0.5, wrapped, rotation=0 if upright else 90)
    names = [shorten(q, 30 if width == "double" else 22) for q in questions]
    axes.set_yticks(np.arange(len(questions)) + 0.5, names, rotation=0)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    _separate(axes, data, questions)
    key = "   ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
    pages = question_map_pages(cells)
    figure.supxlabel(
        f"{key}\nNumber and shade: normalised instability (0 to 1)" + (f"; page {page} of {pages}" if pages > 1 else ""),
        size=SMALL,
    )
    return figure


def question_map_caption(cells: pd.DataFrame, *, page: int = 1) -> Caption:
    """Return the caption of a page of `question_map_figure` for the same table."""
    data = question_map_data(cells)
    title = "Question map"
    if data.empty:
        return Caption(title, "The study has no runs yet.", "An empty figure: no cells.")
    questions, conditions = _page(cells, data, page)
    pages = question_map_pages(cells)
    part = (
        f" Page {page} of {pages}: {counted(len(questions), 'question')} × {counted(len(conditions), 'condition')}."
        if pages > 1
        else ""
    )
    unknown = int(np.isnan(numbers(data["instability"])).sum())
    text = (
        "Normalised instability (population SD of the score ÷ 1.5) of every cell, as a number and as a shade from white "
        f"(0) to dark (1); notable from {NOTABLE:g}. Behind it the cell's verdict: "
        + ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
        + ". Questions are sorted by the least favourable verdict of their cells; a line parts the groups. "
        f"{extent(cells)}.{part}"
    )
    if unknown:
        text += f" – stands for {counted(unknown, 'cell')} with fewer than two runs."
    counts = data["verdict"].fillna("unknown").value_counts()
    listed = [v for v in (*VERDICTS, *counts.index.difference(list(VERDICTS))) if v in counts.index]
    alt = "Table of questions by conditions: " + ", ".join(f"{counted(int(counts[v]), 'cell')} {v}" for v in listed)
    return Caption(title, text, alt + ".")


def _page(cells: pd.DataFrame, data: pd.DataFrame, page: int) -> tuple[list[str], list[str]]:
    """Return the questions and conditions of a page, in drawing order."""
    questions, conditions = in_order(data["question_id"]), list(condition_labels(cells))
    down = pages_for(len(questions), ROWS_PER_PAGE)
    page_slice(question_map_pages(cells), 1, page, _NAME)  # refuses a page that is not there
    rows = page_slice(len(questions), ROWS_PER_PAGE, (page - 1) % down + 1, _NAME)
    columns = page_slice(len(conditions), COLUMNS_PER_PAGE, (page - 1) // down + 1, _NAME)
    return questions[rows], conditions[columns]


def _rank(verdict: object) -> int:
    """Return how unfavourable a verdict is; one that is missing or unknown comes last."""
    known = list(VERDICTS)
    return known.index(str(verdict)) if not pd.isna(verdict) and str(verdict) in known else len(known)


def _separate(axes: Axes, data: pd.DataFrame, questions: list[str]) -> None:
    """Draw a line wherever the questions' least favourable verdict changes."""
    worst: dict[str, int] = {}
    for question, verdict in zip(data["question_id"].astype(str), data["verdict"], strict=True):
        worst[question] = max(worst.get(question, 0), _rank(verdict))
    for row, (above, below) in enumerate(pairwise(questions), start=1):
        if worst[above] != worst[below]:
            axes.axhline(row, color=INK, linewidth=1.0)
