"""The distribution function of Student's noncentral t, where SciPy has it and where it gives up."""

from __future__ import annotations

import math

from scipy import special

__all__ = ["noncentral_t_cdf"]


def noncentral_t_cdf(t: float, df: float, noncentrality: float) -> float:
    """Return P(T ≤ t), T noncentral t.

    SciPy gives NaN for probabilities below some 1e-11 (seen: df = 99, noncentrality 6, t = −3.2). They are 0 here, or
    1 on the other side, which is right to more digits than anything made of them shows.
    """
    value = float(special.nctdtr(df, noncentrality, t))
    return value if not math.isnan(value) else float(t > noncentrality)
