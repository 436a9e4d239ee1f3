"""One row per cell: every statistic of a question under a condition."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.answers import answer_summaries
from dsqa.stats.columns import CELL_COLUMNS, STATUSES, as_floats, require, require_runs, typed
from dsqa.stats.dispersion import SCORE_BOUNDS, instability_intervals, normalised_instability
from dsqa.stats.interval import FloatArray, Interval
from dsqa.stats.proportions import missing_bounds, proportion_bounds
from dsqa.stats.sequential.proportion import PROPORTION_SEQUENCE, proportion_sequence
from dsqa.stats.sequential.spread import INSTABILITY_SEQUENCE, instability_sequence
from dsqa.stats.streams import DEFAULT_SEED
from dsqa.stats.verdicts import verdicts

__all__ = ["summarise_cells"]

LEVEL = 0.95
_NEEDED = ("question_id", "condition_id", "status", "completion", "accuracy", "executability", "score")
_LABELS = ("category", "level", "endpoint", "model", "temperature")
_MEANS = {
    "completion_rate": "completion",
    "accuracy": "accuracy",
    "executability_mean": "executability",
    "words_out_mean": "words_out",
    "tokens_total_mean": "tokens_total",
    "jaccard_mean": "jaccard_mean",
    "seconds_mean": "seconds",
}


def summarise_cells(
    outcomes: pd.DataFrame, *, seed: int = DEFAULT_SEED, resamples: int = 9999, sequential: bool = False
) -> pd.DataFrame:
    """Return one row per cell (study, question and condition), sorted by them.

    Failed, refused and truncated runs stay in every denominator of completion, accuracy and score,
    where they count as the outcome table scores them. Means of what a run may lack (words, tokens,
    Jaccard, seconds) are over the runs that have it. Row order does not matter, and a cell's row does
    not depend on which other cells are in the table.

    Parameters
    ----------
    outcomes
        One row per run, see `dsqa.outcomes.columns`. Needed: question_id, condition_id, status,
        completion, accuracy, executability, score; columns not there give missing statistics.
    seed, resamples
        Of the bootstrap behind `instability_low` and `instability_high`.
    sequential
        The number of runs was decided by looking at them: intervals are confidence sequences (see
        `dsqa.stats.sequential`), which stay valid then, in place of Wilson's and the bootstrap's, which do not.

    Returns
    -------
    pandas.DataFrame
        The columns of `CELL_COLUMNS`.

    Raises
    ------
    StatisticsError
        A needed column is missing, a key or status is missing or unknown, a run occurs twice, a cell
        mixes prompts, or a score lies outside of [0, 3].
    """
    runs = _checked(outcomes)
    if runs.empty:
        return typed(pd.DataFrame(), CELL_COLUMNS)
    cell = runs["cell"]
    groups = runs.groupby("cell", sort=True)
    table = groups[["study", "question_id", "condition_id", *_LABELS]].first()
    table["runs"] = groups.size()
    for status in STATUSES:
        table[f"n_{status}"] = (runs["status"] == status).groupby(cell).sum()
    marked = runs["accuracy"].notna()
    table["n_unparsed"] = (runs["answer_key"].isna() & marked).groupby(cell).sum()
    table["n_unread"] = runs["unread"].groupby(cell).sum(min_count=1)
    table["n_scored"] = groups["score"].count()
    for name, source in _MEANS.items():
        table[name] = groups[source].mean()
    table["jaccard_first_mean"] = _after_first(runs)
    table = table.join(_scores(runs, seed, resamples, sequential)).join(_accuracy(runs, sequential))
    # Without a ground truth no answer is looked for: the runs do not agree, nobody knows.
    answers = answer_summaries(runs["answer_key"], cell)
    table = table.join(answers.where((runs["answer_key"].notna() | marked).groupby(cell).any()))
    return typed(table.join(verdicts(table)).reset_index(drop=True), CELL_COLUMNS)


def _checked(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return what is needed of the table, sorted, numeric as float64, with cells numbered from 0."""
    require(outcomes, _NEEDED, "outcome table")
    runs = outcomes.reset_index(drop=True).copy()
    for name in ("study", *_LABELS, "run", "prompt_hash", "answer_key", *_MEANS.values(), "jaccard_first"):
        if name not in runs.columns:
            runs[name] = pd.NA
    for name in ("study", "question_id", "condition_id", "status", "answer_key", "prompt_hash"):
        runs[name] = runs[name].astype("string")
    for name in ("run", "score", "jaccard_first", *_MEANS.values()):
        runs[name] = as_floats(runs[name])
    # A reply that should have held an answer. What was found right was read, however a table came by it; a table
    # without answers says nothing of reading.
    unread = runs["answer_key"].isna() & (runs["accuracy"] == 0) & (runs["status"] != "failed")
    runs["unread"] = unread.astype(float) if "answer_key" in outcomes.columns else np.nan
    for name in ("question_id", "condition_id"):
        if runs[name].isna().any():
            raise StatisticsError(f"{int(runs[name].isna().sum())} runs have no {name}", field=name)
    unknown = sorted(set(runs["status"].fillna("missing")) - set(STATUSES))
    if unknown:
        raise StatisticsError(f"unknown status '{unknown[0]}'", field="status", hint=f"one of {', '.join(STATUSES)}")
    low, high = SCORE_BOUNDS
    outside = (runs["score"] < low) | (runs["score"] > high)
    if outside.any():
        worst = runs.loc[outside, "score"].iloc[0]
        raise StatisticsError(f"a score of {worst:g} lies outside of {low:g} to {high:g}", field="score")
    keys = ["study", "question_id", "condition_id"]
    runs = runs.sort_values([*keys, "run"], kind="stable", ignore_index=True)
    runs["cell"] = runs.groupby(keys, sort=True, dropna=False).ngroup()
    require_runs(runs, ("run",))
    prompts = runs.groupby("cell")["prompt_hash"].nunique()
    if (prompts > 1).any():
        mixed = runs[runs["cell"] == prompts.idxmax()].iloc[0]
        raise StatisticsError(
            f"question {mixed['question_id']} under {mixed['condition_id']} was asked with {prompts.max()} prompts",
            hint="runs of different prompts are different cells: give each prompt a condition_id of its own",
        )
    return runs


