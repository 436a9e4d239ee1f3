"""OpenAI Batch requests for the runs that a study still lacks, as files to be sent by whatever means.

`dsqa batch` sends such files itself; these are for people who send them otherwise and import what comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dsqa.endpoints.adapt import Adapter
from dsqa.errors import StudyError
from dsqa.outcomes import load_outcomes
from dsqa.records import Record, RunIndex, RunKey, read_records
from dsqa.sampling.batch import BatchFolder
from dsqa.sampling.batch.prepare import MAX_BYTES, MAX_REQUESTS, request_line
from dsqa.sampling.plan import CellId, CellRequest, plan_runs
from dsqa.sampling.prepare import requests_of
from dsqa.sampling.sample import settings_of
from dsqa.stats.sequential import stopping_table
from dsqa.study.design import Condition
from dsqa.study.folder import StudyDescription, StudyFolder, stop_of
from dsqa.study.sections import EndpointConfig

__all__ = ["Missing", "missing_runs", "write_requests"]


@dataclass(frozen=True)
class Missing:
    """The runs that a study lacks.

    Parameters
    ----------
    cells
        Those that can be asked.
    wanted
        Cell → runs it is to have in all.
    taken
        The runs that are recorded, or wait in a batch.
    count
        How many are missing, of `cells`.
    unknown
        Cells that lack runs and cannot be asked.
    notes
        What a person must be told: runs waiting in a batch, cells that are through, cells that cannot be asked.
    """

    cells: tuple[CellRequest, ...]
    wanted: Mapping[CellId, int]
    taken: RunIndex
    count: int
    unknown: int
    notes: tuple[str, ...]


def missing_runs(folder: StudyFolder) -> Missing:
    """Return what a study still lacks of its N runs per cell; a cell that a stopping rule ended lacks nothing.

    What a cell asks is rebuilt from the study's bank and template; of an imported study, which has no template, it
    is taken from the cell's first run that says what was sent.

    Raises
    ------
    StudyError
        The study's settings are not understood.
    RecordError
        The recorded runs cannot be read.
    """
    description = folder.describe()
    taken = RunIndex()
    asked: dict[CellId, Record] = {}
    for record in read_records(folder.records_path):
        taken.add(record.key, record.status)
        if record.messages and (record.question_id, record.condition_id, record.prompt_hash) not in asked:
            asked[record.question_id, record.condition_id, record.prompt_hash] = record
    cells = _cells(folder, description, asked)
    wanted = {cell.id: description.runs for cell in cells}
    notes = []
    # Only those that lack a run are worth a word.
    unknown = sum(
        (c.question_id, c.condition_id, c.prompt_hash) not in wanted
        and any(
            RunKey(c.question_id, c.condition_id, run, c.prompt_hash) not in taken for run in range(description.runs)
        )
        for c in description.cells
    )
    if unknown:
        notes.append(
            f"{_counted(unknown, 'cell')} {'lacks' if unknown == 1 else 'lack'} runs, but what was sent is not "
            "known, so no request can be written"
        )
    through = _through(folder, description)
    if through:
        notes.append(f"{_counted(len(through), 'cell')} had enough runs by the study's stopping rule")
        wanted = {cell: runs for cell, runs in wanted.items() if cell not in through}
    waiting = sum(taken.add(key, "pending") for key in BatchFolder(folder.batch_path).pending())
    if waiting:
        notes.append(f"{_counted(waiting, 'run')} wait in a batch of 'dsqa batch' and are left out")
    count = sum(cell.key(run) not in taken for cell in cells for run in range(wanted.get(cell.id, 0)))
    return Missing(cells, wanted, taken, count, unknown, tuple(notes))


def _cells(
    folder: StudyFolder, description: StudyDescription, asked: Mapping[CellId, Record]
) -> tuple[CellRequest, ...]:
    if not _imported(description):
        return requests_of(folder, description, settings_of(folder, description))
    conditions = {condition.id: condition for condition in description.conditions}
    return tuple(
        _as_recorded(asked[plan.question_id, plan.condition_id, plan.prompt_hash], conditions[plan.condition_id])
        for plan in description.cells
        if (plan.question_id, plan.condition_id, plan.prompt_hash) in asked
    )


def _imported(description: StudyDescription) -> bool:
    # Its settings are another tool's: there is no template, and no endpoint is described.
    return not description.template.get("text")


def _as_recorded(record: Record, condition: Condition) -> CellRequest:
    request: dict[str, Any] = {"model": condition.model, "messages": record.messages}
    if condition.temperature is not None:
        request["temperature"] = condition.temperature
    return CellRequest(
        question_id=record.question_id,
        condition_id=record.condition_id,
        prompt_hash=record.prompt_hash,
        endpoint=condition.endpoint,
        condition=condition.to_dict(),
        request={**request, **condition.request},
    )


def _through(folder: StudyFolder, description: StudyDescription) -> set[CellId]:
    stop = stop_of(description)
    if stop is None or not folder.outcomes_path.is_file():
        return set()
    table = stopping_table(load_outcomes(folder.outcomes_path), stop, description.runs)
    ended = table[table["state"] != "open"]
    return set(zip(ended["question_id"], ended["condition_id"], ended["prompt_hash"], strict=True))


@dataclass
class _File:
    """A file being written."""

    path: Path
    handle: BinaryIO
    requests: int = 0
    size: int = 0


@dataclass
class _Files:
    """One file open per endpoint and model."""

    out: Path
    open: dict[tuple[str, str], _File] = field(default_factory=dict)
    numbers: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, cell: CellRequest, line: bytes) -> Path | None:
        """Write a request; return the file's path where it is a new one."""
        place = (cell.endpoint, str(cell.request["model"]))
        file = self.open.get(place)
        new = None
        if file is None or file.requests >= MAX_REQUESTS or file.size + len(line) > MAX_BYTES:
            if file is not None:
                file.handle.close()
            self.numbers[place] += 1
            name = "_".join("".join(c if c.isalnum() or c in ".-" else "-" for c in part) for part in place)
            new = self.out / f"{name}-{self.numbers[place]:04d}.jsonl"
            file = self.open[place] = _File(new, new.open("xb"))
        file.handle.write(line)
        file.requests += 1
        file.size += len(line)
        return new

    def close(self) -> None:
        for file in self.open.values():
            file.handle.close()


