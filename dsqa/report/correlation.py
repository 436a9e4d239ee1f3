"""How the metrics go together, over runs, between cells and within cells: the tables of the page `correlation`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.report.attempts import NO_REPLY, NotAvailable, no_reply, sentence
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, listing, number, percent
from dsqa.stats import Adjustment, adjust_p
from dsqa.stats.columns import as_floats
from dsqa.stats.correlation import METRICS
from dsqa.stats.interval import level_text

__all__ = [
    "correlation_lead",
    "correlation_metrics",
    "correlation_pairs",
    "correlation_repeated",
    "correlation_shares",
    "correlation_used",
]

_SHOWN = {"r": "", "low": " low", "high": " high", "p_cluster": " p", "note": " why"}
_LEVELS = {"all runs": "Over runs", "between cells": "Between cells", "within cells": "Within cells"}
# A metric that fewer runs have would take the others' runs with it.
_LEAST_SHARE = 0.5
_NAMED = 3


def correlation_metrics(page: Page, metrics: Sequence[str] | None = None) -> list[str]:
    """Return the metrics that can be correlated here: they are there, vary, and half of the runs or more have them.

    Parameters
    ----------
    page
        The study.
    metrics
        Columns of the outcome table; None for the usual ones.
    """
    return [name for name in metrics or METRICS if not _unfit(page, name)]


def _unfit(page: Page, name: str) -> str:
    """Return why a metric cannot be correlated here; empty if it can."""
    if name not in page.outcomes.columns:
        return "there is no such column"
    values = as_floats(page.outcomes[name])
    known = values[np.isfinite(values)]
    if not known.size:
        return "no run has it"
    if known.size < _LEAST_SHARE * values.size:
        return f"{percent(known.size / values.size)} of runs have it"
    return "it does not vary" if np.ptp(known) == 0 else ""


def correlation_used(page: Page, metrics: Sequence[str] | None = None) -> Markdown:
    """Return which metrics and runs go in, and which are left out and why."""
    if no_reply(page):
        return sentence(NO_REPLY)
    used = correlation_metrics(page, metrics)
    if len(used) < 2:
        return Markdown(
            f"Fewer than two metrics vary in this study ({listing(map(_name, used)) or 'none'}): there is nothing to "
            "correlate."
        )
    values = np.column_stack([as_floats(page.outcomes[name]) for name in used])
    has = np.asarray(np.isfinite(values).all(axis=1), dtype=np.bool_)
    text = [
        f"{int(has.sum()):,} of {count(len(has), 'run')} have all of {count(len(used), 'metric')} and go in; the "
        f"others ({_statuses(page.outcomes.loc[~has, 'status'])}) are left out, so what "
        "follows is about runs with a text."
        if not has.all()
        else f"All {count(len(has), 'run')} have all of {count(len(used), 'metric')}."
    ]
    out = [f"{_name(name)} ({_unfit(page, name)})" for name in metrics or METRICS if name not in used]
    if out:
        text.append(f"Metrics left out: {listing(out)}.")
    return Markdown(" ".join(text))


def _statuses(status: pd.Series) -> str:
    counts = status.astype(str).value_counts().sort_index()
    return listing(f"{int(n):,} {escape(name)}" for name, n in counts.items())


def _name(metric: str) -> str:
    return escape(metric.replace("_", " "))


def correlation_lead(
    page: Page, found: pd.DataFrame | NotAvailable, *, adjust: Adjustment = "holm", level: float = 0.95
) -> Markdown:
    """Return the strongest correlations within cells, and where levels contradict each other.

    Parameters
    ----------
    page, found
        The study, and what `dsqa.stats.correlation_levels` gave.
    adjust, level
        How $p$ values are adjusted over pairs, and the level to judge at.
    """
    if isinstance(found, NotAvailable):
        return sentence(found.reason)
    wide = _wide(found, adjust)
    alpha = 1 - level
    kind = str(found["kind"].iloc[0]).capitalize()
    pairs = len(wide)
    said = [
        f"{int((wide[f'{over} p'] < alpha).sum()):,} {name.lower()}" for over, name in _LEVELS.items()
        if wide[f"{over} p"].notna().any()
    ]  # fmt: skip
    text = []
    if said:
        text.append(
            f"Of {count(pairs, 'pair')} of metrics, {kind} correlation differs from 0 for {listing(said)} (adjusted "
            f"$p$ < {alpha:.3g}, clustered by question)."
        )
    else:
        text.append(
            f"{count(pairs, 'pair')} of metrics; no interval is to be had, since all runs are of one question."
        )
    within = wide[wide["within cells"].notna()]
    order = within["within cells"].abs().sort_values(ascending=False, kind="stable").index
    if len(within):
        top = [
            f"{_name(row['first'])} with {_name(row['second'])} ({_signed(row['within cells'])})"
            for _, row in within.loc[order].head(_NAMED).iterrows()
        ]
        text.append(f"Strongest from run to run of the same cell: {listing(top)}.")
    both = wide[(wide["between cells p"] < alpha) & (wide["within cells p"] < alpha)]
    turned = both[np.sign(both["between cells"]) != np.sign(both["within cells"])]
    if len(turned):
        named = [
            f"{_name(row['first'])} with {_name(row['second'])} ({_signed(row['between cells'])} between, "
            f"{_signed(row['within cells'])} within)"
            for _, row in turned.head(_NAMED).iterrows()
        ]
        text.append(f"**{count(len(turned), 'pair')} turn{'s' if len(turned) == 1 else ''} over**: {listing(named)}.")
    elif said:
        text.append("No pair has opposite signs between and within cells that are both clear of 0.")
    return Markdown(" ".join(text))


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _wide(found: pd.DataFrame, adjust: Adjustment) -> pd.DataFrame:
    """Return a row per pair: r, low, high and adjusted p of every level."""
    wide = found[["first", "second"]].drop_duplicates().reset_index(drop=True)
    for over in _LEVELS:
        own = found[found["over"] == over].reindex(
            columns=["first", "second", "r", "low", "high", "p_cluster", "note"]
        )
        own["p_cluster"] = adjust_p(as_floats(own["p_cluster"]), adjust)
        names = {
            "r": over,
            "low": f"{over} low",
            "high": f"{over} high",
            "p_cluster": f"{over} p",
            "note": f"{over} why",
        }
        wide = wide.merge(own.rename(columns=names), on=["first", "second"], how="left")
    return wide


def correlation_pairs(
    page: Page,
    found: pd.DataFrame | NotAvailable,
    *,
    adjust: Adjustment = "holm",
    level: float = 0.95,
    rows: int = 100,
) -> Markdown:
    """Return every pair at the three levels with clustered intervals and adjusted p values.

    Parameters
    ----------
    page, found
        The study, and what `dsqa.stats.correlation_levels` gave.
    adjust
        How $p$ values are adjusted over the pairs of a level.
    level
        Of the intervals, for the title.
    rows
        Show at most this many, the strongest within cells first.
    """
    if isinstance(found, NotAvailable):
        return sentence(found.reason)
    wide = _wide(found, adjust)
    order = wide["within cells"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    frame = wide.loc[order].head(rows).reset_index(drop=True)
    frame["pair"] = [f"{_name(a)}, {_name(b)}" for a, b in zip(frame["first"], frame["second"], strict=True)]
    fields = [Field("pair", "Metrics", "markdown", width=24)]
    for over, title in _LEVELS.items():
        why = f"{over} why"
        frame[why] = frame[why].replace("", None)
        fields += [
            Field(over, f"r, {level_text(level)} interval", "signed", digits=2, low=f"{over} low",
                  high=f"{over} high", spanner=title, missing_from=why, width=20),
            Field(f"{over} p", "$p$", "p", spanner=title, missing_from=why, width=8),
        ]  # fmt: skip
    sizes = found.groupby("over")["n"].max().astype(int)
    clusters = int(found["clusters"].max()) if "clusters" in found and found["clusters"].notna().any() else 0
    how = {"none": "not adjusted", "bh": "adjusted (Benjamini–Hochberg)", "by": "adjusted (Benjamini–Yekutieli)"}
    cut = f" Shown are the {rows:,} strongest within cells, of {len(wide):,}." if len(wide) > rows else ""
    used = how.get(adjust, f"adjusted ({adjust})")
    errors = (
        f"Intervals: jackknife over {count(clusters, 'question')}; $p$: $t$ on its error, {used} "
        f"over the {count(len(wide), 'pair')} of each column."
        if clusters > 1
        else "There are no intervals: all runs are of one question."
    )
    caption = (
        f"{str(found['kind'].iloc[0]).capitalize()} correlations over {sizes.get('all runs', 0):,} runs, between "
        f"{sizes.get('between cells', 0):,} cells and within them. {errors}{cut}"
    )
    notes = [
        note for over, title in _LEVELS.items()
        for note in coverage_notes(frame, f"{over} low", f"{over} why", what=title)
    ]  # fmt: skip
    return data_table(
        frame, fields, label="tbl-correlation-pairs", caption=caption, notes=notes, missing="not available",
        classes=("stack",),
    )  # fmt: skip


def correlation_shares(page: Page, shares: pd.Series | NotAvailable) -> Markdown:
    """Return how much of each metric's variance lies between cells.

    Parameters
    ----------
    page, shares
        The study, and the second of what `dsqa.stats.level_tables` gave.
    """
    if isinstance(shares, NotAvailable):
        return sentence(shares.reason)
    frame = pd.DataFrame({"metric": [name.replace("_", " ") for name in shares.index], "share": shares.to_numpy()})
    frame = frame.assign(rest=1 - frame["share"]).sort_values(
        "share", ascending=False, kind="stable", ignore_index=True
    )
    fields = [
        Field("metric", "Metric", "text", width=20),
        Field("share", "Between cells, η²", "percent", digits=0, missing="it does not vary", width=14),
        Field("rest", "Within cells", "percent", digits=0, missing="it does not vary", width=14),
    ]
    caption = (
        "Where each metric varies: the share of its variance between cells (which holds a little of the runs' "
        "noise), and that from run to run."
    )
    return data_table(frame, fields, label="tbl-correlation-shares", caption=caption, classes=("whole",))


def correlation_repeated(
    page: Page, found: pd.DataFrame | NotAvailable, *, level: float = 0.95, rows: int = 20
) -> Markdown:
    """Return repeated-measures correlations within cells with both intervals.

    Parameters
    ----------
    page, found
        The study, and what `dsqa.stats.correlation_table` gave for ``repeated`` with cells as clusters.
    level
        Of the intervals, for the titles.
    rows
        Show at most this many, the strongest first.
    """
    if isinstance(found, NotAvailable):
        return sentence(found.reason)
    known = found[found["r"].notna()]
    if known.empty:
        return sentence("no two metrics vary within cells")
    order = known["r"].abs().sort_values(ascending=False, kind="stable").index
    frame = known.loc[order].head(rows).reset_index(drop=True)
    frame["pair"] = [f"{_name(a)}, {_name(b)}" for a, b in zip(frame["first"], frame["second"], strict=True)]
    runs, cells = int(frame["n"].iloc[0]), int(frame["clusters"].iloc[0])
    why = frame["note"].replace("", None)
    fields = [
        Field("pair", "Metrics", "markdown", width=26),
        Field("r", "r within cells", "signed", digits=2, width=10),
        Field("r", "runs independent (Fisher)", "signed", digits=2, low="fisher_low", high="fisher_high",
              interval_only=True, spanner=f"{level_text(level)} interval", missing="too few runs", width=18),
        Field("r", "cells left out in turn", "signed", digits=2, low="low", high="high", interval_only=True,
              spanner=f"{level_text(level)} interval", missing_from="why", width=18),
    ]  # fmt: skip
    cut = f" The {rows:,} strongest of {count(len(known), 'pair')}." if len(known) > rows else ""
    caption = (
        f"Repeated-measures correlation (Pearson) over {count(runs, 'run')} in {count(cells, 'cell')}, "
        f"{number(runs - cells - 1, 0)} degrees of freedom.{cut}"
    )
    return data_table(frame.assign(why=why), fields, label="tbl-correlation-repeated", caption=caption)
