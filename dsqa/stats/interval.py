"""What every interval estimator returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsqa.errors import StatisticsError

__all__ = ["FloatArray", "Interval", "as_sample", "check_level", "exponential", "level_text", "share_text"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason why there is none.

    Parameters
    ----------
    low, high
        The end points, in the unit of the statistic; both NaN where the interval is not available.
    level
        Nominal coverage, such as 0.95.
    method
        The estimator's name, as it should stand in a table.
    note
        What a reader must know about this one: why it is not available, or which bound was at work.
    """

    low: float
    high: float
    level: float
    method: str
    note: str = ""

    @classmethod
    def unavailable(cls, level: float, method: str, note: str) -> Interval:
        """Return an interval without end points that says why."""
        return cls(math.nan, math.nan, level, method, note)

    @property
    def available(self) -> bool:
        """Whether there are end points."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def width(self) -> float:
        """High minus low."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_level(level: float) -> float:
    """Return `level` if it is a confidence level in (0, 1), else raise `StatisticsError`."""
    if not 0 < level < 1:
        raise StatisticsError(f"a confidence level lies between 0 and 1, got {level}", hint="0.95 is usual")
    return float(level)


def exponential(log: float) -> float:
    """Return e^log, infinite where no float is as large: the end of an odds ratio that nothing bounds."""
    return math.exp(log) if log < 709 else math.inf


def as_sample(values: ArrayLike, *, what: str = "scores") -> FloatArray:
    """Return `values` as a sorted 1-D float array.

    Sorting makes every sum, and so every last digit, independent of row order.

    Raises
    ------
    StatisticsError
        The sample is empty, not one-dimensional, or holds missing or infinite values.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1:
        raise StatisticsError(f"{what} must be one-dimensional, got {sample.ndim} dimensions")
    if sample.size == 0:
        raise StatisticsError(f"no {what}: nothing to summarise")
    if not np.isfinite(sample).all():
        bad = int((~np.isfinite(sample)).sum())
        raise StatisticsError(
            f"{bad} of {sample.size} {what} are missing or infinite",
            hint="drop them on purpose, or score failed runs 0, before asking for a statistic",
        )
    return np.sort(sample)


def level_text(level: float) -> str:
    """Return a level of confidence as ``95 %``, never broken over lines."""
    return f"{100 * level:g}\u00a0%"


def share_text(share: float, digits: int = 1) -> str:
    """Return a share in [0, 1] in per cent, such as ``12.5 %``, never broken over lines."""
    return f"{100 * share:.{digits}f}\u00a0%"
