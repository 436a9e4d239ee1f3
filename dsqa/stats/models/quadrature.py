r"""The marginal likelihood of a random-intercept logistic regression, with its gradient.

ℓ(β, σ) = Σ_q ln ∫ exp(g_q(u)) du / √(2π),   g_q(u) = Σ_i [r_i η_i − n_i ln(1 + e^{η_i})] − u²/2,   η_i = x_i'β + σu

with r_i right of n_i runs that share their predictors. g_q is strictly concave (g″ ≤ −1), so its mode û has a
bracket, [−σ (n − r), σ r], which Newton's steps narrow, or bisection where they are slow: it is found whatever the
question, also one that is always right. Two ways to integrate:

- **Over the question's own range**, where exp g_q is above e^{−36} of its peak (by concavity within 8.5 of û), by the
  trapezoid rule, whose error falls exponentially for such integrands (Trefethen & Weideman 2014, SIAM Review 56:385).
  A question that is always right has half a bell with a side as steep as exp(−e^{−σu}), analytic within π/(2σ) of
  the real line: steps of at most 0.45/σ leave e^{−22} of it.
- **Adaptive Gauss–Hermite** with nodes û + w z_k, w = (−g″(û))^{−1/2} (Liu & Pierce 1994), as R's `glmer`; one node
  is the Laplace approximation. The gradient is that of this very sum: û and w move with β and σ by the implicit
  function theorem. With questions always right or wrong 25 nodes leave the log-likelihood off by 0.001 to 0.1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import Counts

__all__ = ["Marginal"]

_LEAST, _MOST, _STRIDE = 48, 768, 0.45
_STEPS = 200
_CLOSE = 1e-10
_DEPTH = 36.0
_REACH = math.sqrt(2 * _DEPTH)


class Marginal:
    """The likelihood of counts at (β, σ), by quadrature.

    Parameters
    ----------
    data
        Runs with equal predictors in one cluster, counted together.
    x
        Predictors in the coordinates of β, shape (rows of `data`, p).
    nodes
        Of adaptive Gauss–Hermite quadrature; 1 is the Laplace approximation. None to integrate over each
        question's own range.
    """

    def __init__(self, data: Counts, x: FloatArray, nodes: int | None) -> None:
        self.data, self.x, self.adaptive = data, x, nodes is not None
        z, weights = np.polynomial.hermite_e.hermegauss(nodes or 1)
        self.z, self.logs = z[:, None], (np.log(weights) + z**2 / 2)[:, None]
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
        # Gauss–Hermite nodes hang on the mode itself; a range only begins there.
        close = _CLOSE if self.adaptive else 1e-3
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
            done = last <= close * (1 + np.abs(u))
            u = to
            if done.all():
                return u
        raise StatisticsError("the mode of a question's likelihood was not found")

    def _height(self, fixed: FloatArray, sigma: float, u: FloatArray) -> FloatArray:
        """Return g_q(u), shape of `u`: (…, clusters)."""
        d = self.data
        eta = fixed + sigma * u[..., d.of]
        return np.asarray(self._total(d.right * eta - d.runs * np.logaddexp(0, eta)) - u**2 / 2)

    def _range(self, fixed: FloatArray, sigma: float, mode: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where exp g_q has fallen to e^{−36} of its peak on either side, to an eighth outwards."""
        peak = self._height(fixed, sigma, mode)
        side = np.array([[-1.0], [1.0]])
        near, far = np.zeros((2, len(mode))), np.full((2, len(mode)), _REACH)
        for _ in range(12):
            middle = np.sqrt(np.maximum(near, far / 16) * far)
            deep = self._height(fixed, sigma, mode + side * middle) < peak - _DEPTH
            near, far = np.where(deep, near, middle), np.where(deep, middle, far)
        return mode - far[0], mode + far[1]

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return ℓ and its gradient at θ = (β, σ), in σ of which ℓ is even."""
        d, x = self.data, self.x
        sign = -1.0 if theta[-1] < 0 else 1.0
        sigma, fixed = sign * float(theta[-1]), x @ theta[:-1]
        u = self.modes(fixed, sigma)
        p = special.expit(fixed + sigma * u[d.of])
        spread = d.runs * p * (1 - p)
        spread_q = self._total(spread)
        if self.adaptive:
            width = 1 / np.sqrt(sigma**2 * spread_q + 1)
            at, logs = u + width * self.z, self.logs
        else:
            low, high = self._range(fixed, sigma, u)
            width = high - low
            # In steps of 16, so that few places in θ have a change of points between them.
            points = min(_MOST, max(_LEAST, 16 * math.ceil(sigma * float(width.max()) / _STRIDE / 16)))
            at, logs = low + width * np.linspace(0, 1, points + 1)[:, None], np.array(-math.log(points))
        eta = fixed + sigma * at[:, d.of]
        inside = self._total(d.right * eta - d.runs * np.logaddexp(0, eta)) - at**2 / 2 + logs
        peak = inside.max(axis=0)
        share = np.exp(inside - peak)
        mass = share.sum(axis=0)
        value = float((peak + np.log(mass) + np.log(width)).sum()) - len(u) * math.log(2 * math.pi) / 2
        share /= mass
        residual = d.right - d.runs * special.expit(eta)
        residual_q = self._total(residual)
        gradient = np.empty(len(theta))
        gradient[:-1] = (share[:, d.of] * residual).sum(axis=0) @ x
        gradient[-1] = float((share * at * residual_q).sum())
        if self.adaptive:
            skew = spread * (1 - 2 * p)
            skew_q = self._total(skew)
            slope = sigma * residual_q - at
            # How û and w move: rows β, last σ.
            moved = np.empty((len(theta), len(u)))
            bent = np.empty_like(moved)
            moved[:-1] = -sigma * self._total((spread[:, None] * x).T)
            moved[-1] = self._total(d.right - d.runs * p) - sigma * u * spread_q
            bent[:-1] = -(sigma**2) * self._total((skew[:, None] * x).T)
            bent[-1] = -2 * sigma * spread_q - sigma**2 * u * skew_q
            moved *= width**2
            bent = width**3 / 2 * (bent - sigma**3 * skew_q * moved)
            gradient += moved @ (share * slope).sum(axis=0)
            gradient += bent @ ((share * slope * self.z).sum(axis=0) + 1 / width)
        gradient[-1] *= sign
        return value, gradient
