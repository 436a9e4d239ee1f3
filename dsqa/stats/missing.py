"""What became of the runs, in four words, and what the lost ones could have changed.

Ledger: *answered*; *refused* (the model declined, a filter stopped it, or it sent no text); *truncated* (cut off by
a limit); *failed* (lost to the infrastructure: no reply after all retries). Only the last says nothing about the
model; all four are in every denominator.

Bounds: a failed run counts as wrong, score 0. Had it come back, it could have been anything, so each headline
number has a worst and a best case over all that the lost runs could have been (Manski 1989): no assumption on why
they are lost, and no confidence interval. With m of a cell's n runs lost,

===============  =======================================================================================
completion       (x)/n to (x + m)/n, x the completed runs among those that came back
accuracy         the same, x the right ones
score            sum of the others' scores + 0 to + 3m, over n
instability      lowest: all lost runs at the mean of the others, where the SD is smallest; highest: k of
                 the m at 3 and the rest at 0 for the worst k, since the SD is convex in each score
===============  =======================================================================================

Groups average cells within questions, then questions, as every summary here does; the bounds average likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.columns import STATUSES, as_floats, require_runs
from dsqa.stats.dispersion import SCORE_BOUNDS
from dsqa.stats.interval import FloatArray

__all__ = ["FOUR_WAYS", "Headline", "four_way_ledger", "lost_run_bounds", "missing_case_bounds"]

FOUR_WAYS = {
    "answered": ("answered",),
    "refused": ("refused", "filtered", "empty"),
    "truncated": ("truncated",),
    "failed": ("failed",),
}
"""The four words, and the statuses that each stands for."""

Headline = Literal["completion", "accuracy", "score", "instability"]
_TOPS = {"completion": 1.0, "accuracy": 1.0, "score": SCORE_BOUNDS[1]}


def _statuses(outcomes: pd.DataFrame) -> pd.Series:
    status = outcomes["status"].astype("string").fillna("missing")
    unknown = sorted(set(status) - set(STATUSES))
    if unknown:
        raise StatisticsError(f"unknown status '{unknown[0]}'", field="status", hint=f"one of {', '.join(STATUSES)}")
    return status


def four_way_ledger(outcomes: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Count the runs four ways: answered, refused, truncated, failed by infrastructure.

    Parameters
    ----------
    outcomes
        One row per run: status and the columns of `by`.
    by
        Columns to group by; none for one row.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, runs, n_ and share_ of the four words, sorted by `by`, missing labels last. The four
        add up to `runs`.

    Raises
    ------
    StatisticsError
        A column is missing, a status is unknown, or there are no runs.

    Examples
    --------
    >>> four_way_ledger(pd.DataFrame({"status": ["answered", "empty", "failed", "answered"]})).iloc[0, :5].tolist()
    [4, 2, 1, 0, 1]
    """
    require_runs(outcomes, ("status",), by=by)
    if outcomes.empty:
        raise StatisticsError("no runs: nothing to count")
    status = _statuses(outcomes)
    counts = pd.DataFrame({"runs": np.ones(len(status), dtype=np.int64)})
    for word, members in FOUR_WAYS.items():
        counts[f"n_{word}"] = status.isin(members).to_numpy(dtype=np.int64)
    if by:
        keys = outcomes[list(by)].reset_index(drop=True)
        table = pd.concat([keys, counts], axis=1).groupby(list(by), sort=True, dropna=False).sum().reset_index()
    else:
        table = counts.sum().to_frame().T
    for word in FOUR_WAYS:
        table[f"share_{word}"] = table[f"n_{word}"] / table["runs"]
    return table


def lost_run_bounds(values: ArrayLike, lost: int, measure: Headline = "accuracy") -> tuple[float, float]:
    """Return the smallest and the largest value that one cell's statistic could have had.

    Parameters
    ----------
    values
        What the runs that came back gave: 0 or 1, or scores; may be empty if runs were lost.
    lost
        Number of runs lost, m.
    measure
        The statistic, see the table at the top of the module. Instability is normalised (σ̄).

    Raises
    ------
    StatisticsError
        No runs at all, missing values, values out of range, or fewer than two runs for instability.

    Examples
    --------
    >>> lost_run_bounds([1, 1, 0], 1)
    (0.5, 0.75)
    """
    if measure not in get_args(Headline):
        raise StatisticsError(f"unknown measure '{measure}'", hint=f"one of {', '.join(get_args(Headline))}")
    x = np.sort(np.asarray(values, dtype=np.float64))
    n, top = x.size + lost, _TOPS.get(measure, SCORE_BOUNDS[1])
    if lost < 0 or n < (2 if measure == "instability" else 1):
        raise StatisticsError("too few runs for this statistic")
    if not np.isfinite(x).all() or (x < 0).any() or (x > top).any():
        raise StatisticsError(f"values must lie between 0 and {top:g}")
    if measure != "instability":
        return float(x.sum() / n), float((x.sum() + lost * top) / n)
    squares = float(((x - x.mean()) ** 2).sum()) if x.size else 0.0
    k = np.arange(lost + 1)
    total, square = x.sum() + k * top, (x**2).sum() + k * top**2
    highest = np.sqrt(np.maximum(square / n - (total / n) ** 2, 0.0)).max()
    return float(np.sqrt(squares / n) / (top / 2)), float(highest / (top / 2))


