"""What was answered: the commonest answers to each question, the right one marked."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dsqa.figures.common import (
    MAX_PANELS,
    Caption,
    clean_left,
    condition_labels,
    counted,
    extent,
    in_order,
    legend_columns,
    page_slice,
    pages_for,
    require,
    shorten,
    shorten_name,
    title_for,
)
from dsqa.figures.style import EDGE, HATCHES, PALETTE, SMALL, WIDTHS_MM, Width, new_figure, styled
from dsqa.figures.tables import StudyTables

__all__ = ["Answers", "answers_caption", "answers_data", "answers_figure", "answers_of", "answers_pages"]

PER_PAGE = 8
"""Questions on a page."""

TOP = 4
"""Answers with bars of their own; a right answer has one always."""

OTHER = "other answers"
NOT_READ = "no answer read"

_NAME = "answers"
_COLUMNS = ("question_id", "condition_id", "endpoint", "model", "temperature", "answer_key", "answer_status")
_POOLED = "all conditions"


@dataclass(frozen=True, eq=False)
class Answers:
    """The distribution of answers.

    Parameters
    ----------
    table
        See `answers_data`.
    extent
        N in words.
    """

    table: pd.DataFrame
    extent: str

    @cached_property
    def questions(self) -> list[str]:
        """The questions, in drawing order."""
        return in_order(self.table["question_id"])

    def on(self, page: int) -> list[str]:
        """Return the questions of a page, counted from 1."""
        return self.questions[page_slice(len(self.questions), PER_PAGE, page, _NAME)]


def answers_of(tables: StudyTables) -> Answers:
    """Count the answers to each question under each condition; questions in the order of the cells."""
    outcomes = tables.outcomes
    require(outcomes, _COLUMNS, _NAME)
    labels = condition_labels(outcomes)
    runs = pd.DataFrame(
        {
            "question_id": outcomes["question_id"].astype(str),
            "condition_id": outcomes["condition_id"].astype(str),
            "answer": outcomes["answer_key"].astype("object").where(outcomes["answer_key"].notna(), None),
            "right": (outcomes["answer_status"] == "matched").fillna(False).astype(bool),
        }
    )
    per_cell = runs.groupby(["question_id", "condition_id"], sort=False).size()
    read = runs[runs["answer"].notna()]
    answers = (
        read.groupby(["question_id", "answer"]).agg(total=("right", "size"), right=("right", "any")).reset_index()
    )
    answers = answers.sort_values(["question_id", "total", "answer"], ascending=[True, False, True], kind="stable")
    answers["named"] = (answers.groupby("question_id").cumcount() < TOP) | answers["right"]
    left_over = (~answers["named"]).groupby(answers["question_id"]).transform("sum")
    answers["named"] |= left_over == 1  # a single answer left over is named rather than pooled
    answers["rank"] = answers.groupby("question_id").cumcount()
    counts = read.groupby(["question_id", "condition_id", "answer"], sort=False).size().rename("count").reset_index()
    counts = counts.merge(answers, on=["question_id", "answer"], how="left")
    written = _as_written(outcomes)
    names = [written.get(key, key[1]) for key in zip(counts["question_id"], counts["answer"], strict=True)]
    counts["bar"] = pd.Series(names, index=counts.index, dtype=object).where(counts["named"].astype(bool), OTHER)
    lost = runs[runs["answer"].isna()].groupby(["question_id", "condition_id"], sort=False).size()
    unread = lost.rename("count").reset_index().assign(answer=None, bar=NOT_READ, right=False, rank=len(runs))
    # An empty part would take the types of the whole with it.
    table = pd.concat([part for part in (counts, unread) if len(part)] or [counts], ignore_index=True)
    cell = pd.MultiIndex.from_frame(table[["question_id", "condition_id"]])
    table = table.assign(condition=table["condition_id"].map(labels), runs=per_cell.reindex(cell).to_numpy())
    table["share"] = table["count"] / table["runs"]
    questions = {
        name: i
        for i, name in enumerate(dict.fromkeys([*in_order(tables.cells["question_id"]), *runs["question_id"]]))
    }
    conditions = {name: i for i, name in enumerate(labels)}
    order = np.lexsort([
        table["rank"].to_numpy(dtype=float), table["condition_id"].map(conditions).to_numpy(dtype=float),
        table["question_id"].map(questions).to_numpy(dtype=float),
    ])  # fmt: skip
    columns = ["question_id", "condition_id", "condition", "answer", "bar", "right", "count", "runs", "share"]
    table = table.iloc[order][columns].reset_index(drop=True).astype({"answer": "string", "right": bool})
    return Answers(table, extent(outcomes))


def _as_written(outcomes: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return for each question's answer key how runs most often wrote it: "yes", not "true"; "0.467", not "0.5".

    Answers of one question that are written alike and are not the same keep their keys.
    """
    if "answer" not in outcomes:
        return {}
    own = outcomes[["question_id", "answer_key", "answer"]].dropna().astype(str)
    counts = own.value_counts(sort=False).rename("runs").reset_index()
    counts = counts.sort_values(["runs", "answer"], ascending=[False, True], kind="stable")
    first = counts.drop_duplicates(["question_id", "answer_key"])
    texts = {
        (question, key): _plain(answer)
        for question, key, answer in zip(first["question_id"], first["answer_key"], first["answer"], strict=True)
    }
    often = Counter((question, text) for (question, _), text in texts.items())
    return {name: text for name, text in texts.items() if often[name[0], text] == 1}


