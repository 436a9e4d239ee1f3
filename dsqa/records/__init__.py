"""Records: one append-only JSON line per run."""

from dsqa.records.index import RunIndex
from dsqa.records.lines import read_records
from dsqa.records.lock import FileLock
from dsqa.records.record import Record, RunKey, Status
from dsqa.records.store import RecordStore
from dsqa.records.table import records_table
from dsqa.records.usage import UsageCounts, usage_counts

__all__ = [
    "FileLock",
    "Record",
    "RecordStore",
    "RunIndex",
    "RunKey",
    "Status",
    "UsageCounts",
    "read_records",
    "records_table",
    "usage_counts",
]
