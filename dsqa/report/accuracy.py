"""How often runs are right, and how sure that is: the tables of the page `accuracy`."""

from __future__ import annotations

import pandas as pd

from dsqa.report.attempts import NO_REPLY, NotAvailable, no_reply, sentence
from dsqa.report.digits import decimals_for, interval_error
from dsqa.report.labels import by_text, group_names, in_order, labelled, shown_rows
from dsqa.report.markdown import Column, Markdown, escape, table
from dsqa.report.page import Page
from dsqa.report.statement import Fact, Statement
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import MISSING, count, is_missing, listing, number, percent
from dsqa.stats import NOTABLE, accuracy_groups
from dsqa.stats.interval import level_text, share_text
from dsqa.stats.proportions import ProportionMethod

__all__ = [
    "accuracy_cells",
    "accuracy_curves",
    "accuracy_formula_by_question",
    "accuracy_lead",
    "accuracy_means",
    "accuracy_stability",
]

NO_TRUTH = "no run was compared with a ground truth, so nothing here can be right or wrong"
_CURVES = {
    "pass@k": "at least one right",
    "maj@k": "majority right",
    "G-pass@k": "most right",
    "pass^k": "all right",
}


def _interval(low: float, high: float, digits: int) -> str:
    """Return an interval with as many decimals as its estimate, so that it is seen to contain it."""
    return MISSING if is_missing(low) or is_missing(high) else f"[{low:.{digits}f},\u00a0{high:.{digits}f}]"


def _nothing(page: Page) -> str:
    if no_reply(page):
        return NO_REPLY
    return NO_TRUTH if page.outcomes["accuracy"].isna().all() else ""


def accuracy_lead(
    page: Page, *, method: ProportionMethod = "wilson", level: float = 0.95, resamples: int = 9999
) -> Statement:
    """Return in a paragraph how many runs are right, and the mean over questions for both estimands.

    Parameters
    ----------
    page
        The study.
    method, level, resamples
        Of the intervals.
    """
    if reason := _nothing(page):
        return Statement(sentence(reason))
    mean = accuracy_groups(
        page.outcomes, seed=page.seed, method=method, level=level, resamples=resamples
    ).iloc[0]  # fmt: skip
    unmarked = int(page.outcomes["accuracy"].isna().sum())
    facts: dict[str, Fact] = {
        "right": int(mean["right"]),
        "marked": int(mean["runs"]),
        "questions with a truth": int(mean["questions"]),
        "asked once": float(mean["accuracy"]),
        "level": level,
        "resamples": resamples,
    }
    ends = ((whose, end) for whose in ("these", "other") for end in ("low", "high"))
    facts |= {f"{a} {b}": float(mean[f"{a}_{b}"]) for a, b in ends if not is_missing(mean[f"{a}_{b}"])}
    error = interval_error(mean["other_low"], mean["other_high"])
    digits = min(4, max(3, decimals_for(error) or 3))
    these = _interval(mean["these_low"], mean["these_high"], digits)
    other = _interval(mean["other_low"], mean["other_high"], digits)
    text = [
        f"{mean['right']:,} of {count(int(mean['runs']), 'run')} {'is' if mean['right'] == 1 else 'are'} right. "
        f"The mean over {count(int(mean['questions']), 'question')} is **{number(mean['accuracy'], digits)}**, "
        f"with {level_text(level)} interval {these} for other runs of the same questions, and "
        + (
            f"{other} for other questions of the kind ({escape(mean['other_method'])})."
            if other != "–"
            else f"none for other questions of the kind ({escape(mean['other_method'])})."
        )
    ]
    if unmarked:
        without = page.outcomes.groupby("question_id")["accuracy"].count()
        facts |= {"without a mark": unmarked, "questions without a truth": int((without == 0).sum())}
        text.append(
            f"{count(unmarked, 'run')} without a mark {'is' if unmarked == 1 else 'are'} left out "
            f"({count(int((without == 0).sum()), 'question')} without a ground truth)."
        )
    shares = page.cells["accuracy"].dropna().astype(float)
    always, never = int((shares == 1).sum()), int((shares == 0).sum())
    text.append(
        f"In {always:,} of {count(len(shares), 'cell')} every run is right, in {never:,} none is, and in "
        f"{len(shares) - always - never:,} it depends on the run."
    )
    facts |= {"cells with a truth": len(shares), "cells always right": always, "cells never right": never}
    facts["cells right at times"] = len(shares) - always - never
    return Statement(" ".join(text), facts)


