"""A study for other programs: which files, and that none is overwritten unasked."""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dsqa.errors import StudyError
from dsqa.exporting.inspect_log import write_inspect_logs
from dsqa.exporting.requests import missing_runs, write_requests
from dsqa.exporting.rscript import r_script, r_type
from dsqa.exporting.tidy import csv_bytes, factor_levels, parquet_bytes, tidy_table
from dsqa.outcomes import COLUMNS, load_outcomes
from dsqa.study.folder import StudyFolder

__all__ = ["TARGETS", "Exported", "export_study"]

TARGETS = {
    "csv": "outcomes.csv: a row per run",
    "parquet": "outcomes.parquet: the same, labels as factors",
    "r": "read_outcomes.R beside outcomes.csv: reads it with the right types and fits a first model",
    "columns": "columns.csv: what each column holds",
    "inspect": "inspect/: a log per condition for inspect_ai (JSON), runs as epochs",
    "requests": "requests/: OpenAI Batch requests for the runs that are missing",
}
"""What can be written."""

_MARKED = {"csv", "parquet", "r"}


@dataclass(frozen=True)
class Exported:
    """What was written, and what a person must be told of it."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def export_study(folder: StudyFolder, targets: Sequence[str], out: Path, *, force: bool = False) -> Exported:
    """Write a study in other programs' formats: all that was asked for, or nothing.

    Parameters
    ----------
    folder
        Any recorded study, sampled or imported.
    targets
        Names from `TARGETS`; ``r`` writes the CSV that it reads, too.
    out
        The folder to write to; made if it is not there.
    force
        Replace what is there.

    Raises
    ------
    StudyError
        A target is unknown, the study has not been marked (for the table), has no run, or a file is there already.
    """
    wanted = _wanted(targets)
    outcomes = _outcomes(folder, wanted)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"cannot be made: {error.strerror or error}", path=out) from None
    # Beside its place first, so that an interrupted or refused export leaves nothing half done.
    with tempfile.TemporaryDirectory(prefix=".export-", dir=out) as made:
        notes = _write(folder, wanted, outcomes, Path(made))
        entries = sorted(Path(made).iterdir())
        taken = [entry.name for entry in entries if (out / entry.name).exists()]
        if taken and not force:
            raise StudyError(
                "is there already, and is not overwritten",
                path=out / taken[0],
                hint="name another folder with --out, or add --force",
            )
        paths: list[Path] = []
        for entry in entries:
            target = out / entry.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            entry.replace(target)
            paths += sorted(target.iterdir()) if target.is_dir() else [target]
    return Exported(tuple(paths), tuple(notes))


def _wanted(targets: Sequence[str]) -> list[str]:
    for name in targets:
        if name not in TARGETS:
            raise StudyError(f"cannot export to '{name}'", field="--to", hint=f"any of {', '.join(TARGETS)}")
    if not targets:
        raise StudyError("nothing to export to", field="--to", hint=f"any of {', '.join(TARGETS)}")
    chosen = {*targets, *({"csv"} if "r" in targets else set())}
    return [name for name in TARGETS if name in chosen]


def _outcomes(folder: StudyFolder, wanted: Sequence[str]) -> pd.DataFrame | None:
    if not folder.outcomes_path.is_file():
        if needs := [name for name in wanted if name in _MARKED]:
            raise StudyError(
                f"has not been marked yet, and '{needs[0]}' is the table of marks",
                path=folder.root,
                hint=f"run: dsqa score {folder.root}",
            )
        return None
    outcomes = load_outcomes(folder.outcomes_path)
    if outcomes.empty and set(wanted) & _MARKED:
        raise StudyError("has no run to export", path=folder.outcomes_path, hint="ask first: dsqa sample study.yaml")
    return outcomes


def _write(folder: StudyFolder, wanted: Sequence[str], outcomes: pd.DataFrame | None, made: Path) -> list[str]:
    notes: list[str] = []
    if outcomes is not None and set(wanted) & _MARKED:
        levels = factor_levels(outcomes, folder.describe(), folder.bank())
        table = tidy_table(outcomes, levels)
        writers: dict[str, tuple[str, Callable[[], bytes]]] = {
            "csv": ("outcomes.csv", lambda: csv_bytes(table)),
            "parquet": ("outcomes.parquet", lambda: parquet_bytes(table)),
            "r": ("read_outcomes.R", lambda: r_script(levels).encode()),
        }
        for name in wanted:
            if name in writers:
                file, content = writers[name]
                (made / file).write_bytes(content())
    if "columns" in wanted:
        (made / "columns.csv").write_bytes(_dictionary())
    if "inspect" in wanted:
        (made / "inspect").mkdir()
        if not write_inspect_logs(folder, outcomes, made / "inspect"):
            raise StudyError("has no run to export", path=folder.root, hint="ask first: dsqa sample study.yaml")
        if outcomes is None:
            notes.append("the study is not marked, so the logs have no scores: 'dsqa score' marks it")
    if "requests" in wanted:
        missing = missing_runs(folder)
        notes += missing.notes
        if missing.count:
            (made / "requests").mkdir()
            write_requests(folder, missing, made / "requests")
            notes.append(f"{missing.count:,} run{'' if missing.count == 1 else 's'} missing, a request for each")
        elif not missing.unknown:
            notes.append("no run is missing: no requests were written")
    return notes


def _dictionary() -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["column", "pandas", "r", "holds"])
    writer.writerows((c.name, c.dtype, r_type(c.name, c.dtype), c.meaning) for c in COLUMNS)
    return out.getvalue().encode()
