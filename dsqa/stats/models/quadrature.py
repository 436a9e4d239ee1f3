r"""The marginal likelihood of a random-intercept logistic regression, with its gradient.

ℓ(β, σ) = Σ_q ln ∫ exp(g_q(u)) du / √(2π),   g_q(u) = Σ_i [r_i η_i − n_i ln(1 + e^{η_i})] − u²/2,   η_i = x_i'β + σu

with r_i right of n_i runs that share their predictors. g_q is strictly concave (g″ ≤ −1), so its mode û has a
bracket, [−σ (n − r), σ r], which Newton's steps narrow, or bisection where they are slow: it is found whatever the
question, also one that is always right. The integral is adaptive Gauss–Hermite quadrature with nodes
û + w z_k, w = (−g″(û))^{−1/2} (Liu & Pierce 1994). The gradient is that of this very sum: û and w move with
β and σ by the implicit function theorem, so that it is exact for one node (Laplace) too.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import Counts

__all__ = ["Marginal"]

_STEPS = 200
_CLOSE = 1e-10


class Marginal:
    """The likelihood of counts at (β, σ), by quadrature.

    Parameters
    ----------
    data
        Runs with equal predictors in one cluster, counted together.
    x
        Predictors in the coordinates of β, shape (rows of `data`, p).
    nodes
        Of the quadrature; 1 is the Laplace approximation.
    """

    def __init__(self, data: Counts, x: FloatArray, nodes: int) -> None:
        self.data, self.x = data, x
        z, weights = np.polynomial.hermite_e.hermegauss(nodes)
        self.z, self.logs = z[:, None], np.log(weights)[:, None]
        self.right, self.wrong = data.total(data.right), data.total(data.runs - data.right)

    def _total(self, values: FloatArray) -> FloatArray:
        return self.data.total(values)

    def modes(self, fixed: FloatArray, sigma: float) -> FloatArray:
        """Return û of every cluster, shape (clusters,), for σ ≥ 0.

        Raises
        ------
        StatisticsError
            A mode was not found.
        """
        d = self.data
        low, high = -sigma * self.wrong, sigma * self.right
        u = np.zeros(len(d.starts))
        last = high - low
        for _ in range(_STEPS):
            p = special.expit(fixed + sigma * u[d.of])
            slope = sigma * self._total(d.right - d.runs * p) - u
            low, high = np.where(slope >= 0, u, low), np.where(slope <= 0, u, high)
            step = slope / (sigma**2 * self._total(d.runs * p * (1 - p)) + 1)
            to = u + step
            # Steps that leave the bracket, or that do not halve, give way to bisection.
            halve = (to < low) | (to > high) | (np.abs(step) > last / 2)
            to = np.where(halve, (low + high) / 2, to)
            last = np.abs(to - u)
            done = last <= _CLOSE * (1 + np.abs(u))
            u = to
            if done.all():
                return u
        raise StatisticsError("the mode of a question's likelihood was not found")

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return ℓ and its gradient at θ = (β, σ), in σ of which ℓ is even."""
        d, x = self.data, self.x
        sign = -1.0 if theta[-1] < 0 else 1.0
        sigma, fixed = sign * float(theta[-1]), x @ theta[:-1]
        u = self.modes(fixed, sigma)
        p = special.expit(fixed + sigma * u[d.of])
        spread = d.runs * p * (1 - p)
        skew = spread * (1 - 2 * p)
        spread_q, skew_q = self._total(spread), self._total(skew)
        width = 1 / np.sqrt(sigma**2 * spread_q + 1)
        at = u + width * self.z
        eta = fixed + sigma * at[:, d.of]
        inside = self._total(d.right * eta - d.runs * np.logaddexp(0, eta)) - at**2 / 2 + self.z**2 / 2 + self.logs
        peak = inside.max(axis=0)
        share = np.exp(inside - peak)
        mass = share.sum(axis=0)
        value = float((peak + np.log(mass) + np.log(width)).sum()) - len(u) * math.log(2 * math.pi) / 2
        share /= mass
        residual = d.right - d.runs * special.expit(eta)
        residual_q = self._total(residual)
        slope = sigma * residual_q - at
        # How û and w move: rows β, last σ.
        moved = np.empty((x.shape[1] + 1, len(u)))
        bent = np.empty_like(moved)
        moved[:-1] = -sigma * self._total((spread[:, None] * x).T)
        moved[-1] = self._total(d.right - d.runs * p) - sigma * u * spread_q
        bent[:-1] = -(sigma**2) * self._total((skew[:, None] * x).T)
        bent[-1] = -2 * sigma * spread_q - sigma**2 * u * skew_q
        moved *= width**2
        bent = width**3 / 2 * (bent - sigma**3 * skew_q * moved)
        gradient = moved @ (share * slope).sum(axis=0) + bent @ ((share * slope * self.z).sum(axis=0) + 1 / width)
        gradient[:-1] += (share[:, d.of] * residual).sum(axis=0) @ x
        gradient[-1] = sign * (gradient[-1] + float((share * at * residual_q).sum()))
        return value, gradient
