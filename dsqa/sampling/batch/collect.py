"""Fetch the results of batches that have ended, and record them like any other run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from dsqa import __version__
from dsqa.endpoints.adapt import Adapter
from dsqa.endpoints.classify import status_of_error
from dsqa.endpoints.dialect import DIALECTS
from dsqa.endpoints.failures import Failure, PassingFailure, PermanentFailure, Scope
from dsqa.endpoints.reply import MalformedReplyError, Reply
from dsqa.errors import EndpointError
from dsqa.prices import recorded_prices
from dsqa.records import Record, RecordStore
from dsqa.sampling.batch.lines import BatchResult, RequestFile, read_results
from dsqa.sampling.batch.service import BatchService
from dsqa.sampling.batch.state import BatchFolder, BatchState, CellNote, Job
from dsqa.sampling.batch.submit import check_batches
from dsqa.sampling.history import History, Tally
from dsqa.sampling.job import Past
from dsqa.sampling.ledger import SessionEntry, now_utc
from dsqa.sampling.plan import CellRequest, PlannedRequest
from dsqa.sampling.sample import settings_of
from dsqa.sampling.scribe import Attempt, Scribe
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder

__all__ = ["Collected", "collect_batches"]

HTTP_OK = 200
_ENDED = {"completed", "expired", "cancelled"}


@dataclass
class Collected:
    """What a collection came to.

    Parameters
    ----------
    recorded, failed
        Runs recorded now, and those of them that failed.
    again
        Runs that came back without an answer for a passing reason (expired, cancelled, a server's error, a parameter
        that will be adapted): they are missing still, and go into the next batch.
    waiting
        Jobs that have not ended.
    problems
        What the endpoint refused for good, each reason once; its runs are not recorded.
    """

    recorded: int = 0
    failed: int = 0
    again: int = 0
    waiting: int = 0
    problems: dict[str, EndpointError] = field(default_factory=dict)


def collect_batches(folder: StudyFolder) -> Collected:
    """Record the results of every batch that has ended, also of those that expired or were cancelled half way.

    Killed at any moment, collect again: what is recorded stays recorded once.

    Raises
    ------
    EndpointError
        An endpoint cannot be reached, or its results cannot be fetched.
    RecordError
        A result file is damaged, or the disk is full.
    StudyLockedError
        Another process is working on this study.
    """
    jobs = check_batches(folder)
    total = Collected(waiting=sum(job.undecided and job.remote not in _ENDED for job in jobs))
    if not any(job.step == "submitted" and job.remote in _ENDED for job in jobs):
        return total
    batches = BatchFolder(folder.batch_path)
    config = settings_of(folder, folder.describe())
    past = Past(folder, History(recorded_prices(folder.root)))
    with ExitStack() as stack:
        store = stack.enter_context(RecordStore.open(folder.records_path, past.see))
        state = batches.load()
        tally = stack.enter_context(_in_the_account(past, store, state))
        services: dict[str, BatchService] = {}

        def see(record: Record) -> None:
            past.history.see(record, tally)

        for job in state.jobs:
            if job.step != "submitted" or job.remote not in _ENDED:
                continue
            if job.endpoint not in services:
                service = BatchService(job.endpoint, config.endpoints[job.endpoint], config.sampling.timeout)
                services[job.endpoint] = stack.enter_context(service)
            with RequestFile(batches.requests_path(job)) as requests:
                _Collection(batches, state, job, services[job.endpoint], config, store, requests, total, see).run()
            store.sync()
            job.step = "collected"
            batches.save(state)
    return total


@contextmanager
def _in_the_account(past: Past, store: RecordStore, state: BatchState) -> Iterator[Tally]:
    """Keep a session's line for a collection, so that the account adds up to the records; gives its tally."""
    past.ledger.close_killed(past.rest)
    names = [job.batch_id for job in state.jobs if job.step == "submitted" and job.remote in _ENDED]
    known = len(store.recorded)
    entry = SessionEntry(0, now_utc(), runs_before=known, runs_after=known, pid=os.getpid(), version=__version__)
    entry.settings = {"batches": names}
    begun = time.monotonic()
    past.ledger.begin(entry)
    entry.how = "error"
    try:
        yield entry.tally
        entry.how = "complete"
    except BaseException as error:
        entry.why = str(error) or type(error).__name__
        raise
    finally:
        entry.ended, entry.wall_seconds = now_utc(), round(time.monotonic() - begun, 3)
        entry.runs_after = len(store.recorded)
        entry.requests, entry.retries = entry.tally.requests, entry.tally.retries
        past.ledger.end(entry)


