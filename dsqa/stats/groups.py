"""Summaries above the cell: by category and level or any other columns, and the ledger of runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import CELL_COLUMNS, GROUP_COLUMNS, LEDGER_COLUMNS, STATUSES, require, typed
from dsqa.stats.interval import Interval, check_level
from dsqa.stats.over_questions import question_intervals
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["ledger", "summarise_groups"]

_VALUES = ("instability", "accuracy", "score_mean")


def summarise_groups(
    cells: pd.DataFrame,
    by: Sequence[str] = ("category", "level"),
    *,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 9999,
) -> pd.DataFrame:
    """Return the mean instability per group, with an interval for other questions of the kind.

    Estimand: the mean of σ̄ over questions like those in the group, each question's σ̄ averaged over its
    cells first, so that a question counts once however many conditions it was asked under. Cells of one
    question are not independent; questions are what a bank is a sample of, so the interval is Student's t over
    questions (`dsqa.stats.over_questions`). With fewer than three questions, or equal values, there is none.

    Parameters
    ----------
    cells
        As `summarise_cells` makes them.
    by
        Columns of `cells` to group by.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`; this interval draws nothing.
    level
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, then `GROUP_COLUMNS`; sorted by `by`, missing labels last.

    Raises
    ------
    StatisticsError
        `by` is empty or names an unknown column, or the level is out of range.
    """
    del seed, resamples
    check_level(level)
    names = list(by)
    if not names:
        raise StatisticsError("no column to group by", hint="such as by=['category', 'level']")
    require(cells, (*names, "question_id", "runs", *_VALUES), "table of cells")
    rows, samples = [], []
    for key, group in cells.groupby(names, sort=True, dropna=False):
        known = group[group["instability"].notna()]
        # The same question id in two studies is two questions.
        unit = [name for name in ("study", "question_id") if name in group.columns]
        means = known.groupby(unit, sort=True, dropna=False)[list(_VALUES)].mean()
        rows.append(
            dict(zip(names, key, strict=True))
            | {
                "n_questions": len(means),
                "n_cells": len(known),
                "n_not_known": len(group) - len(known),
                "runs": group["runs"].sum(),
            }
            | {name: means[name].mean() if len(means) else pd.NA for name in _VALUES}
        )
        samples.append(means["instability"].to_numpy(dtype=np.float64))
    intervals = question_intervals(samples, level=level)
    for row, interval in zip(rows, intervals, strict=True):
        row.update(_columns(interval))
    types = {column.name: column for column in CELL_COLUMNS}
    keys = tuple(types[name] for name in names if name in types)
    table = typed(pd.DataFrame(rows), (*keys, *GROUP_COLUMNS))
    own = pd.DataFrame(rows, columns=[name for name in names if name not in types])
    return pd.concat([table, own], axis=1)[[*names, *(c.name for c in GROUP_COLUMNS)]]


def _columns(interval: Interval) -> dict[str, object]:
    if not interval.available:
        why = f": {interval.note}" if interval.note else ""
        return {
            "instability_low": pd.NA,
            "instability_high": pd.NA,
            "instability_method": f"{interval.method}{why}",
        }
    return {
        "instability_low": interval.low,
        "instability_high": interval.high,
        "instability_method": interval.method + (f" ({interval.note})" if interval.note else ""),
    }


def ledger(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Count what became of the runs, per condition.

    Parameters
    ----------
    outcomes
        One row per run; needed: condition_id, status.

    Returns
    -------
    pandas.DataFrame
        The columns of `LEDGER_COLUMNS`, sorted by condition_id. The six statuses add up to `runs`.

    Raises
    ------
    StatisticsError
        A column is missing, or a status is unknown.
    """
    require(outcomes, ("condition_id", "status"), "outcome table")
    status = outcomes["status"].astype("string").fillna("missing")
    unknown = sorted(set(status) - set(STATUSES))
    if unknown:
        raise StatisticsError(f"unknown status '{unknown[0]}'", field="status", hint=f"one of {', '.join(STATUSES)}")
    condition = outcomes["condition_id"].astype("string")
    table = pd.DataFrame({"runs": condition.groupby(condition).size()})
    for name in STATUSES:
        table[f"n_{name}"] = (status == name).groupby(condition).sum()
    for name in ("model", "temperature"):
        if name in outcomes.columns:
            table[name] = outcomes[name].groupby(condition).first()
    if "answer_key" in outcomes.columns:
        # Without a ground truth no answer is looked for.
        unmarked = outcomes["accuracy"].isna() if "accuracy" in outcomes.columns else False
        table["n_unparsed"] = (outcomes["answer_key"].isna() & ~unmarked).groupby(condition).sum()
    return typed(table.rename_axis("condition_id").reset_index(), LEDGER_COLUMNS)
