"""What a headline number would be had some runs been left out, and how far lost runs could move it.

Leaving runs out changes the estimand: without failed runs it is the accuracy *given a reply*, without truncated ones
*given a complete reply*, and questions that are long or hard then weigh less or vanish. The usual number keeps all
runs; the others are for comparison. Every rule averages runs within cells, cells within questions, then questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.dispersion import normalised_instability
from dsqa.stats.missing import missing_case_bounds

__all__ = ["RULES", "left_out_table"]

Measure = Literal["accuracy", "instability"]
RULES: dict[str, tuple[str, ...]] = {
    "all runs": (),
    "without failed": ("failed",),
    "without failed and truncated": ("failed", "truncated"),
    "answered only": ("failed", "truncated", "refused", "filtered", "empty"),
}
"""Rule → the statuses left out."""
_READABLE = "with a readable answer only"


def left_out_table(outcomes: pd.DataFrame, measure: Measure = "accuracy") -> pd.DataFrame:
    """Return a number under each rule of leaving runs out, and its bounds over what lost runs could have been.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, status, accuracy or score, and answer_key for the last rule.
    measure
        Accuracy (share of runs that are right) or normalised instability (of the score).

    Returns
    -------
    pandas.DataFrame
        rule, runs, left_out, cells, questions (in which the number is defined), value, lowest, highest (for all
        runs: Manski's bounds over the failed ones).

    Raises
    ------
    StatisticsError
        A column is missing, or an unknown measure.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": "q", "condition_id": "c", "status": ["answered", "failed"]})
    >>> left_out_table(table.assign(accuracy=[1, 0])).iloc[:2][["rule", "value", "highest"]].values.tolist()
    [['all runs', 0.5, 1.0], ['without failed', 1.0, nan]]
    """
    if measure not in get_args(Measure):
        raise StatisticsError(f"unknown measure '{measure}'", hint=f"one of {', '.join(get_args(Measure))}")
    source = "accuracy" if measure == "accuracy" else "score"
    require_runs(outcomes, ("question_id", "condition_id", "status", source))
    keys = [name for name in ("study", "question_id", "condition_id") if name in outcomes.columns]
    table = outcomes[[*keys, "status"]].assign(value=as_floats(outcomes[source]))
    kept = {rule: ~table["status"].isin(dropped).to_numpy() for rule, dropped in RULES.items()}
    if "answer_key" in outcomes.columns:
        kept[_READABLE] = outcomes["answer_key"].notna().to_numpy()
    rows = [
        {"rule": rule, "left_out": int((~rows).sum())} | _value(table[rows], keys, measure)
        for rule, rows in kept.items()
    ]
    found = pd.DataFrame(rows)
    bounds = missing_case_bounds(outcomes, measures=[measure]).iloc[0]
    first = found["rule"] == "all runs"
    return found.assign(
        lowest=np.where(first, bounds["lowest"], np.nan), highest=np.where(first, bounds["highest"], np.nan)
    )[["rule", "runs", "left_out", "cells", "questions", "value", "lowest", "highest"]]


def _value(table: pd.DataFrame, keys: list[str], measure: Measure) -> dict[str, float]:
    known = table[table["value"].notna()]
    of_cell: Callable[[pd.Series], float] = _spread if measure == "instability" else _mean
    cells = known.groupby(keys, sort=True, dropna=False)["value"].apply(of_cell).astype(float).dropna()
    questions = cells.groupby(level=list(range(len(keys) - 1)), sort=True, dropna=False).mean()
    value = float(questions.mean()) if len(questions) else np.nan
    return {"runs": len(known), "cells": len(cells), "questions": len(questions), "value": value}


def _mean(values: pd.Series) -> float:
    return float(values.mean())


def _spread(values: pd.Series) -> float:
    return normalised_instability(values.to_numpy(dtype=np.float64)) if len(values) > 1 else np.nan
