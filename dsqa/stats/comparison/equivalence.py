"""No difference that matters, and differences that this study was too small to see.

Equivalence: two one-sided t tests of the question differences d_q, H₀: δ ≤ −Δ and H₀: δ ≥ Δ; both rejected at
level α means |δ| < Δ (TOST; Schuirmann 1987), which is the same as the 1 − 2α interval lying inside (−Δ, Δ).
The margin Δ is the reader's: the largest difference that would not change a decision, set before looking.
"Not significant" is not "equivalent": a small study finds neither.

Smallest detectable difference: the δ at which a two-sided paired t test at level α rejects with the power asked
for, P(|T'| > t) = power with T' noncentral t, noncentrality δ √Q / s_d. It uses the spread seen, not the
difference seen; "observed power" would add nothing to p (Hoenig & Heisey 2001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from dsqa.errors import StatisticsError
from dsqa.stats.comparison.noncentral import noncentral_t_cdf
from dsqa.stats.comparison.paired import DIGITS
from dsqa.stats.interval import FloatArray, Interval, as_sample, check_level
from dsqa.stats.ties import too_few_differ

__all__ = ["Equivalence", "equivalence_test", "inside_margin", "smallest_detectable"]


@dataclass(frozen=True)
class Equivalence:
    """A test of equivalence.

    Parameters
    ----------
    margin
        Δ.
    p
        The larger of the two one-sided p values.
    p_above, p_below
        Of H₀: δ ≤ −Δ, and of H₀: δ ≥ Δ.
    interval
        The 1 − 2α interval.
    verdict
        "equivalent" (inside the margin), "different" (outside of it), "undecided".
    """

    margin: float
    p: float
    p_above: float
    p_below: float
    interval: Interval
    verdict: str


def inside_margin(interval: Interval, margin: float) -> str:
    """Return "equivalent", "different" or "undecided" for any interval of a difference.

    Equivalent: all of it lies inside (−margin, margin). Different: none of it does. For a level-α claim of
    equivalence the interval's level is 1 − 2α.

    Raises
    ------
    StatisticsError
        The margin is not positive.

    Examples
    --------
    >>> inside_margin(Interval(-0.01, 0.03, 0.9, "t"), 0.05)
    'equivalent'
    """
    if not margin > 0:
        raise StatisticsError(f"a margin of equivalence is positive, got {margin:g}")
    if not interval.available:
        return "undecided"
    if -margin < interval.low and interval.high < margin:
        return "equivalent"
    return "different" if interval.low >= margin or interval.high <= -margin else "undecided"


def _spread(differences: ArrayLike) -> tuple[FloatArray, float]:
    d = as_sample(differences, what="differences")
    if d.size < 2:
        raise StatisticsError("one question: the spread of differences cannot be seen")
    spread = float(np.std(d, ddof=1))
    if spread < 10.0**-DIGITS:
        raise StatisticsError(f"all {d.size} questions differ alike: the spread of differences cannot be seen")
    few = too_few_differ(d)
    if few is not None:
        raise StatisticsError(
            f"only {few} of {d.size} questions differ otherwise than the rest: a t test means nothing"
        )
    return d, spread


def equivalence_test(differences: ArrayLike, margin: float, *, alpha: float = 0.05) -> Equivalence:
    """Test by two one-sided t tests that the mean difference is smaller than a margin.

    Parameters
    ----------
    differences
        d_q, shape (questions,).
    margin
        Δ > 0, in the differences' unit.
    alpha
        Level of the claim of equivalence.

    Raises
    ------
    StatisticsError
        Fewer than two questions, no spread or that of a few questions only, or a margin that is not positive.

    Examples
    --------
    >>> test = equivalence_test([0.01, -0.02, 0.0, 0.02, -0.01, 0.01], 0.05)
    >>> test.verdict, round(test.p, 4)
    ('equivalent', 0.0002)
    """
    level = check_level(1 - 2 * alpha)
    d, spread = _spread(differences)
    error, df, mean = spread / math.sqrt(d.size), d.size - 1, float(d.mean())
    half = float(stats.t.isf(alpha, df)) * error
    interval = Interval(mean - half, mean + half, level, "t over questions")
    verdict = inside_margin(interval, margin)
    above, below = float(stats.t.sf((mean + margin) / error, df)), float(stats.t.cdf((mean - margin) / error, df))
    return Equivalence(margin, max(above, below), above, below, interval, verdict)


def smallest_detectable(differences: ArrayLike, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the mean difference that a study with this spread and this many questions finds with `power`.

    Parameters
    ----------
    differences
        d_q, shape (questions,); only their number and spread matter.
    alpha
        Level of the two-sided test; divide by the number of comparisons where there are several.
    power
        Probability of finding it, above `alpha`.

    Raises
    ------
    StatisticsError
        Fewer than two questions, no spread or that of a few questions only, or settings out of range.

    Examples
    --------
    >>> round(smallest_detectable([0.1, -0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.0]), 3)
    0.185
    """
    check_level(1 - alpha)
    check_level(power)
    if power <= alpha:
        raise StatisticsError(f"power {power:g} is no more than the level {alpha:g}")
    d, spread = _spread(differences)
    df = d.size - 1
    critical = float(stats.t.isf(alpha / 2, df))

    def short(shift: float) -> float:
        wrong = noncentral_t_cdf(-critical, df, shift)
        return wrong + 1 - noncentral_t_cdf(critical, df, shift) - power

    high = critical + 5.0
    while short(high) < 0:
        high *= 2
    return float(optimize.brentq(short, 0.0, high, xtol=1e-12)) * spread / math.sqrt(d.size)
