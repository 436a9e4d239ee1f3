"""Records: one append-only JSON line per run."""

from dsqa.records.record import Record, RunKey, Status

__all__ = ["Record", "RunKey", "Status"]