def _after_first(runs: pd.DataFrame) -> pd.Series:
    """Return the mean Jaccard index with the first run, which is 1 with itself and says nothing."""
    later = runs["run"] > runs.groupby("cell")["run"].transform("min")
    return runs["jaccard_first"].where(later).groupby(runs["cell"]).mean()


def _scores(runs: pd.DataFrame, seed: int, resamples: int, sequential: bool) -> pd.DataFrame:
    scored = runs[runs["score"].notna()]
    cells: dict[object, FloatArray] = {
        key: group.to_numpy(dtype=np.float64) for key, group in scored.groupby("cell", sort=True)["score"]
    }
    if sequential:
        intervals = _sequences(list(cells.values()))
    else:
        intervals = instability_intervals(list(cells.values()), seed=seed, resamples=resamples)
    rows = []
    half = (SCORE_BOUNDS[1] - SCORE_BOUNDS[0]) / 2
    for scores, interval in zip(cells.values(), intervals, strict=True):
        spread = normalised_instability(scores) if scores.size > 1 else np.nan
        rows.append((np.sort(scores).mean(), spread * half, spread, interval.low, interval.high, interval.method))
    names = ["score_mean", "score_sd", "instability", "instability_low", "instability_high", "instability_method"]
    table = pd.DataFrame(rows, index=pd.Index(list(cells), name="cell"), columns=names)
    table = table.reindex(pd.Index(np.unique(runs["cell"]), name="cell"))
    return table.fillna({"instability_method": "not available"})


def _sequences(cells: list[FloatArray]) -> list[Interval]:
    low, high = instability_sequence(cells, level=LEVEL)
    return [
        Interval(float(a), float(b), LEVEL, INSTABILITY_SEQUENCE)
        if scores.size > 1
        else Interval.unavailable(LEVEL, "not available", "one run says nothing about instability")
        for scores, a, b in zip(cells, low, high, strict=True)
    ]


def _accuracy(runs: pd.DataFrame, sequential: bool) -> pd.DataFrame:
    cell = runs["cell"]
    right = runs["accuracy"].groupby(cell).sum()
    marked = runs["accuracy"].groupby(cell).count()
    # A failed run counts as wrong already; only those can turn.
    lost = ((runs["status"] == "failed") & (runs["accuracy"] == 0)).groupby(cell).sum()
    if sequential:
        low, high = proportion_sequence(right, marked, level=LEVEL)
        low, high = (np.where(marked > 0, end, np.nan) for end in (low, high))
    else:
        low, high = proportion_bounds(right, marked, level=LEVEL)
    worst, best = missing_bounds(right, marked, lost)
    _, read = missing_bounds(right, marked, runs["unread"].groupby(cell).sum(min_count=1))
    return pd.DataFrame(
        {
            "accuracy_low": low,
            "accuracy_high": high,
            "accuracy_method": PROPORTION_SEQUENCE if sequential else "Wilson",
            "accuracy_worst": worst,
            "accuracy_best": best,
            "accuracy_if_read": read,
        },
        index=right.index,
    )
