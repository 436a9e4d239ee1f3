"""Small source files, and what came of importing them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from dsqa.importing import ImportOptions, ReadOptions, import_study
from dsqa.records import Record, read_records
from dsqa.study import StudyFolder


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(**given: Any) -> dict[str, Any]:
    return {"question_id": "a", "prompt": "How many?", "model": "m", "temperature": 1, "response": "Three."} | given


def imported(
    tmp_path: Path, paths: Path | list[Path], *, reading: dict[str, Any] | None = None, **options: Any
) -> tuple[StudyFolder, dict[str, Any]]:
    done = import_study(
        paths if isinstance(paths, list) else [paths],
        tmp_path / "runs" / "s",
        ImportOptions(reading=ReadOptions(**(reading or {})), **options),
    )
    assert done.folder is not None
    said = json.loads((done.folder.root / "import.json").read_text())
    assert said == json.loads(json.dumps(done.description))
    return done.folder, said


def records(folder: StudyFolder) -> list[Record]:
    return list(read_records(folder.records_path))


def source_rows(folder: StudyFolder) -> list[dict[str, Any]]:
    text = gzip.decompress((folder.root / "source_rows.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]
