r"""A confidence sequence for σ̄, and the call stable or unstable, that hold however often one looks.

Estimand: σ̄ = SD(score) / ((hi − lo)/2), as in `dsqa.stats.dispersion`; moved to [0, h], h = hi − lo, the variance is
v = (σ̄ h/2)². Only the bounds of the score are used, no grid of its values. Tests by betting: a gambler starts
with 1, and every run multiplies the capital by a factor whose mean is at most 1 if the hypothesis is true. Then
P(capital ever reaches 1/a) ≤ a (Ville), whatever the moment at which one stops.

**Upper end: H(v), the variance is at least v.** Since σ² = min over m of E(x − m)², under H(v) *every* m has
E(x − m)² ≥ v; m may even be another one in each run, as long as it is chosen before that run. With
m_t = mean of the t − 1 scores before, y_t = (x_t − m_t)² ≤ B_t = max(m_t, h − m_t)² and f in (0, 1),

    U_n(v) = Σ_f w_f ∏_{t=2..n} (1 − f (y_t − v) / (B_t − v))

has factors that are positive and of mean ≤ 1. No union over m is needed: n equal scores at the end of the range
multiply the capital by 1 / (1 − v/h²) each, as fast as the exact fixed-N bound ("rule of three") shrinks, up to the
choice of f. The shares f = 0.99, 0.6, 0.3 have weights 0.85, 0.1, 0.05: large for cells that never leave their
score, small for cells that do so rarely. (The first run has no mean before it and is not bet on.)

**Lower end: H(v), the variance is at most v.** Then E(x − m)² ≤ v for the unknown mean m only, so a capital is
kept for every m on a grid of spacing d over [0, h], and the smallest counts. The grid point next to the truth is
no more than d/2 away: E(x − m_j)² ≤ v + d²/4 =: v'. With y = (x − m_j)² ≥ 0 and f in (0, 1),

    L_n(v) = min_j Σ_f w_f ∏_{t=1..n} (1 + f (y_t / v' − 1)).

Under H(v) one of the capitals is that of a fair or losing gambler, so P(L_n(v) ever reaches 1/a) ≤ a, again
without a union.

**Interval.** σ̄ on a grid of 0.01; the upper end is the smallest grid value from which on all are rejected, the
lower the largest up to which all are: each end is thereby rounded outward, and fails only if the one grid value
next to the truth is rejected wrongly. Of the error α, 4/5 goes to the upper end and 1/5 to the lower: that a
cell is unstable shows within a few runs, that it is stable takes more than a hundred, so this saves most runs.
At 95 % it takes 150 equal scores of 3 to exclude σ̄ ≥ 0.3; a look at one N fixed in advance needs 129.

**Call.** "unstable" once the lower end is at or above the threshold, "stable" once the upper end is not above it.
The call is wrong with probability at most α, at whichever run it is made.

References
----------
Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. *JRSS B* 86:1
(the capital process of section 4; the two for a variance with unknown mean are derived above).
Ramdas, A., Grünwald, P., Vovk, V. & Shafer, G. (2023). Game-theoretic statistics and safe anytime-valid inference.
*Statist. Sci.* 38:576.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsqa.errors import StatisticsError
from dsqa.stats.dispersion import NOTABLE, SCORE_BOUNDS
from dsqa.stats.interval import FloatArray, check_level

__all__ = ["INSTABILITY_SEQUENCE", "instability_calls", "instability_sequence"]

INSTABILITY_SEQUENCE = "betting confidence sequence"
"""The method's name in tables."""

UPPER_SHARE = 0.8
_UPPER_BETS = ((0.99, 0.85), (0.6, 0.1), (0.3, 0.05))
_LOWER_BETS = tuple((share, 1 / 6) for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.75))
_MEANS = 61
_STEPS = 100
# Rows of counts worked on at a time, to bound memory.
_ROWS = 4096


