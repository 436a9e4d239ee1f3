r"""A confidence sequence for a share: an interval that holds at every number of runs at once.

Estimand: p, the probability that a run is right. Whoever stops "as soon as the interval is narrow enough" looks at
many intervals and keeps one; a fixed-N interval (Wilson) promises nothing then. A confidence sequence does:

    P(p ∈ C_n for all n = 1, 2, …) ≥ level.

Robbins' method of mixtures. For x right of n runs, and the Beta(a, a) mixture of all simple alternatives,

    M_n(p) = B(a + x, a + n − x) / B(a, a) / (p^x (1 − p)^(n−x))

is a non-negative martingale with mean 1 if p is the truth, so by Ville's inequality P(sup_n M_n(p) ≥ 1/α) ≤ α, and

    C_n = {p : M_n(p) < 1/α},  α = 1 − level,

is a confidence sequence; an interval, since the likelihood has one peak. It depends on the counts alone, not on the
order of the runs, and needs no largest N. a = ½ (the mixture that has the least worst-case regret) is used: bounds
near 0 and 1, where most cells lie, are narrower than with a = 1, those near ½ wider by 4 %; `analysis/stopping.py`
compares a = ¼, ½, 1 and the hedged-capital betting sequence.

References
----------
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. *Ann. Math. Stat.* 41:1397.
Howard, S. R., Ramdas, A., McAuliffe, J. & Sekhon, J. (2021). Time-uniform, nonparametric, nonasymptotic confidence
sequences. *Ann. Stat.* 49:1055 (conjugate mixtures, section 3).
Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. *JRSS B* 86:1.
Ville, J. (1939). *Étude critique de la notion de collectif*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, check_level

__all__ = ["PROPORTION_SEQUENCE", "proportion_sequence"]

PROPORTION_SEQUENCE = "beta-binomial confidence sequence"
"""The method's name in tables."""

MIXTURE = 0.5
_HALVINGS = 55


def proportion_sequence(
    successes: ArrayLike, runs: ArrayLike, *, level: float = 0.95, mixture: float = MIXTURE
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper ends of the confidence sequence for a share, for whole arrays.

    Parameters
    ----------
    successes, runs
        Counts x and n so far, broadcast against each other; n = 0 gives [0, 1].
    level
        Probability that the truth is in the interval at every n.
    mixture
        The a of the Beta(a, a) mixture; must be chosen before the runs are seen.

    Raises
    ------
    StatisticsError
        A count is missing, negative or no whole number, x > n, or `mixture` is not positive.

    Examples
    --------
    >>> low, high = proportion_sequence([0, 24, 50], [0, 24, 100])
    >>> low.round(3), high.round(3)
    (array([0.   , 0.806, 0.338]), array([1.   , 1.   , 0.662]))
    """
    alpha = 1 - check_level(level)
    if not mixture > 0:
        raise StatisticsError(f"the mixture's parameter must be positive, got {mixture}")
    x, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    if not (np.isfinite(x).all() and np.isfinite(n).all()):
        raise StatisticsError("successes or runs are missing")
    if (x != np.floor(x)).any() or (n != np.floor(n)).any():
        raise StatisticsError("successes and runs must be whole numbers")
    if (x < 0).any() or (x > n).any():
        raise StatisticsError("successes must lie between 0 and the number of runs")
    # log p^x (1 − p)^(n−x) must not fall below this.
    least = special.betaln(mixture + x, mixture + n - x) - special.betaln(mixture, mixture) + np.log(alpha)
    share = np.where(n > 0, x / np.maximum(n, 1), 0.5)

    def outermost(inside: FloatArray, outside: FloatArray) -> FloatArray:
        """Return the last point on the way from `inside` to `outside` that is not excluded, rounded outward."""
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            kept = special.xlogy(x, middle) + special.xlog1py(n - x, -middle) >= least
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        return outside

    low = np.where(x == 0, 0.0, outermost(share, np.zeros_like(share)))
    high = np.where(x == n, 1.0, outermost(share, np.ones_like(share)))
    return low, high
