"""What a study's figures are drawn from: its tables, and what is read beside them when a figure asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from dsqa.bank import Bank
from dsqa.errors import ReportError
from dsqa.figures.common import condition_labels, in_order
from dsqa.outcomes import load_outcomes
from dsqa.prices import cost_of, recorded_prices
from dsqa.records import read_records
from dsqa.study import StudyFolder

__all__ = ["NotApplicableError", "StudyTables"]

_FREE_KINDS = ("embedded", "replay")
_COSTS = {"question_id": "string", "condition_id": "string", "run": "Int64", "cost": "float64", "currency": "string"}


class NotApplicableError(ReportError):
    """A figure has nothing to show for this study; the message says why."""


@dataclass(frozen=True, eq=False)
class StudyTables:
    """A marked study, as figures see it.

    Parameters
    ----------
    outcomes
        A row per run (see `dsqa.outcomes.columns`).
    cells
        A row per cell, as `dsqa.stats.summarise_cells` makes it.
    bank
        The questions; None where they are not known, as for a table without a study.
    folder
        Where records, prices and artefacts are; None where there are none.
    seed
        Of whatever is drawn at random behind an interval or a plan.
    """

    outcomes: pd.DataFrame
    cells: pd.DataFrame
    bank: Bank | None = None
    folder: StudyFolder | None = None
    seed: int = 0

    @classmethod
    def read(cls, folder: StudyFolder) -> Self:
        """Read the tables of a marked study, its cells in the bank's order of questions.

        Raises
        ------
        DsqaError
            A file is missing or cannot be read.
        """
        bank, outcomes = folder.bank(), load_outcomes(folder.outcomes_path)
        if not folder.cells_path.is_file():
            raise ReportError("is not there", path=folder.cells_path, hint=f"run: dsqa score {folder.root}")
        cells = pd.read_parquet(folder.cells_path)
        # As in a report, so that a condition has one colour in every figure.
        questions = {
            name: i for i, name in enumerate(dict.fromkeys([q.id for q in bank] + in_order(cells["question_id"])))
        }
        conditions = {name: i for i, name in enumerate(condition_labels(outcomes))}
        places = cells["question_id"].map(questions), cells["condition_id"].map(conditions)
        cells = cells.iloc[np.lexsort([place.to_numpy(dtype=float) for place in reversed(places)])]
        return cls(outcomes, cells.reset_index(drop=True), bank, folder, folder.describe().seed)

    @cached_property
    def costs(self) -> pd.DataFrame:
        """What each recorded run cost: question_id, condition_id, run, cost and currency, missing where unknown.

        Read from the records on first use, with the prices in the study's folder; see `dsqa.prices.cost_of`.
        """
        rows: list[tuple[str, str, int, float, str | None]] = []
        if self.folder is not None and self._may_cost():
            prices = recorded_prices(self.folder.root)
            for record in read_records(self.folder.records_path):
                money = cost_of(record, prices)
                amount, currency = (np.nan, None) if money is None else money
                rows.append((record.question_id, record.condition_id, record.run, amount, currency))
        return pd.DataFrame(rows, columns=list(_COSTS)).astype(_COSTS)

    def _may_cost(self) -> bool:
        """Whether any run may have a price above 0: reading the records is slow, and many studies cost nothing."""
        if self.folder is None or not self.folder.records_path.is_file():
            return False
        entries = [entry for _, file in recorded_prices(self.folder.root).files for entry in file.prices]
        description = self.folder.describe()
        endpoints = description.settings.get("endpoints") or {}
        paid = (
            condition.model
            for condition in description.conditions
            if (endpoints.get(condition.endpoint) or {}).get("kind") not in _FREE_KINDS
        )
        return any(entry.names(model) for model in paid for entry in entries)
