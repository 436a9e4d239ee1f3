"""Numbers in words: counts with their nouns, shares, intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

__all__ = [
    "MISSING",
    "count",
    "coverage_notes",
    "interval",
    "is_missing",
    "listing",
    "number",
    "of",
    "p_text",
    "percent",
    "settled",
    "temperature",
]

MISSING = "–"
_SETTLED = 12
"""Decimals beyond which two ways of computing one number may differ."""


def is_missing(value: Any) -> bool:
    """Tell whether `value` is None, NaN or pandas' NA."""
    return bool(pd.isna(value))


def p_text(value: Any) -> str:
    """Return a p value as it is printed: three decimals, or that it is smaller; a dash where there is none."""
    if is_missing(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 run``, ``2 runs``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def coverage_notes(frame: pd.DataFrame, low: str, note: str, *, what: str = "Intervals") -> list[str]:
    """Return what the intervals that a table prints say of their own coverage (`dsqa.stats.shown`), each once.

    Parameters
    ----------
    frame
        The table's rows.
    low, note
        Columns: the interval's lower end, and its note.
    what
        Which intervals, to begin with.
    """
    if low not in frame or note not in frame:
        return []
    said = frame.loc[frame[low].notna(), note].dropna()
    return [f"{what}: {text}." for text in dict.fromkeys(said) if text]


def number(value: Any, digits: int = 2) -> str:
    """Return a number with `digits` decimals and a true minus, or a dash where there is none."""
    return MISSING if is_missing(value) else _minus(f"{settled(value):.{digits}f}")


def settled(value: Any) -> float:
    """Return a number without the noise of its last bits: 0.375 that was computed in two ways is printed as one."""
    return round(float(value), _SETTLED)


def percent(value: Any) -> str:
    """Return a share in [0, 1] as a whole percentage, or a dash; never broken over lines.

    Only 0 and 1 read as 0 % and 100 %.
    """
    if is_missing(value):
        return MISSING
    share = settled(value)
    if 0 < share < 0.005:
        return "<1\u00a0%"
    if 0.995 <= share < 1:
        return ">99\u00a0%"
    return f"{_whole(share)}\u00a0%"


def _whole(share: Any) -> int:
    return math.floor(round(100 * float(share), _SETTLED - 2) + 0.5)


def interval(low: Any, high: Any, *, as_percent: bool = False) -> str:
    """Return ``[0.12, 0.45]`` or ``[12, 45] %``, never broken over lines; a dash where it is not defined."""
    if is_missing(low) or is_missing(high):
        return MISSING
    if as_percent:
        return f"[{_whole(low)},\u00a0{_whole(high)}]\u00a0%"
    return f"[{number(low)},\u00a0{number(high)}]"


def _minus(text: str) -> str:
    # What is rounded away has no sign.
    return text.lstrip("-") if not float(text) else text.replace("-", "\u2212")


def of(part: int, whole: int) -> str:
    """Return ``7/10``."""
    return f"{part}/{whole}"


def listing(items: Iterable[str], last: str = "and") -> str:
    """Return ``a, b and c``."""
    parts = list(items)
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def temperature(value: Any) -> str:
    """Return a temperature as it was sent, or ``default`` where none was."""
    return "default" if is_missing(value) else f"{float(value):g}"
