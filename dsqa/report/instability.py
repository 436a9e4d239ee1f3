"""What moves when a question is asked again: the tables of the page `instability`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.report.attempts import NO_REPLY, NotAvailable, no_reply, sentence
from dsqa.report.labels import by_text, group_names, in_order, labelled, shown_rows
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, interval, is_missing, listing, number, percent
from dsqa.stats import NOTABLE, summarise_groups, threshold_calls
from dsqa.stats.columns import as_floats
from dsqa.stats.interval import level_text

__all__ = [
    "any_spread",
    "instability_cells",
    "instability_groups",
    "instability_lead",
    "instability_parts",
    "instability_thresholds",
]

_ALL = "every cell"


def instability_lead(
    page: Page, cells: pd.DataFrame, *, threshold: float = NOTABLE, level: float = 0.95, resamples: int = 9999
) -> Markdown:
    """Return in a paragraph how unstable the scores are, and how many cells are on either side of the threshold.

    Parameters
    ----------
    page, cells
        The study, and its cells with the intervals to go by.
    threshold
        σ̄ from which a cell counts as unstable.
    level, resamples
        Of the interval for the mean over questions.
    """
    if no_reply(page):
        return sentence(NO_REPLY)
    known = cells[cells["instability"].notna()]
    if known.empty:
        return sentence(_no_spread(cells))
    mean = summarise_groups(cells.assign(of=_ALL), ["of"], seed=page.seed, level=level, resamples=resamples).iloc[0]
    calls = threshold_calls(cells, [threshold]).astype(object).iloc[0]
    top = known.iloc[int(as_floats(known["instability"]).argmax())]
    asked = f"{count(len(page.questions), 'question')} × {count(len(page.conditions), 'condition')}"
    ends = interval(mean["instability_low"], mean["instability_high"])
    precise = (
        f"{level_text(level)} interval {ends} for other questions of the kind; {escape(mean['instability_method'])}"
        if ends != "–"
        else f"no interval for other questions of the kind: {escape(mean['instability_method'])}"
    )
    where = escape(top["question_id"])
    if len(page.conditions) > 1:
        where += f" under {escape(page.conditions[str(top['condition_id'])])}"
    text = [
        f"$\\bar\\sigma$ is known for {len(known):,} of {count(len(cells), 'cell')} ({asked}; {page.runs_text} runs "
        f"per cell). Its mean over questions is **{number(mean['instability'], 3)}** ({precise}).",
        f"**{calls['unstable']:,} of {calls['cells']:,} cells are at or above {threshold:g}**; for "
        f"{calls['surely_unstable']:,} the whole {level_text(level)} interval lies there, for "
        f"{calls['surely_stable']:,} it lies below, and for {calls['open']:,} it holds {threshold:g}: these runs do "
        "not tell.",
    ]
    if float(top["instability"]) == 0:
        text.append("All scores of every cell are equal. That is not yet stability: see the upper ends.")
    else:
        text.append(f"The largest is {number(top['instability'], 3)} ({where}).")
    return Markdown(" ".join(text))


def any_spread(page: Page) -> bool:
    """Tell whether any cell has a σ̄ that says something of the model: two scored runs, and a reply."""
    return not no_reply(page) and bool(page.cells["instability"].notna().any())


def _no_spread(cells: pd.DataFrame) -> str:
    if (cells["n_scored"] == 0).all():
        return "no run has a score: a score needs a ground truth"
    return "no cell has two runs with a score, and one run says nothing about instability"


def instability_cells(page: Page, cells: pd.DataFrame, *, rows: int = 100, level: float = 0.95) -> Markdown:
    """Return mean score, SD and σ̄ with its interval per cell, the most unstable first.

    Parameters
    ----------
    page, cells
        The study, and its cells with the intervals to show.
    rows
        Show at most this many.
    level
        Of the intervals, for the title.
    """
    if no_reply(page):
        return sentence(NO_REPLY)
    if cells["instability"].isna().all():
        return sentence(_no_spread(cells))
    ordered = labelled(page, cells).sort_values(
        ["instability", "instability_high"], ascending=False, kind="stable", na_position="last"
    )
    frame, cut = shown_rows(ordered, rows, "σ̄")
    frame = frame.assign(why=frame["n_scored"].map(lambda n: "one run" if n == 1 else "no run has a score"))
    # The methods' names are sentences, and most rows have the same: a letter each, told below the table.
    methods = frame["instability_method"].astype("string").fillna("not available")
    letters = {str(method): chr(ord("A") + i) for i, method in enumerate(dict.fromkeys(methods))}
    frame = frame.assign(by=methods.map(letters))
    fields = [
        Field("question_id", "Question", "text", width=16),
        *([Field("condition", "Condition", "text", width=18)] if len(page.conditions) > 1 else []),
        Field("runs", "Runs", width=6),
        Field("n_failed", "Failed", note="lost to the infrastructure; score 0, and counted", width=7),
        Field("score_mean", "Mean score", digits=2, width=8),
        Field("score_sd", "SD", digits=2, missing_from="why", width=7),
        Field("instability", "σ̄", digits=3, missing_from="why", width=8),
        Field(
            "instability", f"{level_text(level)} interval", digits=2, low="instability_low", high="instability_high",
            interval_only=True, missing_from="why", width=14,
        ),
        Field("by", "By", "text", width=5),
    ]  # fmt: skip
    caption = (
        "Instability per cell, the largest first. Estimand: σ̄ of all runs that this cell could give; each interval "
        f"holds for its own cell.{cut}"
    )
    notes = [f"Interval by {letter}: {escape(method)}." for method, letter in letters.items()]
    return data_table(frame, fields, label="tbl-instability-cells", caption=caption, notes=notes, classes=("stack",))


def instability_groups(page: Page, groups: pd.DataFrame | NotAvailable, *, level: float = 0.95) -> Markdown:
    """Return mean σ̄ per group with its interval over questions.

    Parameters
    ----------
    page, groups
        The study, and what `dsqa.stats.summarise_groups` gave.
    level
        Of the intervals, for the title.
    """
    if isinstance(groups, NotAvailable):
        return sentence(groups.reason)
    if groups["instability"].isna().all():
        return sentence(_no_spread(page.cells))
    by = list(groups.columns[: list(groups.columns).index("n_questions")])
    groups = in_order(page, groups, by)
    frame = group_names(page, groups, by)
    fields = [
        *(Field(name, by_text(name), "text", width=16) for name in by),
        Field("n_questions", "Questions", width=9),
        Field("n_cells", "Cells", width=7),
        Field("runs", "Runs", width=7),
        Field(
            "instability", f"Mean σ̄, {level_text(level)} interval", low="instability_low", high="instability_high",
            digits=2, width=20,
        ),
        Field("instability_method", "Interval by", "text", width=26),
    ]  # fmt: skip
    caption = (
        f"Mean instability by {listing(by_text(name).lower() for name in by)}. Estimand: the mean over questions "
        "like these, each question counting once; questions are drawn again, with all their cells."
    )
    left = int(groups["n_not_known"].sum())
    notes = [f"Left out, for want of two scored runs: {count(left, 'cell')}."] if left else []
    few = int((groups["n_questions"] < 5).sum())
    if few:
        notes.append(f"{count(few, 'group')} of fewer than five questions: no interval there can be relied on.")
    label = f"tbl-instability-by-{'-'.join(name.replace('_', '-') for name in by)}"
    return data_table(frame, fields, label=label, caption=caption, notes=notes, classes=("stack",))


def instability_parts(page: Page, parts: pd.DataFrame | NotAvailable, *, level: float = 0.95) -> Markdown:
    """Return which parts of the score move, as shares of the pooled variance within cells.

    Parameters
    ----------
    page, parts
        The study, and what `dsqa.stats.score_parts` gave.
    level
        Of the intervals, for the title.
    """
    if isinstance(parts, NotAvailable):
        return sentence(parts.reason)
    if parts["share"].isna().all():
        return sentence("no score varies within a cell, so there is no variance to share out")
    by = list(parts.columns[: list(parts.columns).index("part")])
    parts = in_order(page, parts, by)
    frame = group_names(page, parts, by).assign(
        part=parts["part"]
        .map({"completion": "completion, CR", "accuracy": "accuracy, RA"})
        .fillna("executability, CE/2")
    )
    why = ["no score varies in this group" if is_missing(row.share) else row.note for row in parts.itertuples()]
    fields = [
        *(Field(name, by_text(name), "text", width=18) for name in by),
        Field("part", "Part of the score", "text", width=18),
        Field(
            "share", f"Share of variance, {level_text(level)} interval", "percent", low="low", high="high", digits=0,
            missing_from="why", width=24,
        ),
        Field("moving", "Cells where it varies", width=12),
        Field("cells", "Cells", width=8),
        Field("questions", "Questions whose scores vary", width=14),
    ]  # fmt: skip
    caption = (
        "Which part of the score moves: shares of the variance within cells, summed over cells before dividing. They "
        "add up to 100 %; a negative one steadies the score. Jackknife over questions."
    )
    label = "-".join(["tbl-instability-parts", *(name.replace("_", "-") for name in by)])
    frame = frame.assign(why=np.array(why, dtype=object))
    notes = coverage_notes(frame, "low", "why")
    return data_table(frame, fields, label=label, caption=caption, notes=notes, sortable=False)


def instability_thresholds(
    page: Page, cells: pd.DataFrame, thresholds: Sequence[float], *, threshold: float = NOTABLE, level: float = 0.95
) -> Markdown:
    """Return how many cells are called unstable at other thresholds, and a sentence on what hangs on the choice.

    Parameters
    ----------
    page, cells
        The study, and its cells with the intervals to go by.
    thresholds
        Values to try; `threshold` is added.
    threshold
        The one that the page goes by.
    level
        Of the intervals behind "surely".
    """
    if no_reply(page):
        return sentence(NO_REPLY)
    if cells["instability"].isna().all():
        return sentence(_no_spread(cells))
    table = threshold_calls(cells, sorted({*thresholds, threshold}))
    used = table[table["threshold"] == threshold].iloc[0]
    near = cells[(cells["instability"].astype(float) - threshold).abs() <= 0.05]
    low, high = percent(table["share"].min()), percent(table["share"].max())
    span = f"runs from {low} to {high}" if low != high else f"is {low} throughout"
    matter = (
        f"{count(len(near), 'cell')} {'lies' if len(near) == 1 else 'lie'} within 0.05 of {threshold:g}: there the "
        "call is a matter of the choice more than of the model."
        if len(near)
        else f"No cell lies within 0.05 of {threshold:g}."
    )
    text = (
        f"{percent(used['share'])} of cells are unstable at {threshold:g}; over the thresholds tried the share "
        f"{span}. {matter}"
    )
    fields = [
        Field("threshold", "Threshold", digits=2, width=10),
        Field("unstable", "Unstable", width=9),
        Field("share", "Share of cells", "percent", digits=0, width=10),
        Field("surely_unstable", "Surely unstable", note="whole interval at or above", width=10),
        Field("surely_stable", "Surely stable", note="whole interval below", width=10),
        Field("open", "Open", width=8),
        Field("moved", f"Called otherwise than at {NOTABLE:g}", width=14),
    ]
    caption = (
        f"How the call depends on the threshold, over {count(int(used['cells']), 'cell')}; intervals at "
        f"{level_text(level)}. Estimates alone decide *unstable*, intervals decide *surely*."
    )
    made = data_table(table, fields, label="tbl-instability-thresholds", caption=caption, sortable=False)
    return Markdown(f"{text}\n\n{made}")
