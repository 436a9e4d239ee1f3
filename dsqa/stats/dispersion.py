r"""Instability of a cell: the population SD of its scores, and how sure one can be of it.

Estimand: σ̄ = SD(score) / ((hi − lo)/2) of the distribution the runs are drawn from, scores in
[lo, hi] = [0, 3]. It lies in [0, 1]: no variable on [lo, hi] has an SD above (hi − lo)/2.

**Why the bootstrap alone is not used.** A resample holds only scores that occurred. Ten equal scores
give the bootstrap interval [0, 0], and nine 3s with one 2.5 give an upper end near 0.15, although an
outcome that one run in five would show (a refusal, a crash: score 0) is missed by ten runs with
probability 0.11 and would alone make σ̄ = 0.8. `unseen_bound` says what such outcomes could do:

Let M be the probability of all scores that did *not* occur in N runs. N runs that avoid them have
probability (1 − M)^N, so M ≤ M_a = 1 − a^(1/N) with confidence 1 − a (the rule of three: M_0.05 ≈ 3/N).
The remaining 1 − M is taken as observed: mean m, mean square s of the scores moved to [0, h], h = hi − lo.
Put the mass r ≤ M at h and M − r at 0; the variance is

    V(r) = (1 − M) s + r h² − ((1 − M) m + r h)²,

concave in r, so the worst case is r* = 1/2 − (1 − M) m / h, clipped to [0, M]. No other placing of M is
worse: for a given mean, the mean square of a variable on [0, h] is largest at the end points. V(r*) never
falls as M grows: with r* inside, V = h²/4 − (1 − M) E[x(h − x)]; with r* = 0, dV/dM = 2(1 − M)m² − s ≥ 0
since then (1 − M) m ≥ h/2 and s ≤ h m; r* = M mirrors it. So V(r*) at M_a bounds every M ≤ M_a.

With all scores equal this is exact: the observed part has no spread, and the bound holds whenever M ≤ M_a.
`instability_interval` then returns [0, bound at a = 1 − level]: the lower end cannot fail, so all of the
error goes to the upper one. Otherwise it starts from

- two distinct scores a < b: SD = (b − a) √(p(1 − p)) with p the share of b, so the Clopper–Pearson interval
  for p, mapped through √(p(1 − p)) (highest at p = ½ where that is inside), is exact. A bootstrap misses
  σ̄ = 1 of a fair coin toss between 0 and 3 in 12 % of cells at N = 100: the SD turns back at p = ½;
- more distinct scores: the BCa bootstrap. Of percentile, basic and BCa it kept closest to nominal in
  simulation (ten score distributions, N from 5 to 100: 93 to 99.8 %, but 81 % for N = 5 near σ̄ = 1);

and raises the upper end to the bound at a = (1 − level)/2 where that is higher. The consequence is real and
not an artefact: at level 0.95 it takes 129 equal scores of 3 before σ̄ ≥ 0.3 is excluded, since a 2.3 % share
of zeros makes σ̄ = 0.3. docs/coverage.md sets its coverage beside that of the bare bootstraps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import BootstrapMethod, bootstrap_intervals, weighted_sd
from dsqa.stats.interval import FloatArray, Interval, as_sample, check_level, share_text
from dsqa.stats.proportions import clopper_pearson
from dsqa.stats.streams import DEFAULT_SEED

__all__ = [
    "NOTABLE",
    "SCORE_BOUNDS",
    "decompose_instability",
    "instability",
    "instability_interval",
    "instability_intervals",
    "normalised_instability",
    "population_sd",
    "unseen_bound",
]

SCORE_BOUNDS = (0.0, 3.0)
NOTABLE = 0.3


def population_sd(values: ArrayLike) -> float:
    """Return √(Σ(xᵢ − x̄)²/N): divisor N, not N − 1.

    Raises
    ------
    StatisticsError
        No values, or missing ones among them.

    Examples
    --------
    >>> population_sd([0, 3])
    1.5
    """
    sample = as_sample(values, what="values")
    # Moving to zero keeps the sums exact on a grid, and the SD of equal values exactly 0.
    moved = sample - sample[0]
    return float(np.sqrt(np.mean((moved - moved.mean()) ** 2)))


def _scores(scores: ArrayLike, bounds: tuple[float, float]) -> FloatArray:
    sample = as_sample(scores)
    low, high = bounds
    if not low < high:
        raise StatisticsError(f"bounds must be (lowest, highest) possible score, got {bounds}")
    if sample[0] < low or sample[-1] > high:
        raise StatisticsError(f"scores from {sample[0]:g} to {sample[-1]:g} leave the range {low:g} to {high:g}")
    return sample


def instability(scores: ArrayLike, *, bounds: tuple[float, float] = SCORE_BOUNDS) -> float:
    """Return the instability of a cell: the population SD of its scores.

    Raises
    ------
    StatisticsError
        Fewer than two scores (one run has no spread, and 0 would read as "stable"), missing scores,
        or scores outside of `bounds`.
    """
    sample = _scores(scores, bounds)
    if sample.size < 2:
        raise StatisticsError("one run says nothing about instability", hint="ask at least twice")
    return population_sd(sample)


def normalised_instability(scores: ArrayLike, *, bounds: tuple[float, float] = SCORE_BOUNDS) -> float:
    """Return σ̄: the population SD over its largest possible value, (hi − lo)/2 = 1.5 for scores.

    Raises
    ------
    StatisticsError
        As `instability`.

    Examples
    --------
    >>> normalised_instability([0, 3, 0, 3])
    1.0
    """
    return instability(scores, bounds=bounds) / ((bounds[1] - bounds[0]) / 2)


def decompose_instability(completion: ArrayLike, accuracy: ArrayLike, executability: ArrayLike) -> dict[str, float]:
    """Return which share of the score's variance comes from each of its three parts.

    Score = CR + RA + CE/2, so Var(score) = Σ Cov(part, score): a part's share is its covariance with the
    score over the score's variance, with the parts' own covariances split evenly. Shares add up to 1; one
    is negative where a part moves against the others and steadies the score.

    Parameters
    ----------
    completion, accuracy, executability
        The parts of each run of a cell, in the same order, shape (N,); executability in 0, 1, 2.

    Returns
    -------
    dict
        "completion", "accuracy", "executability" → share.

    Raises
    ------
    StatisticsError
        Lengths differ, values are missing, or all scores are equal: nothing to share out.
    """
    parts = {"completion": completion, "accuracy": accuracy, "executability": executability}
    columns = [np.asarray(part, dtype=np.float64) for part in parts.values()]
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise StatisticsError("completion, accuracy and executability must have one value per run each")
    rows = np.column_stack([columns[0], columns[1], columns[2] / 2])
    if not np.isfinite(rows).all():
        raise StatisticsError("completion, accuracy or executability is missing for a run")
    if len(rows) < 2 or np.ptp(rows.sum(axis=1)) == 0:
        raise StatisticsError("all scores are equal: there is no variance to share out")
    centred = rows - rows.mean(axis=0)
    score = centred.sum(axis=1)
    shares = centred.T @ score / (score @ score)
    return dict(zip(parts, shares.tolist(), strict=True))


def unseen_bound(scores: ArrayLike, *, error: float = 0.05, bounds: tuple[float, float] = SCORE_BOUNDS) -> float:
    """Return the largest σ̄ that outcomes not seen in these runs allow, with confidence 1 − `error`.

    Exact for equal scores; otherwise it takes what was seen as given and is one side of an interval
    only together with the bootstrap. Derivation: top of the module.

    Parameters
    ----------
    scores
        The scores of a cell, shape (N,).
    error
        Probability that the unseen outcomes have a larger share than 1 − error^(1/N).
    bounds
        Lowest and highest possible score.

    Raises
    ------
    StatisticsError
        No scores, missing ones, or scores outside of `bounds`.

    Examples
    --------
    >>> round(unseen_bound([3.0] * 10), 3), round(unseen_bound([3.0] * 129), 3)
    (0.876, 0.3)
    """
    check_level(1 - error)
    sample = _scores(scores, bounds)
    h = bounds[1] - bounds[0]
    x = sample - bounds[0]
    unseen = 1 - error ** (1 / x.size)
    mean, square = (1 - unseen) * x.mean(), (1 - unseen) * np.mean(x**2)
    at_top = min(max(0.5 - mean / h, 0.0), unseen)
    variance = square + at_top * h**2 - (mean + at_top * h) ** 2
    return float(np.sqrt(max(variance, 0.0)) / (h / 2))


def instability_interval(
    scores: ArrayLike,
    *,
    seed: int = DEFAULT_SEED,
    method: BootstrapMethod = "bca",
    level: float = 0.95,
    resamples: int = 9999,
    bounds: tuple[float, float] = SCORE_BOUNDS,
) -> Interval:
    """Return an interval for σ̄ of one cell; see `instability_intervals`.

    Raises
    ------
    StatisticsError
        One run, missing scores, or scores outside of `bounds`.
    """
    interval = instability_intervals(
        [scores], seed=seed, method=method, level=level, resamples=resamples, bounds=bounds
    )[0]
    if not interval.available:
        raise StatisticsError(interval.note, hint="ask at least twice")
    return interval


def instability_intervals(
    cells: Sequence[ArrayLike],
    *,
    seed: int = DEFAULT_SEED,
    method: BootstrapMethod = "bca",
    level: float = 0.95,
    resamples: int = 9999,
    bounds: tuple[float, float] = SCORE_BOUNDS,
) -> list[Interval]:
    """Return an interval for σ̄ per cell: bootstrap over runs, widened by what was not seen.

    Parameters
    ----------
    cells
        The scores of each cell, of any lengths.
    seed, method, level, resamples
        As in `bootstrap_intervals`.
    bounds
        Lowest and highest possible score.

    Returns
    -------
    list of Interval
        In the order of `cells`. Equal scores: [0, exact bound], the note says which share of other
        outcomes it allows. One run: not available. Two distinct scores: exact, so `method` is not used.

    Raises
    ------
    StatisticsError
        A cell is empty, holds missing scores, or scores outside of `bounds`.
    """
    check_level(level)
    samples = [_scores(cell, bounds) for cell in cells]
    starts = _two_valued(samples, level)
    rest = [i for i in range(len(samples)) if i not in starts]
    bootstrapped = bootstrap_intervals(
        [samples[i] for i in rest], weighted_sd, seed=seed, method=method, level=level, resamples=resamples
    )
    starts |= dict(zip(rest, bootstrapped, strict=True))
    return [_widened(sample, starts[i], bounds) for i, sample in enumerate(samples)]


def _two_valued(samples: list[FloatArray], level: float) -> dict[int, Interval]:
    """Return exact intervals for the SD of the samples with exactly two distinct values."""
    out = {}
    for i, sample in enumerate(samples):
        if np.count_nonzero(np.diff(sample)) == 1:
            share = clopper_pearson(int((sample == sample[-1]).sum()), sample.size, level)
            spread = sample[-1] - sample[0]
            ends = spread * np.sqrt([share.low * (1 - share.low), share.high * (1 - share.high)])
            high = spread / 2 if 0.5 in share else ends.max()
            out[i] = Interval(float(ends.min()), float(high), level, "exact binomial, two scores")
    return out


def _widened(sample: FloatArray, start: Interval, bounds: tuple[float, float]) -> Interval:
    """Return the interval for an SD as one for σ̄, its upper end raised to what unseen outcomes allow."""
    n, level = sample.size, start.level
    if n == 1:
        return Interval.unavailable(level, "not available", "one run says nothing about instability")
    half = (bounds[1] - bounds[0]) / 2
    equal = sample[0] == sample[-1]
    error = (1 - level) if equal else (1 - level) / 2
    bound = unseen_bound(sample, error=error, bounds=bounds)
    share = 1 - error ** (1 / n)
    if equal:
        note = f"all {n} scores are equal; up to {share_text(share)} of runs could still score otherwise"
        return Interval(0.0, bound, level, "exact bound for unseen outcomes", note)
    if not start.available:
        return start
    low, high = max(start.low / half, 0.0), min(start.high / half, 1.0)
    if bound <= high:
        return Interval(low, high, level, start.method)
    note = f"outcomes not seen in {n} runs could still make up {share_text(share)} of runs"
    return Interval(low, bound, level, f"{start.method}; upper end: unseen outcomes", note)
