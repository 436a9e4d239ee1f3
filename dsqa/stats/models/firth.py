"""Firth's penalised logistic regression: finite estimates and intervals where right and wrong are separated.

See `dsqa.stats.models.logistic` for the likelihood. Runs count as independent given the predictors, so differences
between questions belong in the formula: ``"accuracy ~ C(model) + C(question_id)"`` has the effect within a question.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats
from dsqa.stats.design import design
from dsqa.stats.interval import FloatArray, Interval, check_level, exponential
from dsqa.stats.models.clustered import Counts, check_binary, counted
from dsqa.stats.models.logistic import LogisticFit, fit_logistic

__all__ = ["FirthFit", "firth"]

_METHOD = "Firth's penalised logistic regression, profile likelihood"
_FARTHEST = 60.0


@dataclass(frozen=True)
class FirthFit:
    """A penalised fit.

    Parameters
    ----------
    formula
        What was fitted.
    n, dropped
        Runs used, runs left out for missing values.
    coefficients
        Term → log odds.
    log_likelihood
        The penalised one, at the estimate.
    """

    formula: str
    n: int
    dropped: int
    coefficients: dict[str, float]
    log_likelihood: float
    _counts: Counts
    _x: FloatArray
    _back: FloatArray
    _fit: LogisticFit

    def contrast(self, weights: dict[str, float], *, level: float = 0.95) -> tuple[float, Interval, float]:
        """Return a weighted sum of coefficients, its profile interval, and the p value of it being 0.

        p is that of the penalised likelihood ratio, χ² on 1 degree of freedom (Heinze & Schemper 2002).

        Raises
        ------
        StatisticsError
            An unknown term, no weights, or a profile that does not fall.
        """
        check_level(level)
        unknown = [term for term in weights if term not in self.coefficients]
        if unknown:
            raise StatisticsError(f"no term '{unknown[0]}'", hint=f"terms: {', '.join(self.coefficients)}")
        plain = np.array([weights.get(term, 0.0) for term in self.coefficients])
        if not plain.any():
            raise StatisticsError("a contrast needs a term with a weight")
        w = self._back.T @ plain
        value = float(w @ self._fit.beta)
        error = math.sqrt(float(w @ np.linalg.solve(self._fit.information, w)))
        drop = float(stats.chi2.isf(1 - level, 1))

        def fallen(at: float) -> float:
            return 2 * (self._fit.value - self._held(w, at).value)

        ends = [_crossing(lambda at: fallen(at) - drop, value, sign * error) for sign in (-1.0, 1.0)]
        p = float(stats.chi2.sf(max(fallen(0.0), 0.0), 1))
        return value, Interval(ends[0], ends[1], level, _METHOD), p

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return a row per term: term, estimate, low, high, p, and the same as odds ratios."""
        rows = []
        for term in self.coefficients:
            value, ci, p = self.contrast({term: 1.0}, level=level)
            rows.append((term, value, ci.low, ci.high, p, *(exponential(v) for v in (value, ci.low, ci.high))))
        names = ["term", "estimate", "low", "high", "p", "odds_ratio", "odds_ratio_low", "odds_ratio_high"]
        return pd.DataFrame(rows, columns=names)

    def _held(self, w: FloatArray, at: float) -> LogisticFit:
        data = self._counts
        return fit_logistic(
            self._x, data.right, data.runs, what=self.formula, firth=True, held=(w, at), start=self._fit.beta
        )


def firth(formula: str, data: pd.DataFrame, *, runs: str | None = None) -> FirthFit:
    """Fit a logistic regression with Firth's penalty.

    Parameters
    ----------
    formula
        Such as ``"accuracy ~ C(model) + C(question_id)"``; the outcome is 0 or 1.
    data
        One row per run; rows with a missing value are dropped.
    runs
        A column with the number of runs that a row stands for.

    Raises
    ------
    StatisticsError
        As `design`; an outcome other than 0 and 1, or always the same; no convergence.

    Examples
    --------
    A model that is never right has a finite odds ratio:

    >>> rows = [("a", r < 4) for r in range(8)] + [("b", False) for r in range(8)]
    >>> fit = firth("y ~ model", pd.DataFrame(rows, columns=["model", "y"]).astype({"y": int}))
    >>> value, ci, p = fit.contrast({"model[T.b]": 1.0})
    >>> round(value, 3), round(ci.low, 2), round(ci.high, 2)
    (-2.833, -7.81, -0.29)
    """
    made = design(formula, data, also=() if runs is None else (runs,))
    check_binary(made)
    each = np.ones(len(data)) if runs is None else as_floats(data[runs])
    counts = counted(made, each[made.rows])
    x, back = counts.orthonormal()
    fit = fit_logistic(x, counts.right, counts.runs, what=formula, firth=True)
    # ln |I| of the formula's own coefficients, so that the value is that of other programs.
    shift = -float(np.linalg.slogdet(back)[1])
    return FirthFit(
        formula=formula,
        n=round(counts.runs.sum()),
        dropped=round(each.sum() - counts.runs.sum()),
        coefficients=dict(zip(made.names, (back @ fit.beta).tolist(), strict=True)),
        log_likelihood=fit.value + shift,
        _counts=counts,
        _x=x,
        _back=back,
        _fit=fit,
    )


def _crossing(over: Callable[[float], float], start: float, step: float) -> float:
    """Return where `over` turns positive, walking from `start`; raise if it never does."""
    near, far = start, start + step
    while over(far) < 0:
        near, step = far, step * 1.6
        far = near + step
        if abs(far) > _FARTHEST:
            raise StatisticsError("the penalised likelihood does not fall far enough for an interval")
    return float(optimize.brentq(over, near, far, xtol=1e-9))
