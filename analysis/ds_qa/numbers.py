"""How each published number is computed here: measure → (construction, value)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from analysis.ds_qa.common import Study
from analysis.ds_qa.intervals import exponent_intervals, unit_tables
from dsqa.stats import correlation_matrix, summarise_groups
from dsqa.stats.verbosity import verbosity_fit

__all__ = ["MEASURES", "Value"]

Value = float | tuple[float, float]
_Found = Iterator[tuple[str, Value]]


def _both(study: Study) -> tuple[np.ndarray, np.ndarray]:
    runs = unit_tables(study.outcomes)["runs"]
    return runs["word_ratio"].to_numpy(), runs["token_ratio"].to_numpy()


def spearman(study: Study, _row: dict[str, Any]) -> _Found:
    yield "over all runs", float(stats.spearmanr(*_both(study)).statistic)


def pearson(study: Study, _row: dict[str, Any]) -> _Found:
    words, tokens = _both(study)
    yield "over all runs", float(stats.pearsonr(words, tokens).statistic)
    yield "over all runs, of the logarithms", float(stats.pearsonr(np.log(words), np.log(tokens)).statistic)


def exponent(study: Study, _row: dict[str, Any]) -> _Found:
    table = exponent_intervals(study.outcomes, resamples=999).drop_duplicates("unit")
    for unit, value in zip(table["unit"], table["exponent"], strict=True):
        yield f"OLS on {unit}", float(value)


def exponent_interval(study: Study, _row: dict[str, Any]) -> _Found:
    for row in exponent_intervals(study.outcomes).itertuples():
        yield f"{row.construction}; {row.unit}", (float(row.low), float(row.high))


def _raw(term: str) -> Callable[[Study, dict[str, Any]], _Found]:
    def found(study: Study, _row: dict[str, Any]) -> _Found:
        yield "OLS on all runs, raw scale", verbosity_fit(study.outcomes, "raw", cluster=None).coefficients[term]

    return found


def beyond_two_sd(study: Study, _row: dict[str, Any]) -> _Found:
    yield "log-log line on all runs", 100 * verbosity_fit(study.outcomes, "log", cluster=None).beyond_two_sd


def questions(study: Study, _row: dict[str, Any]) -> _Found:
    yield "questions with both ratios", float(unit_tables(study.outcomes)["runs"]["question_id"].nunique())


def instability(study: Study, row: dict[str, Any]) -> _Found:
    cells = study.tables.cells
    fits = cells["category"].astype(str).map(lambda name: re.search(row["category"], name, re.I) is not None)
    chosen = cells[fits & cells["level"].astype(str).eq(row["level"])]
    scale = 100 if row.get("unit") == "per cent" else 1
    if chosen["instability"].notna().any():
        means = summarise_groups(chosen, ["level"], seed=study.tables.seed, resamples=999)
        yield "mean over questions of their mean", scale * float(means["instability"].iloc[0])
        if len(chosen) > 1:
            yield "largest of a cell", scale * float(chosen["instability"].max())
        # Or scaled so that the most unstable cell of the study has 1.
        largest = float(cells["instability"].max())
        if largest > 0:
            yield (
                "mean over questions, largest of the study as 1",
                scale * float(means["instability"].iloc[0]) / largest,
            )


def composition(study: Study, row: dict[str, Any]) -> _Found:
    bank = study.tables.bank or ()
    if len(bank):
        fits = sum(re.search(row["category"], question.category, re.I) is not None for question in bank)
        yield "questions of the study's bank", 100 * fits / len(bank)


def largest_correlation(study: Study, _row: dict[str, Any]) -> _Found:
    metrics = ["words_out", "executability", "jaccard_first", "seconds"]
    for kind in ("pearson", "spearman"):
        table = correlation_matrix(study.outcomes, metrics, kind=kind)
        others = table.loc["words_out", [name for name in metrics[1:] if name in table.columns]]
        if others.notna().any():
            yield f"{kind}, words with executability, similarity, run time", float(others.max())


def similarity(study: Study, _row: dict[str, Any]) -> _Found:
    outcomes = study.outcomes
    values = outcomes["jaccard_first"].astype("Float64")
    later = outcomes["run"] > 0
    if values[later].notna().any():
        yield "mean with the first run, itself left out", float(values[later].mean())
        yield "mean with the first run, itself (1) included", float(values.mean())


def _tokens(name: str) -> Callable[[Study, dict[str, Any]], _Found]:
    def found(study: Study, _row: dict[str, Any]) -> _Found:
        values = study.outcomes["tokens_total"].dropna()
        if len(values):
            yield f"{name} over runs, whole response", float(getattr(values, name)())

    return found


MEASURES: dict[str, Callable[[Study, dict[str, Any]], _Found]] = {
    "spearman": spearman,
    "pearson": pearson,
    "exponent": exponent,
    "exponent interval": exponent_interval,
    "raw intercept": _raw("Intercept"),
    "raw slope": _raw("word_ratio"),
    "beyond two SD": beyond_two_sd,
    "questions": questions,
    "composition": composition,
    "instability": instability,
    "largest correlation": largest_correlation,
    "similarity": similarity,
    "fewest tokens": _tokens("min"),
    "most tokens": _tokens("max"),
    "mean tokens": _tokens("mean"),
}
"""As `measure` in published.yaml; each is given the runs that the published number is of."""
