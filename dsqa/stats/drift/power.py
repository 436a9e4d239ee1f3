r"""What a comparison of two studies is able to see.

Overall: under no change the runs of a cell are a random split, so the variance of its difference of shares is
s²(1/n_old + 1/n_new), s² the variance (divisor n − 1) of the pooled runs; cells are independent, and the mean over
questions has the sum of these over Q². The smallest change found with the power asked for is
(z_{1−α/2} + z_power) times the root of that.

One question: the test counts tables at least as far apart, given the total that is right (hypergeometric). Its power
at shares p and p + δ is the sum of both binomial probabilities over the tables whose p value is at most α, found
exactly; with many questions α is divided by their number (what Holm asks of the smallest p value).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import special, stats

from dsqa.errors import StatisticsError
from dsqa.stats.drift.pairing import SIDES, pair_studies
from dsqa.stats.interval import FloatArray, check_level

__all__ = ["detectable_in_question", "detectable_overall", "power_in_question"]

_STEP = 0.005
_FEWEST = 5
_SLACK = 1e-9


def detectable_overall(old: pd.DataFrame, new: pd.DataFrame, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest change of mean accuracy, on these questions, that the comparison finds with `power`.

    Parameters
    ----------
    old, new
        As in `compare_studies`.
    alpha, power
        Level of the two-sided test, and the probability of finding the change.

    Raises
    ------
    StatisticsError
        Nothing can be compared, a setting is out of range, or hardly any cell has runs of both kinds: a permutation
        test then finds far less than the normal approximation promises.
    """
    check_level(1 - alpha)
    check_level(power)
    runs, _ = pair_studies(old, new)
    cells = runs.assign(accuracy=runs["accuracy"].fillna(0.0)).groupby(["question_id", "block"], sort=True)
    rows = []
    rare = 0
    for (question, _), cell in cells:
        right = int((cell["accuracy"] > 0).sum())
        rare += min(right, len(cell) - right)
        sizes = [int((cell["side"] == side).sum()) for side in SIDES]
        spread = float(cell["accuracy"].var(ddof=1))
        rows.append((question, spread * (1 / sizes[0] + 1 / sizes[1])))
    table = pd.DataFrame(rows, columns=["question", "variance"]).groupby("question")["variance"].agg(["sum", "size"])
    variance = float((table["sum"] / table["size"] ** 2).sum()) / len(table) ** 2
    if variance <= 0:
        raise StatisticsError("no cell has right runs and wrong ones: there is no spread to work it out from")
    if rare < _FEWEST:
        raise StatisticsError(
            f"only {rare} run{'' if rare == 1 else 's'} came out otherwise than most of their cell, and the normal "
            f"approximation behind it needs {_FEWEST}"
        )
    return float(stats.norm.isf(alpha / 2) + stats.norm.isf(1 - power)) * math.sqrt(variance)


def power_in_question(n_old: int, n_new: int, old: float, new: float, *, alpha: float = 0.05) -> float:
    """Return how likely the permutation test finds a change from share `old` to share `new` in one question.

    Parameters
    ----------
    n_old, n_new
        Runs of one cell in either study.
    old, new
        True shares of right runs, in [0, 1].
    alpha
        Level; divide by the number of questions where there are several.

    Raises
    ------
    StatisticsError
        No runs, or a share outside of [0, 1].

    Examples
    --------
    >>> round(power_in_question(10, 10, 0.5, 1.0), 3)  # finds 5, or fewer, of 10 against 10 of 10
    0.623
    """
    if n_old < 1 or n_new < 1:
        raise StatisticsError("both studies need runs")
    if not (0 <= old <= 1 and 0 <= new <= 1):
        raise StatisticsError("a share lies between 0 and 1")
    found = _p_values(n_old, n_new) <= alpha + _SLACK
    return float(_binomial(n_old, old) @ found @ _binomial(n_new, new))


def detectable_in_question(
    n_old: int, n_new: int, old: float, *, alpha: float = 0.05, power: float = 0.8
) -> tuple[float | None, float | None]:
    """Return the largest lower and the smallest higher share that would be told from `old` with `power`.

    Shares are tried in steps of 0.005; None where not even 0 (or 1) would be told from it.

    Raises
    ------
    StatisticsError
        As `power_in_question`; or a setting out of range.
    """
    check_level(1 - alpha)
    check_level(power)
    power_in_question(n_old, n_new, old, old, alpha=alpha)
    found = _p_values(n_old, n_new) <= alpha + _SLACK
    reach = _binomial(n_old, old) @ found
    shares = np.round(np.arange(0, 1 + _STEP / 2, _STEP), 6)
    seen = np.array([float(reach @ _binomial(n_new, float(share))) >= power for share in shares])
    below, above = shares[seen & (shares < old)], shares[seen & (shares > old)]
    return (float(below.max()) if below.size else None, float(above.min()) if above.size else None)


def _binomial(n: int, p: float) -> FloatArray:
    return np.asarray(stats.binom.pmf(np.arange(n + 1), n, p), dtype=np.float64)


def _p_values(n_old: int, n_new: int) -> FloatArray:
    """Return the exact two-sided p value by |difference of shares| of each table, shape (n_old + 1, n_new + 1)."""
    p = np.empty((n_old + 1, n_new + 1))
    for total in range(n_old + n_new + 1):
        a = np.arange(max(0, total - n_new), min(n_old, total) + 1)
        b = total - a
        weights = np.exp(_log_choose(n_old, a) + _log_choose(n_new, b) - _log_choose(n_old + n_new, np.array(total)))
        # Differences that are equal but for their last digits must tie.
        gaps = np.round(np.abs(b / n_new - a / n_old), 9)
        order = np.argsort(-gaps, kind="stable")
        reached = np.searchsorted(-gaps[order], -gaps, side="right")
        p[a, b] = np.cumsum(weights[order])[reached - 1]
    return p


def _log_choose(n: int, k: np.ndarray) -> FloatArray:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1), dtype=np.float64)
