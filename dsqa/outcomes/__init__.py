"""Outcomes: the metrics of every run, one row each."""

from dsqa.outcomes.artefacts import RunArtefact, show_artefacts
from dsqa.outcomes.cache import ExecutionCache
from dsqa.outcomes.columns import COLUMNS, Column
from dsqa.outcomes.marks import MARK_COLUMNS, OWN_MARKS, read_marks
from dsqa.outcomes.readers import READER_COLUMNS, read_with
from dsqa.outcomes.reruns import rerun_summary
from dsqa.outcomes.score import Progress, score_records, score_study
from dsqa.outcomes.table import load_outcomes, outcome_table, save_table
from dsqa.outcomes.unread import UnreadReplies, inspect_unread, unread_matters, unread_runs

__all__ = [
    "COLUMNS",
    "MARK_COLUMNS",
    "OWN_MARKS",
    "READER_COLUMNS",
    "Column",
    "ExecutionCache",
    "Progress",
    "RunArtefact",
    "UnreadReplies",
    "inspect_unread",
    "load_outcomes",
    "outcome_table",
    "read_marks",
    "read_with",
    "rerun_summary",
    "save_table",
    "score_records",
    "score_study",
    "show_artefacts",
    "unread_matters",
    "unread_runs",
]
