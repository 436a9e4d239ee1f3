"""Where the variance of the score comes from: question, model within question, run.

Model: score = μ + question + question:model + residual, independent normal effects, runs of a cell
exchangeable. "model" stands for whatever names the columns of a question: a model, a condition, a judge.

Estimation is by restricted maximum likelihood (REML; Patterson & Thompson 1971). With effects nested the
likelihood depends on the data only through each cell's size, mean and sum of squares: with
v = σ²ₑ/nᵢ + σ²_qm the variance of a cell mean within its question, wᵢ = 1/v, W = Σ wᵢ over the question's
cells and u = W / (1 + σ²_q W) the weight of the question,

    −2 l = Σ (nᵢ − 1) ln σ²ₑ + SS_within/σ²ₑ + Σ ln(nᵢ v) + Σ ln(1 + σ²_q W)
           + Σ wᵢ (ȳᵢ − ȳ_q)² + Σ u (ȳ_q − μ̂)² + ln Σ u + (N − 1) ln 2π,

so fitting takes no longer for 160,000 runs than for 160. Balanced data with positive components have
REML estimates in closed form, the analysis-of-variance ones, which are then returned exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.interval import FloatArray

__all__ = ["VarianceComponents", "variance_components"]


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of the score, and what follows from them.

    Parameters
    ----------
    question, question_model, residual
        σ²_q, σ²_qm, σ²ₑ: between questions, between models within a question, between runs of a cell.
        `question_model` is 0 by definition where the model has no such effect.
    mean, mean_se
        μ̂ and its standard error, over questions like these.
    log_likelihood
        Restricted log-likelihood at the estimates.
    method
        "REML, closed form" or "REML".
    questions, cells, runs
        How many of each went in.
    """

    question: float
    question_model: float
    residual: float
    mean: float
    mean_se: float
    log_likelihood: float
    method: str
    questions: int
    cells: int
    runs: int

    @property
    def total(self) -> float:
        """Variance of one run of one question under one model."""
        return self.question + self.question_model + self.residual

    @property
    def icc_question(self) -> float:
        """Correlation of two runs of one question under different models."""
        return self.question / self.total

    @property
    def icc_cell(self) -> float:
        """Correlation of two runs of one cell."""
        return (self.question + self.question_model) / self.total

    def shares(self) -> dict[str, float]:
        """Return each component's share of the total."""
        parts = {"question": self.question, "question:model": self.question_model, "run": self.residual}
        return {name: value / self.total for name, value in parts.items()}

    def reliability(self, *, models: int = 1, runs: int = 1) -> float:
        """Return how reliably a question's mean over models × runs ranks questions, in [0, 1].

        σ²_q over σ²_q + σ²_qm/models + σ²ₑ/(models · runs). Effects being nested, relative and absolute
        error coincide, so this is both the generalisability and the dependability coefficient.
        Brennan (2001), Generalizability Theory.

        Raises
        ------
        StatisticsError
            A number below 1.
        """
        self._check(models, runs)
        return self.question / (self.question + self._within(models, runs))

    def standard_error(self, *, questions: int, models: int = 1, runs: int = 1) -> float:
        """Return the standard error of the mean score of a planned study (a D-study).

        √((σ²_q + σ²_qm/models + σ²ₑ/(models · runs)) / questions), questions being a sample of many.

        Raises
        ------
        StatisticsError
            A number below 1.
        """
        self._check(questions, models, runs)
        return math.sqrt((self.question + self._within(models, runs)) / questions)

    def _within(self, models: int, runs: int) -> float:
        return self.question_model / models + self.residual / (models * runs)

    @staticmethod
    def _check(*numbers: int) -> None:
        if min(numbers) < 1:
            raise StatisticsError("numbers of questions, models and runs must be at least 1")


@dataclass(frozen=True)
class _Cells:
    """Sufficient statistics: one entry per cell, `question` numbered from 0."""

    size: FloatArray
    mean: FloatArray
    within: float
    question: np.ndarray
    questions: int


def variance_components(
    table: pd.DataFrame, *, value: str = "score", question: str = "question_id", model: str | None = "model"
) -> VarianceComponents:
    """Estimate the variance components of a score by REML.

    Parameters
    ----------
    table
        One row per run; rows whose value is missing are left out.
    value, question, model
        Columns. With `model` None there is no question:model effect.

    Raises
    ------
    StatisticsError
        A column or label is missing, fewer than two questions, no cell with two runs, no question with
        two models (then the two cannot be told apart), or no variance at all.
    """
    names = [question] if model is None else [question, model]
    require(table, (value, *names), "table")
    data = table[[*names]].assign(value=as_floats(table[value]))
    data = data[data["value"].notna()]
    if data[names].isna().any(axis=None):
        raise StatisticsError(f"a run has no {' or '.join(names)}")
    cells = _sufficient(data, names)
    runs = cells.size.sum()
    if not runs:
        raise StatisticsError(f"no run has a {value}")
    if cells.questions < 2:
        raise StatisticsError("at least two questions are needed to see variance between questions")
    if runs == len(cells.size):
        raise StatisticsError("no cell has two runs: variance between runs cannot be seen")
    if model is not None and len(cells.size) == cells.questions:
        raise StatisticsError(
            "no question has two models: question and question:model cannot be told apart", hint="pass model=None"
        )
    if cells.within == 0:
        raise StatisticsError("runs of a cell never differ: there is no variance between runs to estimate")
    components = _balanced(cells, nested=model is not None)
    method = "REML, closed form"
    if components is None:
        components, method = _reml(cells, nested=model is not None), "REML"
    deviance, mean, precision = _deviance(components, cells)
    return VarianceComponents(
        question=float(components[0]),
        question_model=float(components[1]),
        residual=float(components[2]),
        mean=mean,
        mean_se=1 / math.sqrt(precision),
        log_likelihood=-deviance / 2,
        method=method,
        questions=cells.questions,
        cells=len(cells.size),
        runs=int(runs),
    )


