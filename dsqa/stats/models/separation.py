"""Do finite estimates exist? Asked of the data by linear programming, before anything is fitted.

**Predictors separate the runs** if some combination x'd is ≥ 0 for every run that is right, ≤ 0 for every run that
is wrong, and not 0 for all: the likelihood then rises for ever along d, in a plain logistic regression (Albert and
Anderson 1984, Biometrika 71:1) and in a mixed one, whatever σ. Konis (2007, thesis, Oxford) finds d as the solution
of a linear programme. A question that is always right does not separate: its random intercept has a distribution.

**Questions separate the runs** if, with every question always right or always wrong under each combination of
predictors, some combination d ranks all right runs of a question above all its wrong ones, in every question: then
the likelihood has its largest value at an infinite spread σ. One wrong among the right of a single combination
rules this out, since its likelihood goes to 0 as σ grows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray
from dsqa.stats.models.clustered import Counts

__all__ = ["SeparatedError", "check_spread", "refuse_separated", "separating"]

_TOLERANCE = 1e-5


class SeparatedError(StatisticsError):
    """Predictors separate right from wrong: no finite estimates, but penalised ones."""


def separating(x: FloatArray, right: FloatArray, runs: FloatArray) -> FloatArray | None:
    """Return a combination of predictors that separates right from wrong, or None.

    Parameters
    ----------
    x
        Predictors, shape (rows, p), of full rank.
    right, runs
        Of each row, shape (rows,).

    Returns
    -------
    numpy.ndarray or None
        d, shape (p,), with the largest of its effects x'd equal to 1.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> (separating(x, np.array([2.0, 5.0]), np.array([4.0, 5.0])).round(9) + 0).tolist()
    [0.0, 1.0]
    >>> separating(x, np.array([2.0, 4.0]), np.array([4.0, 5.0])) is None
    True
    """
    q = np.linalg.qr(x)[0]
    scaled = q / np.abs(q).max()
    sign = (right > 0).astype(np.float64) - (right < runs)
    rows, counts = np.unique(np.column_stack([sign, scaled]).round(12), axis=0, return_counts=True)
    sign, scaled = rows[:, 0], rows[:, 1:]
    pure, mixed = sign != 0, sign == 0
    if not pure.any():
        return None
    signed = sign[pure, None] * scaled[pure]
    solution = optimize.linprog(
        -(counts[pure] @ signed) / counts[pure].sum(),
        A_ub=-signed,
        b_ub=np.zeros(len(signed)),
        A_eq=scaled[mixed] if mixed.any() else None,
        b_eq=np.zeros(int(mixed.sum())) if mixed.any() else None,
        bounds=(-1, 1),
    )
    if not solution.success:
        raise StatisticsError(f"whether predictors separate right from wrong was not found: {solution.message}")
    effect = signed @ solution.x
    if effect.max() < _TOLERANCE:
        return None
    d = np.linalg.lstsq(x, q @ solution.x, rcond=None)[0]
    return np.asarray(d / np.abs(x @ d).max(), dtype=np.float64)


def refuse_separated(formula: str, names: Sequence[str], data: Counts, *, hint: str) -> None:
    """Raise `StatisticsError` if predictors separate right from wrong, naming the terms that do."""
    d = separating(data.x, data.right, data.runs)
    if d is None:
        return
    size = np.abs(d) * np.abs(data.x).max(axis=0)
    terms = [name for name, part in zip(names, size.tolist(), strict=True) if part > 1e-6 and name != "Intercept"]
    what = " and ".join(terms[:3]) + (" and others" if len(terms) > 3 else "") if terms else "the intercept"
    raise SeparatedError(
        f"'{formula}': separated by {what}: some combination of predictors is always right or always wrong, "
        "so the estimates do not settle",
        hint=hint,
    )


def check_spread(formula: str, data: Counts) -> None:
    """Raise `StatisticsError` if the likelihood is largest at an infinite spread between questions."""
    right = data.right > 0
    if (right & (data.right < data.runs)).any():
        return
    pairs = []
    for start, stop in zip(data.starts, [*data.starts[1:], len(right)], strict=True):
        x, own = data.x[start:stop], right[start:stop]
        pairs.append((x[own][:, None, :] - x[~own][None, :, :]).reshape(-1, x.shape[1]))
    above = np.unique(np.concatenate(pairs).round(12), axis=0)
    if len(above):
        scale = np.abs(above).max(axis=0)
        scaled = above / np.where(scale > 0, scale, 1)
        # Is there a d with every pair's right run at least 1 above its wrong one?
        solution = optimize.linprog(
            np.zeros(above.shape[1]), A_ub=-scaled, b_ub=-np.ones(len(above)), bounds=(None, None)
        )
        if not solution.success:
            return
    raise StatisticsError(
        f"'{formula}': every question is always right or always wrong under each combination of predictors, so the "
        "spread between questions has no finite estimate",
        hint="more runs of each question, or a comparison of the questions' means",
    )
