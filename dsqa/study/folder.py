"""The folder that records a study: everything needed to go on, score it again or print it a year later.

```
runs/<name>/
  study.json          the design: conditions, cells, runs, settings, template, hashes, versions
  bank/               a copy of the questions asked, of their data files and reference plots
  prices.yaml         the prices that its cost is computed with
  records.jsonl       one line per run, append-only; 'gzip records.jsonl' makes a study small enough to hand on
  import.json         of imported runs: where they came from, what was taken and left out; beside it
                      source_rows.jsonl.gz and source_metrics.parquet, the rows and the measures of the source
  sessions.jsonl      one line per sampling session: requests, tokens, money, seconds, how it ended
  batch/              files of the Batch API, and how far each is (only with 'dsqa batch')
  executions.jsonl    what running each distinct piece of code gave, by hash
  environments.json   the Pythons and packages that code was run with, by fingerprint
  artefacts/          the figures, tables and files of those runs, each content once, by hash
  outcomes.parquet    one row per run
  cells.parquet       one row per cell
  readers.parquet     one row per run and reader (only with 'dsqa score --readers')
  marks.csv           marks of people and judges, where somebody gave some
  stopping.parquet    one row per cell: when it had enough runs (only with 'stop:')
  figures/            each figure with its data
  .cells/             tables of cells with another seed or number of resamples
  report/             the executed notebooks, the website and the documents made from them
```
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from dsqa.bank import Bank, load_bank
from dsqa.errors import StudyError
from dsqa.study.design import Condition
from dsqa.study.sections import StopConfig

__all__ = ["IMPORTED", "CellPlan", "StudyDescription", "StudyFolder", "hash_file", "replace_text", "stop_of"]

IMPORTED = "import.json"
"""Says where the runs of an imported study came from; a study with it has no settings to ask anything with."""


@dataclass(frozen=True)
class CellPlan:
    """A cell as `study.json` lists it."""

    question_id: str
    condition_id: str
    prompt_hash: str


@dataclass(frozen=True)
class StudyDescription:
    """What `study.json` holds."""

    name: str
    runs: int
    seed: int
    conditions: tuple[Condition, ...]
    cells: tuple[CellPlan, ...]
    settings: dict[str, Any]
    template: dict[str, str]
    bank_hash: str
    data_hashes: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain data."""
        row = asdict(self)
        row["conditions"] = [{"id": c.id, **c.to_dict()} for c in self.conditions]
        return row

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Self:
        """Rebuild a description from `to_dict`'s output."""
        return cls(
            **{
                **row,
                "conditions": tuple(Condition.from_dict(c) for c in row["conditions"]),
                "cells": tuple(CellPlan(**c) for c in row["cells"]),
            }
        )


