"""Which part of the score moves: completion, accuracy or executability, over many cells.

Score = CR + RA + CE/2. Within a cell Var(score) = Σ Cov(part, score), see `decompose_instability`. Over cells both
sides are summed before they are divided,

    share of a part = Σ_cells Σ_runs (part − its cell mean)(score − its cell mean) / Σ_cells Σ_runs (score − mean)²,

so that a cell counts by how much it varies and cells of equal scores count nothing: the share of the pooled
within-cell variance, not the mean of shares. The interval leaves out each question in turn with all its cells
(`dsqa.stats.jackknife`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import METHOD, jackknife_interval, leave_out
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["PARTS", "score_parts"]

PARTS = ("completion", "accuracy", "executability")
"""The score's parts; executability counts half."""


def score_parts(
    outcomes: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 1999,
) -> pd.DataFrame:
    """Return each part's share of the pooled within-cell variance of the score, per group.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, the three parts, and the columns of `by`.
    by
        Columns to group by; none for one group.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`; nothing is drawn.
    level
        Of the interval over questions.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, part, share, low, high, moving (cells in which the part varies), cells (with two runs or
        more), questions (whose scores vary), note (why there is no interval, or what its coverage is). Shares add up
        to 1 and are missing where no score varies; low and high also where scores vary in fewer than three questions.

    Raises
    ------
    StatisticsError
        A column is missing.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": "q", "condition_id": "c", "completion": 1, "accuracy": [0, 1]})
    >>> table["executability"] = [1, 2]
    >>> score_parts(table, seed=1)["share"].round(3).tolist()  # CR never moves, RA by 1, CE/2 by ½
    [0.0, 0.667, 0.333]
    """
    check_level(level)
    del seed, resamples
    require_runs(outcomes, ("question_id", "condition_id", *PARTS), by=by)
    keys = [name for name in ("study", "question_id", "condition_id") if name in outcomes.columns]
    # Tables put together have rows of one name.
    outcomes = outcomes.reset_index(drop=True)
    table = outcomes[list(dict.fromkeys([*keys, *by]))].copy()
    for part in PARTS:
        table[part] = as_floats(outcomes[part]) / (2 if part == "executability" else 1)
    table = table[table[list(PARTS)].notna().all(axis=1)]
    cells = table.groupby(keys, sort=True, dropna=False)
    moved = table[list(PARTS)] - cells[list(PARTS)].transform("mean")
    table["size"] = cells["completion"].transform("size")
    table["cell"] = cells.ngroup()
    rows = []
    groups = table.groupby(list(by), sort=True, dropna=False) if by else [((), table)]
    for key, group in groups:
        head = dict(zip(by, key, strict=True))
        rows += [head | row for row in _shares(group, moved.loc[group.index], keys[:-1], level)]
    return pd.DataFrame(rows, columns=[*by, "part", "share", "low", "high", "moving", "cells", "questions", "note"])


def _shares(group: pd.DataFrame, moved: pd.DataFrame, question: list[str], level: float) -> list[dict[str, object]]:
    values = moved.to_numpy(dtype=np.float64)
    score = values.sum(axis=1)
    codes = group.groupby(question, sort=True, dropna=False).ngroup().to_numpy()
    products = np.stack([np.bincount(codes, column * score) for column in values.T], axis=1)
    # Rounding leaves runs of equal scores a spread of about 1e-32.
    products = products[products.sum(axis=1) > 1e-20]
    share = products.sum(axis=0) / products.sum() if len(products) else np.full(3, np.nan)
    intervals = _intervals(products, share, level)
    repeated = group["size"] > 1
    return [
        {
            "part": part,
            "share": share[at],
            "low": intervals[at].low,
            "high": intervals[at].high,
            "moving": int(group["cell"][np.abs(values[:, at]) > 1e-9].nunique()),
            "cells": int(group["cell"][repeated].nunique()),
            "questions": len(products),
            "note": intervals[at].note or None,
        }
        for at, part in enumerate(PARTS)
    ]


def _intervals(products: FloatArray, share: FloatArray, level: float) -> list[Interval]:
    if not len(products):
        return [Interval.unavailable(level, METHOD, "no score varies")] * len(PARTS)
    # Equal whatever the names of the questions.
    sums = leave_out(len(products)) @ products[np.lexsort(products.T)]
    with np.errstate(divide="ignore", invalid="ignore"):
        without = sums / sums.sum(axis=1, keepdims=True)
    return [
        jackknife_interval(
            float(share[at]),
            without[:, at],
            kind="share of a part",
            level=level,
            bounds=(0, 1),
            clusters=len(products),
        )
        for at in range(len(PARTS))
    ]
