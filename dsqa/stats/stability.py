"""Stability at three layers, side by side: the raw text, the answer read in it, the result of its code.

==========  ======================  ===================================================================
layer       column                  two runs are alike if
==========  ======================  ===================================================================
text        text_hash               their responses are the same, character for character (TARr@N)
answer      answer_key              their answers are equal in canonical form (TARa@N)
result      result_key              running their code gave the same answer, output or kind of error
==========  ======================  ===================================================================

A model can word every response anew and still give one answer; or give one answer in text that its own code does
not bear out. Runs without the thing compared (failed, no answer read, no code) share one value of their own, as
in `dsqa.stats.answers`, and `n_missing` counts them.

Each layer has modal share, entropy, Gini–Simpson, total agreement (TAR@N) and pair agreement (TAR@2) of its values.
Intervals within a cell: `dsqa.stats.answer_intervals`. For groups of cells the *rate* of total agreement, the mean
share and so on average cells within questions, then questions, with the bootstrap over questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.answer_intervals import AgreementStatistic, agreement_intervals, agreement_statistics
from dsqa.stats.answers import UNPARSED
from dsqa.stats.columns import require, require_runs
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.over_questions import question_intervals
from dsqa.stats.proportions import clopper_pearson
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["LAYERS", "stability_layers", "summarise_stability"]

LAYERS: dict[str, str] = {"text": "text_hash", "answer": "answer_key", "result": "result_key"}
"""Layer → the outcome column that says which runs are alike."""

_STATISTICS = get_args(AgreementStatistic)
_CELL = ("study", "question_id", "condition_id")


def stability_layers(
    outcomes: pd.DataFrame,
    *,
    seed: int = DEFAULT_SEED,
    layers: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 1999,
) -> pd.DataFrame:
    """Return a row per cell and layer.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, and the layers' columns; those that the table lacks are left
        out, and so are layers of which a cell has nothing at all (no run has code).
    seed, level, resamples
        Of the bootstrap within cells.
    layers
        Layer → column; `LAYERS` if None.

    Returns
    -------
    pandas.DataFrame
        question_id, condition_id (and study, model, temperature, category, level where there), layer, runs,
        n_missing, distinct, modal, total_agreement (TAR@N: 1 or 0; missing for one run), and modal_share,
        entropy (bits), gini_simpson, pair_agreement (TAR@2), each with `_low` and `_high`; note.

    Raises
    ------
    StatisticsError
        A column is missing, or the table has none of the layers.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": "q", "condition_id": "c", "text_hash": list("abcd")})
    >>> table["answer_key"] = "x=1"
    >>> stability_layers(table, seed=1).set_index("layer")["total_agreement"].to_dict()
    {'text': 0.0, 'answer': 1.0}
    """
    check_level(level)
    wanted = {name: column for name, column in (layers or LAYERS).items() if column in outcomes.columns}
    if not wanted:
        raise StatisticsError("the outcome table has none of the layers", hint=", ".join((layers or LAYERS).values()))
    require_runs(outcomes, ("question_id", "condition_id"))
    keys = [name for name in _CELL if name in outcomes.columns]
    labels = [name for name in ("model", "temperature", "category", "level") if name in outcomes.columns]
    rows = []
    for key, cell in outcomes.groupby(keys, sort=True, dropna=False):
        identity = dict(zip(keys, key, strict=True)) | {name: cell[name].iloc[0] for name in labels}
        for layer, column in wanted.items():
            values = cell[column].astype("string")
            if values.notna().any():
                rows.append(identity | {"layer": layer} | _row(values, seed, level, resamples))
    names = [*keys, *labels, "layer", "runs", "n_missing", "distinct", "modal", "total_agreement"]
    names += [f"{name}{end}" for name in _STATISTICS for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*names, "note"])


def _row(values: pd.Series, seed: int, level: float, resamples: int) -> dict[str, object]:
    filled = values.fillna(UNPARSED)
    counts = filled.value_counts()
    # Of equally frequent values the first by name.
    majority = min(counts.index[counts == counts.max()])
    here = agreement_statistics(np.asarray(counts, dtype=np.float64))
    intervals = agreement_intervals(counts.tolist(), seed=seed, level=level, resamples=resamples)
    row: dict[str, object] = {
        "runs": len(filled),
        "n_missing": int(values.isna().sum()),
        "distinct": len(counts),
        "modal": majority,
        "total_agreement": float(len(counts) == 1) if len(filled) > 1 else math.nan,
        "note": next((interval.note for interval in intervals.values() if interval.note), ""),
    }
    for at, (name, interval) in enumerate(intervals.items()):
        row |= {name: float(here[at]), f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row


def summarise_stability(
    layers: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 9999,
) -> pd.DataFrame:
    """Return the mean of each statistic per group and layer, with an interval over questions.

    Parameters
    ----------
    layers
        As `stability_layers` makes them.
    by
        Columns to group by, besides the layer.
    seed, level, resamples
        `level` of Student's t over questions; the others are accepted as everywhere, nothing is drawn.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, layer, statistic (total_agreement is the TAR rate), questions, cells, mean, low, high,
        method (or why there is no interval).

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    del seed, resamples
    statistics = ("total_agreement", *_STATISTICS)
    require(layers, ("question_id", "layer", *by, *statistics), "table of layers")
    rows, samples = [], []
    unit = [name for name in ("study", "question_id") if name in layers.columns]
    for key, group in layers.groupby([*by, "layer"], sort=False, dropna=False):
        means = group.groupby(unit, sort=True, dropna=False)[list(statistics)].mean()
        for name in statistics:
            sample = means[name].dropna().to_numpy(dtype=np.float64)
            head = dict(zip([*by, "layer"], key, strict=True)) | {"statistic": name}
            rows.append(head | {"questions": sample.size, "cells": int(group[name].notna().sum())})
            samples.append(sample)
    full = [
        row
        | {"mean": np.sort(sample).mean() if sample.size else math.nan}
        | _over_questions(np.round(sample, 12), level)
        for row, sample in zip(rows, samples, strict=True)
    ]
    return pd.DataFrame(full)


def _over_questions(sample: FloatArray, level: float) -> dict[str, object]:
    if sample.size and np.isin(sample, (0.0, 1.0)).all() and np.ptp(sample) == 0:
        # Every question alike, yes or no: the binomial still bounds the rate.
        ci = clopper_pearson(int(sample.sum()), sample.size, level)
    else:
        [ci] = question_intervals([sample], level=level)
    said = f"{ci.method}: {ci.note}" if ci.note else ci.method
    return {"low": ci.low, "high": ci.high, "method": said if ci.available else f"not available: {ci.note}"}
