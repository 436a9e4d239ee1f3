"""The marks that people and judges gave to a study's runs, criterion by criterion: for the page `judges`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dsqa.outcomes import OWN_MARKS, read_marks
from dsqa.report.attempts import NotAvailable
from dsqa.report.page import Page
from dsqa.stats.interval import FloatArray

__all__ = ["OURS", "Criterion", "Marks", "marks_of"]

OURS = "dsqa"
_KEY = ["question_id", "condition_id", "run"]


@dataclass(frozen=True)
class Criterion:
    """One criterion: its marks as a matrix, a row per run and a column per rater, NaN where none was given.

    `numeric` says that distances between marks mean something: numbers of more than two values; `words` that the
    numbers stand for categories.
    """

    name: str
    raters: tuple[str, ...]
    matrix: FloatArray
    units: pd.DataFrame
    numeric: bool
    words: bool

    @property
    def clusters(self) -> np.ndarray:
        """The question of each run."""
        return self.units["question_id"].to_numpy()

    def both(self, first: int, second: int) -> tuple[FloatArray, np.ndarray]:
        """Return the marks of two raters where both gave one, and the questions of these runs."""
        pair = self.matrix[:, [first, second]]
        known = np.isfinite(pair).all(axis=1)
        return pair[known], self.clusters[known]


@dataclass(frozen=True)
class Marks:
    """All marks of a study, by criterion."""

    criteria: tuple[Criterion, ...]
    given: int
    source: str


def marks_of(page: Page) -> Marks | NotAvailable:
    """Return the marks in the study's `marks.csv`, with dsqa's own beside those criteria that it marks too.

    Raises
    ------
    RecordError
        The file is there and cannot be used; with the line.
    """
    path = page.folder.marks_path
    if not path.is_file():
        return NotAvailable(
            "Nobody has marked these runs yet: put a file marks.csv with the columns question_id, condition_id, run, "
            "rater, criterion and mark into the study's folder, a row per mark (the ids are those of "
            "outcomes.parquet), and this page tells how far the raters agree with each other and with dsqa"
        )
    table = read_marks(path, page.outcomes)
    if table.empty:
        return NotAvailable("marks.csv in the study's folder has no mark yet")
    criteria = tuple(_criterion(name, own, page) for name, own in table.groupby("criterion", sort=True))
    return Marks(criteria, len(table), path.name)


def _criterion(name: Any, own: pd.DataFrame, page: Page) -> Criterion:
    numbers = bool(own["mark"].notna().all())
    value = own["mark"] if numbers else pd.Series(pd.factorize(own["text"], sort=True)[0], own.index, dtype="Float64")
    wide = own.assign(value=value).pivot(index=_KEY, columns="rater", values="value")
    raters = [str(rater) for rater in wide.columns]
    matrix = wide.to_numpy(dtype=np.float64, na_value=np.nan)
    if str(name) in OWN_MARKS and numbers and OURS not in raters:
        ours = page.outcomes.set_index(_KEY)[str(name)]
        ours = ours[~ours.index.duplicated()].reindex(wide.index)
        matrix = np.column_stack([matrix, ours.to_numpy(dtype=np.float64, na_value=np.nan)])
        raters.append(OURS)
    numeric = numbers and len(np.unique(matrix[np.isfinite(matrix)])) > 2
    return Criterion(str(name), tuple(raters), matrix, wide.index.to_frame(index=False), numeric, not numbers)
