"""What temperature does: a straight line and a natural cubic spline through cells, within questions.

Estimand: the mean change of a cell's statistic (accuracy, mean score or σ̄) with temperature, for the same
question and model. Each cell counts once. Values and predictors are centred within question × model first (as
fixed effects would), so that questions asked at other temperatures than others do not bend the curve; errors are
clustered by question ("cluster-hc3" of `dsqa.stats.regression`, t with questions − 1 degrees of freedom).

The spline is linear beyond its outer knots and has K − 1 terms for K knots, t itself first:

    bⱼ(t) = [(t − kⱼ)₊³ − (t − l)₊³ (k_K − kⱼ)/(k_K − l) + (t − k_K)₊³ (l − kⱼ)/(k_K − l)] / (k_K − k₁)²

for j = 1 … K − 2, l = k_{K−1} (Stone & Koo 1985; Harrell 2015, Regression Modeling Strategies, 2.4.5; R's
`rms::rcs`). Knots are the temperatures themselves up to five of them, else five quantiles of them. That all bⱼ
have coefficient 0 is the test of non-linearity, an F test with the clustered covariance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.columns import require_runs
from dsqa.stats.comparison.layout import STATISTICS, Measure, labels_of
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.regression import LinearFit, fit_line

__all__ = ["DoseResponse", "dose_response", "natural_spline"]

_KNOTS = 5


def natural_spline(values: ArrayLike, knots: ArrayLike) -> FloatArray:
    """Return the basis of a natural cubic spline, shape (n, K − 1): the values, then one column per bend.

    Raises
    ------
    StatisticsError
        Fewer than three knots, or knots that do not increase.

    Examples
    --------
    >>> natural_spline([0.0, 1.0, 2.0], [0, 1, 2]).tolist()
    [[0.0, 0.0], [1.0, 0.25], [2.0, 1.5]]
    """
    t, k = np.asarray(values, dtype=np.float64), np.asarray(knots, dtype=np.float64)
    if k.size < 3 or (np.diff(k) <= 0).any():
        raise StatisticsError("a natural spline needs at least three increasing knots")

    def cube(at: float) -> FloatArray:
        return np.asarray(np.maximum(t - at, 0.0) ** 3, dtype=np.float64)

    last, second = k[-1], k[-2]
    bends = [
        (cube(a) - cube(second) * (last - a) / (last - second) + cube(last) * (second - a) / (last - second))
        / (last - k[0]) ** 2
        for a in k[:-2]
    ]
    return np.column_stack([t, *bends])


@dataclass(frozen=True)
class DoseResponse:
    """What temperature does to a statistic.

    Parameters
    ----------
    measure
        The statistic.
    linear
        The straight line; its term "temperature" is the change per degree of 1.
    spline
        The spline, or None with fewer than three temperatures.
    knots
        Of the spline.
    nonlinearity_p
        Of the test that the curve is straight; NaN without a spline or with too few questions for it.
    curve
        temperature, change (from the lowest temperature), low, high; the spline's, else the line's.
    questions, cells
        How many went in.
    left_out
        Cells without a temperature, without enough runs, or at the only temperature of their question and model.
    """

    measure: Measure
    linear: LinearFit
    spline: LinearFit | None
    knots: tuple[float, ...]
    nonlinearity_p: float
    curve: pd.DataFrame
    questions: int
    cells: int
    left_out: int


def dose_response(
    outcomes: pd.DataFrame,
    measure: Measure = "instability",
    *,
    within: Sequence[str] = ("model",),
    points: int = 41,
    level: float = 0.95,
) -> DoseResponse:
    """Fit how a statistic changes with temperature.

    Parameters
    ----------
    outcomes
        One row per run: question_id, temperature, accuracy or score, and the columns of `within`.
    measure
        "accuracy", "score" or "instability" (σ̄; cells of one run are left out).
    within
        What is held equal besides the question; columns that the table lacks are passed over.
    points
        Temperatures at which the curve is given, evenly spaced; those asked at are added.
    level
        Nominal coverage of the curve's pointwise intervals.

    Raises
    ------
    StatisticsError
        A column is missing, an unknown measure, fewer than two questions with at least two temperatures.

    Examples
    --------
    >>> rows = [(q, t, int(10 * t) < 3 + q) for q in range(8) for t in (0.2, 0.7, 1.0)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "temperature", "accuracy"]).astype({"accuracy": int})
    >>> round(dose_response(table, "accuracy").linear.coefficients["temperature"], 2)
    -1.25
    """
    check_level(level)
    if measure not in STATISTICS:
        raise StatisticsError(f"unknown measure '{measure}'", hint=f"one of {', '.join(STATISTICS)}")
    source = "accuracy" if measure == "accuracy" else "score"
    require_runs(outcomes, ("question_id", "temperature", source), by=[name for name in within if name in outcomes])
    cells, left_out = _cells(outcomes, measure, source, [name for name in within if name in outcomes.columns])
    heats = np.unique(cells["temperature"])
    questions = cells["question"].nunique()
    if len(heats) < 2 or questions < 2:
        raise StatisticsError(
            "a curve needs at least two questions asked at two temperatures each under one model",
            hint=f"there are {questions} such questions",
        )
    linear = fit_line("value ~ 0 + temperature", _centred(cells, cells[["temperature"]]), cluster="question")
    spline, knots, p = None, (), math.nan
    terms = ["temperature"]
    if len(heats) > 2:
        chosen = heats if len(heats) <= _KNOTS else np.quantile(heats, [0.05, 0.275, 0.5, 0.725, 0.95])
        knots = tuple(chosen.tolist())
        basis = natural_spline(cells["temperature"], knots)
        terms += [f"bend{j}" for j in range(1, basis.shape[1])]
        frame = pd.DataFrame(basis, columns=terms, index=cells.index)
        spline = fit_line(f"value ~ 0 + {' + '.join(terms)}", _centred(cells, frame), cluster="question")
        try:
            p = spline.joint_p_value(terms[1:])
        except StatisticsError:  # fewer questions than bends
            p = math.nan
    grid = np.unique(np.concatenate([heats, np.linspace(heats[0], heats[-1], points)]))
    basis = natural_spline(grid, knots) if spline else grid[:, None]
    curve = _curve(spline or linear, grid, basis - basis[0], level)
    return DoseResponse(measure, linear, spline, knots, p, curve, questions, len(cells), left_out)


def _cells(outcomes: pd.DataFrame, measure: Measure, source: str, held: list[str]) -> tuple[pd.DataFrame, int]:
    table = outcomes[held].apply(labels_of).assign(question=labels_of(outcomes["question_id"]))
    for new, old in (("temperature", "temperature"), ("run_value", source)):
        number = pd.to_numeric(outcomes[old]).astype("Float64")
        table[new] = number.to_numpy(dtype=np.float64, na_value=np.nan)
    unit = ["question", *held]
    rows, left_out = [], 0
    groups: Any = table.groupby([*unit, "temperature"], sort=True, dropna=False)["run_value"]
    for key, group in groups:
        runs = np.sort(group.dropna().to_numpy(dtype=np.float64))
        if np.isnan(key[-1]) or runs.size < (2 if measure == "instability" else 1):
            left_out += 1
            continue
        rows.append((*key, float(STATISTICS[measure](runs, np.ones(runs.size)))))
    cells = pd.DataFrame(rows, columns=[*unit, "temperature", "value"])
    cells["unit"] = cells.groupby(unit, sort=True).ngroup() if len(cells) else 0
    alone = cells.groupby("unit")["temperature"].transform("size") < 2
    return cells[~alone].reset_index(drop=True), left_out + int(alone.sum())


def _centred(cells: pd.DataFrame, predictors: pd.DataFrame) -> pd.DataFrame:
    data = predictors.assign(value=cells["value"])
    centred = data - data.groupby(cells["unit"]).transform("mean")
    return centred.assign(question=cells["question"])


def _curve(fit: LinearFit, grid: FloatArray, basis: FloatArray, level: float) -> pd.DataFrame:
    covariance = fit.covariances[fit.best_kind]
    change = basis @ np.array(list(fit.coefficients.values()))
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", basis, covariance, basis), 0.0))
    half = float(stats.t.isf((1 - level) / 2, fit.degrees_of_freedom(fit.best_kind))) * error
    return pd.DataFrame({"temperature": grid, "change": change, "low": change - half, "high": change + half})
