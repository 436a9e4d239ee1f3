"""Write the runs that are missing as input files of the Batch API."""

from __future__ import annotations

import logging
import os
import uuid
from pathlib import Path
from typing import Any, BinaryIO

from dsqa.endpoints.adapt import Adapter
from dsqa.endpoints.dialect import DIALECTS
from dsqa.errors import StudyError
from dsqa.prices import recorded_prices
from dsqa.records import RecordStore, RunKey
from dsqa.sampling.batch.budget import batch_need, waiting_need
from dsqa.sampling.batch.lines import encode_request
from dsqa.sampling.batch.state import BatchFolder, BatchState, CellNote, Job, custom_id
from dsqa.sampling.caps import open_budget
from dsqa.sampling.history import History
from dsqa.sampling.ledger import Ledger
from dsqa.sampling.plan import CellRequest, plan_requests
from dsqa.sampling.prepare import requests_of
from dsqa.sampling.sample import settings_of
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder
from dsqa.study.sections import EndpointConfig

__all__ = ["MAX_BYTES", "MAX_REQUESTS", "batch_url", "prepare_batches", "request_line"]

MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
"""What the Batch API takes in one file."""

_log = logging.getLogger("dsqa.sampling")


def prepare_batches(
    folder: StudyFolder,
    *,
    limit: int | None = None,
    max_requests: int = MAX_REQUESTS,
    max_bytes: int = MAX_BYTES,
) -> list[Job]:
    """Write what is neither recorded nor waiting in a batch as input files, one model to a file.

    Nothing is sent. Requests come in the study's interleaved order; each asks for one choice. Where the study has a
    budget, no more runs are put into batches than it holds, each at the most that it may take.

    Parameters
    ----------
    folder
        From `prepare_study`, or `StudyFolder.open`.
    limit
        Put at most so many runs into batches.
    max_requests, max_bytes
        Of one file: an endpoint limits how many tokens may wait at once.

    Returns
    -------
    list of Job
        The new jobs; none where nothing is missing.

    Raises
    ------
    StudyError
        No endpoint of the study has a Batch API, a single request is larger than a file may be, or `study.json` does
        not fit the rest of the folder.
    StudyLockedError
        Another process is working on this study.
    """
    description = folder.describe()
    config = settings_of(folder, description)
    cells = _with_batches(requests_of(folder, description, config), config)
    batches = BatchFolder(folder.batch_path)
    history = History(recorded_prices(folder.root))
    with RecordStore.open(folder.records_path, history.see) as store:
        state = batches.load()
        taken = store.recorded.copy()
        waiting = [key for key in batches.pending() if taken.add(key, "pending")]
        budget = open_budget(config.budget, cells, config.endpoints, history, Ledger(folder.root))
        if budget is not None:
            budget.spent = budget.spent.plus(waiting_need(history, cells, config.endpoints, waiting))
        writer = _Writer(batches, state, config, description.seed, max_requests, max_bytes)
        try:
            for planned in plan_requests(cells, description.runs, description.seed, taken, limit):
                if budget is not None and not budget.commit(batch_need(history, planned.cell, config.endpoints)):
                    _log.warning("the budget holds no more runs for a batch: %s", budget.used_up)
                    break
                writer.add(planned.cell, planned.runs[0])
            jobs = writer.finish()
        except BaseException:
            writer.abandon()
            raise
        state.jobs.extend(jobs)
        if jobs:
            batches.save(state)
        return jobs


def batch_url(config: EndpointConfig) -> str:
    """Return the path that a batch's requests name: with ``/v1``, but on Azure."""
    path = DIALECTS[config.api].path
    return path if config.auth == "api-key" else f"/v1{path}"


