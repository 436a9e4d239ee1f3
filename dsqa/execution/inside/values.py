"""Numbers, colours and texts as JSON takes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["clipped", "colours", "number", "numbers"]

_TEXT_CAP = 300
_COLOUR_CAP = 20


def number(value: Any) -> float | int | str | None:
    """Return a number with ten digits; None where it is none or not finite; a date as ISO text."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    try:
        plain = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(plain):
        return None
    rounded = float(f"{plain:.10g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def numbers(values: Iterable[Any], cap: int = 200) -> list[float | int | str | None]:
    """Return the first `cap` values as `number` does."""
    found: list[float | int | str | None] = []
    for value in values:
        if len(found) == cap:
            break
        found.append(None if value is None else number(value))
    return found


def clipped(text: str, cap: int = _TEXT_CAP) -> str:
    """Return the text, cut at `cap` characters."""
    return str(text) if len(text) <= cap else text[: cap - 1] + "…"


def colours(values: Any) -> list[str]:
    """Return the distinct colours among RGBA rows, names or a mix, as ``#rrggbb`` (or ``#rrggbbaa``)."""
    from matplotlib.colors import to_hex  # noqa: PLC0415

    found: dict[str, None] = {}
    rows = [values] if isinstance(values, str) or (len(values) and not hasattr(values[0], "__len__")) else values
    for row in rows[:5000]:
        text = to_hex(row, keep_alpha=True)
        found.setdefault(text.removesuffix("ff") if len(text) == 9 else text)
        if len(found) == _COLOUR_CAP:
            break
    return list(found)
