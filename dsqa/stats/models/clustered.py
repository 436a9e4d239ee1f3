"""What fits to clustered outcomes share: the result, and runs with equal predictors counted together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.design import Design
from dsqa.stats.interval import FloatArray, Interval, check_level, exponential

__all__ = ["ClusteredFit", "Counts", "check_binary", "counted"]


@dataclass(frozen=True)
class ClusteredFit:
    """A fitted model for clustered outcomes.

    Parameters
    ----------
    formula, method
        What was fitted, and how.
    n, dropped, clusters
        Rows used, rows left out for missing values, clusters.
    coefficients
        Term → estimate; log odds where the outcome is yes or no.
    covariance
        Of the estimates, shape (terms, terms).
    degrees_of_freedom
        Of t; infinite for the normal distribution.
    spread
        `glmm`: σ, the SD of the questions' intercepts. `gee`: the correlation of two runs of one question.
    log_likelihood
        `glmm`'s; NaN for `gee`, which has none.
    """

    formula: str
    method: str
    n: int
    dropped: int
    clusters: int
    coefficients: dict[str, float]
    covariance: FloatArray
    degrees_of_freedom: float
    spread: float
    log_likelihood: float

    @property
    def errors(self) -> dict[str, float]:
        """Term → standard error."""
        return dict(zip(self.coefficients, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def latent_icc(self) -> float:
        """Share of the latent variance that lies between questions, σ²/(σ² + π²/3); for `glmm`."""
        return self.spread**2 / (self.spread**2 + math.pi**2 / 3)

    def contrast(self, weights: dict[str, float], *, level: float = 0.95) -> tuple[float, Interval, float]:
        """Return a weighted sum of coefficients, its interval, and the p value of it being 0.

        Raises
        ------
        StatisticsError
            An unknown term.
        """
        check_level(level)
        unknown = [term for term in weights if term not in self.coefficients]
        if unknown:
            raise StatisticsError(f"no term '{unknown[0]}'", hint=f"terms: {', '.join(self.coefficients)}")
        w = np.array([weights.get(term, 0.0) for term in self.coefficients])
        value = float(w @ np.array(list(self.coefficients.values())))
        error = math.sqrt(float(w @ self.covariance @ w))
        tail = stats.t(self.degrees_of_freedom) if math.isfinite(self.degrees_of_freedom) else stats.norm()
        half = float(tail.isf((1 - level) / 2)) * error
        p = float(2 * tail.sf(abs(value) / error))
        return value, Interval(value - half, value + half, level, self.method), p

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return a row per term: term, estimate, se, low, high, p, and the same as odds ratios (for logits)."""
        rows = []
        for term, error in self.errors.items():
            value, ci, p = self.contrast({term: 1.0}, level=level)
            rows.append((term, value, error, ci.low, ci.high, p, *(exponential(v) for v in (value, ci.low, ci.high))))
        names = ["term", "estimate", "se", "low", "high", "p", "odds_ratio", "odds_ratio_low", "odds_ratio_high"]
        return pd.DataFrame(rows, columns=names)


@dataclass(frozen=True)
class Counts:
    """Runs with equal predictors in one cluster, counted together; sorted by cluster.

    `right` and `squares` are the sums of the outcome and of its square.
    """

    x: FloatArray
    right: FloatArray
    squares: FloatArray
    runs: FloatArray
    starts: np.ndarray
    of: np.ndarray

    def orthonormal(self) -> tuple[FloatArray, FloatArray]:
        """Return the predictors made orthonormal over the runs, and the matrix that turns their coefficients back.

        In these coordinates units and correlated predictors do not matter to an optimiser.
        """
        upper = np.asarray(np.linalg.qr(np.sqrt(self.runs)[:, None] * self.x)[1], dtype=np.float64)
        back = np.asarray(np.linalg.inv(upper) * math.sqrt(float(self.runs.sum())), dtype=np.float64)
        return self.x @ back, back

    def total(self, values: FloatArray) -> FloatArray:
        """Sum over each cluster's rows, along the last axis."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1), dtype=np.float64)


def check_binary(made: Design) -> None:
    """Raise `StatisticsError` unless the outcome is 0 and 1, and both occur."""
    if not np.isin(made.y, (0.0, 1.0)).all():
        raise StatisticsError(f"the outcome of '{made.formula}' is not only 0 and 1")
    if made.y.min() == made.y.max():
        raise StatisticsError(f"all runs are {'right' if made.y[0] else 'wrong'}: there is nothing to explain")


def counted(made: Design, stand_for: FloatArray | None = None) -> Counts:
    """Return a design's runs, those with equal predictors in one cluster counted together.

    `stand_for` is how many runs each row of the design stands for, shape (n,); one each if None.
    """
    weights = np.ones(len(made.y)) if stand_for is None else stand_for
    # Column by column: sorting whole rows is many times slower.
    at = np.zeros(len(made.y), dtype=np.int64)
    for column in (made.clusters, *made.x.T):
        values, codes = np.unique(column, return_inverse=True)
        at = np.unique(at * len(values) + codes, return_inverse=True)[1]
    first = np.unique(at, return_index=True)[1]
    distinct = np.column_stack([made.clusters, made.x])[first]
    of = distinct[:, 0].astype(np.int64)
    return Counts(
        x=distinct[:, 1:],
        right=np.bincount(at, weights * made.y).astype(np.float64),
        squares=np.bincount(at, weights * made.y**2).astype(np.float64),
        runs=np.bincount(at, weights).astype(np.float64),
        starts=np.flatnonzero(np.r_[True, np.diff(of) > 0]),
        of=of,
    )