def _sufficient(data: pd.DataFrame, names: list[str]) -> _Cells:
    grouped = data.groupby(names, sort=True)["value"]
    means = grouped.transform("mean")
    within = float(((data["value"] - means) ** 2).sum())
    summary = grouped.agg(["size", "mean"]).reset_index()
    codes, labels = pd.factorize(summary[names[0]])
    return _Cells(
        summary["size"].to_numpy(dtype=np.float64),
        summary["mean"].to_numpy(dtype=np.float64),
        within,
        codes,
        len(labels),
    )


def _balanced(cells: _Cells, *, nested: bool) -> FloatArray | None:
    """Return the closed-form estimates, or None if data are unbalanced or a component would be negative."""
    per_question = np.bincount(cells.question)
    n, m, q = cells.size[0], per_question[0], cells.questions
    if (cells.size != n).any() or (per_question != m).any():
        return None
    residual = cells.within / (q * m * (n - 1))
    means = np.bincount(cells.question, cells.mean) / m
    ms_question = n * m * ((means - means.mean()) ** 2).sum() / (q - 1)
    if nested:
        ms_cell = n * ((cells.mean - means[cells.question]) ** 2).sum() / (q * (m - 1))
        parts = np.array([(ms_question - ms_cell) / (n * m), (ms_cell - residual) / n, residual])
    else:
        parts = np.array([(ms_question - residual) / n, 0.0, residual])
    return parts if (parts >= 0).all() else None


def _deviance(components: FloatArray, cells: _Cells) -> tuple[float, float, float]:
    """Return −2 × the restricted log-likelihood, the estimated mean, and its precision."""
    between, model, residual = components
    variance = residual / cells.size + model
    w = 1 / variance
    total = np.bincount(cells.question, w)
    means = np.bincount(cells.question, w * cells.mean) / total
    u = total / (1 + between * total)
    precision = float(u.sum())
    mean = float(u @ means) / precision
    n = cells.size.sum()
    deviance = (
        (n - len(cells.size)) * math.log(residual)
        + cells.within / residual
        + np.log(cells.size * variance).sum()
        + np.log1p(between * total).sum()
        + (w * (cells.mean - means[cells.question]) ** 2).sum()
        + (u * (means - mean) ** 2).sum()
        + math.log(precision)
        + (n - 1) * math.log(2 * math.pi)
    )
    return float(deviance), mean, precision


def _reml(cells: _Cells, *, nested: bool) -> FloatArray:
    residual = cells.within / (cells.size.sum() - len(cells.size))
    # Standard deviations relative to the residual's: the scale on which the optimum is well rounded.
    spread = max(float(np.var(cells.mean)) / residual, 1e-3)
    start = np.sqrt([spread, spread / 2]) if nested else np.sqrt([spread])
    scale = math.sqrt(residual)

    def parts(v: FloatArray) -> FloatArray:
        model = (v[2] * scale) ** 2 if nested else 0.0
        return np.array([(v[1] * scale) ** 2, model, (v[0] * scale) ** 2])

    lowest = np.array([1e-6, *[0.0] * len(start)])

    def deviance(v: FloatArray) -> float:
        return _deviance(parts(np.maximum(v, lowest)), cells)[0]

    def climbed(place: FloatArray) -> tuple[float, FloatArray]:
        found = optimize.minimize(
            deviance,
            place,
            method="L-BFGS-B",
            bounds=[(low, None) for low in lowest.tolist()],
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
        )
        return float(found.fun), np.asarray(found.x, dtype=np.float64)

    # From much, little and hardly any spread: the deviance can have a second valley at a component of 0.
    ends = [climbed(np.array([1.0, *(factor * start)])) for factor in (1.0, 0.3, 0.01)]
    before, place = min(ends, key=lambda end: end[0])
    # A simplex polish, begun again until it gains nothing: near the optimum differences of the deviance are too
    # small for a numeric gradient, and flags of success tell little.
    for _ in range(10):
        polished = optimize.minimize(
            deviance, place, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
        )
        place = np.maximum(polished.x, lowest)
        if before - float(polished.fun) < 1e-7:
            return parts(place)
        before = float(polished.fun)
    raise StatisticsError("the REML fit of the variance components did not converge")
