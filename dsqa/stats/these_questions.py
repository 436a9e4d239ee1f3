r"""Means over these very questions, other runs of them: a stratified sample, cells being the strata.

With weights w of the cells, s² the variance of a cell's runs (divisor n − 1) and v = w² s²/n,

    Σ w ȳ ± t(ν) √Σ v,   ν = (Σ v)²/Σ v²/(n − 1)

(Satterthwaite 1946; Cochran 1977, Sampling Techniques, section 5.4). The divisor n − 1 matters: resampling runs, or
p̂(1 − p̂)/n, has the variance too small by (n − 1)/n on average, however many the cells, and covers 83 % with two runs
a cell. A cell of one run takes the mean variance of the others. Of an SD (σ̄) each cell's variance is the jackknife's
over its runs, which needs five of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from dsqa.stats.interval import FloatArray, Interval, check_level

__all__ = ["jackknife_variance", "mean_variance", "stratified_interval"]

_FEWEST_OF_SPREAD = 5
_NONE = 1e-18
METHOD = "t, variances within cells"


def mean_variance(runs: FloatArray) -> float:
    """Return the variance of a cell's mean; NaN for one run."""
    return float(np.var(runs, ddof=1)) / runs.size if runs.size > 1 else math.nan


def jackknife_variance(runs: FloatArray) -> float:
    """Return the jackknife's variance of a cell's population SD; NaN for fewer than five runs."""
    n = runs.size
    if n < _FEWEST_OF_SPREAD:
        return math.nan
    moved = runs - runs.mean()
    means = (moved.sum() - moved) / (n - 1)
    squares = ((moved**2).sum() - moved**2) / (n - 1)
    without = np.sqrt(np.maximum(squares - means**2, 0.0))
    return float((n - 1) / n * ((without - without.mean()) ** 2).sum())


def stratified_interval(
    value: float,
    weights: Sequence[float] | FloatArray,
    variances: Sequence[float] | FloatArray,
    sizes: Sequence[int] | FloatArray,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the interval of Σ w ȳ over these cells.

    Parameters
    ----------
    value
        Σ w ȳ.
    weights, variances, sizes
        Of each cell: w, the variance of its ȳ (NaN where it cannot be seen), its number of runs.
    level
        Nominal coverage.

    Returns
    -------
    Interval
        Not available where no cell's variance can be seen, or runs differ in no cell.

    Examples
    --------
    >>> ci = stratified_interval(0.3, [1, -1], [0.01, 0.02], [10, 10])
    >>> round(ci.low, 3), round(ci.high, 3)  # 16.2 degrees of freedom
    (-0.067, 0.667)
    """
    check_level(level)
    w, v, n = (np.asarray(part, dtype=np.float64) for part in (weights, variances, sizes))
    seen = np.isfinite(v)
    if not seen.any():
        why = "no cell has runs enough: the spread between runs cannot be seen"
        return Interval.unavailable(level, METHOD, why)
    # Sorted, so that the order of cells does not show in the last digit.
    parts = np.sort(w**2 * np.where(seen, v, v[seen].mean()))
    own = w[seen] ** 2 * v[seen]
    total = float(parts.sum())
    if total <= _NONE:
        return Interval.unavailable(level, METHOD, "runs of a cell never differ: their spread cannot be seen")
    freedom = float(own.sum()) ** 2 / float(np.sort(own**2 / (n[seen] - 1)).sum())
    half = float(stdtrit(max(freedom, 1.0), (1 + level) / 2)) * math.sqrt(total)
    return Interval(value - half, value + half, level, METHOD)
