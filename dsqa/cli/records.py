"""`dsqa records`: look after the file of recorded runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dsqa.cli.options import json_option, study_argument
from dsqa.cli.studies import open_recorded, shown
from dsqa.foreign import visible

if TYPE_CHECKING:
    from dsqa.records.mending import RecordsCheck

__all__ = ["records"]

_LISTED = 20


@click.group()
def records() -> None:
    """Look after the recorded runs of a study."""


@records.command(short_help="Find damaged lines, say what was lost; --mend sets them aside.")
@study_argument
@click.option("--mend", is_flag=True, help="Move damaged lines to records.jsonl.damaged, so that all else works.")
@json_option
def check(study: Path, mend: bool, as_json: bool) -> int:
    """Read each recorded run of STUDY (a folder under runs/, its study.yaml, or a records.jsonl).

    Prints how many runs are whole and which lines are damaged. Exit code 2: there are damaged lines, and they are
    still there. With --mend they are kept byte for byte in records.jsonl.damaged, and 'dsqa sample' asks their runs
    again.
    """
    from dsqa.records.mending import check_records, mend_records

    path = study if study.is_file() and ".jsonl" in study.suffixes else open_recorded(study).records_path
    found, aside = mend_records(path) if mend else (check_records(path), None)
    click.echo(json.dumps(_as_json(found, aside)) if as_json else "\n".join(_lines(found, aside)))
    return 2 if found.damaged and aside is None else 0


def _as_json(found: RecordsCheck, aside: Path | None) -> dict[str, object]:
    return {
        "records": str(found.path),
        "runs": found.runs,
        "repeats": found.repeats,
        "torn_bytes": found.torn,
        "damaged": [
            {
                "line": line.line,
                "bytes": line.size,
                "why": line.why,
                "question_id": line.question_id,
                "condition_id": line.condition_id,
                "run": line.run,
            }
            for line in found.damaged
        ],
        "set_aside": None if aside is None else str(aside),
    }


def _lines(found: RecordsCheck, aside: Path | None) -> list[str]:
    where = shown(found.path)
    lines = [f"{where}: {found.runs:,} runs are whole, {len(found.damaged):,} lines are damaged"]
    if found.repeats:
        lines.append(f"{found.repeats:,} lines record a run once more; the first of each counts")
    if found.torn:
        lines.append(f"{found.torn:,} bytes of a run that was being written are at the end; its run is asked again")
    for line in found.damaged[:_LISTED]:
        lines.append(f"  line {line.line} ({line.size:,} bytes), {visible(line.named)}: {visible(line.why)}")
    if len(found.damaged) > _LISTED:
        lines.append(f"  … and {len(found.damaged) - _LISTED:,} more (--json lists them all)")
    if aside is not None:
        lines.append(f"set aside in {shown(aside)}; 'dsqa sample' asks their runs again")
    elif found.damaged:
        lines.append("add --mend to set them aside; their bytes are kept, and 'dsqa sample' asks their runs again")
    return lines
