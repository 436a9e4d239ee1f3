"""Logistic regression with a random intercept per question, by adaptive Gauss–Hermite quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from dsqa.errors import StatisticsError
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import SEPARATED, ClusteredFit, Counts, check_binary, counted

__all__ = ["glmm", "likelihood_ratio"]

Loss = Callable[[FloatArray], float]


def likelihood_ratio(full: ClusteredFit, reduced: ClusteredFit) -> tuple[float, int, float]:
    """Return χ², degrees of freedom and p of a mixed model against one with fewer terms. Wilks (1938).

    Raises
    ------
    StatisticsError
        The fits are not of the same rows, are no mixed models, or not one within the other.
    """
    df = len(full.coefficients) - len(reduced.coefficients)
    if math.isnan(full.log_likelihood + reduced.log_likelihood):
        raise StatisticsError("only mixed models have a likelihood to compare")
    if df < 1 or (full.n, full.clusters) != (reduced.n, reduced.clusters):
        raise StatisticsError("the smaller model must have fewer terms and the same rows")
    chi2 = max(0.0, 2 * (full.log_likelihood - reduced.log_likelihood))
    return chi2, df, float(stats.chi2.sf(chi2, df))


def _log_likelihood(theta: FloatArray, data: Counts, nodes: FloatArray, logs: FloatArray) -> float:
    """Return Σ_q ln ∫ …; `theta` is β and σ, in which the likelihood is even."""
    fixed, sigma = data.x @ theta[:-1], theta[-1]
    u = np.zeros(len(data.starts))
    for _ in range(100):
        p = special.expit(fixed + sigma * u[data.of])
        slope = sigma * data.total(data.right - data.runs * p) - u
        curvature = sigma**2 * data.total(data.runs * p * (1 - p)) + 1
        step = np.clip(slope / curvature, -2, 2)
        u = u + step
        if np.abs(step).max() < 1e-12:
            break
    p = special.expit(fixed + sigma * u[data.of])
    width = 1 / np.sqrt(sigma**2 * data.total(data.runs * p * (1 - p)) + 1)
    at = u + width * nodes[:, None]
    eta = fixed + sigma * at[:, data.of]
    each = data.total(data.right * eta - data.runs * np.logaddexp(0, eta))
    inside = each - at**2 / 2 + (nodes**2 / 2 + logs)[:, None]
    return float((special.logsumexp(inside, axis=0) + np.log(width)).sum() - len(u) * math.log(2 * math.pi) / 2)


def glmm(formula: str, data: pd.DataFrame, *, cluster: str = "question_id", nodes: int = 25) -> ClusteredFit:
    """Fit a logistic regression with a random intercept per cluster by maximum likelihood.

    Parameters
    ----------
    formula
        Such as ``"accuracy ~ C(model) + temperature"``; the outcome is 0 or 1.
    data
        One row per run; rows with a missing value are dropped.
    cluster
        The column whose values get an intercept of their own.
    nodes
        Of the quadrature; 1 is the Laplace approximation.

    Returns
    -------
    ClusteredFit
        Intervals and tests by the normal distribution; they are a little narrow for predictors that differ
        between few questions only.

    Raises
    ------
    StatisticsError
        As `design`; an outcome other than 0 and 1, or always the same; estimates that run to infinity.

    Examples
    --------
    >>> rows = [(q, x, int((7 * q + 3 * x + r) % 5 < 2 + x)) for q in range(6) for x in (0, 1) for r in range(5)]
    >>> fit = glmm("y ~ x", pd.DataFrame(rows, columns=["question_id", "x", "y"]))
    >>> fit.clusters, round(fit.coefficients["x"], 2)
    (6, 0.81)
    """
    if nodes < 1:
        raise StatisticsError(f"the quadrature needs at least one node, got {nodes}")
    made = design(formula, data, cluster=cluster)
    check_binary(made)
    counts = counted(made)
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    logs = np.log(weights)

    def loss(theta: FloatArray) -> float:
        return -_log_likelihood(theta, counts, points, logs)

    start = np.zeros(made.x.shape[1] + 1)
    start[-1] = 1.0
    found = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-5})
    theta, hessian = _polished(loss, np.asarray(found.x, dtype=np.float64))
    size = np.abs(theta[:-1] * made.x.std(axis=0)).max()
    if np.linalg.eigvalsh(hessian[:-1, :-1]).min() < 1e-6 or size > 25 or abs(theta[-1]) > 50:
        raise StatisticsError(f"'{formula}': {SEPARATED}", hint="leave out the predictor, or merge its values")
    # At σ = 0 the likelihood is flat in σ to first order: its row then tells nothing of β.
    inner = hessian if np.linalg.eigvalsh(hessian).min() > 1e-8 else hessian[:-1, :-1]
    covariance = np.linalg.inv(inner)[: len(theta) - 1, : len(theta) - 1]
    how = "Laplace" if nodes == 1 else f"{nodes}-node adaptive quadrature"
    return ClusteredFit(
        formula=formula,
        method=f"mixed logistic, {how}",
        n=len(made.y),
        dropped=made.dropped,
        clusters=made.count,
        coefficients=dict(zip(made.names, theta[:-1].tolist(), strict=True)),
        covariance=np.asarray(covariance, dtype=np.float64),
        degrees_of_freedom=math.inf,
        spread=abs(float(theta[-1])),
        log_likelihood=-loss(theta),
    )


def _polished(loss: Loss, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the optimum to about 8 digits by Newton's steps with central differences, and the Hessian there."""
    hessian = _hessian(loss, theta)
    for _ in range(8):
        gradient = np.array([(loss(theta + e) - loss(theta - e)) / 2e-4 for e in 1e-4 * np.eye(len(theta))])
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(step).all() or np.abs(step).max() > 1 or loss(theta - step) > loss(theta) + 1e-9:
            break
        theta = theta - step
        if np.abs(step).max() < 1e-7:
            break
        hessian = _hessian(loss, theta)
    return theta, hessian


def _hessian(loss: Loss, theta: FloatArray, h: float = 1e-3) -> FloatArray:
    k = len(theta)
    steps = h * np.eye(k)
    out = np.empty((k, k))
    for i in range(k):
        for j in range(i, k):
            a, b = steps[i], steps[j]
            corners = loss(theta + a + b) - loss(theta + a - b) - loss(theta - a + b) + loss(theta - a - b)
            out[i, j] = out[j, i] = corners / (4 * h * h)
    return out
