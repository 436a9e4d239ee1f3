"""What a report needs from the records themselves, in one pass over the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from dsqa.records import Record, read_records
from dsqa.study import StudyFolder
from dsqa.values import parse_time

__all__ = ["RecordFacts", "record_facts", "record_texts"]

_Key = tuple[str, str, int]


@dataclass(frozen=True)
class RecordFacts:
    """What records say of themselves.

    Parameters
    ----------
    first, last
        First and last start, in UTC; None where none is known.
    without_time
        Runs whose start is not recorded, or is written in a way that cannot be read.
    answered_by
        Model that answered → how often.
    versions
        Program → its versions.
    """

    first: datetime | None
    last: datetime | None
    without_time: int = 0
    answered_by: dict[str, int] = field(default_factory=dict)
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)


def record_facts(folder: StudyFolder) -> RecordFacts:
    """Summarise the records of a study."""
    starts: list[datetime | None] = []
    models: Counter[str] = Counter()
    versions: dict[str, set[str]] = {}
    for record in read_records(folder.records_path):
        starts.append(parse_time(record.started_at))
        if record.response_model:
            models[record.response_model] += 1
        for name, version in record.versions.items():
            versions.setdefault(name, set()).add(version)
    known = [start for start in starts if start is not None]
    return RecordFacts(
        min(known, default=None),
        max(known, default=None),
        len(starts) - len(known),
        dict(sorted(models.items())),
        {name: tuple(sorted(seen)) for name, seen in sorted(versions.items())},
    )


def record_texts(folder: StudyFolder, wanted: set[_Key]) -> dict[_Key, Record]:
    """Return the wanted records by question, condition and run."""
    found: dict[_Key, Record] = {}
    for record in read_records(folder.records_path):
        key = (record.question_id, record.condition_id, record.run)
        if key in wanted:
            found[key] = record
    return found
