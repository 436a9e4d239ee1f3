"""Who is compared with whom on what: runs arranged by question, so that every comparison is paired.

Questions differ far more than models do, so models are compared on the same questions only, and, unless told
otherwise, at the same temperature. A *block* is a question at one value of what is held equal (`within`). Only
blocks in which every model has runs are used: all numbers of a comparison then rest on the same ground. A
question's value under a model is the mean over its blocks of the cell's statistic, so that a question counts
once however many blocks and runs it has.

Failed, refused and truncated runs count as the outcome table marks them (failed: wrong, score 0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import Statistic, weighted_mean, weighted_sd
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.comparison.equal_runs import expected_of_fewer
from dsqa.stats.dispersion import SCORE_BOUNDS
from dsqa.stats.interval import FloatArray

__all__ = ["Measure", "Paired", "held_equal", "label_of", "labels_of", "pair_by_question"]

Measure = Literal["accuracy", "score", "instability"]
_COLUMN = {"accuracy": "accuracy", "score": "score", "instability": "score"}
_HALF = (SCORE_BOUNDS[1] - SCORE_BOUNDS[0]) / 2


def _normalised_sd(values: FloatArray, weights: FloatArray, /) -> FloatArray:
    return weighted_sd(values, weights) / _HALF


STATISTICS: dict[str, Statistic] = {
    "accuracy": weighted_mean,
    "score": weighted_mean,
    "instability": _normalised_sd,
}


@dataclass(frozen=True)
class Paired:
    """Runs of every question under every label, and what follows from them.

    Parameters
    ----------
    by, within
        The column compared, and the columns held equal.
    measure
        What is compared; "instability" is better low, the others high.
    labels
        The values of `by`, in their natural order.
    questions
        The questions used.
    runs
        ``runs[q][l]``: the blocks of question q under label l, each an array of its runs' values, sorted.
    values
        Shape (questions, labels): a question's mean over its blocks of the cell's statistic; σ̄ of cells of unequal
        numbers of runs is that of as many runs as the smallest has, see `dsqa.stats.comparison.equal_runs`.
    left_out
        Questions without a complete block.
    blocks_left_out
        Blocks (of any question) in which a label has no usable runs.
    """

    by: str
    within: tuple[str, ...]
    measure: Measure
    labels: tuple[str, ...]
    questions: tuple[str, ...]
    runs: tuple[tuple[tuple[FloatArray, ...], ...], ...]
    values: FloatArray
    left_out: int
    blocks_left_out: int

    @property
    def statistic(self) -> Statistic:
        """The statistic of a cell's runs."""
        return STATISTICS[self.measure]

    @property
    def low_is_better(self) -> bool:
        """Whether the smallest value is the best."""
        return self.measure == "instability"

    def position(self, label: str) -> int:
        """Return where a label stands.

        Raises
        ------
        StatisticsError
            There is no such label.
        """
        if label not in self.labels:
            raise StatisticsError(f"there is no {self.by} '{label}'", hint=f"one of {', '.join(self.labels)}")
        return self.labels.index(label)

    def differences(self, first: str, second: str) -> FloatArray:
        """Return each question's value under `first` minus the one under `second`, shape (questions,)."""
        return np.asarray(self.values[:, self.position(first)] - self.values[:, self.position(second)])

    def order(self) -> np.ndarray:
        """Return the questions in an order that does not depend on their names or on the table's rows."""
        return np.lexsort((*self.values.T, self.values.sum(axis=1)))


