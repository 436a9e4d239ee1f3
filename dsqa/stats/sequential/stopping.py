"""Which cells have had enough runs, and why: a function of the runs alone, whenever it is asked."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsqa.errors import StatisticsError
from dsqa.outcomes.columns import Column
from dsqa.stats.columns import as_floats, require, typed
from dsqa.stats.interval import FloatArray
from dsqa.stats.sequential.proportion import proportion_sequence
from dsqa.stats.sequential.spread import instability_calls, instability_sequence
from dsqa.study.sections import StopConfig

__all__ = ["STOPPING_COLUMNS", "stopping_table"]

STOPPING_COLUMNS: tuple[Column, ...] = (
    Column("question_id", "string", "the question"),
    Column("condition_id", "string", "the condition"),
    Column("prompt_hash", "string", "fingerprint of the messages sent"),
    Column("runs", "Int64", "runs from 0 on without a gap: those that were looked at"),
    Column(
        "state", "string", "precise: the criteria were met; max_runs: they were not, and no more runs are asked; open"
    ),
    Column("stopped_at", "Int64", "runs after which the cell was through; missing while it is open"),
    Column("next_look", "Int64", "runs it is to have at the next look; missing once it is through"),
    Column("max_runs", "Int64", "runs it would have had at most"),
    Column("saved", "Int64", "max_runs less the runs that were asked; missing while it is open"),
    Column("accuracy", "Float64", "share of runs whose result is right"),
    Column("accuracy_low", "Float64", "lower end of its 95 % confidence sequence"),
    Column("accuracy_high", "Float64", "upper end of its 95 % confidence sequence"),
    Column(
        "call", "string", "stable, unstable or undecided, at the study's level of certainty (95 % if it sets none)"
    ),
    Column("instability_low", "Float64", "lower end of the 95 % confidence sequence for normalised instability"),
    Column("instability_high", "Float64", "upper end of the 95 % confidence sequence for normalised instability"),
)

LEVEL = 0.95
_CALLS = {-1: "stable", 0: "undecided", 1: "unstable"}
_Groups = dict[tuple[str, str, str], NDArray[np.intp]]
_NEEDED = ("question_id", "condition_id", "run", "accuracy", "score")


def stopping_table(outcomes: pd.DataFrame, stop: StopConfig, runs: int) -> pd.DataFrame:
    """Say for each cell whether it has had enough runs.

    A cell is looked at after ``stop.looks(runs)`` runs and is through at the first look at which every criterion
    is met, or with `runs` runs. Only the runs 0, 1, … up to the first gap count, so whatever was interrupted, the
    decisions are those of an uninterrupted study; runs beyond the look at which a cell was through do not reopen
    it. Failed runs count as what they scored.

    Parameters
    ----------
    outcomes
        One row per run (see `dsqa.outcomes.columns`). Needed: question_id, condition_id, run, accuracy, score. A
        run whose accuracy or score is missing is no evidence for that criterion.
    stop
        The criteria and the looks.
    runs
        The most runs a cell may have.

    Returns
    -------
    pandas.DataFrame
        The columns of `STOPPING_COLUMNS`, one row per cell, sorted by question and condition.

    Raises
    ------
    StatisticsError
        A column is missing, or a run occurs twice.
    """
    require(outcomes, _NEEDED, "outcome table")
    table = outcomes.reset_index(drop=True)
    if "prompt_hash" not in table.columns:
        table = table.assign(prompt_hash="")
    keys = ["question_id", "condition_id", "prompt_hash"]
    numbers = table["run"].astype("int64").to_numpy()
    marks, points = as_floats(table["accuracy"]), as_floats(table["score"])
    rows, right, scores = [], [], []
    # As text, so that a table that was read anew and one that was just made sort alike.
    groups = cast(_Groups, table[keys].astype(str).groupby(keys).indices)
    for key in sorted(groups):
        members = groups[key]
        order = members[np.argsort(numbers[members], kind="stable")]
        if len(np.unique(numbers[order])) < len(order):
            raise StatisticsError(f"a run of question {key[0]} under {key[1]} occurs twice")
        first = order[: min(int((numbers[order] == np.arange(len(order))).sum()), runs)]
        rows.append((*key, len(first)))
        right.append(marks[first])
        scores.append(points[first])
    frame = pd.DataFrame(rows, columns=[*keys, "runs"])
    if frame.empty:
        return typed(frame, STOPPING_COLUMNS)
    looks = np.array(stop.looks(runs))
    lengths = frame["runs"].to_numpy()
    met = looks <= lengths[:, None]
    calls = np.zeros(met.shape, dtype=np.int8)
    if stop.accuracy is not None:
        low, high = _accuracy_at(right, looks)
        met &= (high - low) / 2 <= stop.accuracy
    if stop.verdict is not None:
        calls = _calls_at(scores, looks, stop.verdict)
        met &= calls != 0
    precise: NDArray[np.bool_] = np.any(met, axis=1)
    stopped = np.where(precise, looks[met.argmax(axis=1)], np.where(lengths >= runs, runs, -1))
    through = stopped >= 0
    upcoming = looks[np.minimum((looks <= lengths[:, None]).sum(axis=1), len(looks) - 1)]
    frame["state"] = np.where(precise, "precise", np.where(through, "max_runs", "open"))
    frame["stopped_at"] = pd.array(stopped, dtype="Int64").copy()
    frame["next_look"] = pd.array(upcoming, dtype="Int64")
    frame.loc[~through, "stopped_at"] = pd.NA
    frame.loc[through, "next_look"] = pd.NA
    frame["max_runs"] = runs
    frame["saved"] = pd.array(runs - lengths, dtype="Int64")
    frame.loc[~through, "saved"] = pd.NA
    return typed(frame.join(_now(right, scores, stop, met.argmax(axis=1), calls, precise)), STOPPING_COLUMNS)


def _now(
    right: list[FloatArray],
    scores: list[FloatArray],
    stop: StopConfig,
    place: NDArray[np.intp],
    calls: NDArray[np.int8],
    precise: NDArray[np.bool_],
) -> pd.DataFrame:
    """Return what is known of each cell with the runs it has."""
    marked = [values[~np.isnan(values)] for values in right]
    scored = [values[~np.isnan(values)] for values in scores]
    successes = np.array([values.sum() for values in marked])
    counts = np.array([values.size for values in marked])
    low, high = proportion_sequence(successes, counts, level=LEVEL)
    spread_low, spread_high = instability_sequence(scored, level=LEVEL)
    sizes = np.array([[values.size] for values in scored])
    last = instability_calls(scored, sizes, level=stop.verdict or LEVEL)[:, 0]
    at_stop = calls[np.arange(len(calls)), place]
    # A cell that stopped because of its call keeps that call.
    final = np.where(precise & (at_stop != 0), at_stop, last)
    return pd.DataFrame(
        {
            "accuracy": np.where(counts > 0, successes / np.maximum(counts, 1), np.nan),
            "accuracy_low": low,
            "accuracy_high": high,
            "call": [_CALLS[int(call)] for call in final],
            "instability_low": spread_low,
            "instability_high": spread_high,
        }
    )


def _before(cells: list[FloatArray], looks: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return sum and number of the known values among the first runs of each cell, at each look."""
    sums = np.zeros((len(cells), len(looks)))
    counts = np.zeros((len(cells), len(looks)), dtype=np.int64)
    for i, cell in enumerate(cells):
        at = np.minimum(looks, cell.size)
        known = ~np.isnan(cell)
        sums[i] = np.concatenate([[0.0], np.cumsum(np.where(known, cell, 0.0))])[at]
        counts[i] = np.concatenate([[0], np.cumsum(known)])[at]
    return sums, counts


def _accuracy_at(right: list[FloatArray], looks: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    return proportion_sequence(*_before(right, looks), level=LEVEL)


def _calls_at(scores: list[FloatArray], looks: NDArray[np.int64], level: float) -> NDArray[np.int8]:
    _, counts = _before(scores, looks)
    return instability_calls([cell[~np.isnan(cell)] for cell in scores], counts, level=level)
