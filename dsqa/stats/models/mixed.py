"""Logistic regression with a random intercept per question, by maximum likelihood."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import ClusteredFit, Counts, check_binary, counted
from dsqa.stats.models.logistic import fit_logistic
from dsqa.stats.models.maximum import GAP, maximise
from dsqa.stats.models.quadrature import Marginal
from dsqa.stats.models.separation import check_spread, refuse_separated

__all__ = ["glmm", "likelihood_ratio"]

_SPREADS = (0.5, 2.0, 6.0)
"""σ at the starts: questions hardly, usually, and nearly always of one mind."""


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
    chi2 = 2 * (full.log_likelihood - reduced.log_likelihood)
    if chi2 < -1e-4:
        raise StatisticsError("the larger model's likelihood is below the smaller one's: a fit is not at its maximum")
    chi2 = max(0.0, chi2)
    return chi2, df, float(stats.chi2.sf(chi2, df))


def glmm(
    formula: str,
    data: pd.DataFrame,
    *,
    cluster: str = "question_id",
    runs: str | None = None,
    nodes: int | None = None,
) -> ClusteredFit:
    """Fit a logistic regression with a random intercept per cluster by maximum likelihood.

    Parameters
    ----------
    formula
        Such as ``"accuracy ~ C(model) + temperature"``; the outcome is 0 or 1.
    data
        One row per run; rows with a missing value are dropped.
    cluster
        The column whose values get an intercept of their own.
    runs
        A column with the number of runs that a row stands for: a table of counts is fitted as the runs it counts.
    nodes
        None for integrals exact to about nine digits; a number for adaptive Gauss–Hermite quadrature with that
        many nodes, as R's `glmer`; 1 is the Laplace approximation.

    Returns
    -------
    ClusteredFit
        Intervals and tests by the normal distribution; they are a little narrow for predictors that differ
        between few questions only.

    Raises
    ------
    StatisticsError
        As `design`; an outcome other than 0 and 1, or always the same; data without finite estimates
        (`dsqa.stats.models.separation`); a fit that did not converge.

    Examples
    --------
    >>> rows = [(q, x, int((7 * q + 3 * x + r) % 5 < 2 + x)) for q in range(6) for x in (0, 1) for r in range(5)]
    >>> fit = glmm("y ~ x", pd.DataFrame(rows, columns=["question_id", "x", "y"]))
    >>> fit.clusters, round(fit.coefficients["x"], 2)
    (6, 0.81)
    """
    if nodes is not None and nodes < 1:
        raise StatisticsError(f"the quadrature needs at least one node, got {nodes}")
    made = design(formula, data, cluster=cluster, also=() if runs is None else (runs,))
    check_binary(made)
    each = np.ones(len(data)) if runs is None else as_floats(data[runs])
    if not (np.isfinite(each) & (each > 0)).all():
        raise StatisticsError(f"the numbers of runs in '{runs}' must be above 0")
    counts = counted(made, each[made.rows])
    refuse_separated(formula, made.names, counts, hint="leave out the predictor, merge its values, or `firth`")
    check_spread(formula, counts)
    beta, sigma, covariance, value = _fit(formula, counts, nodes)
    how = {None: "maximum likelihood", 1: "Laplace"}.get(nodes, f"{nodes}-node adaptive quadrature")
    return ClusteredFit(
        formula=formula,
        method=f"mixed logistic, {how}",
        n=round(counts.runs.sum()),
        dropped=round(each.sum() - counts.runs.sum()),
        clusters=made.count,
        coefficients=dict(zip(made.names, beta.tolist(), strict=True)),
        covariance=covariance,
        degrees_of_freedom=math.inf,
        spread=sigma,
        log_likelihood=value,
    )


def _fit(formula: str, counts: Counts, nodes: int | None) -> tuple[FloatArray, float, FloatArray, float]:
    """Return β, σ, the covariance of β, and the log-likelihood."""
    x, back = counts.orthonormal()
    marginal = Marginal(counts, x, nodes)
    p = len(back)
    # Without spread between questions it is a plain logistic regression: where nothing is higher, σ is 0.
    flat = fit_logistic(marginal.x, counts.right, counts.runs, what=formula)
    ground = marginal(np.append(flat.beta, 0.0))[0]
    starts = [np.append(flat.beta * math.sqrt(1 + 0.35 * s * s), s) for s in _SPREADS]
    try:
        theta, value, curvature = maximise(marginal, starts, what=formula)
    except StatisticsError:
        if not _only_falls(marginal, flat.beta, ground):
            raise
        theta, value, curvature = np.append(flat.beta, 0.0), ground, np.zeros((p + 1, p + 1))
    if value <= ground + GAP:
        # Flat in σ to first order, so its row tells nothing of β.
        gamma, sigma, value, inner = flat.beta, 0.0, ground, flat.information
        covariance = np.linalg.inv(inner)
    else:
        gamma, sigma = theta[:-1], abs(float(theta[-1]))
        covariance = np.linalg.inv(curvature)[:p, :p]
    return back @ gamma, sigma, np.asarray(back @ covariance @ back.T), value


def _only_falls(marginal: Marginal, beta: FloatArray, ground: float) -> bool:
    """Return whether the likelihood falls from the plain fit on, as σ grows from 0."""
    values = [marginal(np.append(beta, sigma))[0] for sigma in (0.01, 0.03, 0.1, 0.3, 1.0)]
    return all(np.diff([ground, *values]) < 0)
