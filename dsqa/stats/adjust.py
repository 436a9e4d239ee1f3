"""Many tests at once: p values adjusted so that they can be read against one level.

===========  ==========================================================================================
holm         P(any false claim) ≤ α, whatever the dependence. Holm (1979), Scand. J. Statistics 6:65
bh           expected share of false claims among those made ≤ α, for independent or positively dependent
             tests. Benjamini & Hochberg (1995), JRSS B 57:289
by           the same under any dependence. Benjamini & Yekutieli (2001), Annals of Statistics 29:1165
bonferroni   p · m; never better than Holm
none         as they are
===========  ==========================================================================================
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray

__all__ = ["Adjustment", "adjust_p"]

Adjustment = Literal["holm", "bh", "by", "bonferroni", "none"]


def adjust_p(p: ArrayLike, method: Adjustment = "holm") -> FloatArray:
    """Return adjusted p values, in the order given; NaN stays NaN and counts as no test.

    Raises
    ------
    StatisticsError
        An unknown method, or a p value outside of [0, 1].

    Examples
    --------
    >>> adjust_p([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust_p([0.01, 0.04, 0.03], "bh").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    if method not in get_args(Adjustment):
        raise StatisticsError(f"unknown adjustment '{method}'", hint=f"one of {', '.join(get_args(Adjustment))}")
    values = np.atleast_1d(np.asarray(p, dtype=np.float64))
    known = ~np.isnan(values)
    raw = values[known]
    if ((raw < 0) | (raw > 1)).any():
        raise StatisticsError("a p value lies between 0 and 1")
    out = np.full(values.shape, np.nan)
    out[known] = _adjusted(raw, method)
    return out


def _adjusted(p: FloatArray, method: Adjustment) -> FloatArray:
    m = p.size
    if method == "none" or m == 0:
        return p
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, m + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - rank + 1))
    else:
        factor = m * (np.sum(1 / rank) if method == "by" else 1.0)
        stepped = np.minimum.accumulate((p[order] * factor / rank)[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(stepped, 1.0)
    return out
