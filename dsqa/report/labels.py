"""Cells and groups by names a reader knows, for the tables of notebooks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dsqa.figures.common import level_rank
from dsqa.report.page import Page
from dsqa.report.wording import temperature

__all__ = ["by_text", "group_names", "in_order", "labelled", "shown_rows"]

_TITLES = {
    "question_id": "Question",
    "condition_id": "Condition",
    "category": "Category",
    "level": "Level",
    "model": "Model",
    "temperature": "Temperature",
}


def by_text(name: str) -> str:
    """Return what a column to group by is called in a title."""
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def labelled(page: Page, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of cells with `condition`, the condition's label."""
    return table.assign(condition=table["condition_id"].astype(str).map(page.conditions))


def in_order(page: Page, table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return a table of groups in reading order: levels from easy to hard, conditions as elsewhere."""
    ranks = {condition: at for at, condition in enumerate(page.conditions)}

    def rank(column: pd.Series) -> pd.Series:
        if column.name == "level":
            return column.astype(object).map(level_rank)
        return column.map(ranks) if column.name == "condition_id" else column

    return table.sort_values(list(by), key=rank, kind="stable", ignore_index=True) if by else table


def group_names(page: Page, table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return a table of groups whose columns `by` hold names to show, missing ones as *not given*."""
    shown = {}
    for name in by:
        values = table[name].astype(object)
        if name == "condition_id":
            shown[name] = values.astype(str).map(page.conditions)
        elif name == "temperature":
            shown[name] = values.map(temperature)
        else:
            shown[name] = values.where(values.notna(), "not given").astype(str)
    return table.assign(**shown)


def shown_rows(table: pd.DataFrame, most: int, largest: str) -> tuple[pd.DataFrame, str]:
    """Return the first `most` rows, numbered from 0, and a sentence for the caption where rows were cut."""
    cut = len(table) - most
    said = f" Shown are the {most:,} with the largest {largest}, of {len(table):,}." if cut > 0 else ""
    return table.head(most).reset_index(drop=True), said
