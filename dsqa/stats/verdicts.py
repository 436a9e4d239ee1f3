"""The call on each cell, whether the runs settle it, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.dispersion import NOTABLE
from dsqa.stats.interval import FloatArray, share_text

__all__ = ["CALLS", "VERDICTS", "headline", "threshold_calls", "verdicts"]

VERDICTS = ("stable and right", "stable and wrong", "unstable", "not read", "no answers", "not known")
"""Every verdict, in the order in which tables show them."""

CALLS = VERDICTS[:3]
"""Those that say something about the model, and that more runs can settle."""

_NEEDED = ("runs", "instability", "instability_low", "instability_high", "accuracy", "accuracy_low", "accuracy_high")


def verdicts(cells: pd.DataFrame) -> pd.DataFrame:
    """Call each cell stable and right, stable and wrong, unstable, not read, without answers, or not known.

    In this order:

    - *no answers*: every run was lost to the infrastructure, which says nothing about the model;
    - *not read*: in more than half of the replies no answer could be read (one that was lost is no reply);
    - *not known*: a single run, or no scores;
    - *unstable*: σ̄ ≥ 0.3;
    - *stable and right*: more than half of the runs are right;
    - *not read* again: whether more than half are right hangs on those that could not be read;
    - *stable and wrong*: else. What could not be read is thus never called wrong.

    A call is settled if the interval for σ̄ lies on one side of 0.3 and, for a stable cell, the one for accuracy on
    one side of one half. Accuracy itself follows the protocol: a run that could not be read is not right.

    Parameters
    ----------
    cells
        A row per cell with runs, instability, accuracy and the ends of their intervals; `n_failed` and `n_unread`
        if known.

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
    lost, unread = _counts(cells, "n_failed"), _counts(cells, "n_unread")
    rows = [_verdict(row, *known) for row, *known in zip(numbers, lost, unread, strict=True)]
    table = pd.DataFrame(rows, columns=["verdict", "settled", "verdict_reason"], index=cells.index)
    return table.astype({"verdict": "string", "settled": "bool", "verdict_reason": "string"})


def _counts(cells: pd.DataFrame, name: str) -> FloatArray:
    column = cells[name] if name in cells.columns else pd.Series(0, index=cells.index)
    return np.asarray(column.astype("Float64").to_numpy(dtype=np.float64, na_value=0.0))


def _verdict(row: FloatArray, lost: float, unread: float) -> tuple[str, bool, str]:
    runs, right = float(row[0]), float(row[4])
    replies = runs - lost
    if runs > 0 and replies <= 0:
        return _lost(runs)
    if replies > 0 and unread > replies / 2:
        return _unread(runs, replies, right, unread)
    verdict, settled, reason = _call(*map(float, row))
    if verdict == "stable and wrong" and right + unread / runs > 0.5:
        return _unread(runs, replies, right, unread)
    if unread:
        reason += f" In {unread:.0f} of {replies:.0f} replies no answer could be read."
    return verdict, settled, reason


def _unread(runs: float, replies: float, right: float, unread: float) -> tuple[str, bool, str]:
    which = "the only reply" if replies == 1 else f"{unread:.0f} of {replies:.0f} replies"
    reason = f"In {which} no answer could be read, so nothing is said of right or wrong"
    if not math.isnan(right):
        most, least = share_text(right + unread / runs, 0), share_text(right, 0)
        reason += f": had all of them been right, {most} of runs would be, and {least} if none"
    return "not read", False, reason + "."


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
        parts.append(f", and {share_text(right, 0)} of runs are right")
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
