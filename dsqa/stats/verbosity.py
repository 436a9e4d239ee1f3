"""Token verbosity on word verbosity, every way: one row per scale, method and kind of error.

Log scale: token ratio = a · (word ratio)^b; b = 1 means that tokens are proportional to words, which each row
tests. Raw scale: a straight line through the ratios, tested against slope 0; see `dsqa.stats.regression` and
`dsqa.stats.robust_lines` for the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.regression import ErrorKind, LinearFit, fit_line
from dsqa.stats.robust_lines import RobustSlope, quantile_line, theil_sen_line
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["verbosity_data", "verbosity_fit", "verbosity_table"]

FORMULAS = {"log": "np.log(token_ratio) ~ np.log(word_ratio)", "raw": "token_ratio ~ word_ratio"}


def verbosity_data(outcomes: pd.DataFrame, cluster: str | None = "question_id") -> pd.DataFrame:
    """Return the two ratios as numbers, missing where a run has no output, and the cluster's column.

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    wanted = ("word_ratio", "token_ratio", *((cluster,) if cluster else ()))
    require_runs(outcomes, wanted)
    data = outcomes[list(wanted)].copy()
    for name in ("word_ratio", "token_ratio"):
        number = as_floats(data[name])
        data[name] = np.where(number > 0, number, np.nan)
    return data


def verbosity_fit(
    outcomes: pd.DataFrame, scale: Literal["log", "raw"] = "log", *, cluster: str | None = "question_id"
) -> LinearFit:
    """Fit the token verbosity ratio on the word verbosity ratio.

    On the log scale the slope is the exponent b of token ratio = a · (word ratio)^b: 1 means that tokens
    are proportional to words. `fit.p_value(term, equals=1)` tests it.

    Parameters
    ----------
    outcomes
        One row per run: word_ratio, token_ratio and the cluster's column. Runs without output have no
        ratio and are dropped; `LinearFit.dropped` counts them.
    scale
        "log" for log–log, "raw" for a straight line through the ratios.
    cluster
        What makes runs alike; None for independent runs.

    Raises
    ------
    StatisticsError
        A column is missing, or too few runs have both ratios.
    """
    if scale not in ("log", "raw"):
        raise StatisticsError(f"unknown scale '{scale}'", hint="log or raw")
    return fit_line(FORMULAS[scale], verbosity_data(outcomes, cluster), cluster=cluster)


def verbosity_table(
    outcomes: pd.DataFrame,
    *,
    seed: int = DEFAULT_SEED,
    cluster: str = "question_id",
    scales: tuple[Literal["log", "raw"], ...] = ("log", "raw"),
    level: float = 0.95,
    resamples: int = 999,
) -> pd.DataFrame:
    """Return the slope of the token ratio on the word ratio by every method.

    Parameters
    ----------
    outcomes
        One row per run: word_ratio, token_ratio, and the cluster's column.
    seed, resamples
        Of Theil–Sen.
    cluster
        What makes runs alike.
    scales
        "log" and "raw".
    level
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        scale, method (OLS, median, Theil–Sen), errors, slope, se, low, high, tested (1 on the log scale, 0 on
        the raw), p, n, dropped (runs without output), questions, and for OLS intercept, r_squared,
        beyond_two_sd (share of residuals beyond ±2 SD; 0.0455 for normal ones). note: why a robust line is
        missing, and what is known of an interval's coverage.

    Raises
    ------
    StatisticsError
        A column is missing, or too few runs have both ratios.

    Examples
    --------
    >>> words = np.array([1.0, 2, 4, 3, 5, 9, 2, 6])
    >>> table = pd.DataFrame({"question_id": list("aabbccdd"), "word_ratio": words})
    >>> table["token_ratio"] = 0.7 * words**1.5 * np.array([1, 1.1, 0.9, 1, 1.2, 1, 0.8, 1])
    >>> slopes = verbosity_table(table, seed=1, scales=("log",), resamples=99)
    >>> slopes.groupby("method")["slope"].first().round(1).to_dict()
    {'OLS': 1.5, 'Theil–Sen': 1.5, 'median': 1.5}
    """
    data = verbosity_data(outcomes, cluster)
    rows = []
    for scale in scales:
        formula, tested = FORMULAS[scale], 1.0 if scale == "log" else 0.0
        fit = fit_line(formula, data, cluster=cluster)
        term = next(name for name in fit.coefficients if name != "Intercept")
        common = {"scale": scale, "n": fit.n, "dropped": fit.dropped, "questions": fit.clusters, "tested": tested}
        for kind in (kind for kind in get_args(ErrorKind) if kind in fit.errors):
            ci = fit.interval(term, kind=kind, level=level)
            row = common | {"method": "OLS", "errors": kind, "slope": fit.coefficients[term]}
            row |= {"se": fit.errors[kind][term], "low": ci.low, "high": ci.high, "note": ci.note or None}
            row |= {"p": fit.p_value(term, equals=tested, kind=kind), "intercept": fit.coefficients["Intercept"]}
            rows.append(row | {"r_squared": fit.r_squared, "beyond_two_sd": fit.beyond_two_sd})
        settings: dict[str, Any] = {"cluster": cluster, "equals": tested, "level": level}
        lines: dict[tuple[str, str], Callable[[], RobustSlope]] = {
            ("median", "cluster"): partial(quantile_line, formula, data, **settings),
            ("Theil–Sen", "jackknife"): partial(
                theil_sen_line, formula, data, seed=seed, resamples=resamples, **settings
            ),
        }
        rows += [common | _robust(method, errors, line) for (method, errors), line in lines.items()]
    names = ["scale", "method", "errors", "slope", "se", "low", "high", "tested", "p", "n", "dropped", "questions"]
    return pd.DataFrame(rows).reindex(columns=[*names, "intercept", "r_squared", "beyond_two_sd", "note"])


def _robust(method: str, errors: str, line: Callable[[], RobustSlope]) -> dict[str, object]:
    try:
        slope = line()
    except StatisticsError as refusal:
        return {"method": method, "errors": errors, "note": refusal.message}
    ends = {"low": slope.interval.low, "high": slope.interval.high, "p": slope.p, "note": slope.interval.note or None}
    return {"method": method, "errors": errors, "slope": slope.estimate, "se": slope.error} | ends
