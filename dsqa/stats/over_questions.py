r"""Intervals for a mean over questions, questions being a sample of many: Student's t.

    d̄ ± t(Q − 1) s_d/√Q,   s_d the SD of the question values (divisor Q − 1), cut at the ends of the scale

Of t, percentile, BCa, studentised and skewness-corrected (Hall 1992) intervals, t is the narrowest that keeps
[93, 97] % on average, from five questions to a hundred, N from 2 to 100, questions always right and always wrong
among them (docs/coverage.md). Differences of two models are nearly symmetric, which is what t asks for; means near an
end of the scale are not, and are the worst cases in that table.

Refused, with the reason: fewer than three questions (t on one degree of freedom is wider than the scale), equal
values, and all but a handful of many equal, where no interval from so few that differ means anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from dsqa.stats.interval import FloatArray, Interval, as_sample, check_level
from dsqa.stats.shown import with_coverage
from dsqa.stats.ties import too_few_differ

__all__ = ["FEWEST_QUESTIONS", "difference_interval", "question_intervals"]

FEWEST_QUESTIONS = 3
"""Below it there is no interval over questions."""

# Means of equal values differ in their last digits.
_EQUAL = 1e-12
_ALIKE = 1e-9


def difference_interval(differences: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return Student's t interval for the mean of paired differences over questions.

    Parameters
    ----------
    differences
        d_q, shape (questions,).
    level
        Nominal coverage.

    Raises
    ------
    StatisticsError
        No differences, missing ones, or a level out of range.

    Examples
    --------
    >>> ci = difference_interval([0.2, 0.0, 0.1, 0.3, -0.1])
    >>> round(ci.low, 3), round(ci.high, 3)
    (-0.096, 0.296)
    """
    check_level(level)
    interval = _student_t(as_sample(differences, what="differences"), level, alike=_ALIKE)
    return with_coverage(interval, "difference", np.size(differences))


def question_intervals(
    samples: Sequence[FloatArray], *, level: float, bounds: tuple[float, float] = (0.0, 1.0)
) -> list[Interval]:
    """Return an interval over questions for the mean of each sample of question means.

    Parameters
    ----------
    samples
        A question's mean each, shape (questions,).
    level
        Nominal coverage.
    bounds
        Between which values lie; the ends are cut there.
    """
    found = []
    for values in samples:
        used = _student_t(values, level, alike=_EQUAL)
        if used.available:
            used = replace(used, low=max(used.low, bounds[0]), high=min(used.high, bounds[1]))
        found.append(with_coverage(used, "mean over questions", values.size))
    return found


def _student_t(values: FloatArray, level: float, *, alike: float) -> Interval:
    method = "Student t over questions"
    if values.size < FEWEST_QUESTIONS:
        few = {0: "no questions", 1: "one question"}
        why = few.get(values.size, f"{values.size} questions are too few for an interval over questions")
        return Interval.unavailable(level, "not available", why)
    if np.ptp(values) <= alike:
        return Interval.unavailable(level, "not available", f"all {values.size} questions alike")
    few_differ = too_few_differ(values)
    if few_differ is not None:
        return Interval.unavailable(level, "not available", f"only {few_differ} of {values.size} questions differ")
    ordered = np.sort(values)
    half = float(stdtrit(values.size - 1, (1 + level) / 2)) * float(ordered.std(ddof=1)) / math.sqrt(values.size)
    return Interval(float(ordered.mean()) - half, float(ordered.mean()) + half, level, method)