def instability_sequence(
    cells: Sequence[ArrayLike], *, level: float = 0.95, bounds: tuple[float, float] = SCORE_BOUNDS
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the confidence sequence for σ̄ after the runs at hand, per cell.

    Parameters
    ----------
    cells
        The scores of each cell **in the order of the runs**, of any lengths; failed runs with their score.
    level
        Probability that the truth is in the interval at every number of runs.
    bounds
        Lowest and highest possible score.

    Returns
    -------
    low, high
        Shape (cells,), multiples of 0.01 in [0, 1]. No run, or one: [0, 1].

    Raises
    ------
    StatisticsError
        A score is missing or outside of `bounds`.

    Examples
    --------
    >>> low, high = instability_sequence([[3.0] * 150, [0.0, 3.0] * 10, [1.5]])
    >>> low, high
    (array([0.  , 0.73, 0.  ]), array([0.3, 1. , 1. ]))
    """
    alpha = 1 - check_level(level)
    scores, lengths = _padded(cells, bounds)
    h = bounds[1] - bounds[0]
    grid = np.arange(1, _STEPS) / _STEPS
    variances = (grid * h / 2) ** 2
    last = lengths[:, None] - 1
    upper = np.empty((len(lengths), len(grid)))
    lower = np.empty((len(lengths), len(grid)))
    values, counts = _counts(scores, lengths[:, None])
    for i, v in enumerate(variances):
        upper[:, i] = _at(_log_upper(scores, v, h), last)[:, 0]
        lower[:, i] = _log_lower(values, counts, v, h)
    against_upper = upper >= -np.log(alpha * UPPER_SHARE)
    against_lower = lower >= -np.log(alpha * (1 - UPPER_SHARE))
    # Runs of rejections that reach the end of the grid: from the top for the upper end, from 0 for the lower.
    from_top = np.logical_and.accumulate(against_upper[:, ::-1], axis=1).sum(axis=1)
    from_zero = np.logical_and.accumulate(against_lower, axis=1).sum(axis=1)
    # What rejects "at least g" leaves the values below g.
    high = (_STEPS - from_top) / _STEPS
    return from_zero / _STEPS, np.where(high < 1, np.nextafter(high, 0), high)


def instability_calls(
    cells: Sequence[ArrayLike],
    looks: ArrayLike,
    *,
    level: float = 0.95,
    threshold: float = NOTABLE,
    bounds: tuple[float, float] = SCORE_BOUNDS,
) -> NDArray[np.int8]:
    """Return what can be said of each cell at each look: 1 unstable, −1 stable, 0 neither yet.

    Parameters
    ----------
    cells
        As for `instability_sequence`.
    looks
        Numbers of runs at which to look: shape (looks,), or (cells, looks) for numbers of each cell's own.
    level
        The call is right with at least this probability, whichever look it is made at.
    threshold
        σ̄ from which on a cell is unstable, in (0, 1).
    bounds
        Lowest and highest possible score.

    Returns
    -------
    numpy.ndarray
        Shape (cells, looks); 0 where a cell has fewer runs than the look, and for no run. A call agrees with
        the interval of `instability_sequence` at that look, for a threshold that is a multiple of 0.01.

    Raises
    ------
    StatisticsError
        A score is missing or outside of `bounds`, or `threshold` is not inside (0, 1).
    """
    alpha = 1 - check_level(level)
    if not 0 < threshold < 1:
        raise StatisticsError(f"a threshold for normalised instability lies between 0 and 1, got {threshold}")
    scores, lengths = _padded(cells, bounds)
    h = bounds[1] - bounds[0]
    v = (threshold * h / 2) ** 2
    wanted = np.asarray(looks, dtype=np.int64)
    if wanted.ndim not in (1, 2) or (wanted < 0).any():
        raise StatisticsError("looks must be numbers of runs, none of them negative")
    at = np.broadcast_to(wanted, (len(lengths), wanted.shape[-1]))
    known = at <= lengths[:, None]
    upper = _at(_log_upper(scores, v, h), np.where(known, at, 0) - 1)
    values, counts = _counts(scores, np.where(known, at, 0))
    lower = _log_lower(values, counts, v, h).reshape(at.shape)
    calls = np.zeros(at.shape, dtype=np.int8)
    known &= at > 0
    calls[known & (upper >= -np.log(alpha * UPPER_SHARE))] = -1
    calls[known & (lower >= -np.log(alpha * (1 - UPPER_SHARE)))] = 1
    return calls


def _padded(cells: Sequence[ArrayLike], bounds: tuple[float, float]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the scores moved to 0, one row per cell, NaN after its last run; and the numbers of runs."""
    low, high = bounds
    if not low < high:
        raise StatisticsError(f"bounds must be (lowest, highest) possible score, got {bounds}")
    rows = [np.asarray(cell, dtype=np.float64) for cell in cells]
    for row in rows:
        if row.ndim != 1:
            raise StatisticsError(f"scores of a cell must be one-dimensional, got {row.ndim} dimensions")
        if not np.isfinite(row).all():
            raise StatisticsError("scores are missing", hint="a failed run counts with the score it has")
        if row.size and (row.min() < low or row.max() > high):
            raise StatisticsError(f"scores leave the range {low:g} to {high:g}")
    lengths = np.array([row.size for row in rows], dtype=np.int64)
    scores = np.full((len(rows), max(lengths.max(initial=0), 1)), np.nan)
    for i, row in enumerate(rows):
        scores[i, : row.size] = row - low
    return scores, lengths


def _log_upper(scores: FloatArray, v: float, h: float) -> FloatArray:
    """Return log U_n(v) for n = 1, 2, …; shape of `scores`, NaN after a cell's last run."""
    runs = np.arange(1, scores.shape[1])
    before = np.cumsum(scores, axis=1)[:, :-1] / runs
    most = np.maximum(before, h - before) ** 2
    unit = ((scores[:, 1:] - before) ** 2 - v) / (most - v)
    parts = [np.log(weight) + np.cumsum(np.log1p(-share * unit), axis=1) for share, weight in _UPPER_BETS]
    first = np.where(np.isnan(scores[:, :1]), np.nan, 0.0)
    with np.errstate(invalid="ignore"):  # NaN after a cell's last run is meant
        return np.concatenate([first, np.logaddexp.reduce(parts, axis=0)], axis=1)


def _at(wealth: FloatArray, positions: NDArray[np.int64]) -> FloatArray:
    """Return the log capital at positions (number of runs − 1); 0, the start, where there is no run."""
    taken = np.take_along_axis(wealth, np.maximum(positions, 0), axis=1)
    return np.where(positions < 0, 0.0, taken)


def _counts(scores: FloatArray, at: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return the distinct scores, and how often each occurs in the first `at` runs of a cell.

    Returns
    -------
    values, counts
        Shapes (values,) and (cells × looks, values).
    """
    values = np.unique(scores[~np.isnan(scores)])
    columns = []
    for value in values:
        seen = np.cumsum(scores == value, axis=1)
        columns.append(np.where(at > 0, np.take_along_axis(seen, np.maximum(at - 1, 0), axis=1), 0).reshape(-1))
    return values, np.array(columns, dtype=np.float64).T.reshape(at.size, len(values))


def _log_lower(values: FloatArray, counts: FloatArray, v: float, h: float) -> FloatArray:
    """Return log L_n(v) for rows of counts."""
    means = np.linspace(0, h, _MEANS)
    widened = v + (means[1] - means[0]) ** 2 / 4
    ratio = (values[:, None] - means) ** 2 / widened - 1
    out = np.empty(len(counts))
    for start in range(0, len(counts), _ROWS):
        rows = counts[start : start + _ROWS]
        parts = [np.log(weight) + rows @ np.log1p(share * ratio) for share, weight in _LOWER_BETS]
        out[start : start + _ROWS] = np.logaddexp.reduce(parts, axis=0).min(axis=1)
    return out