def held_equal(by: str, within: Sequence[str] | None, table: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns held equal: as given, else the temperature for models and the model for temperatures."""
    if within is None:
        usual = {"model": ("temperature",), "temperature": ("model",)}.get(by, ())
        return tuple(name for name in usual if name in table.columns)
    if by in within:
        raise StatisticsError(f"'{by}' cannot be compared and held equal at once")
    return tuple(within)


def label_of(value: object) -> str:
    """Return a cell of a table as a label: numbers without trailing zeros, missing ones as "default"."""
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "default"
    return f"{value:g}" if isinstance(value, float) else str(value)


def labels_of(column: pd.Series) -> pd.Series:
    """Return a column as labels; each distinct value is put into words once, however many rows have it."""
    codes, distinct = pd.factorize(column, use_na_sentinel=False)
    words = np.array([label_of(value) for value in distinct], dtype=object)
    return pd.Series(words[codes] if len(words) else [], index=column.index, dtype=object)


def pair_by_question(
    outcomes: pd.DataFrame, *, by: str = "model", within: Sequence[str] | None = None, measure: Measure = "accuracy"
) -> Paired:
    """Arrange an outcome table for paired comparison.

    Parameters
    ----------
    outcomes
        One row per run: question_id, `by`, the columns of `within`, and accuracy or score. Runs without a
        mark are left out.
    by
        The column whose values are compared.
    within
        Columns held equal; None for the temperature (by model), the model (by temperature), else nothing.
    measure
        "accuracy" (share right), "score" (mean score) or "instability" (σ̄; cells of one run are unknown).

    Raises
    ------
    StatisticsError
        A column is missing, fewer than two values of `by`, or no question with a complete block.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": ["q", "q"], "model": ["a", "b"], "accuracy": [1, 0]})
    >>> pair_by_question(table).values
    array([[1., 0.]])
    """
    if measure not in get_args(Measure):
        raise StatisticsError(f"unknown measure '{measure}'", hint=f"one of {', '.join(get_args(Measure))}")
    held = held_equal(by, within, outcomes)
    require_runs(outcomes, ("question_id", _COLUMN[measure]), by=[by, *held])
    table = pd.DataFrame({"question": labels_of(outcomes["question_id"])})
    table["label"] = labels_of(outcomes[by])
    same = [labels_of(outcomes[name]) for name in held]
    table["block"] = list(zip(*same, strict=True)) if held else [()] * len(table)
    table["value"] = as_floats(outcomes[_COLUMN[measure]])
    labels = _natural(outcomes[by])
    if len(labels) < 2:
        found = f"only {by} '{labels[0]}'" if labels else "no runs"
        raise StatisticsError(f"there is {found}: a comparison needs at least two", field=by)
    cells = {
        key: np.sort(group.to_numpy(dtype=np.float64))
        for key, group in table.dropna(subset="value").groupby(["question", "block", "label"], sort=True)["value"]
    }
    least = 2 if measure == "instability" else 1
    blocks: dict[str, list[tuple[FloatArray, ...]]] = {}
    lost = 0
    for question, block in sorted(set(zip(table["question"], table["block"], strict=True))):
        found_runs = [cells.get((question, block, label)) for label in labels]
        complete = tuple(runs for runs in found_runs if runs is not None and runs.size >= least)
        if len(complete) == len(labels):
            blocks.setdefault(question, []).append(complete)
        else:
            lost += 1
    if not blocks:
        equal = f" at the same {' and '.join(held)}" if held else ""
        needed = "two runs" if least == 2 else "runs"
        raise StatisticsError(
            f"no question has {needed} under every {by}{equal}: nothing can be paired",
            field=by,
            hint="compare fewer of them, or hold less equal (within=[])" if held else "compare fewer of them",
        )
    runs = tuple(tuple(zip(*parts, strict=True)) for parts in blocks.values())
    if measure == "instability":
        # An SD of few runs is too low: compared with one of more it needs as many.
        fewest = [[min(map(len, block)) for block in question] for question in blocks.values()]
        values = np.array([[_spread_of(parts, n) for parts in q] for q, n in zip(runs, fewest, strict=True)])
    else:
        values = np.array([[float(np.mean([part.mean() for part in parts])) for parts in q] for q in runs])
    return Paired(
        by=by,
        within=held,
        measure=measure,
        labels=labels,
        questions=tuple(blocks),
        runs=runs,
        values=values,
        left_out=table["question"].nunique() - len(blocks),
        blocks_left_out=lost,
    )


def _natural(column: pd.Series) -> tuple[str, ...]:
    """Return the labels in the order of their values, missing ones last."""
    present = column.dropna().unique()
    ordered = [label_of(value) for value in sorted(present)]
    return (*dict.fromkeys(ordered), *(["default"] if column.isna().any() else []))


def _spread_of(parts: Sequence[FloatArray], fewest: Sequence[int]) -> float:
    blocks = zip(parts, fewest, strict=True)
    return float(np.mean([expected_of_fewer(_normalised_sd, runs, n) for runs, n in blocks]))


def pairs(labels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every pair of labels once, in their order."""
    for i, first in enumerate(labels):
        for second in labels[i + 1 :]:
            yield first, second