@dataclass(frozen=True)
class StudyFolder:
    """The paths of a recorded study, and its description."""

    root: Path

    @property
    def description_path(self) -> Path:  # noqa: D102
        return self.root / "study.json"

    @property
    def bank_dir(self) -> Path:  # noqa: D102
        return self.root / "bank"

    @property
    def records_path(self) -> Path:
        """`records.jsonl`; in a study that was packed to be handed on, `records.jsonl.gz`."""
        plain = self.root / "records.jsonl"
        packed = self.root / "records.jsonl.gz"
        return packed if packed.is_file() and not plain.exists() else plain

    @property
    def batch_path(self) -> Path:  # noqa: D102
        return self.root / "batch"

    @property
    def executions_path(self) -> Path:  # noqa: D102
        return self.root / "executions.jsonl"

    @property
    def environments_path(self) -> Path:  # noqa: D102
        return self.root / "environments.json"

    @property
    def artefacts_dir(self) -> Path:  # noqa: D102
        return self.root / "artefacts"

    @property
    def outcomes_path(self) -> Path:  # noqa: D102
        return self.root / "outcomes.parquet"

    @property
    def marks_path(self) -> Path:
        """Marks of people and judges, put there by the user; see `dsqa.outcomes.read_marks`."""
        return self.root / "marks.csv"

    @property
    def readers_path(self) -> Path:  # noqa: D102
        return self.root / "readers.parquet"

    @property
    def cells_path(self) -> Path:  # noqa: D102
        return self.root / "cells.parquet"

    @property
    def stopping_path(self) -> Path:  # noqa: D102
        return self.root / "stopping.parquet"

    @property
    def source_metrics_path(self) -> Path:
        """Of an imported study: what its source had measured or marked."""
        return self.root / "source_metrics.parquet"

    @property
    def source_rows_path(self) -> Path:
        """Of an imported study: the source's own rows."""
        return self.root / "source_rows.jsonl.gz"

    @property
    def figures_dir(self) -> Path:  # noqa: D102
        return self.root / "figures"

    @property
    def report_dir(self) -> Path:  # noqa: D102
        return self.root / "report"

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the recorded study at `path` (the folder, or its study.json).

        Raises
        ------
        StudyError
            There is no recorded study there.
        """
        root = path.parent if path.name == "study.json" else path
        folder = cls(root)
        if not folder.description_path.is_file():
            raise StudyError(
                "is not a recorded study (no study.json in it)",
                path=path,
                hint="'dsqa sample study.yaml' records one under runs/",
            )
        return folder

    def describe(self) -> StudyDescription:
        """Read `study.json`."""
        try:
            return StudyDescription.from_dict(json.loads(self.description_path.read_text(encoding="utf-8")))
        except (OSError, json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise StudyError(
                f"cannot be read ({type(error).__name__}: {error})",
                path=self.description_path,
                hint="'dsqa sample study.yaml' writes it anew; recorded runs are kept",
            ) from None

    def bank(self) -> Bank:
        """Load the study's own copy of the bank."""
        return load_bank(self.bank_dir / "questions.jsonl", self.bank_dir / "data", strict=True)

    def environments(self) -> dict[str, dict[str, Any]]:
        """Return the environments that code was run in so far, by fingerprint, the last one last."""
        try:
            return dict(json.loads(self.environments_path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError) as error:
            raise StudyError(
                f"cannot be read ({type(error).__name__}: {error})",
                path=self.environments_path,
                hint="delete it; 'dsqa score' writes it anew",
            ) from None

    def record_environment(self, fingerprint: str, row: dict[str, Any]) -> None:
        """Keep an environment as the last one, and name it in `study.json`."""
        known = self.environments()
        if list(known)[-1:] != [fingerprint]:
            known.pop(fingerprint, None)
            replace_text(self.environments_path, json.dumps({**known, fingerprint: row}, indent=1) + "\n")
        description = self.describe()
        if description.versions.get("environment") != fingerprint:
            description.versions["environment"] = fingerprint
            self._describe(description)

    def write(self, description: StudyDescription, bank: Bank) -> None:
        """Write `study.json` and the copy of the bank; recorded runs are not touched."""
        data_dir = self.bank_dir / "data"
        data_dir.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(q.to_dict(), ensure_ascii=False) for q in bank]
        replace_text(self.bank_dir / "questions.jsonl", "\n".join(lines) + "\n")
        for name, digest in description.data_hashes.items():
            target = data_dir / name
            if target.is_file() and hash_file(target) == digest:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(bank.data_dir / name, target)
        self._copy_plots(bank)
        self._describe(description)

    def _copy_plots(self, bank: Bank) -> None:
        """Copy the reference plots, which figures of the study show, unless they lie outside of the bank's folder."""
        for question in bank:
            source = bank.reference_plot(question)
            if source is None or bank.path is None or not source.resolve().is_relative_to(bank.path.parent.resolve()):
                continue
            target = self.bank_dir / source.relative_to(bank.path.parent)
            if not (target.is_file() and target.read_bytes() == source.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def _describe(self, description: StudyDescription) -> None:
        text = json.dumps(description.to_dict(), indent=1, ensure_ascii=False)
        replace_text(self.description_path, text + "\n")


def stop_of(description: StudyDescription) -> StopConfig | None:
    """Return when the study stops asking a cell, or None where it asks a fixed number of runs."""
    settings = description.settings.get("stop")
    return None if settings is None else StopConfig.model_validate(settings)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def replace_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all: beside it first, so that a full disk or a kill leaves the old one."""
    beside = path.with_suffix(path.suffix + ".new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError:
        # A full disk must not keep what it has no use for.
        beside.unlink(missing_ok=True)
        raise
