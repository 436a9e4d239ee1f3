"""Where instability comes from: text, answer, code or score; question, condition or run; runs that are missing."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from dsqa.report.attempts import NO_REPLY, NotAvailable, no_reply, sentence
from dsqa.report.labels import by_text, group_names, in_order
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, is_missing, listing, number, percent
from dsqa.stats import NOTABLE, Interval, VarianceComponents, left_out_table
from dsqa.stats.columns import as_floats
from dsqa.stats.interval import level_text

__all__ = ["instability_balance", "instability_components", "instability_layers", "left_out"]

_LAYERS = {
    "text": "text, character by character",
    "answer": "answer, in canonical form",
    "result": "result of the code",
    "score": "score",
}
_STATISTICS = {
    "pair_agreement": "Two runs alike",
    "modal_share": "Share of the commonest",
    "total_agreement": "All runs alike",
}
# A cell in which the commonest answer has at most this share has no answer of its own.
_SPLIT = 0.5


def instability_layers(
    page: Page, layers: pd.DataFrame | NotAvailable, means: pd.DataFrame | NotAvailable, *, level: float = 0.95
) -> Markdown:
    """Return how alike the runs of a cell are in text, answer, code and score, side by side.

    Parameters
    ----------
    page
        The study.
    layers, means
        What `dsqa.stats.stability_layers` and `summarise_stability` gave.
    level
        Of the intervals, for the titles.
    """
    if isinstance(layers, NotAvailable):
        return sentence(layers.reason)
    if isinstance(means, NotAvailable):
        return sentence(means.reason)
    if means["mean"].isna().all() or (layers["runs"] < 2).all():
        return sentence("no cell has two runs, so there is nothing to compare")
    by = list(means.columns[: list(means.columns).index("layer")])
    keys = [*by, "layer"]
    wide = in_order(page, means[keys].drop_duplicates(), by).reset_index(drop=True)
    for name in _STATISTICS:
        own = means[means["statistic"] == name][[*keys, "mean", "low", "high", "questions", "cells"]]
        ends = {end: f"{name}_{end}" for end in ("low", "high", "questions", "cells")}
        wide = wide.merge(own.rename(columns={"mean": name, **ends}), on=keys, how="left")
    lacking = layers.groupby("layer")["n_missing"].sum() / layers.groupby("layer")["runs"].sum()
    frame = group_names(page, wide, by).assign(
        lacking=wide["layer"].map(lacking), layer=wide["layer"].map(lambda name: _LAYERS.get(name, name))
    )
    fields = [
        *(Field(name, by_text(name), "text", width=14) for name in by),
        Field("layer", "Compared", "text", width=20),
        *(
            Field(name, title, digits=2, low=f"{name}_low", high=f"{name}_high", width=17)
            for name, title in _STATISTICS.items()
        ),
        Field("lacking", "Nothing to compare", "percent", digits=1, width=9),
        Field("pair_agreement_cells", "Cells", "count", width=7),
    ]
    caption = (
        "Stability at several layers. *Two runs alike*: the chance that two runs of a cell agree (TAR@2); *share of "
        "the commonest*: of the cell's most frequent value; *all runs alike*: rate of cells in which all N agree "
        f"(TAR@N). Means over questions with {level_text(level)} intervals for other questions of the kind. Runs "
        "without the thing compared share one value of their own; *nothing to compare* is their share."
    )
    made = data_table(
        frame, fields, label="tbl-instability-layers", caption=caption, missing="one question", classes=("stack",)
    )
    return Markdown("\n\n".join([str(made), _hidden(page, layers)]))


def _hidden(page: Page, layers: pd.DataFrame) -> str:
    """Return how often a steady score hides answers that change."""
    answers = layers[(layers["layer"] == "answer") & (layers["runs"] > 1)]
    keys = ["question_id", "condition_id"]
    both = answers[[*keys, "modal_share"]].merge(page.cells[[*keys, "instability"]].dropna(), on=keys)
    steady = both[both["instability"].astype(float) < NOTABLE - 1e-12]
    if steady.empty:
        return f"No cell has a stable score ($\\bar\\sigma < {NOTABLE:g}$)."
    split = steady[steady["modal_share"] <= _SPLIT]
    which = ", ".join(escape(name) for name in dict.fromkeys(split["question_id"].astype(str).head(8)))
    if split.empty:
        return (
            f"In all {count(len(steady), 'cell')} with a stable score ($\\bar\\sigma < {NOTABLE:g}$) one answer has "
            "more than half of the runs: here a steady score does mean a steady answer."
        )
    text = (
        f"Of {count(len(steady), 'cell')} with a stable score ($\\bar\\sigma < {NOTABLE:g}$), {len(split):,} "
        f"{'has' if len(split) == 1 else 'have'} no answer that more than half of the runs give"
    )
    more = "" if split["question_id"].nunique() <= 8 else ", …"
    cells = page.outcomes.merge(split[keys], on=keys)
    wrong = 1 - as_floats(cells["accuracy"])
    said = "" if pd.isna(wrong).all() else f", {percent(pd.Series(wrong).mean())} of these runs being wrong"
    return f"{text} ({which}{more}): their answers differ and score alike{said}."


def instability_components(
    page: Page,
    found: tuple[VarianceComponents, dict[str, Interval]] | NotAvailable,
    *,
    level: float = 0.95,
) -> Markdown:
    """Return the variance components of the score, and what they say of averaging over runs.

    Parameters
    ----------
    page, found
        The study, and what `dsqa.stats.component_intervals` gave.
    level
        Of the intervals, for the title.
    """
    if isinstance(found, NotAvailable):
        return sentence(found.reason)
    fit, intervals = found
    names = {
        "question": ("between questions", fit.question),
        "question:model": ("between conditions of a question", fit.question_model),
        "run": ("between runs of a cell", fit.residual),
    }
    shares = fit.shares()
    frame = pd.DataFrame(
        [
            {
                "component": names[key][0],
                "variance": names[key][1],
                "sd": names[key][1] ** 0.5,
                "share": shares[key],
                "low": ci.low,
                "high": ci.high,
                "why": ci.note,
            }
            for key, ci in intervals.items()
        ]
    )
    fields = [
        Field("component", "Component", "text", width=24),
        Field(
            "variance", f"Variance, {level_text(level)} interval", low="low", high="high", digits=3,
            missing_from="why", width=26,
        ),
        Field("sd", "SD", digits=2, width=8),
        Field("share", "Share", "percent", digits=0, width=8),
    ]  # fmt: skip
    notes = [
        f"No interval for *{row.component}*: {escape(row.why)}." for row in frame.itertuples() if is_missing(row.low)
    ]
    notes += coverage_notes(frame, "low", "why")
    caption = (
        f"Variance components of the score ({fit.method}; {count(fit.questions, 'question')}, "
        f"{count(fit.cells, 'cell')}, {count(fit.runs, 'run')}). Intervals: jackknife over questions on logarithms."
    )
    made = data_table(frame, fields, label="tbl-instability-components", caption=caption, notes=notes, sortable=False)
    runs = round(fit.runs / fit.cells)
    across = f", of one question under different conditions at {number(fit.icc_question)}"
    endless, now = (fit.standard_error(questions=fit.questions, runs=n) for n in (10**9, runs))
    text = (
        f"Two runs of one cell correlate at {number(fit.icc_cell)}"
        f"{across if 'question:model' in intervals else ''}. A single run ranks questions with reliability "
        f"{number(fit.reliability())}, the mean of {runs:,} runs with {number(fit.reliability(runs=runs))}. More "
        f"runs reduce only the last component: with endless runs of {count(fit.questions, 'question')} under one "
        f"condition the mean score would still have a standard error of {number(endless, 3)}, for other questions "
        f"of the kind; with {runs:,} it has {number(now, 3)}."
    )
    return Markdown(f"{made}\n\n{text}")


def instability_balance(page: Page) -> Markdown:
    """Return whether cells are balanced, what failed, and what N does to σ̄ by itself."""
    cells = page.cells
    planned = len(page.questions) * len(page.conditions)
    sizes = cells["runs"].astype(int)
    text = [
        f"The design has {count(len(page.questions), 'question')} × {count(len(page.conditions), 'condition')}; "
        f"{'all' if len(cells) == planned else f'{len(cells):,} of'} {planned:,} cells have runs."
    ]
    if sizes.min() == sizes.max():
        text.append(f"The design is balanced: {count(int(sizes.min()), 'run')} in every cell.")
    else:
        text.append(
            f"The design is **unbalanced**: {sizes.min():,} to {sizes.max():,} runs per cell (median "
            f"{sizes.median():g}). Means over questions weigh cells alike whatever their runs; "
            "$\\bar\\sigma$ of a small cell is lower on average and its interval wider: compare such cells with care."
        )
    lost = int(cells["n_failed"].sum())
    hit = int((cells["n_failed"] > 0).sum())
    text.append(
        f"{count(lost, 'run')} of {len(page.outcomes):,} failed, in {count(hit, 'cell')}; they score 0 and count."
        if lost
        else "No run failed."
    )
    n = int(sizes.median())
    if n > 1:
        factor = ((n - 1) / n) ** 0.5
        text.append(
            f"With divisor $N$ the variance is too low by the factor $(N-1)/N$ on average: at the median $N = {n}$ "
            f"$\\bar\\sigma$ is about {percent(1 - factor)} low. The protocol defines it so; no correction is made."
        )
    return Markdown(" ".join(text))


def left_out(page: Page, measure: Literal["accuracy", "instability"], *, label: str) -> Markdown:
    """Return a headline number with some runs left out, and its bounds over what failed runs could have been.

    Parameters
    ----------
    page, measure
        The study, and the number.
    label
        ``tbl-…``.
    """
    if no_reply(page):
        return sentence(NO_REPLY)
    table = left_out_table(page.outcomes, measure)
    if table["value"].isna().all():
        return sentence("no cell has runs enough for this number")
    what = "accuracy" if measure == "accuracy" else "σ̄"
    fields = [
        Field("rule", "Runs counted", "text", width=24),
        Field("runs", "Runs", width=8),
        Field("left_out", "Left out", width=8),
        Field("cells", "Cells", width=8),
        Field("questions", "Questions", width=9),
        Field("value", f"Mean {what}", digits=3, width=12),
    ]
    first = table.iloc[0]
    same = table["value"].dropna().round(6).nunique() == 1
    failed = int((page.outcomes["status"] == "failed").sum())
    notes = []
    if failed:
        notes.append(
            f"Had the {count(failed, 'failed run')} come back, the first row could be anything from "
            f"{number(first['lowest'], 3)} to {number(first['highest'], 3)} (worst and best case, no assumption on "
            "why they are lost)."
        )
    gone = [
        f"{row.rule} ({int(first['cells'] - row.cells)})" for row in table.itertuples() if row.cells < first["cells"]
    ]
    if gone:
        notes.append(f"Cells in which too few runs are left: {listing(gone)}.")
    caption = (
        f"Sensitivity of the mean {what} over questions to what is left out. The first row is what this page "
        "reports; each other row has another estimand (given a reply, given a complete reply, …)."
        + (" Leaving runs out changes nothing here." if same else "")
    )
    return data_table(
        table, fields, label=label, caption=caption, notes=notes, missing="no cell is left", sortable=False
    )