def write_requests(folder: StudyFolder, missing: Missing, out: Path) -> list[Path]:
    """Write a request for each missing run, one model to a file, in the study's interleaved order.

    Parameters
    ----------
    folder
        The study.
    missing
        From `missing_runs`.
    out
        An empty folder.

    Raises
    ------
    StudyError
        A request is larger than a batch file may be.
    """
    description = folder.describe()
    known = {} if _imported(description) else settings_of(folder, description).endpoints
    adapted = BatchFolder(folder.batch_path).load().adapted
    names = {cell.endpoint for cell in missing.cells}
    endpoints = {name: known.get(name, EndpointConfig()) for name in names}
    adapters = {name: Adapter.from_dict(name, adapted.get(name, {})) for name in names}
    files, paths = _Files(out), []
    try:
        for planned in plan_runs(missing.cells, missing.wanted, description.seed, missing.taken):
            cell = planned.cell
            endpoint, adapter = endpoints[cell.endpoint], adapters[cell.endpoint]
            line, _ = request_line(cell, planned.run, endpoint, adapter, description.seed)
            if len(line) > MAX_BYTES:
                raise StudyError(
                    f"a request of question '{cell.question_id}' has {len(line):,} bytes, more than a batch file may "
                    f"have ({MAX_BYTES:,})"
                )
            path = files.add(cell, line)
            if path is not None:
                paths.append(path)
    finally:
        files.close()
    return sorted(paths)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
