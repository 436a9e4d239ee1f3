"""The call on each cell, whether the runs settle it, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.dispersion import NOTABLE

__all__ = ["VERDICTS", "headline", "threshold_calls", "verdicts"]

VERDICTS = ("stable and right", "stable and wrong", "unstable", "no answers", "not known")
"""Every verdict, in the order in which tables show them."""

_NEEDED = ("runs", "instability", "instability_low", "instability_high", "accuracy", "accuracy_low", "accuracy_high")


def verdicts(cells: pd.DataFrame) -> pd.DataFrame:
    """Call each cell stable and right, stable and wrong, unstable, without answers, or not known.

    No answers: every run was lost to the infrastructure, which says nothing about the model (only where the
    table counts `n_failed`). Unstable: σ̄ ≥ 0.3. Else right if more than half of the runs are, else wrong.
    Not known: a single run, or no scores. A verdict is settled if the interval for σ̄ lies on one side of 0.3
    and, for a stable cell, the one for accuracy on one side of one half.

    Parameters
    ----------
    cells
        A row per cell with runs, instability, accuracy and the ends of their intervals; `n_failed` if known.

    Returns
    -------
    pandas.DataFrame
        The index of `cells`; verdict, settled, verdict_reason.

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    require(cells, _NEEDED, "table of cells")
    numbers = cells[list(_NEEDED)].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    failed = cells["n_failed"] if "n_failed" in cells.columns else pd.Series(0, index=cells.index)
    lost = failed.astype("Float64").to_numpy(dtype=np.float64, na_value=0.0)
    nothing = (numbers[:, 0] > 0) & (lost >= numbers[:, 0])
    rows = [_lost(row[0]) if empty else _call(*row) for row, empty in zip(numbers, nothing, strict=True)]
    table = pd.DataFrame(rows, columns=["verdict", "settled", "verdict_reason"], index=cells.index)
    return table.astype({"verdict": "string", "settled": "bool", "verdict_reason": "string"})


def _lost(runs: float) -> tuple[str, bool, str]:
    which = "The only run was" if runs == 1 else f"All {runs:.0f} runs were"
    return "no answers", False, f"{which} lost to the infrastructure: that says nothing about the model."


def _call(
    runs: float, spread: float, low: float, high: float, right: float, right_low: float, right_high: float
) -> tuple[str, bool, str]:
    if math.isnan(spread):
        why = "One run says nothing about stability."
        if runs != 1:
            unmarked = "No run was compared with a ground truth, so none has a score."
            why = unmarked if math.isnan(right) else "Too few runs have a score."
        return "not known", False, why
    # SDs of scores on the half-point grid can fall on 0.3 exactly, up to rounding.
    unstable = spread >= NOTABLE - 1e-12
    known = not math.isnan(low) and not math.isnan(high)
    parts = [f"Instability {spread:.2f}"]
    if known:
        parts.append(f" (95 % interval {low:.2f} to {high:.2f})")
    parts.append(f" is {'at or above' if unstable else 'below'} {NOTABLE:g}")
    if unstable:
        verdict, settled = "unstable", known and low >= NOTABLE - 1e-12
    else:
        if math.isnan(right):
            return "not known", False, "".join(parts) + ", but no run was compared with a ground truth."
        verdict = "stable and right" if right > 0.5 else "stable and wrong"
        parts.append(f", and {right:.0%} of runs are right")
        settled = known and high < NOTABLE and not right_low <= 0.5 <= right_high
    if not settled:
        if not known:
            parts.append("; there is no interval")
        elif low < NOTABLE <= high:
            parts.append(f"; {runs:.0f} runs do not rule out the other side of {NOTABLE:g}")
        else:
            parts.append(f"; {runs:.0f} runs do not tell whether most are right")
    return verdict, settled, "".join(parts) + "."


def headline(cells: pd.DataFrame) -> pd.DataFrame:
    """Count cells per verdict, every verdict always there, with how many of them are settled.

    Returns
    -------
    pandas.DataFrame
        verdict, cells, settled, questions (distinct ones); in the order of `VERDICTS`.

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    require(cells, ("question_id", "verdict", "settled"), "table of cells")
    rows = []
    for verdict in VERDICTS:
        hits = cells[(cells["verdict"] == verdict).fillna(False).astype(bool)]
        rows.append((verdict, len(hits), int(hits["settled"].sum()), hits["question_id"].nunique()))
    return pd.DataFrame(rows, columns=["verdict", "cells", "settled", "questions"])


def threshold_calls(
    cells: pd.DataFrame, thresholds: Sequence[float] = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
) -> pd.DataFrame:
    """Count the cells on either side of several thresholds for σ̄: what a verdict owes to the choice of 0.3.

    Parameters
    ----------
    cells
        A row per cell with instability and the ends of its interval.
    thresholds
        Values in (0, 1]; a cell at a threshold is unstable.

    Returns
    -------
    pandas.DataFrame
        threshold, cells (with a known σ̄), unstable, share, surely_unstable (whole interval at or above),
        surely_stable (whole interval below), open (interval on both sides), moved (called otherwise than at 0.3).

    Raises
    ------
    StatisticsError
        A column is missing, or a threshold lies outside of (0, 1].

    Examples
    --------
    >>> cells = pd.DataFrame({"instability": [0.1, 0.35], "instability_low": [0.0, 0.32], "instability_high": 0.4})
    >>> threshold_calls(cells, [0.3, 0.36])[["unstable", "surely_unstable", "open", "moved"]].values.tolist()
    [[1, 1, 1, 0], [0, 0, 2, 1]]
    """
    require(cells, ("instability", "instability_low", "instability_high"), "table of cells")
    if not all(0 < t <= 1 for t in thresholds):
        raise StatisticsError("a threshold for the normalised instability lies in (0, 1]")
    spread, low, high = (as_floats(cells[f"instability{end}"]) for end in ("", "_low", "_high"))
    known = ~np.isnan(spread)
    usual = spread >= NOTABLE - 1e-12
    rows = []
    for t in thresholds:
        over = spread >= t - 1e-12
        surely = int((low >= t - 1e-12).sum()), int((high < t - 1e-12).sum())
        count, unstable = int(known.sum()), int(over.sum())
        share = unstable / count if count else math.nan
        rows.append((t, count, unstable, share, *surely, count - sum(surely), int((over != usual)[known].sum())))
    names = ["threshold", "cells", "unstable", "share", "surely_unstable", "surely_stable", "open", "moved"]
    return pd.DataFrame(rows, columns=names)
