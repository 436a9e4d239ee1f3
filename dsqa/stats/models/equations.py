"""Generalised estimating equations with runs of a question correlated alike, on counts."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import ClusteredFit, Counts, check_binary, counted
from dsqa.stats.models.separation import refuse_separated

__all__ = ["gee"]

_ROUNDS = 200
_SOLVED, _CLOSE = 1e-20, 1e-10
_FAR = 25.0
_DECISIVE = 1e8
_RUNAWAY = (
    "with the runs of a question correlated alike the equations have no finite solution (questions that are always "
    "right among others that are nearly always wrong)"
)


def gee(
    formula: str,
    data: pd.DataFrame,
    *,
    cluster: str = "question_id",
    family: Literal["binomial", "gaussian"] = "binomial",
    correlation: Literal["exchangeable", "independence"] = "exchangeable",
    errors: Literal["bias-reduced", "robust"] = "bias-reduced",
) -> ClusteredFit:
    """Fit generalised estimating equations with runs correlated within clusters.

    Parameters
    ----------
    formula, data, cluster
        As in `glmm`.
    family
        "binomial" (logit) for yes and no, "gaussian" (identity) for scores.
    correlation
        Working correlation; "independence" is a plain regression with clustered errors.
    errors
        "bias-reduced" (t on clusters − terms degrees of freedom) or "robust" (normal).

    Raises
    ------
    StatisticsError
        As `design`; too few clusters for the terms; an outcome that the family does not allow; no convergence.

    Examples
    --------
    >>> rows = [(q, x, int((7 * q + 3 * x + r) % 5 < 2 + x)) for q in range(6) for x in (0, 1) for r in range(5)]
    >>> fit = gee("y ~ x", pd.DataFrame(rows, columns=["question_id", "x", "y"]))
    >>> round(fit.coefficients["x"], 2), fit.degrees_of_freedom
    (0.81, 4.0)
    """
    if family not in ("binomial", "gaussian") or correlation not in ("exchangeable", "independence"):
        raise StatisticsError("family is binomial or gaussian, correlation exchangeable or independence")
    if errors not in ("bias-reduced", "robust"):
        raise StatisticsError(f"unknown errors '{errors}'", hint="bias-reduced or robust")
    made = design(formula, data, cluster=cluster)
    if family == "binomial":
        check_binary(made)
    if made.count <= len(made.names):
        raise StatisticsError(f"{made.count} clusters are too few for {len(made.names)} coefficients")
    counts = counted(made)
    if family == "binomial":
        refuse_separated(formula, made.names, counts, hint="leave out the predictor, merge its values, or `firth`")
    system = _Equations(counts, family)
    beta, alike = _solve(system, exchangeable=correlation == "exchangeable", formula=formula)
    scores, pulls = system.evaluate(beta, alike)
    bread = np.linalg.inv(pulls.sum(axis=0))
    if errors == "bias-reduced":
        # D'V⁻¹(I − D B D'V⁻¹)⁻¹ e = (I − M B)⁻¹ D'V⁻¹e with M = D'V⁻¹D: p × p whatever the cluster's size.
        shrunk = np.eye(len(beta)) - pulls @ bread
        if np.linalg.cond(shrunk).max() > _DECISIVE:
            raise StatisticsError(
                f"'{formula}': one cluster alone decides a coefficient, so its error cannot be seen",
                hint="leave out the predictor, or errors='robust'",
            )
        scores = np.asarray(np.linalg.solve(shrunk, scores[:, :, None])[:, :, 0], dtype=np.float64)
    covariance = bread @ (scores.T @ scores) @ bread
    return ClusteredFit(
        formula=formula,
        method=f"GEE, {correlation}, {errors} errors",
        n=len(made.y),
        dropped=made.dropped,
        clusters=made.count,
        coefficients=dict(zip(made.names, beta.tolist(), strict=True)),
        covariance=covariance,
        degrees_of_freedom=float(made.count - len(beta)) if errors == "bias-reduced" else math.inf,
        spread=alike,
        log_likelihood=math.nan,
    )


class _Equations:
    """The estimating equations, on counts.

    With r = (y − μ)/w, w² = Var(y) and n runs in a cluster,
    V⁻¹ = w⁻¹ (I − c 11')/(1 − α) w⁻¹, c = α/(1 + (n − 1) α), so sums over the cluster are all that is needed.
    """

    def __init__(self, data: Counts, family: str) -> None:
        self.data, self.family = data, family
        self.sizes = data.total(data.runs)

    def _parts(self, beta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return w, Σ r and Σ r² of each row of counts."""
        d = self.data
        eta = d.x @ beta
        if self.family == "gaussian":
            return np.ones(len(eta)), d.right - d.runs * eta, d.squares - 2 * eta * d.right + d.runs * eta**2
        mean = special.expit(eta)
        w = np.sqrt(np.maximum(mean * (1 - mean), 1e-12))
        return w, (d.right - d.runs * mean) / w, (d.right * (1 - 2 * mean) + d.runs * mean**2) / w**2

    def evaluate(self, beta: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return each cluster's score, shape (clusters, p), and D'V⁻¹D, shape (clusters, p, p)."""
        d = self.data
        w, residual, _ = self._parts(beta)
        c = alpha / (1 + (self.sizes - 1) * alpha)
        wx = w[:, None] * d.x
        sums = d.total((d.runs[:, None] * wx).T).T
        scores = d.total((residual[:, None] * wx).T).T - (c * d.total(residual))[:, None] * sums
        products = (d.runs[:, None, None] * wx[:, :, None] * wx[:, None, :]).reshape(len(wx), -1)
        pulls = d.total(products.T).T.reshape(-1, wx.shape[1], wx.shape[1])
        pulls = pulls - c[:, None, None] * sums[:, :, None] * sums[:, None, :]
        return scores / (1 - alpha), pulls / (1 - alpha)

    def correlation(self, beta: FloatArray) -> float | None:
        """Return the moment estimate of α: mean product of two runs' residuals over their mean square.

        None where it has no degrees of freedom.
        """
        d, p = self.data, len(beta)
        _, residual, squares = self._parts(beta)
        total, square = d.total(residual), d.total(squares)
        pairs = float((self.sizes * (self.sizes - 1)).sum()) / 2
        if pairs <= p or float(square.sum()) <= 0:
            return None
        scale = float(square.sum()) / (float(self.sizes.sum()) - p)
        alpha = float((total**2 - square).sum()) / 2 / (scale * (pairs - p))
        # Below −1/(n − 1) no correlation matrix is possible.
        return float(np.clip(alpha, -0.9 / max(float(self.sizes.max()) - 1, 1), 0.999))


def _solve(system: _Equations, *, exchangeable: bool, formula: str) -> tuple[FloatArray, float]:
    """Return β and α where the equations hold; from the fit with independent runs, by damped Fisher steps."""
    beta, alpha = np.zeros(system.data.x.shape[1]), 0.0
    for round_ in range(_ROUNDS):
        beta = _at_correlation(system, beta, alpha, formula)
        if not exchangeable:
            return beta, 0.0
        new = system.correlation(beta)
        if new is None:
            raise StatisticsError(
                f"'{formula}': too few runs repeat a cluster to see how alike they are",
                hint="correlation='independence'",
            )
        if round_ and abs(new - alpha) < 1e-11:
            return beta, alpha
        alpha = new
    raise _runaway(formula)


def _runaway(formula: str) -> StatisticsError:
    return StatisticsError(f"'{formula}': {_RUNAWAY}", hint="correlation='independence', or a mixed model")


def _at_correlation(system: _Equations, beta: FloatArray, alpha: float, formula: str) -> FloatArray:
    """Return β where the equations hold for one α; that none were left unsolved is checked, not assumed."""
    for _ in range(100):
        scores, pulls = system.evaluate(beta, alpha)
        total, information = scores.sum(axis=0), pulls.sum(axis=0)
        size, step = _decrement(total, information)
        if size < _SOLVED:
            return beta
        if not math.isfinite(size):
            break
        for _ in range(40):
            there = system.evaluate(beta + step, alpha)[0].sum(axis=0)
            if _decrement(there, information)[0] < size:
                break
            step = step / 2
        else:
            if size < _CLOSE:
                return beta
            break
        beta = beta + step
        if system.family == "binomial" and np.abs(system.data.x @ beta).max() > _FAR:
            break
    if alpha:
        raise _runaway(formula)
    raise StatisticsError(f"'{formula}': the equations were not solved: the fit did not converge")


def _decrement(total: FloatArray, information: FloatArray) -> tuple[float, FloatArray]:
    """Return the squared length of the scores in units of their information, and Fisher's step; ∞ if singular."""
    try:
        step = np.linalg.solve(information, total)
    except np.linalg.LinAlgError:
        return math.inf, total
    size = float(total @ step)
    return (size if size >= 0 else math.inf), np.asarray(step, dtype=np.float64)
