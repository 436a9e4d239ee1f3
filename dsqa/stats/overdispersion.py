"""A proportion over several cells whose probabilities differ: the beta-binomial.

xᵢ ~ Binomial(nᵢ, pᵢ), pᵢ ~ Beta(a, b). Mean μ = a/(a + b); ρ = 1/(a + b + 1) is the correlation of two runs
of one cell. Var(xᵢ) = nᵢ μ (1 − μ) (1 + (nᵢ − 1) ρ): the last factor is how much too small a binomial
variance is. Griffiths (1973), Biometrics 29:637. Fitted by maximum likelihood; the interval for μ is the
profile likelihood's, with ρ refitted for every μ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.special import chdtri, expit, gammaln, logit, xlogy

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level

__all__ = ["BetaBinomial", "beta_binomial"]

# Beyond these the likelihood is that of a binomial (ρ → 0) or of all-or-nothing cells (ρ → 1), to rounding.
_SMALLEST, _LARGEST = 1e-7, 1 - 1e-7


@dataclass(frozen=True)
class BetaBinomial:
    """A fitted beta-binomial: mean, its interval, correlation within cells, log-likelihood, cells."""

    mean: float
    interval: Interval
    correlation: float
    log_likelihood: float
    cells: int


def beta_binomial(successes: ArrayLike, runs: ArrayLike, *, level: float = 0.95) -> BetaBinomial:
    """Fit a beta-binomial to the counts of several cells.

    Parameters
    ----------
    successes, runs
        xᵢ and nᵢ, shape (cells,).
    level
        Nominal coverage of the profile-likelihood interval.

    Raises
    ------
    StatisticsError
        Fewer than two cells, counts out of range, no cell with two runs (ρ cannot be seen), or all runs
        right or all wrong (the likelihood has no inner maximum).
    """
    check_level(level)
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if x.ndim != 1 or x.shape != n.shape or len(x) < 2:
        raise StatisticsError("successes and runs must be two lists of at least two cells")
    if not np.isfinite(x + n).all() or (x < 0).any() or (x > n).any() or (n < 1).any():
        raise StatisticsError("successes must lie between 0 and the number of runs")
    if n.max() < 2:
        raise StatisticsError("no cell has two runs: over-dispersion cannot be seen")
    if x.sum() in (0, n.sum()):
        raise StatisticsError("all runs are wrong or all are right: the fit has no inner maximum")
    best, correlation, height = _maximise(x, n)
    drop = float(chdtri(1, 1 - level)) / 2

    def short(mean: float) -> float:
        return _profile(mean, x, n)[1] - (height - drop)

    low = _crossing(short, best, -1.0)
    high = _crossing(short, best, 1.0)
    constant = float((gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)).sum())
    interval = Interval(low, high, level, "beta-binomial profile likelihood")
    return BetaBinomial(best, interval, correlation, height + constant, len(x))


def _kernel(mean: float, correlation: ArrayLike, x: FloatArray, n: FloatArray) -> FloatArray:
    """Return the log-likelihood without constants, Σ ln B(x + a, n − x + b) / B(a, b), one per correlation.

    As products over j of (μ + jθ), (1 − μ + jθ) and 1/(1 + jθ), θ = ρ/(1 − ρ): differences of log-gamma
    functions of huge a and b would lose all digits where ρ → 0.
    """
    rho = np.asarray(correlation, dtype=np.float64)[..., None]
    theta = rho / (1 - rho)
    j = np.arange(int(n.max()))
    # How many cells have a j-th factor.
    right, wrong, all_ = ((count[:, None] > j).sum(axis=0) for count in (x, n - x, n))
    terms = xlogy(right, mean + j * theta) + xlogy(wrong, 1 - mean + j * theta) - all_ * np.log1p(j * theta)
    return np.asarray(terms.sum(axis=-1), dtype=np.float64)


def _profile(mean: float, x: FloatArray, n: FloatArray) -> tuple[float, float]:
    """Return the best correlation for a mean, and the log-likelihood there (without constants)."""
    # A coarse look first: near the ends of ρ the likelihood is flat and a bracket could miss the hill.
    grid = np.linspace(logit(_SMALLEST), logit(_LARGEST), 41)
    heights = _kernel(mean, expit(grid), x, n)
    top = int(np.argmax(heights))
    result = optimize.minimize_scalar(
        lambda g: -float(_kernel(mean, expit(g), x, n)),
        bounds=(grid[max(top - 1, 0)], grid[min(top + 1, 40)]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    _settled(result)
    return float(expit(result.x)), -float(result.fun)


def _maximise(x: FloatArray, n: FloatArray) -> tuple[float, float, float]:
    result = optimize.minimize_scalar(
        lambda g: -_profile(float(expit(g)), x, n)[1],
        bounds=(logit(1e-6), logit(1 - 1e-6)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    _settled(result)
    mean = float(expit(result.x))
    correlation, height = _profile(mean, x, n)
    return mean, correlation, height


def _settled(result: optimize.OptimizeResult) -> None:
    if not result.success or not np.isfinite(result.fun):
        raise StatisticsError("the beta-binomial fit did not converge")


def _crossing(short: Callable[[float], float], best: float, direction: float) -> float:
    """Return where the profile falls by the drop, walking from the top on the logit scale."""
    start, step = float(logit(best)), 0.25
    inner, outer = start, start + direction * step
    while short(float(expit(outer))) > 0:
        inner, step = outer, step * 2
        outer = inner + direction * step
        if abs(outer) > 40:
            return 0.0 if direction < 0 else 1.0
    return float(expit(optimize.brentq(lambda g: short(float(expit(g))), inner, outer, xtol=1e-10)))