class _Collection:
    """The results of one job."""

    def __init__(
        self,
        batches: BatchFolder,
        state: BatchState,
        job: Job,
        service: BatchService,
        config: StudyConfig,
        store: RecordStore,
        requests: RequestFile,
        total: Collected,
        see: Callable[[Record], object],
    ) -> None:
        self._batches, self._state, self._job, self._service = batches, state, job, service
        self._store, self._total, self._see = store, total, see
        self._retries = config.sampling.retries
        self._dialect = next(d for d in DIALECTS.values() if job.url.endswith(d.path))
        self._adapter = Adapter.from_dict(job.endpoint, state.adapted.get(job.endpoint, {}))
        self._cells = batches.cells(job)
        self._requests = requests
        self._started_at = (
            datetime.fromtimestamp(job.created_at, UTC).isoformat(timespec="milliseconds") if job.created_at else ""
        )
        self._scribe = Scribe(service)

    def run(self) -> None:
        seen: set[str] = set()
        unanswered: list[tuple[BatchResult, Failure]] = []
        for result in self._results():
            if result.custom_id in seen or result.custom_id not in self._requests:
                continue
            seen.add(result.custom_id)
            outcome = self._read(result)
            if isinstance(outcome, Reply):
                self._record(result.custom_id, outcome)
            else:
                unanswered.append((result, outcome))
        # Refusals come last: whether a condition's parameters are taken, its answered runs tell.
        proven = {condition for condition, status in self._store.recorded.statuses if status != "failed"}
        for result, failure in unanswered:
            self._without_answer(result, failure, proven)
        self._total.again += len(self._requests) - len(seen)
        if learnt := self._adapter.to_dict():
            self._state.adapted[self._job.endpoint] = learnt

    def _results(self) -> Iterator[BatchResult]:
        job = self._job
        for file_id, path in (
            (job.output_file_id, self._batches.output_path(job)),
            (job.error_file_id, self._batches.errors_path(job)),
        ):
            if file_id is not None:
                if not path.is_file():
                    self._service.download(file_id, path)
                yield from read_results(path)

    def _read(self, result: BatchResult) -> Reply | Failure:
        if result.status is None:
            why = result.error or {}
            return PassingFailure(str(why.get("code")), str(why.get("message")))
        error = result.body.get("error") if isinstance(result.body, dict) else None
        if result.status == HTTP_OK and not error:
            try:
                return self._dialect.read(result.body, 0.0, {})[0]
            except MalformedReplyError as malformed:
                return PassingFailure("malformed body", str(malformed), status=result.status)
        status = status_of_error(error) if result.status == HTTP_OK else result.status
        return self._service.failure(status, json.dumps(result.body), self._job.model)

    def _without_answer(self, result: BatchResult, failure: Failure, proven: set[str]) -> None:
        if result.status is None:
            self._total.again += 1
        elif isinstance(failure, PassingFailure):
            tries = self._state.tries[result.custom_id] = self._state.tries.get(result.custom_id, 0) + 1
            if tries > self._retries:
                self._record(result.custom_id, failure)
            else:
                self._total.again += 1
        elif isinstance(failure, PermanentFailure):
            text = json.dumps(result.body)
            if self._adapter.learn(result.status, text, self._requests.body(result.custom_id)):
                self._total.again += 1
            elif failure.scope is Scope.REQUEST or (
                failure.scope is Scope.PARAMETERS and self._cell(result.custom_id)[0].condition_id in proven
            ):
                self._record(result.custom_id, failure)
            else:
                problem = EndpointError(f"endpoint '{self._job.endpoint}': {failure.message}", hint=failure.hint)
                self._total.problems.setdefault(str(problem), problem)

    def _cell(self, custom_id: str) -> tuple[CellNote, int]:
        cell, _, run = custom_id.rpartition("-")
        return self._cells[cell], int(run)

    def _record(self, custom_id: str, outcome: Reply | Failure) -> None:
        cell, run = self._cell(custom_id)
        key = cell.key(run)
        if key in self._store.recorded:
            return
        request = CellRequest(
            cell.question_id,
            cell.condition_id,
            cell.prompt_hash,
            self._job.endpoint,
            cell.condition,
            self._requests.body(custom_id),
        )
        tries = self._state.tries.get(custom_id, 0)
        attempt = Attempt(PlannedRequest(request, (run,)), request.request, self._started_at, tries=tries)
        adapted = tuple(cell.adapted or ())
        if isinstance(outcome, Failure):
            outcome.adapted = adapted
            record = self._scribe.failed(attempt, outcome, tries - isinstance(outcome, PassingFailure))
        else:
            record = self._scribe.answered(attempt, (replace(outcome, adapted=adapted),))[0]
        # How long the endpoint took for it, nobody knows.
        record = replace(record, seconds=None, batch=self._job.batch_id)
        self._store.append(record)
        self._see(record)
        self._total.recorded += 1
        self._total.failed += record.status == "failed"