def accuracy_cells(page: Page, cells: pd.DataFrame, *, rows: int = 100, level: float = 0.95) -> Markdown:
    """Return accuracy with its interval per cell, the least certain first, and what failed runs could change.

    Parameters
    ----------
    page, cells
        The study, and what `accuracy_at` gave.
    rows
        Show at most this many.
    level
        Of the intervals, for the title.
    """
    if reason := _nothing(page):
        return sentence(reason)
    width = (cells["accuracy_high"] - cells["accuracy_low"]).astype(float)
    ordered = labelled(page, cells.assign(width=width)).sort_values(
        ["width", "question_id"], ascending=[False, True], kind="stable", na_position="last"
    )
    frame, cut = shown_rows(ordered, rows, "intervals")
    lost = page.outcomes["status"].eq("failed").any()
    fields = [
        Field("question_id", "Question", "text", width=16),
        *([Field("condition", "Condition", "text", width=18)] if len(page.conditions) > 1 else []),
        Field("right", "Right", width=7),
        Field("runs", "Runs", width=7),
        Field("accuracy", "Accuracy", digits=2, width=9),
        Field(
            "accuracy", f"{level_text(level)} interval", digits=2, low="accuracy_low", high="accuracy_high",
            interval_only=True, width=14,
        ),
        *(
            [
                Field("n_failed", "Failed", width=8),
                Field(
                    "accuracy", "Worst to best case", digits=2, low="accuracy_worst", high="accuracy_best",
                    interval_only=True, note="had all failed runs been wrong, or right", width=14,
                ),
            ]
            if lost
            else []
        ),
    ]  # fmt: skip
    method = listing(sorted({escape(name) for name in cells["accuracy_method"]}))
    caption = (
        "Accuracy per cell, the widest intervals first. Estimand: the probability that a further run of this cell is "
        f"right; {method} intervals, each for its own cell.{cut}"
    )
    return data_table(
        frame, fields, label="tbl-accuracy-cells", caption=caption, missing="no ground truth", classes=("stack",)
    )


def accuracy_means(page: Page, means: pd.DataFrame | NotAvailable, *, level: float = 0.95) -> Markdown:
    """Return mean accuracy per group, with an interval for other runs and one for other questions.

    Parameters
    ----------
    page, means
        The study, and what `dsqa.stats.accuracy_groups` gave.
    level
        Of the intervals, for the titles.
    """
    if isinstance(means, NotAvailable):
        return sentence(means.reason)
    by = list(means.columns[: list(means.columns).index("questions")])
    means = in_order(page, means, by)
    fields = [
        *(Field(name, by_text(name), "text", width=18) for name in by),
        Field("questions", "Questions", width=9),
        Field("right", "Right", width=8),
        Field("runs", "Runs", width=8),
        Field("accuracy", "Mean accuracy", digits=3, width=10),
        Field(
            "accuracy", "other runs", digits=2, low="these_low", high="these_high", interval_only=True,
            spanner=f"{level_text(level)} interval for", width=14,
        ),
        Field(
            "accuracy", "other questions", digits=2, low="other_low", high="other_high", interval_only=True,
            spanner=f"{level_text(level)} interval for", missing_from="other_method", width=14,
        ),
        Field("other_method", "The latter by", "text", width=22),
    ]  # fmt: skip
    few = int((means["questions"] < 5).sum())
    notes = [f"{count(few, 'group')} of fewer than five questions: no interval for other questions can be relied on."]
    caption = (
        f"Mean accuracy by {listing(by_text(name).lower() for name in by)}; every question counts once. *Other "
        "runs*: of these very questions (Wilson's intervals of the cells put together by MOVER). *Other questions*: "
        "like these, drawn again with their runs."
    )
    return data_table(
        group_names(page, means, by),
        fields,
        label=f"tbl-accuracy-by-{'-'.join(name.replace('_', '-') for name in by)}",
        caption=caption,
        notes=notes if few else [],
        classes=("stack",),
    )


def accuracy_formula_by_question(page: Page) -> str:
    """Return a formula of what varies between questions and conditions here: level and condition."""
    terms = [f"C({name})" for name in ("level", "condition_id") if page.outcomes[name].dropna().nunique() > 1]
    return f"accuracy ~ {' + '.join(terms) or '1'}"


