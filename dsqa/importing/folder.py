"""The study folder of imported runs: what any study has, and beside it what the source said."""

from __future__ import annotations

import gzip
import json
import platform
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa import __version__
from dsqa.bank import Bank
from dsqa.errors import SourceError
from dsqa.importing.cells import Cells, Numbered
from dsqa.importing.metrics_file import MetricsFile
from dsqa.importing.spool import Spool
from dsqa.study.design import Condition, fingerprint
from dsqa.study.folder import IMPORTED, CellPlan, StudyDescription, StudyFolder, hash_file, replace_text

__all__ = ["METRICS_FILE", "ROWS_FILE", "Contents", "check_out", "write_folder"]

METRICS_FILE, ROWS_FILE = "source_metrics.parquet", "source_rows.jsonl.gz"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# In a record's line the run number and the prompt's fingerprint follow each other; quotes in ids are escaped.
_PLACE = re.compile(rb',"run":0,"prompt_hash":"[0-9a-f]{16}"')
_ROW_PLACE = b',"run":0,"where":'


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to be written."""

    name: str
    seed: int
    bank: Bank
    conditions: tuple[Condition, ...]
    cells: Cells
    numbered: Numbered
    spool: Spool
    described: dict[str, Any]
    describe_design: Callable[[list[tuple[str, str, int]]], list[str]] | None


def check_out(out: Path) -> str:
    """Return the name of the study that a folder is to hold.

    Raises
    ------
    SourceError
        The folder is there already, or its name is not fit for a study.
    """
    if out.exists():
        hint = "choose another name, or delete it if you do not need it any more"
        raise SourceError("is there already", path=out, hint=hint)
    if not _NAME.fullmatch(out.name):
        raise SourceError(
            f"'{out.name}' is no name for a study",
            path=out,
            hint="letters, digits, '.', '_' and '-', no spaces, at most 64",
        )
    return out.name


def write_folder(contents: Contents, root: Path) -> None:
    """Write the folder.

    Raises
    ------
    OSError
        It cannot be written.
    """
    root.mkdir()
    folder = StudyFolder(root)
    prompts = [_joined(prompts) for prompts in contents.cells.prompts]
    counts, metrics = _write_runs(contents, folder, prompts)
    keys = contents.cells.keys
    # A cell of which every run was left out as a repeat cannot be: the first one stays.
    names = sorted({question.file_name for question in contents.bank if question.file_name is not None})
    description = StudyDescription(
        name=contents.name,
        runs=contents.numbered.most,
        seed=contents.seed,
        conditions=contents.conditions,
        cells=tuple(CellPlan(*key, prompt_hash) for key, prompt_hash in zip(keys, prompts, strict=True)),
        settings={"imported": {"format": contents.described["format"], "details": IMPORTED}},
        template={},
        bank_hash=contents.bank.hash,
        data_hashes={name: hash_file(contents.bank.data_dir / name) for name in names},
        versions={"dsqa": __version__, "python": platform.python_version()},
    )
    folder.write(description, contents.bank)
    runs = [(*key, counts[i]) for i, key in enumerate(keys)]
    contents.described.update(
        runs=sum(counts.values()),
        questions=len(contents.bank),
        conditions=len(contents.conditions),
        cells=len(keys),
        runs_per_cell={"fewest": min(counts.values()), "most": max(counts.values())},
        metrics=metrics,
        design=contents.describe_design(runs) if contents.describe_design is not None else [],
    )
    replace_text(root / IMPORTED, json.dumps(contents.described, indent=1, ensure_ascii=True) + "\n")


def _joined(prompts: set[str]) -> str:
    """Return the fingerprint that all runs of a cell carry: the prompt's, or where they differ, that of all."""
    return next(iter(prompts)) if len(prompts) == 1 else fingerprint(sorted(prompts))


def _write_runs(contents: Contents, folder: StudyFolder, prompts: list[str]) -> tuple[Counter[int], dict[str, int]]:
    counts: Counter[int] = Counter()
    numbers = contents.numbered.numbers
    with (
        folder.records_path.open("wb") as records,
        # No time in the file's head: the same source gives the same bytes.
        (folder.root / ROWS_FILE).open("wb") as packed,
        gzip.GzipFile("", "wb", 5, packed, mtime=0) as rows,
        MetricsFile(folder.root / METRICS_FILE) as metrics,
    ):
        for position, run in enumerate(contents.spool):
            number = int(numbers[position])
            if number < 0:
                continue
            cell = contents.cells.cell_of(position)
            counts[cell] += 1
            placed = f',"run":{number},"prompt_hash":"{prompts[cell]}"'.encode()
            records.write(_PLACE.sub(lambda _: placed, run.record, count=1))  # noqa: B023
            rows.write(run.row.replace(_ROW_PLACE, f',"run":{number},"where":'.encode(), 1))
            said = json.loads(run.metrics)
            metrics.add(said["question_id"], said["condition_id"], number, said["metrics"])
    return counts, metrics.names
