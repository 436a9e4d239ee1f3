"""pass@k, pass^k, G-pass@k and maj@k as curves over k, with intervals, per cell and per group.

Formulas: `dsqa.stats.repeated`. A cell of fewer than k runs has no value at k and is left out there, which is
counted; it is never padded. Runs that failed count as wrong and do not vote, or are left out (`failed`).

Intervals of a cell. pass@k, pass^k and G-pass@k are increasing in p, so Wilson's interval for p maps to theirs. maj@k
is the binomial majority at Wilson's ends where there is one right and one wrong answer; else the delete-one
jackknife, which needs as many evaluations as there are distinct answers (Efron 1982), on the log-odds scale; where
leaving out a run changes nothing, the binomial majority with all other answers united against the right ones, the
worst they could do.

Intervals of a group: mean over questions of the mean over their cells, BCa bootstrap over questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require, require_runs
from dsqa.stats.interval import Interval, check_level
from dsqa.stats.over_questions import question_intervals
from dsqa.stats.proportions import proportion_bounds
from dsqa.stats.repeated import at_least, maj_at_k, pass_interval
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["cell_curves", "curve_means", "maj_interval"]

_CELL = ("study", "question_id", "condition_id")
_LABELS = ("model", "temperature", "category", "level")


def _binomial_majority(share: float, k: int) -> float:
    """Return the chance that more than half of k votes are right, ties decided by a coin."""
    over = float(special.bdtrc(k // 2, k, share))
    if k % 2:
        return over
    half = k // 2
    tie = math.comb(k, half) * share**half * (1 - share) ** half
    return over + tie / 2


def maj_interval(
    right: Sequence[int], wrong: Sequence[int], k: int, *, unparsed: int = 0, level: float = 0.95
) -> Interval:
    """Return an interval for the chance that the majority of k future runs is right.

    Parameters
    ----------
    right, wrong, unparsed
        As in `maj_at_k`.
    k
        Number of votes.
    level
        Nominal coverage.

    Returns
    -------
    Interval
        Not available where the jackknife is needed and there are no more than k runs.

    Raises
    ------
    StatisticsError
        Fewer than k runs, or a negative count.

    Examples
    --------
    >>> ci = maj_interval([8], [2], 5)
    >>> round(ci.low, 2), round(ci.high, 2)
    (0.48, 1.0)
    """
    check_level(level)
    value = maj_at_k(right, wrong, k, unparsed=unparsed)
    good, bad = [c for c in right if c], [c for c in wrong if c]
    n = sum(good) + sum(bad) + unparsed
    low, high = (float(end) for end in proportion_bounds(sum(good), n, level=level))
    mapped = Interval(
        _binomial_majority(low, k), _binomial_majority(high, k), level, "Wilson interval for p, mapped"
    )  # fmt: skip
    if not unparsed and len(good) <= 1 and len(bad) <= 1:
        return mapped
    if n <= k:
        return Interval.unavailable(level, "jackknife over runs", f"{n} runs are too few to leave one out at k = {k}")
    without = []
    for group in (good, bad):
        for at, count in enumerate(group):
            fewer = [c - (i == at) for i, c in enumerate(group)]
            pair = (fewer, bad) if group is good else (good, fewer)
            without.append((count, maj_at_k(*pair, k, unparsed=unparsed)))
    if unparsed:
        without.append((unparsed, maj_at_k(good, bad, k, unparsed=unparsed - 1)))
    weights, values = np.array(without).T
    mean = float(weights @ values) / n
    error = math.sqrt((n - 1) / n * float(weights @ (values - mean) ** 2))
    if error < 1e-12 or not 1e-9 < value < 1 - 1e-9:
        return mapped
    # On the log-odds scale it can neither leave [0, 1] nor be symmetric near its ends.
    half = -float(special.ndtri((1 - level) / 2)) * error / (value * (1 - value))
    ends = special.expit(special.logit(value) + half * np.array([-1.0, 1.0]))
    return Interval(float(ends[0]), float(ends[1]), level, "jackknife over runs, log odds")


def cell_curves(
    outcomes: pd.DataFrame,
    ks: Sequence[int] = (1, 3, 5, 10),
    *,
    threshold: float = 0.75,
    failed: Literal["wrong", "left out"] = "wrong",
    level: float = 0.95,
) -> pd.DataFrame:
    """Return a row per cell, k and statistic.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, accuracy, answer_key (for maj@k; missing where no answer was
        read), status (for `failed`). Runs without a mark are left out.
    ks
        Numbers of runs.
    threshold
        τ of G-pass@k.
    failed
        Whether runs lost to the infrastructure count as wrong, or not at all.
    level
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        question_id, condition_id (study, model, temperature, category, level where there), k, statistic, runs,
        right, value, low, high, method. Value and maj@k's interval are missing where runs are fewer than k.

    Raises
    ------
    StatisticsError
        A column is missing, or a setting is out of range.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": "q", "condition_id": "c", "accuracy": [1, 1, 0, 0]})
    >>> cell_curves(table, [2]).set_index("statistic")["value"].round(3).to_dict()
    {'pass@k': 0.833, 'pass^k': 0.167, 'G-pass@k': 0.167}
    """
    check_level(level)
    if not ks or min(ks) < 1:
        raise StatisticsError("k must be at least 1")
    if not 0 < threshold <= 1:
        raise StatisticsError(f"the threshold is a share in (0, 1], got {threshold:g}")
    if failed not in ("wrong", "left out"):
        raise StatisticsError(f"failed runs are 'wrong' or 'left out', not '{failed}'")
    needed = ("question_id", "condition_id", "accuracy", *(() if failed == "wrong" else ("status",)))
    require_runs(outcomes, needed)
    runs = outcomes if failed == "wrong" else outcomes[(outcomes["status"] != "failed").to_numpy(dtype=bool)]
    keys = [name for name in _CELL if name in runs.columns]
    labels = [name for name in _LABELS if name in runs.columns]
    rows = []
    for key, cell in runs.groupby(keys, sort=True, dropna=False):
        identity = dict(zip(keys, key, strict=True)) | {name: cell[name].iloc[0] for name in labels}
        marks = as_floats(cell["accuracy"])
        known = np.isfinite(marks)
        n, c = int(known.sum()), int(np.nansum(marks))
        votes = _votes(cell["answer_key"][known], marks[known]) if "answer_key" in cell.columns else None
        for k in ks:
            common = identity | {"k": k, "runs": n, "right": c}
            most = max(1, math.ceil(threshold * k - 1e-9))
            for name, least in (("pass@k", 1), ("pass^k", k), ("G-pass@k", most)):
                value = at_least(n, c, k, least) if n >= k else math.nan
                ci = pass_interval(n, c, k, least, level=level) if n else Interval.unavailable(level, "", "no runs")
                rows.append(common | {"statistic": name, "value": value} | _ends(ci))
            if votes is not None:
                rows.append(common | {"statistic": "maj@k"} | _majority(votes, n, k, level))
    names = [*keys, *labels, "k", "statistic", "runs", "right", "value", "low", "high", "method"]
    return pd.DataFrame(rows, columns=names)


def _votes(keys: pd.Series, marks: np.ndarray) -> tuple[list[int], list[int], int]:
    """Return how often each right and each wrong answer occurs, and runs without an answer.

    A right run without a key (marked otherwise) votes for a right answer of its own kind.
    """
    names = keys.astype("string").fillna("").to_numpy(dtype=object)
    right = pd.Series(names[marks == 1]).value_counts().sort_index().tolist()
    wrong = pd.Series(names[(marks == 0) & (names != "")]).value_counts().sort_index().tolist()
    return right, wrong, int(((marks == 0) & (names == "")).sum())


def _majority(votes: tuple[list[int], list[int], int], n: int, k: int, level: float) -> dict[str, object]:
    right, wrong, unparsed = votes
    if n < k:
        return {"value": math.nan, "low": math.nan, "high": math.nan, "method": f"not available: {n} runs"}
    value = maj_at_k(right, wrong, k, unparsed=unparsed)
    return {"value": value} | _ends(maj_interval(right, wrong, k, unparsed=unparsed, level=level))


def _ends(interval: Interval) -> dict[str, object]:
    method = interval.method if interval.available else f"not available: {interval.note}"
    return {"low": interval.low, "high": interval.high, "method": method}


def curve_means(
    curves: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 9999,
) -> pd.DataFrame:
    """Return the mean of each curve over questions, with Student's t interval over questions.

    Parameters
    ----------
    curves
        As `cell_curves` makes them.
    by
        Columns to group by.
    seed, level, resamples
        `level` of the interval; the others are accepted as everywhere, nothing is drawn.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, statistic, k, questions, cells, left_out (cells with fewer than k runs), mean, low, high,
        method.

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    del seed, resamples
    require(curves, ("question_id", "statistic", "k", "value", *by), "table of curves")
    unit = [name for name in ("study", "question_id") if name in curves.columns]
    rows, samples = [], []
    for key, group in curves.groupby([*by, "statistic", "k"], sort=True, dropna=False):
        known = group[group["value"].notna()]
        sample = known.groupby(unit, sort=True, dropna=False)["value"].mean().to_numpy(dtype=np.float64)
        head = dict(zip([*by, "statistic", "k"], key, strict=True)) | {"questions": sample.size, "cells": len(known)}
        mean = np.sort(sample).mean() if sample.size else math.nan
        rows.append(head | {"left_out": len(group) - len(known), "mean": mean})
        samples.append(np.round(sample, 12))
    present = [at for at, sample in enumerate(samples) if sample.size]
    intervals = question_intervals([samples[at] for at in present], level=level)
    ends = dict(zip(present, map(_ends, intervals), strict=True))
    nothing = {"low": math.nan, "high": math.nan, "method": "not available: no cell has so many runs"}
    return pd.DataFrame([row | ends.get(at, nothing) for at, row in enumerate(rows)])
