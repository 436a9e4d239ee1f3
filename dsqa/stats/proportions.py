"""Intervals for a proportion, and bounds on it when some runs are missing.

All are for X ~ Binomial(n, p): runs of a cell independent, each right with the same probability p.

=================  ==============================================================================
Wilson             inverts the score test: (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n).
                   Wilson (1927), JASA 22:209. Coverage close to nominal on average; the default.
Clopper–Pearson    inverts the exact binomial test: Beta quantiles B(α/2; x, n−x+1) and
                   B(1−α/2; x+1, n−x). Clopper & Pearson (1934), Biometrika 26:404. Never below nominal.
Jeffreys           equal-tailed posterior under Beta(½, ½): B(α/2; x+½, n−x+½), B(1−α/2; …), with 0 at
                   x = 0 and 1 at x = n. Brown, Cai & DasGupta (2001), Statistical Science 16:101.
=================  ==============================================================================

Wilson is the default because of docs/coverage.md: within a point of nominal on average over all rates, as Jeffreys
is, and at no rate tried below 90 %, as Jeffreys is not.

No continuity correction anywhere: `prop.test(correct = FALSE)` is R's name for Wilson.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level

__all__ = [
    "ProportionMethod",
    "clopper_pearson",
    "jeffreys",
    "missing_bounds",
    "proportion_bounds",
    "wilson",
]

ProportionMethod = Literal["wilson", "clopper-pearson", "jeffreys"]
_NAMES = {"wilson": "Wilson", "clopper-pearson": "Clopper–Pearson", "jeffreys": "Jeffreys"}


def proportion_bounds(
    successes: ArrayLike, runs: ArrayLike, *, method: ProportionMethod = "wilson", level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper ends of proportion intervals, for whole arrays.

    Parameters
    ----------
    successes, runs
        Counts x and n, broadcast against each other; NaN, and n = 0, give NaN ends.
    method
        See the table at the top of the module.
    level
        Nominal coverage.

    Raises
    ------
    StatisticsError
        A count is negative, is no whole number, or x > n.
    """
    check_level(level)
    if method not in get_args(ProportionMethod):
        raise StatisticsError(f"unknown method '{method}'", hint=f"one of {', '.join(_NAMES)}")
    x, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    known = np.isfinite(x) & np.isfinite(n) & (n > 0)
    if (x[known] != np.floor(x[known])).any() or (n[known] != np.floor(n[known])).any():
        raise StatisticsError("successes and runs must be whole numbers")
    if (x < 0).any() or (n < 0).any() or (x[known] > n[known]).any():
        raise StatisticsError("successes must lie between 0 and the number of runs")
    x, n = np.where(known, x, 0.0), np.where(known, n, 1.0)
    alpha = 1 - level
    if method == "wilson":
        z = -special.ndtri(alpha / 2)
        share = x / n
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        low, high = centre - half, centre + half
    else:
        a, b = (0.0, 1.0) if method == "clopper-pearson" else (0.5, 0.5)
        # Beta(0, ·) and Beta(·, 0) are the point masses that the end rule below stands for.
        low = special.betaincinv(np.maximum(x + a, 0.5), n - x + b, alpha / 2)
        high = special.betainccinv(x + b, np.maximum(n - x + a, 0.5), alpha / 2)
    low = np.where(x == 0, 0.0, np.clip(low, 0.0, 1.0))
    high = np.where(x == n, 1.0, np.clip(high, 0.0, 1.0))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _one(successes: int, runs: int, method: ProportionMethod, level: float) -> Interval:
    if runs < 1:
        raise StatisticsError("no runs: a proportion of nothing has no interval")
    low, high = proportion_bounds(successes, runs, method=method, level=level)
    return Interval(float(low), float(high), level, _NAMES[method])


def wilson(successes: int, runs: int, level: float = 0.95) -> Interval:
    """Return the Wilson score interval; right at 0 and at `runs`.

    Raises
    ------
    StatisticsError
        No runs, or successes outside [0, runs].

    Examples
    --------
    >>> ci = wilson(10, 10)
    >>> round(ci.low, 4), ci.high
    (0.7225, 1.0)
    """
    return _one(successes, runs, "wilson", level)


def clopper_pearson(successes: int, runs: int, level: float = 0.95) -> Interval:
    """Return the exact (Clopper–Pearson) interval; never covers less than `level`.

    Raises
    ------
    StatisticsError
        No runs, or successes outside [0, runs].
    """
    return _one(successes, runs, "clopper-pearson", level)


def jeffreys(successes: int, runs: int, level: float = 0.95) -> Interval:
    """Return the Jeffreys interval, with the rule that it reaches 0 at x = 0 and 1 at x = n.

    Raises
    ------
    StatisticsError
        No runs, or successes outside [0, runs].
    """
    return _one(successes, runs, "jeffreys", level)


def missing_bounds(successes: ArrayLike, runs: ArrayLike, missing: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the proportion if every missing run had been wrong, and if every one had been right.

    Manski's worst-case bounds: no assumption on why runs are missing. Not a confidence interval.

    Parameters
    ----------
    successes
        Successes among the runs that are there.
    runs
        All runs, the missing ones among them.
    missing
        Runs lost for reasons that are not the model's; scored as wrong so far.
    """
    x, n, m = (np.asarray(v, dtype=np.float64) for v in (successes, runs, missing))
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = x / n, (x + m) / n
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