def request_line(
    cell: CellRequest, run: int, endpoint: EndpointConfig, adapter: Adapter, seed: int
) -> tuple[bytes, tuple[dict[str, Any], ...]]:
    """Return the line of an input file that asks for one run, and what was adapted in it.

    Parameters
    ----------
    cell, run
        Which run.
    endpoint, adapter
        Where the file is to go, and what is known to be refused there.
    seed
        The study's.
    """
    request = cell.body((run,), seed)
    body = DIALECTS[endpoint.api].write(request) or request
    changed, notes = adapter.apply(body)
    return encode_request(custom_id(cell.key(run)), batch_url(endpoint), changed or body), notes


def _with_batches(cells: tuple[CellRequest, ...], config: StudyConfig) -> tuple[CellRequest, ...]:
    without = sorted({c.endpoint for c in cells if config.endpoints[c.endpoint].kind != "openai"})
    chosen = tuple(cell for cell in cells if cell.endpoint not in without)
    if not chosen:
        raise StudyError(
            f"no endpoint of this study has a Batch API: {', '.join(without)}", hint="use  dsqa sample  instead"
        )
    if without:
        _log.warning("no Batch API at: %s; sample the models there with  dsqa sample", ", ".join(without))
    return chosen


class _Writer:
    """The files being written, one open per endpoint and model."""

    def __init__(
        self,
        batches: BatchFolder,
        state: BatchState,
        config: StudyConfig,
        seed: int,
        max_requests: int,
        max_bytes: int,
    ) -> None:
        self._batches, self._config, self._seed = batches, config, seed
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self._adapters = {name: Adapter.from_dict(name, state.adapted.get(name, {})) for name in config.endpoints}
        self._last = max((int(job.name) for job in state.jobs), default=0)
        self._open: dict[tuple[str, str], _File] = {}
        self._full: list[_File] = []

    def add(self, cell: CellRequest, run: int) -> None:
        key = cell.key(run)
        endpoint = self._config.endpoints[cell.endpoint]
        line, notes = request_line(cell, run, endpoint, self._adapters[cell.endpoint], self._seed)
        if len(line) > self._max_bytes:
            raise StudyError(
                f"a request of question '{cell.question_id}' has {len(line):,} bytes, more than a batch file may "
                f"have ({self._max_bytes:,})",
                hint="use  dsqa sample  instead",
            )
        place = (cell.endpoint, str(cell.request["model"]))
        file = self._open.get(place)
        if file is not None and (file.job.requests >= self._max_requests or file.size + len(line) > self._max_bytes):
            self._full.append(self._open.pop(place))
            file.handle.close()
            file = None
        if file is None:
            file = self._open[place] = self._new(*place, batch_url(endpoint))
        note = CellNote(cell.question_id, cell.condition_id, cell.prompt_hash, cell.condition, list(notes) or None)
        file.add(line, key, note)

    def _new(self, endpoint: str, model: str, url: str) -> _File:
        self._batches.root.mkdir(exist_ok=True)
        self._last += 1
        job = Job(f"{self._last:04d}", uuid.uuid4().hex, endpoint, model, url, 0)
        return _File(job, self._batches.requests_path(job))

    def finish(self) -> list[Job]:
        files = sorted([*self._full, *self._open.values()], key=lambda file: file.job.name)
        for file in files:
            file.finish()
            self._batches.write_cells(file.job, file.cells)
        return [file.job for file in files]

    def abandon(self) -> None:
        for file in (*self._full, *self._open.values()):
            file.handle.close()


class _File:
    def __init__(self, job: Job, path: Path) -> None:
        self.job, self.path, self.size = job, path, 0
        self.cells: dict[RunKey, CellNote] = {}
        self._part = path.with_name(path.name + ".part")
        self.handle: BinaryIO = self._part.open("wb")

    def add(self, line: bytes, key: RunKey, note: CellNote) -> None:
        self.handle.write(line)
        self.size += len(line)
        self.job.requests += 1
        self.cells.setdefault(key._replace(run=0), note)

    def finish(self) -> None:
        self.handle.close()
        with self._part.open("rb") as handle:
            os.fsync(handle.fileno())
        self._part.replace(self.path)