def accuracy_curves(
    page: Page, means: pd.DataFrame | NotAvailable, *, threshold: float, level: float = 0.95
) -> Markdown:
    """Return what k runs together would give, as means over questions with intervals.

    Parameters
    ----------
    page, means
        The study, and what `dsqa.stats.curve_means` gave.
    threshold
        The share of right runs that G-pass@k asks for.
    level
        Of the intervals, for the title.
    """
    if isinstance(means, NotAvailable):
        return sentence(means.reason)
    if means["mean"].isna().all():
        return sentence("no cell has enough marked runs for any of these k")
    by = list(means.columns[: list(means.columns).index("statistic")])
    keys = [*by, "k"]
    wide = in_order(page, means[[*keys]].drop_duplicates(), keys).reset_index(drop=True)
    shown = [name for name in _CURVES if (means["statistic"] == name).any()]
    for name in shown:
        own = means[means["statistic"] == name][[*keys, "mean", "low", "high", "left_out"]]
        ends = {"mean": name, "low": f"{name} low", "high": f"{name} high", "left_out": f"{name} left out"}
        wide = wide.merge(own.rename(columns=ends), on=keys, how="left")
    frame = group_names(page, wide, by).assign(k=wide["k"].astype(int))
    fields = [
        *(Field(name, by_text(name), "text", width=16) for name in by),
        Field("k", "k", width=5),
        *(
            Field(
                name, f"{name}: {_CURVES[name]}".replace("^", "\\^"), digits=2, low=f"{name} low",
                high=f"{name} high", width=19,
            )
            for name in shown
        ),
        Field(f"{shown[0]} left out", "Cells of fewer runs", "count", width=9),
    ]  # fmt: skip
    caption = (
        "What k runs together would give: means over questions, with "
        f"{level_text(level)} intervals for other questions of the kind. G-pass@k asks for at least "
        f"{share_text(threshold, 0)} right. Cells of fewer than k runs are left out there, never padded."
    )
    return data_table(
        frame, fields, label="tbl-accuracy-curves", caption=caption,
        missing="one question, or all alike: no interval; or no cell has so many runs", classes=("stack",),
        sortable=False,
    )  # fmt: skip


def accuracy_stability(page: Page, cells: pd.DataFrame, *, threshold: float = NOTABLE) -> Markdown:
    """Return how many cells are right by majority and how many are stable: two things, side by side.

    Parameters
    ----------
    page, cells
        The study, and its cells.
    threshold
        σ̄ from which a cell counts as unstable.
    """
    if reason := _nothing(page):
        return sentence(reason)
    known = cells[cells["accuracy"].notna() & cells["instability"].notna()]
    if known.empty:
        return sentence("no cell has both an accuracy and an instability: it takes two marked runs")
    share, spread = known["accuracy"].astype(float), known["instability"].astype(float)
    stable = spread < threshold - 1e-12
    bands = {
        "none": share == 0,
        "up to half": (share > 0) & (share <= 0.5),
        "more than half": (share > 0.5) & (share < 1),
    }
    bands["all"] = share == 1
    rows = [
        [f"Right in {name} of the runs", f"{int((band & stable).sum()):,}", f"{int((band & ~stable).sum()):,}"]
        for name, band in bands.items()
    ]
    rows.append(["**All**", f"{int(stable.sum()):,}", f"{int((~stable).sum()):,}"])
    columns = [
        Column("Cells", width=26),
        Column(f"Stable, σ̄ < {threshold:g}", "right", 14),
        Column(f"Unstable, σ̄ ≥ {threshold:g}", "right", 14),
    ]
    wrong = int((stable & (share <= 0.5)).sum())
    text = (
        f"Of {count(int(stable.sum()), 'stable cell')}, {wrong:,} "
        f"{'is' if wrong == 1 else 'are'} stably *wrong* ({percent(wrong / max(int(stable.sum()), 1))})."
        if stable.any()
        else "No cell is stable."
    )
    caption = f"Right and stable are two things: {count(len(known), 'cell')} by both."
    made = table(columns, rows, label="tbl-accuracy-stability", caption=caption, classes=("whole",))
    return Markdown(f"{made}\n\n{text}")
