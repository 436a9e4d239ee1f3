"""What k runs out of a cell would give: pass@k, pass^k and G-pass@k.

Of n runs c are right; k of them are drawn without replacement. J, the number right among them, is
hypergeometric, P(J = j) = C(c, j) C(n − c, k − j) / C(n, k), and

========  ====================  =================================================================
pass@k    P(J ≥ 1)              at least one right. Chen et al. (2021), arXiv:2107.03374
pass^k    P(J = k)              all right. Yao et al. (2024), arXiv:2406.12045
G-pass@k  P(J ≥ max(1, ⌈τk⌉))   at least a share τ right. Liu et al. (2024), arXiv:2412.13147
========  ====================  =================================================================

Each is unbiased for the same probability over k *future* independent runs: with p the chance that one is
right, pass@k estimates 1 − (1 − p)^k, pass^k estimates p^k, G-pass@k the binomial tail. These are
increasing in p, so an interval for p maps to one for them of the same coverage.

maj@k: the most frequent answer among k runs drawn is right, ties broken at random. Wang et al. (2023),
arXiv:2203.11171. Computed exactly: given the total k, hypergeometric counts are independent binomials
conditioned on their sum, so for each answer i and count m one polynomial product over the other answers
gives the chance that none of them exceeds m, and how many tie.

Runs that failed count as wrong. With fewer than k runs none of them can be estimated without assuming a
model for p: refused for one cell, missing in tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.proportions import ProportionMethod, proportion_bounds

__all__ = ["at_least", "maj_at_k", "pass_at_k", "pass_hat_k", "pass_interval", "pass_table"]


def at_least(runs: int, right: int, k: int, needed: int) -> float:
    """Return P(J ≥ needed): how likely k of the runs, drawn without replacement, hold that many right.

    Parameters
    ----------
    runs, right
        n and c of the cell.
    k
        Number of runs drawn, 1 ≤ k ≤ runs.
    needed
        Number of right ones asked for; 1 gives pass@k, k gives pass^k, ⌈τk⌉ gives G-pass@k.

    Raises
    ------
    StatisticsError
        Fewer than k runs, or counts out of range.
    """
    if k < 1:
        raise StatisticsError(f"k must be at least 1, got {k}")
    if not 0 <= right <= runs:
        raise StatisticsError("the number of right runs must lie between 0 and the number of runs")
    if runs < k:
        raise StatisticsError(f"{runs} runs are fewer than k = {k}", hint="sample more runs or ask for a smaller k")
    # Whole numbers of any size: no rounding before the last division.
    possible = range(max(needed, k - (runs - right), 0), min(k, right) + 1)
    ways = sum(math.comb(right, j) * math.comb(runs - right, k - j) for j in possible)
    return ways / math.comb(runs, k)


def pass_at_k(runs: int, right: int, k: int) -> float:
    """Return pass@k, the chance that at least one of k runs is right.

    Raises
    ------
    StatisticsError
        Fewer than k runs, or counts out of range.

    Examples
    --------
    >>> round(pass_at_k(10, 5, 2), 4)  # 1 − C(5,2)/C(10,2)
    0.7778
    """
    return at_least(runs, right, k, 1)


def pass_hat_k(runs: int, right: int, k: int) -> float:
    """Return pass^k, the chance that all of k runs are right.

    Raises
    ------
    StatisticsError
        Fewer than k runs, or counts out of range.

    Examples
    --------
    >>> round(pass_hat_k(10, 5, 2), 4)  # C(5,2)/C(10,2)
    0.2222
    """
    return at_least(runs, right, k, k)


def maj_at_k(right: Sequence[int], wrong: Sequence[int], k: int, *, unparsed: int = 0) -> float:
    """Return maj@k, the chance that the most frequent answer among k runs is a right one.

    Parameters
    ----------
    right, wrong
        How often each distinct right, and each distinct wrong answer occurred among the n runs.
    k
        Runs drawn without replacement, 1 ≤ k ≤ n.
    unparsed
        Runs without a readable answer: they may be drawn but do not vote. No vote at all is wrong.

    Raises
    ------
    StatisticsError
        Fewer than k runs, or a negative count.

    Examples
    --------
    >>> maj_at_k([2], [1], 3)
    1.0
    """
    counts = [*right, *wrong]
    if min([*counts, unparsed]) < 0:
        raise StatisticsError("counts of answers cannot be negative")
    runs = sum(counts) + unparsed
    if k < 1:
        raise StatisticsError(f"k must be at least 1, got {k}")
    if runs < k:
        raise StatisticsError(f"{runs} runs are fewer than k = {k}", hint="sample more runs or ask for a smaller k")
    if k == runs:
        top = max([*counts, 0])
        return sum(c == top for c in right) / counts.count(top) if top else 0.0
    rate = k / runs
    drawn = [_binomial(c, rate, k) for c in counts]
    silent = _binomial(unparsed, rate, k)
    total = 0.0
    for i in range(len(right)):
        for m in range(1, min(right[i], k) + 1):
            # ways[t, x]: t other answers tie at m, none is above, and x runs went to them and the silent.
            ways = silent[None, : k - m + 1]
            for j, other in enumerate(drawn):
                if j != i:
                    ways = _add_answer(ways, other, m, k - m)
            total += drawn[i][m] * float(ways[:, k - m] @ (1 / np.arange(1, len(ways) + 1)))
    return total / float(_binomial(runs, rate, k)[k])


@lru_cache(maxsize=8192)
def _binomial(n: int, rate: float, most: int) -> FloatArray:
    """Return the probabilities of 0 … most successes in n, zero beyond n; not to be written to."""
    j = np.arange(most + 1)
    inside = np.minimum(j, n)
    log = special.gammaln(n + 1) - special.gammaln(inside + 1) - special.gammaln(n - inside + 1)
    mass = np.exp(log + inside * math.log(rate) + (n - inside) * math.log1p(-rate))
    out = np.asarray(np.where(j <= n, mass, 0.0), dtype=np.float64)
    out.flags.writeable = False
    return out


def _add_answer(ways: FloatArray, other: FloatArray, m: int, most: int) -> FloatArray:
    out = np.zeros((len(ways) + 1, most + 1))
    for t, row in enumerate(ways):
        out[t] += np.convolve(row, other[:m])[: most + 1]
        if m <= most:
            out[t + 1, m:] += row[: most + 1 - m] * other[m]
    return out if out[-1].any() else out[:-1]


def pass_interval(
    runs: int, right: int, k: int, needed: int, *, level: float = 0.95, method: ProportionMethod = "wilson"
) -> Interval:
    """Return an interval for the chance that at least `needed` of k future runs are right.

    Raises
    ------
    StatisticsError
        No runs, or counts out of range. Fewer than k runs are no hindrance here: the interval rests on
        the one for p and on runs being independent.
    """
    if not 1 <= needed <= k:
        raise StatisticsError(f"needed must lie between 1 and k = {k}, got {needed}")
    if runs < 1:
        raise StatisticsError("no runs: nothing is known about k future ones")
    low, high = _tail_bounds(np.asarray(right), np.asarray(runs), k, needed, level, method)
    return Interval(float(low), float(high), level, f"{method} interval for p, mapped")


def _tail_bounds(
    right: ArrayLike, runs: ArrayLike, k: int, needed: int, level: float, method: ProportionMethod
) -> tuple[FloatArray, FloatArray]:
    ends = proportion_bounds(right, runs, method=method, level=level)
    low, high = (np.asarray(special.bdtrc(needed - 1, k, end), dtype=np.float64) for end in ends)
    return low, high


def pass_table(
    cells: pd.DataFrame, ks: Sequence[int] = (1, 3, 5), *, threshold: float = 0.75, level: float = 0.95
) -> pd.DataFrame:
    """Return pass@k, pass^k and G-pass@k per cell and k, with intervals for k future runs.

    Parameters
    ----------
    cells
        A row per cell: question_id, condition_id, accuracy (share right) and n_scored, as
        `summarise_cells` makes them.
    ks
        Numbers of runs drawn.
    threshold
        τ of G-pass@k, in (0, 1].
    level
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        question_id, condition_id, runs, right, k, and for each of pass_at_k, pass_hat_k and g_pass_at_k
        the value, `_low` and `_high`. Values are missing where a cell has fewer than k marked runs;
        intervals where it has none.

    Raises
    ------
    StatisticsError
        A column is missing, or a setting is out of range.
    """
    check_level(level)
    require(cells, ("question_id", "condition_id", "accuracy", "n_scored"), "table of cells")
    if not 0 < threshold <= 1:
        raise StatisticsError(f"the threshold is a share in (0, 1], got {threshold:g}")
    if not ks or min(ks) < 1:
        raise StatisticsError("k must be at least 1")
    runs = as_floats(cells["n_scored"])
    share = as_floats(cells["accuracy"])
    runs = np.where(np.isnan(share), 0.0, runs)
    right = np.round(np.nan_to_num(share) * runs)
    parts = []
    for k in ks:
        part = cells[["question_id", "condition_id"]].reset_index(drop=True)
        part = part.assign(runs=runs.astype(int), right=right.astype(int), k=k)
        # 0.75 · 4 must be 3 whatever its last digit.
        most = max(1, math.ceil(threshold * k - 1e-9))
        for name, needed in (("pass_at_k", 1), ("pass_hat_k", k), ("g_pass_at_k", most)):
            part[name] = [
                at_least(int(n), int(c), k, needed) if n >= k else math.nan for n, c in zip(runs, right, strict=True)
            ]
            part[f"{name}_low"], part[f"{name}_high"] = _tail_bounds(right, runs, k, needed, level, "wilson")
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
