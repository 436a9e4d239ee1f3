"""All steps of batch sampling in a row, until nothing is missing; stopped at any moment, it goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dsqa.errors import EndpointError
from dsqa.sampling.batch.collect import Collected, collect_batches
from dsqa.sampling.batch.prepare import MAX_REQUESTS, prepare_batches
from dsqa.sampling.batch.state import BatchFolder, Job
from dsqa.sampling.batch.submit import submit_batches
from dsqa.study.folder import StudyFolder

__all__ = ["run_batches"]

FIRST_WAIT = 5.0
_FRUITLESS = 2
"""Rounds in a row without a single answer, after which it is no use to go on."""


def run_batches(
    folder: StudyFolder,
    *,
    limit: int | None = None,
    max_requests: int = MAX_REQUESTS,
    every: float = 60.0,
    tell: Callable[[Sequence[Job]], object] = lambda _jobs: None,
) -> Collected:
    """Prepare, submit, wait, collect, and again for what expired or failed for now, until every run is recorded.

    Parameters
    ----------
    folder
        From `prepare_study`, or `StudyFolder.open`.
    limit
        Put at most so many runs into batches, once.
    max_requests
        Of one file.
    every
        Seconds between two looks; the first ones come sooner.
    tell
        Called with all jobs after each look.

    Raises
    ------
    EndpointError
        The endpoint refuses, cannot be reached, or answers nothing. What is recorded is kept.
    StudyError, RecordError, StudyLockedError
        As the single steps.
    """
    batches = BatchFolder(folder.batch_path)
    lost = {job.tag for job in batches.load().jobs if job.step == "failed"}
    total = Collected()
    fruitless, wait = 0, min(FIRST_WAIT, every)
    prepare_batches(folder, limit=limit, max_requests=max_requests)
    while True:
        submit_batches(folder)
        got = collect_batches(folder)
        total.recorded += got.recorded
        total.failed += got.failed
        total.again = got.again
        jobs = batches.load().jobs
        tell(jobs)
        for problem in got.problems.values():
            raise problem
        for job in jobs:
            if job.step == "failed" and job.tag not in lost:
                raise EndpointError(
                    f"endpoint '{job.endpoint}' refused batch {job.name} ({job.requests:,} requests to "
                    f"'{job.model}'): {job.note}",
                    hint="none of it was asked; if it is too large, make the files smaller with --max-requests",
                )
        if any(job.undecided for job in jobs):
            time.sleep(wait)
            wait = min(every, wait * 1.5)
            continue
        if got.recorded:
            fruitless = 0
        elif got.again:
            fruitless += 1
            if fruitless >= _FRUITLESS:
                raise EndpointError(
                    f"{fruitless} batches in a row brought not a single answer, {got.again:,} runs are still missing",
                    hint="look at the .errors.jsonl files in the study's batch folder",
                )
        if limit is not None or not prepare_batches(folder, max_requests=max_requests):
            return total
        wait = min(FIRST_WAIT, every)
