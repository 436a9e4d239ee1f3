"""Numbers with as many digits as their uncertainty allows."""

from __future__ import annotations

import math

from dsqa.report.wording import MISSING, is_missing, settled

__all__ = ["FILL", "aligned", "decimals_for", "estimate", "fixed", "interval_error"]

_MINUS = "\u2212"
_DIGIT_SPACE, _POINT_SPACE = "\u2007", "\u2008"
FILL = _DIGIT_SPACE + _POINT_SPACE
"""What `aligned` fills up with: spaces as wide as a digit and as a point."""
_MOST_DECIMALS = 6


def decimals_for(error: float, significant: int = 2) -> int | None:
    """Return the decimals that show a standard error to `significant` digits; negative for tens, hundreds.

    None where the error is missing, zero or infinite: it then says nothing of digits.

    Examples
    --------
    >>> decimals_for(0.0312), decimals_for(0.0996), decimals_for(314.0), decimals_for(float("nan"))
    (3, 2, -1, None)
    """
    if is_missing(error) or not math.isfinite(error) or error <= 0:
        return None
    # By way of the printed form: 0.0996 to two digits is 0.10, and has its first digit elsewhere.
    exponent = int(f"{error:.{significant - 1}e}".split("e")[1])
    return significant - 1 - exponent


def interval_error(low: float, high: float) -> float:
    """Return the standard error that a 95 % interval of this width has under the normal distribution."""
    return math.nan if is_missing(low) or is_missing(high) else (float(high) - float(low)) / (2 * 1.959964)


def fixed(value: float | None, decimals: int, *, sign: bool = False) -> str:
    """Return a number with this many decimals as Markdown, with a true minus and thousands set off.

    Negative `decimals` round to tens, hundreds and so on; beyond six decimals it is written as a power of ten.

    Examples
    --------
    >>> fixed(-1234.5678, 2), fixed(1234.5678, -1), fixed(0.5, 1, sign=True)
    ('−1,234.57', '1,230', '+0.5')
    >>> print(fixed(1.234e-7, 9).replace("\u00a0", " "))
    1.23 × 10^−7^
    """
    if value is None or is_missing(value):
        return MISSING
    number = float(value)
    if not math.isfinite(number):
        return f"{_MINUS if number < 0 else '+' if sign else ''}∞" if math.isinf(number) else MISSING
    plus = "+" if sign else ""
    if decimals > _MOST_DECIMALS and number:
        exponent = math.floor(math.log10(abs(number)))
        mantissa = f"{number / 10**exponent:{plus}.{max(0, decimals + exponent)}f}"
        return f"{mantissa}\u00a0×\u00a010^{exponent}^".replace("-", _MINUS)
    rounded = round(settled(number), decimals)
    # Neither "−0.00" nor "+0.00": what is rounded away has no sign.
    plus = plus if rounded else ""
    return f"{rounded + 0.0:{plus},.{max(0, min(decimals, _MOST_DECIMALS))}f}".replace("-", _MINUS)


def estimate(value: float, error: float, *, otherwise: int = 3, sign: bool = False) -> str:
    """Return a value rounded to the second significant digit of its standard error.

    Parameters
    ----------
    value, error
        The estimate and its standard error, in the same unit.
    otherwise
        Decimals where the error is missing or 0.
    sign
        Also write plus.

    Examples
    --------
    >>> estimate(1.23456, 0.0312), estimate(1234.5, 314.0), estimate(0.5, float("nan"))
    ('1.235', '1,230', '0.500')
    """
    decimals = decimals_for(error)
    return fixed(value, otherwise if decimals is None else decimals, sign=sign)


def aligned(cells: list[str]) -> list[str]:
    """Return plain numbers filled up at the right with spaces as wide as digits, so that their points align."""
    tails = [len(cell.partition(".")[2]) if _is_plain(cell) else -1 for cell in cells]
    widest = max(tails, default=0)
    if widest <= 0:
        return cells
    filled = []
    for cell, tail in zip(cells, tails, strict=True):
        space = "" if tail < 0 else ("" if "." in cell else _POINT_SPACE) + _DIGIT_SPACE * (widest - tail)
        filled.append(cell + space)
    return filled


def _is_plain(cell: str) -> bool:
    return bool(cell) and all(c in f"0123456789.,+{_MINUS}" for c in cell)
