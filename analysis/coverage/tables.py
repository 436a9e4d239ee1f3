"""Rows of the coverage table, made from interval ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dsqa.errors import StatisticsError
from dsqa.stats import Interval

__all__ = ["Ends", "Row", "attempt", "ends", "row", "rows_of"]

Row = dict[str, object]
Ends = tuple[np.ndarray, np.ndarray]


def row(
    statistic: str,
    method: str,
    distribution: str,
    n: int,
    truth: float | np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    exact: bool = False,
) -> Row:
    """Return one row of the table from interval ends and how much each of them counts."""
    weights = np.ones(len(low)) if weights is None else weights
    given = np.isfinite(low) & np.isfinite(high)
    share = weights[given] / max(weights[given].sum(), 1e-300)
    # The end points come out of arithmetic that may be off by a last digit where the truth lies exactly on them.
    slack = 1e-12
    at = np.broadcast_to(truth, low.shape)[given]
    below, above = at < low[given] - slack, at > high[given] + slack
    covered = 1 - float(share @ (below | above))
    known = bool(given.any())
    return {
        "statistic": statistic,
        "method": method,
        "distribution": distribution,
        "n": n,
        "truth": float(np.mean(truth)),
        "coverage": covered if known else np.nan,
        "truth_below": float(share @ below) if known else np.nan,
        "truth_above": float(share @ above) if known else np.nan,
        "mean_width": float(share @ (high[given] - low[given])) if known else np.nan,
        "not_available": float(1 - weights[given].sum() / weights.sum()),
        "standard_error": 0.0
        if exact
        else float(np.sqrt(max(covered * (1 - covered), 0) / max(weights[given].sum(), 1))),
    }


def rows_of(
    statistic: str, distribution: str, n: int, truth: float | np.ndarray, by: Mapping[str, Ends]
) -> list[Row]:
    """Return a row for each method."""
    return [row(statistic, method, distribution, n, truth, *pair) for method, pair in by.items()]


def ends(intervals: Sequence[Interval | None]) -> Ends:
    """Return the ends of intervals as two arrays, NaN where there is none."""
    pairs = [(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals]
    low, high = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return low, high


def attempt(make: Callable[[], Interval]) -> Interval | None:
    """Return an interval, or None where the estimator refuses."""
    try:
        return make()
    except StatisticsError:
        return None
