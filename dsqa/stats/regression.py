"""Straight lines with honest errors: ordinary least squares through formulas.

Runs of one question resemble each other, so errors that take runs as independent are too small. Each
coefficient therefore comes with four standard errors:

===========  =====================================================================================
classical    s² (X'X)⁻¹; equal variances, independent runs
hc3          heteroscedasticity-consistent, residuals over (1 − leverage). MacKinnon & White (1985)
cluster      clustered, factor G/(G−1) · (n−1)/(n−p); R's `vcovCL(type = "HC1")`. Liang & Zeger (1986)
cluster-hc3  clustered, residuals of a cluster through (I − H_gg)⁻¹: nearly the jackknife over clusters;
             R's `vcovCL(type = "HC3")`. Bell & McCaffrey (2002). Safer with few clusters; the default
===========  =====================================================================================

Intervals and tests use the t distribution with n − p degrees of freedom, clustered ones with G − 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.linear_model import OLS

from dsqa.errors import StatisticsError
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.shown import with_coverage

__all__ = ["ErrorKind", "LinearFit", "fit_line"]

ErrorKind = Literal["classical", "hc3", "cluster", "cluster-hc3"]


@dataclass(frozen=True)
class LinearFit:
    """An ordinary least-squares fit.

    Parameters
    ----------
    formula
        As given.
    n, dropped
        Rows used, and rows left out because a value was missing or, for a logarithm, not positive.
    clusters
        Number of clusters; 0 without.
    coefficients
        Term → estimate.
    errors
        Error kind → term → standard error; clustered kinds only with clusters.
    covariances
        Error kind → covariance of the estimates, shape (terms, terms), in the order of `coefficients`.
    r_squared, sigma
        Share of variance explained; residual SD with divisor n − p.
    residuals
        Shape (n,), in the order of the rows used.
    beyond_two_sd
        Share of |residual| > 2 sigma; 0.0455 for normal errors.
    """

    formula: str
    n: int
    dropped: int
    clusters: int
    coefficients: dict[str, float]
    errors: dict[str, dict[str, float]]
    covariances: dict[str, FloatArray]
    r_squared: float
    sigma: float
    residuals: FloatArray
    beyond_two_sd: float

    @property
    def best_kind(self) -> ErrorKind:
        """The error kind that assumes least of those at hand."""
        return "cluster-hc3" if self.clusters else "hc3"

    @property
    def adjusted_r_squared(self) -> float:
        """1 − (1 − R²)(n − i)/(n − p), with i = 1 where there is an intercept; R's `adj.r.squared`."""
        intercept = "Intercept" in self.coefficients
        return 1 - (1 - self.r_squared) * (self.n - intercept) / (self.n - len(self.coefficients))

    @property
    def aic(self) -> float:
        """Akaike's criterion under normal errors, sigma counted as a parameter; R's `AIC`."""
        rss = float(self.residuals @ self.residuals)
        return self.n * (math.log(2 * math.pi * rss / self.n) + 1) + 2 * (len(self.coefficients) + 1)

    def degrees_of_freedom(self, kind: ErrorKind) -> int:
        """Return the degrees of freedom of t for this kind of error."""
        return self.clusters - 1 if kind.startswith("cluster") else self.n - len(self.coefficients)

    def interval(self, term: str, *, kind: ErrorKind | None = None, level: float = 0.95) -> Interval:
        """Return the interval for a coefficient.

        Raises
        ------
        StatisticsError
            Unknown term, or an error kind that this fit lacks.
        """
        check_level(level)
        used = kind or self.best_kind
        error = self._error(term, used)
        half = float(stats.t.isf((1 - level) / 2, self.degrees_of_freedom(used))) * error
        estimate = self.coefficients[term]
        interval = Interval(estimate - half, estimate + half, level, f"t, {used} errors")
        return with_coverage(interval, "slope of a line", self.clusters) if used == "cluster-hc3" else interval

    def p_value(self, term: str, *, equals: float = 0.0, kind: ErrorKind | None = None) -> float:
        """Return the two-sided p value of the hypothesis that a coefficient equals a number.

        Raises
        ------
        StatisticsError
            Unknown term, or an error kind that this fit lacks.
        """
        used = kind or self.best_kind
        error = self._error(term, used)
        t = (self.coefficients[term] - equals) / error
        return float(2 * stats.t.sf(abs(t), self.degrees_of_freedom(used)))

    def joint_p_value(self, terms: Sequence[str], *, kind: ErrorKind | None = None) -> float:
        """Return the p value of the hypothesis that several coefficients are all 0; see `joint_test`."""
        return self.joint_test(terms, kind=kind)[3]

    def joint_test(self, terms: Sequence[str], *, kind: ErrorKind | None = None) -> tuple[float, int, int, float]:
        """Return F, its two degrees of freedom and p of several coefficients being all 0: a Wald test.

        With q terms F = b'V⁻¹b/q on (q, degrees of freedom of the error kind). Of all terms but the intercept and
        with classical errors it is the F of R's `summary.lm`.

        Raises
        ------
        StatisticsError
            No or unknown terms, an error kind that this fit lacks, or too few clusters for so many terms.
        """
        used = kind or self.best_kind
        if not terms:
            raise StatisticsError("no terms to test")
        for term in terms:
            self._error(term, used)
        names = list(self.coefficients)
        at = [names.index(term) for term in terms]
        b, v = np.array([self.coefficients[term] for term in terms]), self.covariances[used][np.ix_(at, at)]
        if np.linalg.matrix_rank(v) < len(at):
            raise StatisticsError(f"{self.clusters or self.n} independent units are too few to test {len(at)} terms")
        f, df = float(b @ np.linalg.solve(v, b)) / len(at), self.degrees_of_freedom(used)
        return f, len(at), df, float(stats.f.sf(f, len(at), df))

    def _error(self, term: str, kind: ErrorKind) -> float:
        if kind not in self.errors:
            raise StatisticsError(f"the fit has no {kind} errors", hint=f"it has: {', '.join(self.errors)}")
        if term not in self.coefficients:
            raise StatisticsError(f"no term '{term}'", hint=f"terms: {', '.join(self.coefficients)}")
        return self.errors[kind][term]

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return a row per term and error kind: term, errors, estimate, se, low, high, p."""
        rows = []
        for term, estimate in self.coefficients.items():
            for kind in (kind for kind in get_args(ErrorKind) if kind in self.errors):
                ci = self.interval(term, kind=kind, level=level)
                p = self.p_value(term, kind=kind)
                rows.append((term, kind, estimate, self.errors[kind][term], ci.low, ci.high, p))
        return pd.DataFrame(rows, columns=["term", "errors", "estimate", "se", "low", "high", "p"])


def fit_line(formula: str, data: pd.DataFrame, *, cluster: str | None = None) -> LinearFit:
    """Fit a formula by ordinary least squares.

    Parameters
    ----------
    formula
        As for statsmodels or R, such as ``"np.log(token_ratio) ~ np.log(word_ratio)"``.
    data
        One row per observation; rows with a missing value in a variable of the formula are dropped.
    cluster
        A column whose equal values mark rows that are not independent, such as question_id.

    Raises
    ------
    StatisticsError
        Too few rows or clusters, an unknown column, or predictors that do not vary.
    """
    made = design(formula, data, cluster=cluster)
    x, y, (n, p) = made.x, made.y, made.x.shape
    fit = OLS(y, x).fit()
    residuals = np.asarray(fit.resid, dtype=np.float64)
    kinds = {"classical": fit.cov_params(), "hc3": fit.get_robustcov_results("HC3").cov_params()}
    if made.count:
        clustered = fit.get_robustcov_results("cluster", groups=made.clusters, use_t=True, df_correction=True)
        kinds["cluster"] = clustered.cov_params()
        kinds["cluster-hc3"] = _cluster_hc3(x, residuals, made.clusters, made.count)
    covariances = {kind: np.asarray(cov, dtype=np.float64) for kind, cov in kinds.items()}
    sigma = math.sqrt(float(residuals @ residuals) / (n - p))
    return LinearFit(
        formula=formula,
        n=n,
        dropped=made.dropped,
        clusters=made.count,
        coefficients=dict(zip(made.names, np.asarray(fit.params).tolist(), strict=True)),
        errors={
            kind: dict(zip(made.names, np.sqrt(np.diag(covariance)).tolist(), strict=True))
            for kind, covariance in covariances.items()
        },
        covariances=covariances,
        r_squared=float(fit.rsquared),
        sigma=sigma,
        residuals=residuals,
        beyond_two_sd=float(np.mean(np.abs(residuals) > 2 * sigma)),
    )


def _cluster_hc3(x: FloatArray, residuals: FloatArray, codes: np.ndarray, groups: int) -> FloatArray:
    gram = x.T @ x
    bread = np.linalg.inv(gram)
    scores = np.empty((groups, x.shape[1]))
    for g in range(groups):
        own = x[codes == g]
        pull = own.T @ residuals[codes == g]
        # X_g'(I − X_g B X_g')⁻¹ e = X_g'e + X_g'X_g (X'X − X_g'X_g)⁻¹ X_g'e, by Woodbury.
        scores[g] = pull + own.T @ own @ np.linalg.pinv(gram - own.T @ own) @ pull
    return np.asarray(bread @ (scores.T @ scores) @ bread, dtype=np.float64)
