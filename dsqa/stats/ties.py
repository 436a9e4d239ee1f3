"""Whether a handful of many values carries all their spread, so that normal theory for the mean means nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["too_few_differ"]

_LEAST = 5
"""Of many values, so many must differ from the commonest: with fewer the mean is nowhere near normal, and |t| is at
most about the root of their number, so that no test could find what a formula promises."""
_DIGITS = 9


def too_few_differ(values: ArrayLike) -> int | None:
    """Return how many values differ from the commonest, where that is too few; None where it is enough.

    Parameters
    ----------
    values
        Shape (n,), n ≥ 1. Equal up to nine decimals is equal.

    Examples
    --------
    >>> too_few_differ([0.0] * 40 + [0.05])
    1
    >>> too_few_differ([0.1, 0.2, 0.2]) is None  # of few, half will do
    True
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), _DIGITS)
    differing = rounded.size - int(np.unique(rounded, return_counts=True)[1].max())
    return differing if differing < min(_LEAST, rounded.size // 2) else None