def _plain(answer: str) -> str:
    try:
        parts = json.loads(answer)
    except ValueError:
        return answer
    if not isinstance(parts, dict):
        return answer
    if len(parts) == 1:
        return str(next(iter(parts.values())))
    return ", ".join(f"{name} {value}" for name, value in parts.items())


def answers_data(answers: Answers, *, page: int | None = None) -> pd.DataFrame:
    """Return the distribution behind a page of `answers_figure`, or behind all, every answer in full.

    A row per question, condition and answer that some run gave, and one for runs without a readable answer:
    question_id, condition_id, condition, answer (its key, whole), bar (the bar it is drawn in: the answer as
    runs most often wrote it), right (whether it matches the ground truth), count, runs (all runs of the cell) and
    share (count ÷ runs).
    Answers are in the order of their count over all conditions.
    """
    if page is None or answers.table.empty:
        return answers.table
    return answers.table[answers.table["question_id"].isin(answers.on(page))].reset_index(drop=True)


def answers_pages(answers: Answers) -> int:
    """Return how many pages the figure fills: 8 questions go on one, spread evenly."""
    return pages_for(len(answers.questions), PER_PAGE)


@styled
def answers_figure(answers: Answers, *, page: int = 1, width: Width = "double") -> Figure:
    """Draw the share of runs that gave each answer, a panel per question, conditions side by side.

    The 4 commonest answers of a question have a bar each and so has any right one; the rest is pooled as
    "other answers", and runs whose answer could not be read are "no answer read". Shares are of all runs of
    a cell, failed ones included. Beyond 4 conditions, all are pooled into one bar.

    Parameters
    ----------
    answers
        From `answers_of`.
    page
        From 1 to `answers_pages`.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    shown = answers.on(page)
    bars = _bars(answers_data(answers, page=page), pooled=answers.table["condition_id"].nunique() > MAX_PANELS)
    conditions = [_POOLED] if _POOLED in set(bars["condition"]) else in_order(answers.table["condition"])
    across = 1 if width == "single" or len(shown) == 1 else 2
    down = -(-len(shown) // across)
    thick = {1: 4.2, 2: 6.0}.get(len(conditions), 1.8 * len(conditions) + 1.2)
    lines = [bars.loc[bars["question_id"] == q, "bar"].nunique() for q in shown]
    heights = [max(lines[row * across : (row + 1) * across]) for row in range(down)]
    named = len(conditions) > 1
    keys = [shorten_name(name, 44) for name in conditions]
    columns = legend_columns(keys, WIDTHS_MM[width])
    figure = new_figure(
        width, sum(heights) * thick + 9 * down + 10 + (4.0 * -(-len(keys) // columns) + 2 if named else 0)
    )
    grid = figure.subplots(down, across, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})
    for place, (axes, question) in enumerate(zip(grid.flat, shown, strict=False)):
        most = heights[place // across]
        _draw_panel(axes, bars[bars["question_id"] == question], conditions, most)
        axes.set_title(title_for(question, WIDTHS_MM[width] / across - 36), pad=3)
        if place + across >= len(shown):
            axes.tick_params(axis="x", labelbottom=True)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_visible(False)
    grid[0, 0].set_xlim(0, 1.12)
    grid[0, 0].set_xticks(np.arange(0, 1.01, 0.2), [f"{t:.0%}" for t in np.arange(0, 1.01, 0.2)])
    figure.supxlabel("Share of all runs of the cell   (✓ right answer)", size=8)
    if named:
        handles = [
            Patch(facecolor=PALETTE[i], hatch=HATCHES[i], edgecolor=EDGE, linewidth=0.5, label=name)
            for i, name in enumerate(keys)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=columns)
    return figure


def answers_caption(answers: Answers, *, page: int = 1) -> Caption:
    """Return the caption of a page of `answers_figure` for the same answers."""
    title = "Answers per question"
    shown = answers.on(page)
    conditions = answers.table["condition_id"].nunique()
    pooled = f" The {conditions} conditions are pooled." if conditions > MAX_PANELS else ""
    pages = answers_pages(answers)
    part = f" Page {page} of {pages}: {shown[0]} to {shown[-1]}." if pages > 1 else ""
    text = (
        f"Share of runs that gave each answer, per question.{pooled} The {TOP} commonest answers have a bar each, "
        f"and so has any right one (✓, by comparison with the ground truth); the rest is pooled as “{OTHER}”. "
        f"“{NOT_READ}” counts runs that failed or whose answer could not be read; shares are of all runs. "
        f"Long answers are cut; the data beside the figure hold them whole. {answers.extent}.{part}"
    )
    here = answers_data(answers, page=page)
    runs = here.groupby("question_id", sort=False)["count"].sum()
    right = here[here["right"]].groupby("question_id")["count"].sum().reindex(runs.index, fill_value=0)
    listed = "; ".join(f"{q} {right[q] / runs[q]:.0%}" for q in shown)
    return Caption(
        title, text, f"Bar charts of the answers to {counted(len(shown), 'question')}. Share right: {listed}."
    )


def _names(bars: pd.DataFrame) -> dict[str, str]:
    """Return each bar's label: its key, without the answer's name where all keys share a single one."""
    keys = [bar for bar in in_order(bars["bar"]) if bar not in (OTHER, NOT_READ)]
    heads = {key.split("=", 1)[0] + "=" for key in keys}
    single = len(heads) == 1 and not any(re.search(r"; [^=;]+=", key) for key in keys)
    cut = len(heads.pop()) if single and all("=" in key for key in keys) else 0
    return {bar: bar[cut:] or "(empty)" if bar in keys else bar for bar in in_order(bars["bar"])}


def _bars(data: pd.DataFrame, *, pooled: bool) -> pd.DataFrame:
    """Return a row per question, bar and hue with its share, in drawing order from the top."""
    if pooled:
        data = data.assign(condition=_POOLED)
    # Each cell's runs once, however many answers it has.
    runs = data.drop_duplicates(["question_id", "condition_id"]).groupby(["question_id", "condition"])["runs"].sum()
    bars = data.groupby(["question_id", "bar", "condition"], sort=False).agg({"count": "sum", "right": "any"})
    bars = bars.reset_index()
    bars["share"] = [
        n / runs[q, c] for n, q, c in zip(bars["count"], bars["question_id"], bars["condition"], strict=True)
    ]
    totals = bars.groupby(["question_id", "bar"])["count"].sum()
    questions, conditions = in_order(data["question_id"]), in_order(data["condition"])
    last = {OTHER: 1, NOT_READ: 2}

    def place(i: int) -> tuple[int, int, int, str, int]:
        question, bar, condition = (str(bars[name].iloc[i]) for name in ("question_id", "bar", "condition"))
        count = int(totals[question, bar])
        return questions.index(question), last.get(bar, 0), -count, bar, conditions.index(condition)

    return bars.iloc[sorted(range(len(bars)), key=place)].reset_index(drop=True)


def _tick(label: str, is_right: bool) -> str:
    return f"{shorten(label, 22)} ✓" if is_right else shorten(label, 24)


def _draw_panel(axes: Axes, bars: pd.DataFrame, conditions: list[str], most: int) -> None:
    names = in_order(bars["bar"])
    thick = 0.8 / len(conditions)
    for name, condition, share, count in zip(
        bars["bar"], bars["condition"], bars["share"], bars["count"], strict=True
    ):
        hue = conditions.index(condition)
        y = names.index(name) + (hue - (len(conditions) - 1) / 2) * thick
        colour = PALETTE[hue] if len(conditions) > 1 else PALETTE[2]
        axes.barh(y, share, height=thick, facecolor=colour, hatch=HATCHES[hue], edgecolor=EDGE, linewidth=0.5)
        if len(conditions) <= 2:
            axes.text(share + 0.012, y, f"{count}", size=SMALL, va="center_baseline")
    labels = _names(bars)
    right = {name for name, is_right in zip(bars["bar"], bars["right"], strict=True) if is_right}
    axes.set_yticks(range(len(names)), [_tick(labels[name], name in right) for name in names])
    for name, text in zip(names, axes.get_yticklabels(), strict=True):
        text.set_fontweight("bold" if name in right else "normal")
        text.set_fontstyle("italic" if name in (OTHER, NOT_READ) else "normal")
    # As many lines as the fullest panel of the row, so that bars are equally thick.
    axes.set_ylim(most - 0.5, -0.5)
    axes.grid(axis="x")
    clean_left(axes)
