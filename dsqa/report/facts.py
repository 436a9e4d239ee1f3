"""What a report needs from the records themselves, in one pass over the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dsqa.records import Record, read_records
from dsqa.study import StudyFolder

__all__ = ["RecordFacts", "record_facts", "record_texts"]

_Key = tuple[str, str, int]


@dataclass(frozen=True)
class RecordFacts:
    """First and last start (UTC, ISO 8601; None where unknown), the models that answered, versions used."""

    first: str | None
    last: str | None
    answered_by: dict[str, int] = field(default_factory=dict)
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)


def record_facts(folder: StudyFolder) -> RecordFacts:
    """Summarise the records of a study."""
    starts: list[str] = []
    models: Counter[str] = Counter()
    versions: dict[str, set[str]] = {}
    for record in read_records(folder.records_path):
        if record.started_at:
            starts.append(record.started_at)
        if record.response_model:
            models[record.response_model] += 1
        for name, version in record.versions.items():
            versions.setdefault(name, set()).add(version)
    return RecordFacts(
        min(starts, default=None),
        max(starts, default=None),
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