def missing_case_bounds(
    outcomes: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    measures: Sequence[Headline] = ("completion", "accuracy", "score", "instability"),
    within: Sequence[str] = ("condition_id",),
) -> pd.DataFrame:
    """Return each headline number with its worst and best case over what failed runs could have been.

    Parameters
    ----------
    outcomes
        One row per run: question_id, status, the columns of `by` and `within`, completion, accuracy, score (as
        `measures` needs them).
    by
        Columns to group by; none for the whole table.
    measures
        Which numbers.
    within
        What makes a cell besides the question and `by`; columns that the table lacks are passed over.

    Returns
    -------
    pandas.DataFrame
        A row per group and measure: the columns `by`, measure, runs, n_failed, value (failed runs counted as
        they are marked), lowest, highest. Missing where no cell has enough runs.

    Raises
    ------
    StatisticsError
        A column is missing, a status unknown, or a measure unknown.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": "q", "status": ["answered", "failed"], "accuracy": [1, 0]})
    >>> missing_case_bounds(table, measures=["accuracy"])[["value", "lowest", "highest"]].iloc[0].tolist()
    [0.5, 0.5, 1.0]
    """
    unknown = [measure for measure in measures if measure not in get_args(Headline)]
    if unknown:
        raise StatisticsError(f"unknown measure '{unknown[0]}'", hint=f"one of {', '.join(get_args(Headline))}")
    sources = {measure: "score" if measure == "instability" else measure for measure in measures}
    require_runs(outcomes, ("question_id", "status", *sources.values()), by=by)
    lost = (_statuses(outcomes) == "failed").to_numpy()
    extra = [name for name in within if name in outcomes.columns and name not in by]
    keys = [*by, "question_id", *extra]
    table = outcomes[keys].reset_index(drop=True).assign(lost=lost)
    rows = []
    for measure, source in sources.items():
        number = as_floats(outcomes[source])
        cells = _cells(table.assign(value=number), keys, measure)
        steps = [*by, "question_id"]
        means = cells.groupby(steps, sort=True, dropna=False)[["value", "lowest", "highest"]].mean()
        sums = cells.groupby(steps, sort=True, dropna=False)[["runs", "n_failed"]].sum()
        questions = means.join(sums).reset_index()
        groups = questions.groupby(list(by), sort=True, dropna=False) if by else questions.groupby(lambda _: 0)
        part = groups[["value", "lowest", "highest"]].mean().join(groups[["runs", "n_failed"]].sum())
        rows.append(part.reset_index(drop=not by).assign(measure=measure))
    columns = [*by, "measure", "runs", "n_failed", "value", "lowest", "highest"]
    return pd.concat(rows, ignore_index=True)[columns]


def _cells(table: pd.DataFrame, keys: list[str], measure: Headline) -> pd.DataFrame:
    least = 2 if measure == "instability" else 1
    rows = []
    for key, group in table.groupby(keys, sort=True, dropna=False):
        gone = group["lost"].to_numpy(dtype=bool)
        values = group["value"].to_numpy(dtype=np.float64)
        back = values[~gone & np.isfinite(values)]
        marked = values[np.isfinite(values)]
        row = dict(zip(keys, key, strict=True)) | {"runs": len(group), "n_failed": int(gone.sum())}
        row |= {"value": np.nan, "lowest": np.nan, "highest": np.nan}
        if marked.size >= least and back.size + gone.sum() >= least:
            low, high = lost_run_bounds(back, int(gone.sum()), measure)
            row |= {"value": _value(marked, measure), "lowest": low, "highest": high}
        rows.append(row)
    return pd.DataFrame(rows)


def _value(values: FloatArray, measure: Headline) -> float:
    ordered = np.sort(values)
    return float(np.std(ordered) / (SCORE_BOUNDS[1] / 2) if measure == "instability" else ordered.mean())
