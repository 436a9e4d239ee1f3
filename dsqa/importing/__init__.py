"""Runs that other tools recorded: read in their formats and written as a study like any other."""

from dsqa.importing.runs import ImportReport, Reader, ReadOptions, SourceRun

__all__ = ["ImportReport", "ReadOptions", "Reader", "SourceRun"]
