"""The largest value of a likelihood from several starts, or a refusal: never a point where the search just stopped.

From every start BFGS climbs; from the highest point damped Newton steps go on, with the Hessian by central
differences of the gradient. Done is where the Newton decrement g'H⁻¹g, twice the likelihood still to be gained,
is below `GAP` and H is positive definite. Success flags of the search decide nothing: at the optimum rounding
makes them false, and on a slope they can be true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import linalg, optimize

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray

__all__ = ["GAP", "central_hessian", "maximise"]

GAP = 1e-8
"""Twice the log-likelihood that may be left to gain."""

Value = Callable[[FloatArray], tuple[float, FloatArray]]
_ROUNDS = 60
_POLISH = 1e-18
_FLAT = 1e-5
_NEAR = 1e-2


def central_hessian(value: Value, theta: FloatArray, step: float = 1e-4) -> FloatArray:
    """Return the Hessian by central differences of the gradient, shape (k, k)."""
    rows = [(value(theta + e)[1] - value(theta - e)[1]) / (2 * step) for e in step * np.eye(len(theta))]
    out = np.array(rows, dtype=np.float64)
    return np.asarray((out + out.T) / 2)


def maximise(value: Value, starts: Sequence[FloatArray], *, what: str) -> tuple[FloatArray, float, FloatArray]:
    """Return the maximum's place, its value, and minus the Hessian there.

    Parameters
    ----------
    value
        θ → value and gradient; coordinates in which a step of 1 is neither tiny nor huge.
    starts
        Where to begin.
    what
        What is fitted, for the refusal.

    Raises
    ------
    StatisticsError
        No start leads to a point where the gradient vanishes and the value falls in every direction.
    """

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        found, gradient = value(theta)
        return -found, -gradient

    ends = []
    for start in starts:
        found = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": _NEAR, "maxiter": 500})
        if np.isfinite(found.x).all() and np.isfinite(found.fun):
            ends.append((float(found.fun), np.asarray(found.x, dtype=np.float64)))
    # From the highest down: equal heights to many digits are one maximum, so the first that holds is it.
    for _, end in sorted(ends, key=lambda pair: pair[0]):
        settled = _newton(loss, end)
        if settled is not None:
            theta, least, hessian = settled
            if least <= min(height for height, _ in ends) + GAP:
                return theta, -least, hessian
    raise StatisticsError(f"'{what}': the fit did not converge from any of {len(starts)} starts")


def _newton(loss: Value, theta: FloatArray) -> tuple[FloatArray, float, FloatArray] | None:
    """Return where damped Newton steps settle, the loss and its Hessian there; None if they do not."""
    here, gradient = loss(theta)
    for _ in range(_ROUNDS):
        hessian = central_hessian(loss, theta)
        values, vectors = linalg.eigh(hessian)
        flat = _FLAT + 1e-11 * float(np.abs(values).max())
        # Where the loss does not curve upwards, the curvature's size still tells how far to go down.
        curved = np.maximum(np.abs(values), flat)
        step = -vectors @ ((vectors.T @ gradient) / curved)
        gap = float(-(gradient @ step))
        convex = bool(values.min() > flat)
        if convex and gap < _POLISH:
            return theta, here, hessian
        length = float(np.abs(step).max())
        step = step / max(1.0, length / 2)
        moved = False
        for _ in range(30):
            there, slope = loss(theta + step)
            # Near the optimum the value's last digits say nothing: the gradient's length decides there.
            better = there < here or (gap < GAP and np.abs(slope).max() < np.abs(gradient).max())
            if np.isfinite(there) and better:
                theta, here, gradient, moved = theta + step, there, slope, True
                break
            step = step / 2
        if not moved:
            break
    return (theta, here, hessian) if convex and gap < GAP else None
