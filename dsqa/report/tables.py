"""Tables as statisticians expect them: of a data frame, and of a fitted model."""

from dsqa.report.frames import Field, Note, data_table
from dsqa.report.model_table import model_summary

__all__ = ["Field", "Note", "data_table", "model_summary"]
