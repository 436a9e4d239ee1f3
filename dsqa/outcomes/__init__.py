"""Outcomes: the metrics of every run, one row each."""

from dsqa.outcomes.columns import COLUMNS, Column

__all__ = ["COLUMNS", "Column"]
