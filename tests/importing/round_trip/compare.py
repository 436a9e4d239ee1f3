"""What was imported beside what the tool says itself."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dsqa.importing import ImportOptions, import_study
from dsqa.records import read_records, usage_counts


@dataclass
class Comparison:
    """Counts, as (equal, compared)."""

    runs: int = 0
    expected: int = 0
    texts: tuple[int, int] = (0, 0)
    usage: tuple[int, int] = (0, 0)
    scores: tuple[int, int] = (0, 0)
    differences: list[str] = field(default_factory=list)


def compare(paths: list[Path], theirs: list[dict[str, Any]]) -> Comparison:
    """Import files as a study and compare it run by run; runs that the tool gives no number, in their order."""
    with tempfile.TemporaryDirectory() as place:
        folder = import_study(paths, Path(place) / "study", ImportOptions()).folder
        assert folder is not None
        ours = list(read_records(folder.records_path))
        metrics_path = folder.root / "source_metrics.parquet"
        metrics = pd.read_parquet(metrics_path) if metrics_path.is_file() else pd.DataFrame()
    values = {
        (row.question_id, row.condition_id, row.run, row.metric): (
            row.value,
            row.text if isinstance(row.text, str) else None,
        )
        for row in metrics.itertuples()
    }
    cells: dict[Any, list[Any]] = defaultdict(list)
    for record in sorted(ours, key=lambda r: r.run):
        cells[record.question_id, record.temperature].append(record)
    found = Comparison(runs=len(ours), expected=sum(said.get("choices", 1) for said in theirs))
    counts = {"text": [0, 0], "usage": [0, 0], "scores": [0, 0]}
    taken: dict[Any, int] = defaultdict(int)
    lowest = min((said["run"] for said in theirs if said["run"] is not None), default=0)

    def check(kind: str, where: str, mine: Any, wanted: Any) -> None:
        counts[kind][1] += 1
        counts[kind][0] += mine == wanted
        if mine != wanted:
            found.differences.append(f"{where}: {kind} {mine!r}, the tool says {wanted!r}")

    for said in theirs:
        heat = {"warm": 0.7, "cold": 0.2}.get(said.get("condition", ""))
        cell = next(records for (q, t), records in cells.items() if q == said["question"] and heat in {None, t})
        key = (said["question"], heat)
        number = taken[key] if said["run"] is None else said["run"] - lowest
        taken[key] += 1
        record = next((r for r in cell if r.run == number), None)
        where = f"{key} run {number}"
        if record is None:
            found.differences.append(f"{where} is missing")
            continue
        check("text", where, record.text, said["text"])
        check("text", f"{where} failed", record.status == "failed", said["error"])
        if said["usage"] is not None:
            ours_used = usage_counts(record.usage)
            check("usage", where, [ours_used.prompt, ours_used.completion], said["usage"])
        for name, (word, number_of_it) in said["scores"].items():
            value, text = values[record.question_id, record.condition_id, record.run, name]
            check("scores", f"{where} {name}", [text, value], [word, float(number_of_it)])
    found.texts, found.usage, found.scores = (tuple(counts[kind]) for kind in ("text", "usage", "scores"))  # type: ignore[assignment]
    return found
