"""Every usual interval for the exponent of token ratio = a · (word ratio)^b, so that a printed one can be told apart.

Rows differ in the unit (runs, or cell or question means) and in what is taken as independent. The band is no
confidence interval: it holds the slopes of straight lines that stay within ±2 SD of the fitted one over the range of
the word ratios.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats

from dsqa.stats.line_bootstrap import bootstrap_line
from dsqa.stats.verbosity import FORMULAS, verbosity_fit

__all__ = ["exponent_intervals", "unit_tables"]

CLASSICAL = {"nonrobust": "OLS, classical", "HC0": "HC0", "HC1": "HC1", "HC2": "HC2", "HC3": "HC3"}


def unit_tables(outcomes: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the table that is fitted for each choice of unit: runs, cells, questions; means of logs or of ratios."""
    runs = outcomes[["question_id", "condition_id", "run", "word_ratio", "token_ratio"]].copy()
    for name in ("word_ratio", "token_ratio"):
        runs[name] = runs[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        runs.loc[~(runs[name] > 0), name] = np.nan
    runs = runs.dropna(subset=["word_ratio", "token_ratio"]).reset_index(drop=True)
    tables = {"runs": runs}
    for unit, keys in {"cells": ["question_id", "condition_id"], "questions": ["question_id"]}.items():
        tables[f"{unit}, means of ratios"] = runs.groupby(keys, as_index=False)[["word_ratio", "token_ratio"]].mean()
        logs = runs.assign(word_ratio=np.log(runs["word_ratio"]), token_ratio=np.log(runs["token_ratio"]))
        means = logs.groupby(keys, as_index=False)[["word_ratio", "token_ratio"]].mean()
        tables[f"{unit}, means of logs"] = means.assign(
            word_ratio=np.exp(means["word_ratio"]), token_ratio=np.exp(means["token_ratio"])
        )
    return tables


def exponent_intervals(
    outcomes: pd.DataFrame, *, seed: int = 0, level: float = 0.95, resamples: int = 9999
) -> pd.DataFrame:
    """Return a row per construction: unit, construction, n, exponent, low, high."""
    rows: list[tuple[str, str, int, float, float, float]] = []
    conditions = outcomes["condition_id"].nunique()
    for unit, table in unit_tables(outcomes).items():
        # With one condition cells are questions.
        if len(table) < 4 or (unit.startswith("cells") and conditions == 1):
            continue
        rows += [(unit, *row) for row in _classical(table, level)]
        if unit == "runs":
            rows += [(unit, *row) for row in _clustered(outcomes, table, seed, level, resamples)]
        else:
            numbered = table.assign(own=np.arange(len(table)))
            rows += [
                (
                    unit,
                    *_bootstrapped(numbered, "own", f"bootstrap over {unit.split(',')[0]}", seed, level, resamples),
                )
            ]
    return pd.DataFrame(rows, columns=["unit", "construction", "n", "exponent", "low", "high"])


def _classical(table: pd.DataFrame, level: float) -> Iterator[tuple[str, int, float, float, float]]:
    x, y = np.log(table["word_ratio"].to_numpy()), np.log(table["token_ratio"].to_numpy())
    for kind, name in CLASSICAL.items():
        fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type=kind, use_t=True)
        low, high = fit.conf_int(1 - level)[1]
        yield f"{name}, t", len(x), float(fit.params[1]), float(low), float(high)
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    half = float(stats.norm.isf((1 - level) / 2)) * float(fit.bse[1])
    yield "OLS, classical, normal", len(x), float(fit.params[1]), fit.params[1] - half, fit.params[1] + half
    slope, band = float(fit.params[1]), 2 * float(np.sqrt(fit.mse_resid)) / (np.ptp(x) / 2)
    yield "lines within the ±2 SD band", len(x), slope, slope - band, slope + band


def _clustered(
    outcomes: pd.DataFrame, runs: pd.DataFrame, seed: int, level: float, resamples: int
) -> Iterator[tuple[str, int, float, float, float]]:
    if outcomes["question_id"].nunique() > 2:
        fit = verbosity_fit(outcomes, "log")
        term = next(name for name in fit.coefficients if name != "Intercept")
        slope = fit.coefficients[term]
        for kind, name in {"cluster": "cluster by question", "cluster-hc3": "cluster by question, HC3"}.items():
            ci = fit.interval(term, kind=kind, level=level)
            yield f"{name}, t", fit.n, slope, ci.low, ci.high
        half = float(stats.norm.isf((1 - level) / 2)) * fit.errors["cluster"][term]
        yield "cluster by question, normal", fit.n, slope, slope - half, slope + half
    units = {"own": "runs", "cell": "cells", "question_id": "questions"}
    table = runs.assign(
        own=np.arange(len(runs)), cell=runs["question_id"].astype(str) + "|" + runs["condition_id"].astype(str)
    )
    for column, name in units.items():
        if table[column].nunique() > 2:
            yield _bootstrapped(table, column, f"bootstrap over {name}", seed, level, resamples)


def _bootstrapped(
    table: pd.DataFrame, cluster: str, name: str, seed: int, level: float, resamples: int
) -> tuple[str, int, float, float, float]:
    # A row of counts per resample: fewer of these where every run is a unit of its own.
    count = min(resamples, max(999, 20_000_000 // len(table)))
    line = bootstrap_line(FORMULAS["log"], table, cluster=cluster, seed=seed, level=level, resamples=count)
    return name, len(table), line.slope, line.slope_interval.low, line.slope_interval.high
