"""The columns of the tables made here: this order, these types, this meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.outcomes.columns import Column
from dsqa.stats.interval import FloatArray

__all__ = [
    "CELL_COLUMNS",
    "GROUP_COLUMNS",
    "LEDGER_COLUMNS",
    "STATUSES",
    "as_floats",
    "require",
    "require_runs",
    "typed",
]

STATUSES = ("answered", "truncated", "refused", "empty", "filtered", "failed")

CELL_COLUMNS: tuple[Column, ...] = (
    # identity
    Column("study", "string", "the study's name"),
    Column("question_id", "string", "the question"),
    Column("category", "string", "the question's task type"),
    Column("level", "string", "easy, medium or hard"),
    Column("condition_id", "string", "the condition"),
    Column("endpoint", "string", "the endpoint's name in the study"),
    Column("model", "string", "the model asked for"),
    Column("temperature", "Float64", "the temperature sent; missing where none was"),
    # ledger
    Column("runs", "Int64", "all runs of the cell, whatever became of them: the denominator of every share"),
    Column("n_answered", "Int64", "runs that came back and stopped by themselves"),
    Column("n_truncated", "Int64", "runs cut off by a limit"),
    Column("n_refused", "Int64", "runs in which the model declined"),
    Column("n_empty", "Int64", "runs that came back without a text"),
    Column("n_filtered", "Int64", "runs stopped by a content filter"),
    Column("n_failed", "Int64", "runs lost to the infrastructure; they score 0"),
    Column("n_unparsed", "Int64", "runs without a readable answer, failed ones included"),
    Column("n_unread", "Int64", "replies in which no answer could be read; `n_unparsed` less the failed runs"),
    Column("n_scored", "Int64", "runs with a score; below `runs` only where a table has unmarked runs"),
    # score and instability
    Column("score_mean", "Float64", "mean score, in [0, 3]"),
    Column("score_sd", "Float64", "instability: population SD of the scores; missing for a single run"),
    Column("instability", "Float64", "normalised instability, SD / 1.5, in [0, 1]"),
    Column("instability_low", "Float64", "lower end of its 95 % interval"),
    Column("instability_high", "Float64", "upper end of its 95 % interval"),
    Column("instability_method", "string", "which interval it is"),
    # the three parts of the score
    Column("completion_rate", "Float64", "share of runs that finished with an acceptable outcome"),
    Column("accuracy", "Float64", "share of runs whose result is right"),
    Column("accuracy_low", "Float64", "lower end of its 95 % interval"),
    Column("accuracy_high", "Float64", "upper end of its 95 % interval"),
    Column(
        "accuracy_method",
        "string",
        "which interval it is: Wilson, or where the study stops by itself a confidence sequence",
    ),
    Column("accuracy_worst", "Float64", "accuracy had every failed run been wrong"),
    Column("accuracy_best", "Float64", "accuracy had every failed run been right"),
    Column(
        "accuracy_if_read",
        "Float64",
        "accuracy had every reply in which no answer could be read been right; `accuracy` has them as not right",
    ),
    Column("executability_mean", "Float64", "mean executability, in [0, 2]"),
    # answers; runs without a readable answer share one answer of their own, "(unparsed)"
    Column("modal_answer", "string", "the most frequent answer key; of equally frequent ones the first by name"),
    Column("modal_share", "Float64", "its share of runs"),
    Column("distinct_answers", "Int64", "number of different answers; unparsed counts as one"),
    Column("total_agreement_rate", "Float64", "TARa@N: 1 if all N answers are equal, else 0; missing for one run"),
    Column("answer_entropy", "Float64", "Shannon entropy of the answers, in bits"),
    Column("gini_simpson", "Float64", "probability that two runs drawn with replacement differ in their answer"),
    # general properties, over the runs that have them
    Column("words_out_mean", "Float64", "mean verbosity in words, over runs with a text"),
    Column("tokens_total_mean", "Float64", "mean tokens of the whole response"),
    Column("jaccard_first_mean", "Float64", "mean Jaccard index with the first run, that run itself left out"),
    Column("jaccard_mean", "Float64", "mean Jaccard index over all pairs of runs"),
    Column("seconds_mean", "Float64", "mean run time"),
    # the call
    Column("verdict", "string", "stable and right, stable and wrong, unstable, not read, no answers, or not known"),
    Column("settled", "bool", "whether the intervals leave the verdict standing"),
    Column("verdict_reason", "string", "why, in a sentence"),
)

GROUP_COLUMNS: tuple[Column, ...] = (
    Column("n_questions", "Int64", "questions with at least one cell whose instability is known"),
    Column("n_cells", "Int64", "cells whose instability is known"),
    Column("n_not_known", "Int64", "cells left out because their instability is not known"),
    Column("runs", "Int64", "runs in the group, all of them"),
    Column("instability", "Float64", "mean over questions of the question's mean normalised instability"),
    Column("instability_low", "Float64", "lower end of its interval over questions"),
    Column("instability_high", "Float64", "upper end of its interval over questions"),
    Column("instability_method", "string", "which interval it is, or why there is none"),
    Column("accuracy", "Float64", "mean over questions of the question's mean accuracy"),
    Column("score_mean", "Float64", "mean over questions of the question's mean score"),
)

LEDGER_COLUMNS: tuple[Column, ...] = (
    Column("condition_id", "string", "the condition"),
    Column("model", "string", "the model asked for"),
    Column("temperature", "Float64", "the temperature sent; missing where none was"),
    Column("runs", "Int64", "all runs"),
    *(Column(f"n_{status}", "Int64", f"runs that ended as {status}") for status in STATUSES),
    Column("n_unparsed", "Int64", "runs without a readable answer, whatever became of them"),
)


def require(table: pd.DataFrame, names: tuple[str, ...], what: str) -> None:
    """Raise `StatisticsError` unless `table` has all columns in `names`."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise StatisticsError(f"the {what} lacks the columns {', '.join(missing)}", hint="see dsqa.outcomes.columns")


_RUN = ("study", "question_id", "condition_id", "model", "temperature", "side", "reader", "prompt_hash", "run")


def require_runs(table: pd.DataFrame, names: tuple[str, ...], *, by: Sequence[str] = ()) -> None:
    """Raise `StatisticsError` unless `table` has all columns in `names` and `by`, and no run twice.

    A run is what the columns of `_RUN` that are there, and those of `by`, name; a table without run numbers cannot be
    checked, and rows without one are not.
    """
    require(table, (*names, *by), "outcome table")
    if "run" not in table.columns or "question_id" not in table.columns:
        return
    keys = list(dict.fromkeys(name for name in (*_RUN, *by) if name in table.columns))
    twice = table["run"].notna() & table.duplicated(keys)
    if twice.any():
        first = table[twice].iloc[0]
        under = next((name for name in ("condition_id", "model") if name in table.columns), None)
        where = f" under {first[under]}" if under else ""
        raise StatisticsError(
            f"run {first['run']:.0f} of question {first['question_id']}{where} occurs twice",
            field="run",
            hint="a run counted twice makes a cell look more certain than it is",
        )


def as_floats(column: pd.Series) -> FloatArray:
    """Return a column of any numeric or nullable type as floats, NaN where a value is missing."""
    return np.asarray(pd.to_numeric(column).astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan))


def typed(table: pd.DataFrame, columns: tuple[Column, ...]) -> pd.DataFrame:
    """Return `table` with exactly `columns`, in their order and types."""
    return table.reindex(columns=[c.name for c in columns]).astype({c.name: c.dtype for c in columns})
