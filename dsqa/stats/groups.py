"""Summaries above the cell: by category and level or any other columns, and the ledger of runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import bootstrap_intervals, weighted_mean
from dsqa.stats.columns import CELL_COLUMNS, GROUP_COLUMNS, LEDGER_COLUMNS, STATUSES, require, typed

__all__ = ["ledger", "summarise_groups"]

_VALUES = ("instability", "accuracy", "score_mean")


def summarise_groups(
    cells: pd.DataFrame, by: Sequence[str] = ("category", "level"), *, seed: int, resamples: int = 9999
) -> pd.DataFrame:
    """Return the mean instability per group, with an interval that resamples questions.

    Estimand: the mean of σ̄ over questions like those in the group, each question's σ̄ averaged over its
    cells first, so that a question counts once however many conditions it was asked under. Cells of one
    question are not independent; questions are what a bank is a sample of, so questions are resampled
    (BCa bootstrap of the mean). With one question, or equal values, there is no interval. With fewer than
    ten, it is too narrow more often than it says.

    Parameters
    ----------
    cells
        As `summarise_cells` makes them.
    by
        Columns of `cells` to group by.
    seed, resamples
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, then `GROUP_COLUMNS`; sorted by `by`, missing labels last.

    Raises
    ------
    StatisticsError
        `by` is empty or names an unknown column.
    """
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
        samples.append(means["instability"].to_numpy(dtype=np.float64))
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
    present = [i for i, sample in enumerate(samples) if sample.size]
    intervals = bootstrap_intervals([samples[i] for i in present], weighted_mean, seed=seed, resamples=resamples)
    for row in rows:
        row |= {"instability_low": pd.NA, "instability_high": pd.NA, "instability_method": "not available"}
    for i, interval in zip(present, intervals, strict=True):
        if interval.available:
            rows[i] |= {
                "instability_low": interval.low,
                "instability_high": interval.high,
                "instability_method": interval.method,
            }
        else:
            why = "one question" if samples[i].size == 1 else f"all {samples[i].size} questions alike"
            rows[i]["instability_method"] = f"not available: {why}"
    types = {column.name: column for column in CELL_COLUMNS}
    keys = tuple(types[name] for name in names if name in types)
    table = typed(pd.DataFrame(rows), (*keys, *GROUP_COLUMNS))
    own = pd.DataFrame(rows, columns=[name for name in names if name not in types])
    return pd.concat([table, own], axis=1)[[*names, *(c.name for c in GROUP_COLUMNS)]]


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
        table["n_unparsed"] = outcomes["answer_key"].isna().groupby(condition).sum()
    return typed(table.rename_axis("condition_id").reset_index(), LEDGER_COLUMNS)
