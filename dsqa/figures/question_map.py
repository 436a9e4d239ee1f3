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
    known_verdict,
    numbers,
    page_slice,
    pages_for,
    require,
    shorten_name,
)
from dsqa.figures.style import GREY, HEAT, INK, SMALL, VERDICTS, WIDTHS_MM, Width, ink_on, new_figure, styled
from dsqa.stats import NOTABLE

__all__ = ["question_map_caption", "question_map_data", "question_map_figure", "question_map_pages"]

ROWS_PER_PAGE = 45
COLUMNS_PER_PAGE = 16

SIGNS = {
    "stable and right": "✓",
    "stable and wrong": "✗",
    "unstable": "~",
    "not read": "∅",
    "no answers": "–",
    "not known": "?",
}
"""What stands behind the number for each verdict; in brackets where the runs do not settle it."""

_CHARACTER_MM = 1.5
"""About the width of a character at 7 pt."""
_NAME = "question-map"
_COLUMNS = (
    "question_id", "category", "level", "condition_id", "endpoint", "model", "temperature", "runs",
    "instability", "verdict", "settled",
)  # fmt: skip


def question_map_data(cells: pd.DataFrame, *, page: int | None = None) -> pd.DataFrame:
    """Return what `question_map_figure` draws on `page`, or on all: a row per cell, questions sorted by verdict.

    A question's verdict here is the least favourable of its cells': stable and right before stable and wrong
    before unstable before not read before no answers before not known. Among equals, those with fewer cells of that
    verdict come first, then the table's order.
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
    keep = [
        "question_id",
        "category",
        "level",
        "condition_id",
        "condition",
        "runs",
        "instability",
        "verdict",
        "settled",
    ]
    data = table.iloc[by][keep].reset_index(drop=True)
    if page is None or data.empty:
        return data
    questions, conditions = _page(cells, data, page)
    shown = data["question_id"].isin(questions) & data["condition_id"].isin(conditions)
    return data[shown].reset_index(drop=True)


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
    settled = data["settled"].fillna(False).astype(bool)
    for i, (question, condition, verdict, firm) in enumerate(
        zip(data["question_id"].astype(str), data["condition_id"].astype(str), data["verdict"], settled, strict=True)
    ):
        if question not in rows or condition not in columns:
            continue
        at = rows[question], columns[condition]
        values[at] = instability[i]
        number = "–" if np.isnan(instability[i]) else f"{instability[i]:.2f}"
        sign = SIGNS[known_verdict(verdict)]
        sign = sign if firm or sign == "?" else f"({sign})"
        texts[at] = f"{number} {sign}" if wide else f"{number.removeprefix('0')}{sign}"
    names = [shorten_name(q, 30 if width == "double" else 22) for q in questions]
    heads = [labels[c].replace(", T", ",\nT") for c in conditions]
    room = (WIDTHS_MM[width] - _CHARACTER_MM * max(map(len, names))) / len(conditions)
    upright = room > _CHARACTER_MM * max(len(line) for head in heads for line in head.split("\n"))
    if not upright:
        heads = [labels[c] for c in conditions]
    head_mm = 9.0 if upright else 4 + _CHARACTER_MM * max(map(len, heads))
    signs = _key(data, WIDTHS_MM[width])
    figure = new_figure(width, 4.2 * len(questions) + head_mm + 9 + 3 * len(signs))
    axes = figure.subplots()
    axes.set_facecolor("#FFFFFF")
    sns.heatmap(
        values,
        ax=axes,
        vmin=0,
        vmax=1,
        cmap=HEAT,
        mask=np.isnan(values),
        linewidths=0.4,
        linecolor="#D4D4D4",
        cbar=False,
    )
    for (row, column), text in np.ndenumerate(texts):
        ink = GREY if np.isnan(values[row, column]) else ink_on(HEAT(values[row, column]))
        axes.text(column + 0.5, row + 0.5, text, size=SMALL, color=ink, ha="center", va="center_baseline")
    axes.set_xticks(np.arange(len(conditions)) + 0.5, heads, rotation=0 if upright else 90)
    axes.set_yticks(np.arange(len(questions)) + 0.5, names, rotation=0)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    _separate(axes, data, questions)
    pages = question_map_pages(cells)
    what = "Number and shade: normalised instability (0 to 1)"
    figure.supxlabel("\n".join([*signs, what + (f"; page {page} of {pages}" if pages > 1 else "")]), size=SMALL)
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
        "Normalised instability (population SD of the score ÷ 1.5) of every cell, as a number and as a shade from "
        f"white (0) to dark (1); notable from {NOTABLE:g}. Behind it the cell's verdict: "
        + ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
        + "; in brackets where the runs do not settle it. Questions are sorted by the least "
        "favourable verdict of their cells; a line parts the groups. "
        f"{extent(cells)}.{part}"
    )
    if unknown:
        text += f" – stands for {counted(unknown, 'cell')} with fewer than two runs."
    found = [known_verdict(verdict) for verdict in data["verdict"]]
    counts = [f"{counted(found.count(verdict), 'cell')} {verdict}" for verdict in VERDICTS if verdict in found]
    alt = "Table of questions by conditions: " + ", ".join(counts)
    return Caption(title, text, alt + ".")


def _page(cells: pd.DataFrame, data: pd.DataFrame, page: int) -> tuple[list[str], list[str]]:
    """Return the questions and conditions of a page, in drawing order."""
    questions, conditions = in_order(data["question_id"]), list(condition_labels(cells))
    down = pages_for(len(questions), ROWS_PER_PAGE)
    page_slice(question_map_pages(cells), 1, page, _NAME)  # refuses a page that is not there
    rows = page_slice(len(questions), ROWS_PER_PAGE, (page - 1) % down + 1, _NAME)
    columns = page_slice(len(conditions), COLUMNS_PER_PAGE, (page - 1) // down + 1, _NAME)
    return questions[rows], conditions[columns]


def _key(data: pd.DataFrame, room_mm: float) -> list[str]:
    """Return what the signs on the map mean, in as many lines as it takes."""
    present = {known_verdict(verdict) for verdict in data["verdict"]}
    parts = [f"{sign} {verdict}" for verdict, sign in SIGNS.items() if verdict in present]
    if not data["settled"].fillna(False).all():
        parts.append("( ) not settled")
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}   {part}"
        if len(longer) * _CHARACTER_MM < room_mm:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _rank(verdict: object) -> int:
    """Return how unfavourable a verdict is; "not known" comes last."""
    return list(VERDICTS).index(known_verdict(verdict))


def _separate(axes: Axes, data: pd.DataFrame, questions: list[str]) -> None:
    """Draw a line wherever the questions' least favourable verdict changes."""
    worst: dict[str, int] = {}
    for question, verdict in zip(data["question_id"].astype(str), data["verdict"], strict=True):
        worst[question] = max(worst.get(question, 0), _rank(verdict))
    for row, (above, below) in enumerate(pairwise(questions), start=1):
        if worst[above] != worst[below]:
            axes.axhline(row, color=INK, linewidth=1.0)
