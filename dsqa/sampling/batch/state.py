"""What has become of a study's batches: one small file, replaced whole at every step, so that any step can be redone.

```
runs/<name>/batch/
  batches.json          the jobs and how far each is
  0001.requests.jsonl   what was, or is to be, uploaded
  0001.cells.json       which cells its requests are of
  0001.output.jsonl     what came back, 0001.errors.jsonl what did not
```
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from dsqa.errors import StudyError
from dsqa.records import RunKey
from dsqa.sampling.batch.lines import read_requests
from dsqa.study.design import fingerprint

__all__ = ["BatchFolder", "BatchState", "CellNote", "Job", "Step", "custom_id", "write_whole"]

Step = Literal["prepared", "uploaded", "creating", "submitted", "collected", "failed"]
"""How far a job is.

prepared: its file is written; uploaded: the endpoint has the file; creating: the batch was asked for, and whether it
was made is not known; submitted: it was made; collected: its results are recorded, as far as there are any; failed:
the endpoint refused it whole, none of its requests was asked.
"""

_UNDECIDED = {"prepared", "uploaded", "creating", "submitted"}


@dataclass
class Job:
    """One input file and its batch.

    Parameters
    ----------
    name
        Of its files, e.g. ``0001``.
    tag
        Unique in the world; sent as the batch's metadata, so that a batch whose answer was lost is found again.
    endpoint, model, url
        Where its requests go.
    requests
        How many.
    step
        See `Step`.
    remote
        The batch's status, completed and failed requests as the endpoint last said.
    note
        Why it failed, or waits.
    held
        Times that the endpoint's queue had no room for it.
    """

    name: str
    tag: str
    endpoint: str
    model: str
    url: str
    requests: int
    step: Step = "prepared"
    file_id: str | None = None
    batch_id: str | None = None
    created_at: int | None = None
    remote: str | None = None
    completed: int = 0
    failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    note: str | None = None
    held: int = 0

    @property
    def undecided(self) -> bool:
        """Whether its requests may be, or come to be, asked: they must not be asked elsewhere."""
        return self.step in _UNDECIDED


@dataclass
class BatchState:
    """The jobs of a study.

    Parameters
    ----------
    jobs
        In the order of their preparation.
    tries
        Times that a run failed for a passing reason in a batch, by its custom id.
    adapted
        What endpoints refused and takes its place, by endpoint; see `dsqa.endpoints.adapt`.
    """

    jobs: list[Job] = field(default_factory=list)
    tries: dict[str, int] = field(default_factory=dict)
    adapted: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)


@dataclass(frozen=True)
class CellNote:
    """What a job's file says of a cell: its key, its condition, and what was adapted in its request."""

    question_id: str
    condition_id: str
    prompt_hash: str
    condition: dict[str, Any]
    adapted: list[dict[str, Any]] | None = None

    def key(self, run: int) -> RunKey:
        """Return the key of a run of the cell."""
        return RunKey(self.question_id, self.condition_id, run, self.prompt_hash)


def custom_id(key: RunKey) -> str:
    """Return a run's custom id: 24 hex digits for its cell, and its number.

    Some endpoints take no more than 64 characters, and only letters, digits, ``-`` and ``_``.
    """
    return f"{_cell_id(key)}-{key.run}"


def _cell_id(key: RunKey) -> str:
    return fingerprint([key.question_id, key.condition_id, key.prompt_hash], 24)


class BatchFolder:
    """The folder of a study's batches."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._state = root / "batches.json"

    def load(self) -> BatchState:
        """Read how far the batches are; a folder that is not there has none.

        Raises
        ------
        StudyError
            The file is damaged.
        """
        try:
            row = json.loads(self._state.read_bytes())
            return BatchState([Job(**job) for job in row["jobs"]], row["tries"], row["adapted"])
        except FileNotFoundError:
            return BatchState()
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(f"does not say how far the batches are: {error}", path=self._state) from None

    def save(self, state: BatchState) -> None:
        """Write how far the batches are, onto the disk, before the next step begins."""
        self.root.mkdir(exist_ok=True)
        write_whole(self._state, json.dumps(asdict(state), indent=1).encode())

    def requests_path(self, job: Job) -> Path:
        """Where its requests are."""
        return self.root / f"{job.name}.requests.jsonl"

    def cells_path(self, job: Job) -> Path:
        """Where its cells are."""
        return self.root / f"{job.name}.cells.json"

    def output_path(self, job: Job) -> Path:
        """Where its results are kept."""
        return self.root / f"{job.name}.output.jsonl"

    def errors_path(self, job: Job) -> Path:
        """Where its errors are kept."""
        return self.root / f"{job.name}.errors.jsonl"

    def write_cells(self, job: Job, cells: dict[RunKey, CellNote]) -> None:
        """Write which cells a job's requests are of; the run in each key does not matter."""
        rows = {_cell_id(key): asdict(note) for key, note in cells.items()}
        write_whole(self.cells_path(job), json.dumps(rows).encode("ascii"))

    def cells(self, job: Job) -> dict[str, CellNote]:
        """Return a job's cells by the first part of their custom ids."""
        path = self.cells_path(job)
        try:
            return {name: CellNote(**row) for name, row in json.loads(path.read_bytes()).items()}
        except OSError as error:
            raise StudyError(f"cannot be read: {error.strerror}", path=path) from None
        except (ValueError, TypeError, AttributeError) as error:
            raise StudyError(f"does not say which cells job {job.name} is of: {error}", path=path) from None

    def pending(self) -> Iterator[RunKey]:
        """Yield the runs that wait in batches: what is asked elsewhere would be asked twice."""
        for job in self.load().jobs:
            if job.undecided:
                cells = self.cells(job)
                for request in read_requests(self.requests_path(job)):
                    cell, _, run = request.custom_id.rpartition("-")
                    yield cells[cell].key(int(run))


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by another in one step that no kill can halve."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
