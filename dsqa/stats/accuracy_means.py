"""Mean accuracy of groups of cells, with an interval for each of two estimands.

Both concern the mean over questions of the mean accuracy of the question's cells; a question counts once.

===============  =========================================================================================
these questions  other runs of the same questions under the same conditions: cells are strata, t on the variances
                 within them (`dsqa.stats.these_questions`). Where no run of any cell differs, and for a single cell,
                 Wilson's interval [l, u] of each cell, put together by MOVER with weights w = 1/(questions · cells
                 of the question), p̄ − √Σ w²(p̂ − l)² to p̄ + √Σ w²(u − p̂)² (Zou & Donner 2008, Statistics in
                 Medicine 27:1693), which keeps a width where every run is right
other questions  questions are a sample of many: Student's t over questions (`dsqa.stats.over_questions`)
===============  =========================================================================================

The first is narrower, and says nothing of questions that were not asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require, require_runs
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.over_questions import question_intervals
from dsqa.stats.proportions import ProportionMethod, proportion_bounds
from dsqa.stats.streams import DEFAULT_SEED
from dsqa.stats.these_questions import stratified_interval

__all__ = ["accuracy_groups", "mean_accuracy"]


def mean_accuracy(cells: pd.DataFrame) -> float:
    """Return the mean over questions of the mean accuracy of the question's cells: what someone who asks once gets.

    A question counts once however often, and under however many conditions, it was asked: the estimate of
    `accuracy_groups`. Cells without a ground truth are left out.

    Parameters
    ----------
    cells
        A row per cell: question_id, accuracy; study where there are several.

    Returns
    -------
    float
        In [0, 1]; NaN where no cell has an accuracy.

    Examples
    --------
    >>> mean_accuracy(pd.DataFrame({"question_id": ["a", "a", "b"], "accuracy": [0.5, 1.0, 0.25]}))
    0.5
    """
    require(cells, ("question_id", "accuracy"), "table of cells")
    unit = [name for name in ("study", "question_id") if name in cells.columns]
    means = cells.assign(_share=as_floats(cells["accuracy"])).groupby(unit, dropna=False)["_share"].mean().dropna()
    return float(means.mean()) if len(means) else math.nan


def accuracy_groups(
    outcomes: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    seed: int = DEFAULT_SEED,
    method: ProportionMethod = "wilson",
    level: float = 0.95,
    resamples: int = 9999,
) -> pd.DataFrame:
    """Return the mean accuracy per group with both intervals.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, accuracy, and the columns of `by`. Runs without a mark (no ground
        truth) are left out; failed ones count as they are marked, wrong.
    by
        Columns to group by; none for one group.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`; these intervals draw nothing.
    method
        Interval of a cell, where the first estimand rests on those.
    level
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, questions, cells, runs, right, accuracy, these_low, these_high, other_low, other_high,
        other_method (or why there is none).

    Raises
    ------
    StatisticsError
        A column is missing, or no run is marked.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": list("aaaabbbb"), "condition_id": "c"})
    >>> table["accuracy"] = [1, 1, 1, 1, 0, 0, 0, 1]
    >>> row = accuracy_groups(table, seed=1, resamples=99).iloc[0]
    >>> [round(float(row[name]), 3) for name in ("accuracy", "these_low", "these_high")]
    [0.625, 0.227, 1.0]
    """
    del seed, resamples
    check_level(level)
    require_runs(outcomes, ("question_id", "condition_id", "accuracy"), by=by)
    keys = [name for name in ("study", "question_id", "condition_id") if name in outcomes.columns]
    named = list(dict.fromkeys([*by, *keys]))
    table = outcomes[named].assign(right=as_floats(outcomes["accuracy"]))
    table = table[table["right"].notna()]
    if table.empty:
        raise StatisticsError("no run was compared with a ground truth")
    cells = table.groupby(named, sort=True, dropna=False)["right"].agg(["sum", "count"]).reset_index()
    unit = keys[:-1]
    rows, samples = [], []
    groups = cells.groupby(list(by), sort=True, dropna=False) if by else [((), cells)]
    for key, group in groups:
        right, runs = (group[name].to_numpy(dtype=np.float64) for name in ("sum", "count"))
        questions = group.groupby(unit, sort=True, dropna=False)["count"]
        weights = 1 / (questions.ngroups * questions.transform("size").to_numpy(dtype=np.float64))
        mean, low, high = _these(right, runs, weights, method, level)
        rows.append(
            dict(zip(by, key, strict=True))
            | {
                "questions": questions.ngroups,
                "cells": len(group),
                "runs": int(runs.sum()),
                "right": int(right.sum()),
            }
            | {"accuracy": mean, "these_low": low, "these_high": high}
        )
        shares = group.assign(share=right / runs).groupby(unit, sort=True, dropna=False)["share"].mean()
        samples.append(shares.to_numpy(dtype=np.float64))
    intervals = question_intervals(samples, level=level)
    return pd.DataFrame(
        [
            row
            | {"other_low": interval.low, "other_high": interval.high}
            | {"other_method": f"{interval.method}: {interval.note}" if interval.note else interval.method}
            for row, interval in zip(rows, intervals, strict=True)
        ]
    )


def _these(
    right: FloatArray, runs: FloatArray, weights: FloatArray, method: ProportionMethod, level: float
) -> tuple[float, float, float]:
    shares = right / runs
    mean = float(weights @ shares)
    if len(runs) > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = np.where(runs > 1, shares * (1 - shares) / (runs - 1), np.nan)
        strata = stratified_interval(mean, weights, variances, runs, level=level)
        if strata.available:
            return mean, max(strata.low, 0.0), min(strata.high, 1.0)
    low, high = proportion_bounds(right, runs, method=method, level=level)
    down = math.sqrt(float(weights**2 @ (shares - low) ** 2))
    up = math.sqrt(float(weights**2 @ (high - shares) ** 2))
    return mean, max(mean - down, 0.0), min(mean + up, 1.0)
