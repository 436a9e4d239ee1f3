"""How sure one can be of variance components: the jackknife over questions, on logarithms.

Each question is left out in turn and the components are estimated anew; on the logarithms of the components this
holds its level without normal effects (Arvesen & Schmitz 1970, Biometrics 26:677), about the estimate rather than the
mean of the pseudo-values (docs/coverage.md); see `dsqa.stats.jackknife`. A component whose estimate touches 0 has
none. Of more than `MOST_GROUPS` questions, so many groups of them are left out in turn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import jackknife_interval
from dsqa.stats.variance import VarianceComponents, variance_components

__all__ = ["MOST_GROUPS", "component_intervals"]

MOST_GROUPS = 50

_HOW = "jackknife over questions, logarithms"


def component_intervals(
    table: pd.DataFrame,
    *,
    value: str = "score",
    question: str = "question_id",
    model: str | None = "model",
    level: float = 0.95,
) -> tuple[VarianceComponents, dict[str, Interval]]:
    """Return the variance components and an interval for each.

    Parameters
    ----------
    table, value, question, model
        As in `variance_components`.
    level
        Nominal coverage.

    Returns
    -------
    VarianceComponents, dict of str to Interval
        The estimates; "question", "question:model" (with a model), "run" → interval, or why there is none.

    Raises
    ------
    StatisticsError
        As `variance_components`.

    Examples
    --------
    >>> cells = [(q, m) for q in range(6) for m in (0, 1)]
    >>> rows = [(q, m, 5 * q + 9 * m * (q % 2) + r * (0.5 + q % 3)) for q, m in cells for r in (0, 1, 2)]
    >>> found, ends = component_intervals(pd.DataFrame(rows, columns=["question_id", "model", "score"]))
    >>> round(found.residual, 3)  # mean of 0.25, 2.25 and 6.25
    2.917
    >>> round(ends["run"].low, 2), round(ends["run"].high, 2)
    (1.04, 8.19)
    """
    check_level(level)
    fit = variance_components(table, value=value, question=question, model=model)
    names = ["question", *([] if model is None else ["question:model"]), "run"]
    if fit.questions < 3:
        note = f"{fit.questions} questions are too few to leave one out"
        return fit, dict.fromkeys(names, Interval.unavailable(level, _HOW, note))
    without: list[FloatArray] = []
    questions = sorted(table.loc[table[value].notna(), question].unique())
    for at in range(min(len(questions), MOST_GROUPS)):
        left_out = questions[at::MOST_GROUPS]
        try:
            rest = table[~table[question].isin(left_out)]
            without.append(_parts(variance_components(rest, value=value, question=question, model=model)))
        except StatisticsError as refusal:
            # All that varies may lie in the question left out.
            note = f"without question {', '.join(map(str, left_out))}: {refusal.message}"
            return fit, dict.fromkeys(names, Interval.unavailable(level, _HOW, note))
    full, others = _parts(fit), np.stack(without)
    columns = [0, *([] if model is None else [1]), 2]
    return fit, {
        name: _interval(full[at], others[:, at], level, fit.questions)
        for name, at in zip(names, columns, strict=True)
    }


def _parts(fit: VarianceComponents) -> FloatArray:
    return np.array([fit.question, fit.question_model, fit.residual])


def _interval(full: float, without: FloatArray, level: float, questions: int) -> Interval:
    if full <= 0 or (without <= 0).any():
        return Interval.unavailable(level, _HOW, "the estimate touches 0, with all questions or with one left out")
    return jackknife_interval(full, without, kind="variance component", level=level, scale="log", clusters=questions)
