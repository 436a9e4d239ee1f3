r"""Logistic regression on counts: the ordinary fit, and Firth's penalised one, which exists for separated data too.

Firth (1993, Biometrika 80:27) maximises ℓ*(β) = ℓ(β) + ½ ln |I(β)|, I = X'WX: the Jeffreys prior's mode. It takes
out the bias of order 1/n and is finite whenever X has full rank. Intervals and tests are those of the penalised
likelihood's profile (Heinze & Schemper 2002, Statistics in Medicine 21:2409): Wald's are useless where data are
separated. As R's `logistf`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray

__all__ = ["LogisticFit", "fit_logistic"]

_ROUNDS = 500
_POLISH = 1e-20
_GAP = 1e-10
_LONGEST = 5.0


@dataclass(frozen=True)
class LogisticFit:
    """A maximum: β, the (penalised) log-likelihood there, and the information X'WX of the coefficients."""

    beta: FloatArray
    value: float
    information: FloatArray


def fit_logistic(
    x: FloatArray,
    right: FloatArray,
    runs: FloatArray,
    *,
    what: str,
    firth: bool = False,
    held: tuple[FloatArray, float] | None = None,
    start: FloatArray | None = None,
) -> LogisticFit:
    """Maximise the (penalised) likelihood by damped Fisher scoring.

    Parameters
    ----------
    x
        Predictors, shape (rows, p), of full rank.
    right, runs
        Of each row, shape (rows,).
    what
        What is fitted, for the refusal.
    firth
        Add Firth's penalty.
    held
        A combination of coefficients w, shape (p,), and the value that w'β keeps: for profiles.
    start
        Where to begin; 0 if None.

    Raises
    ------
    StatisticsError
        It did not converge; without the penalty, separated data do so.
    """
    beta = np.zeros(x.shape[1]) if start is None else start.copy()
    if held is not None:
        w, kept = held
        beta = beta + w * (kept - float(w @ beta)) / float(w @ w)
    value, score, information = _evaluate(x, right, runs, beta, firth)
    for _ in range(_ROUNDS):
        try:
            step = np.linalg.solve(information, score)
            if held is not None:
                # The step that keeps w'β: Lagrange's multiplier of the quadratic approximation.
                across = np.linalg.solve(information, held[0])
                step = step - across * float(held[0] @ step) / float(held[0] @ across)
        except np.linalg.LinAlgError:
            break
        gap = float(score @ step)
        if not np.isfinite(gap):
            break
        if gap < _POLISH:
            return LogisticFit(beta, value, information)
        step = step / max(1.0, float(np.abs(x @ step).max()) / _LONGEST)
        for _ in range(40):
            new = _evaluate(x, right, runs, beta + step, firth)
            # In the last digits of the value only the decrement still tells up from down.
            if new[0] > value or (gap < _GAP and new[0] > value - 1e-9 * (1 + abs(value))):
                break
            step = step / 2
        else:
            if gap < _GAP:
                return LogisticFit(beta, value, information)
            break
        beta, (value, score, information) = beta + step, new
        if gap < _GAP and float(np.abs(step).max()) < 1e-13 * (1 + float(np.abs(beta).max())):
            return LogisticFit(beta, value, information)
    raise StatisticsError(f"'{what}': the {'penalised ' if firth else ''}logistic fit did not converge")


def _evaluate(
    x: FloatArray, right: FloatArray, runs: FloatArray, beta: FloatArray, firth: bool
) -> tuple[float, FloatArray, FloatArray]:
    """Return the value, its score, and X'WX."""
    eta = x @ beta
    p = special.expit(eta)
    weight = runs * p * special.expit(-eta)
    information = (weight[:, None] * x).T @ x
    value = float((right * eta - runs * np.logaddexp(0, eta)).sum())
    residual = right - runs * p
    if firth:
        sign, log = np.linalg.slogdet(information)
        if sign <= 0:
            return -np.inf, np.full_like(beta, np.nan), information
        value += log / 2
        hat = weight * np.einsum("ij,ji->i", x, np.linalg.solve(information, x.T))
        residual = residual + hat * (0.5 - p)
    return value, x.T @ residual, information
