"""Runs that other tools recorded: read in their formats and written as a study like any other."""

from dsqa.importing.columns import read_map
from dsqa.importing.runs import ImportReport, Reader, ReadOptions, SourceRun
from dsqa.importing.study import Imported, ImportOptions, import_study

__all__ = [
    "ImportOptions",
    "ImportReport",
    "Imported",
    "ReadOptions",
    "Reader",
    "SourceRun",
    "import_study",
    "read_map",
]
