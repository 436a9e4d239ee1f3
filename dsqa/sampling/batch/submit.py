"""Upload what is prepared and make batches of it, so that whatever is killed when, nothing is asked twice."""

from __future__ import annotations

import time
from contextlib import ExitStack

from dsqa.errors import EndpointError
from dsqa.records import FileLock
from dsqa.sampling.batch.service import BatchRefusedError, BatchService, RemoteBatch
from dsqa.sampling.batch.state import BatchFolder, BatchState, Job
from dsqa.sampling.sample import settings_of
from dsqa.study.folder import StudyFolder
from dsqa.study.sections import EndpointConfig

__all__ = ["cancel_batches", "check_batches", "submit_batches"]

LOOK_AGAIN_SECONDS = 10.0
"""A batch that was just made may be missing from the endpoint's list for a moment."""
_NO_ROOM = "token_limit_exceeded"
_MOST_HELD = 3


def submit_batches(folder: StudyFolder) -> list[Job]:
    """Upload and submit every prepared job, and settle what an earlier, killed submission left open.

    A batch is asked for only after that is written down, and one whose answer was lost is looked for among the
    endpoint's batches before another is made.

    Returns
    -------
    list of Job
        All jobs of the study.

    Raises
    ------
    EndpointError
        The endpoint refuses or cannot be reached. Nothing is lost: submit again.
    StudyLockedError
        Another process is working on this study.
    """
    with _Session(folder) as session:
        for job in session.state.jobs:
            if job.step in {"prepared", "uploaded", "creating"}:
                session.submit(job)
        return session.state.jobs


def check_batches(folder: StudyFolder) -> list[Job]:
    """Ask the endpoints how far the submitted jobs are; return all jobs. Raises as `submit_batches` does."""
    with _Session(folder) as session:
        for job in session.state.jobs:
            if job.step == "submitted":
                session.look(job)
        return session.state.jobs


def cancel_batches(folder: StudyFolder) -> list[Job]:
    """Cancel what is submitted, forget what is only prepared; return all jobs. Raises as `submit_batches` does.

    What was answered by then can still be collected.
    """
    with _Session(folder) as session:
        for job in session.state.jobs:
            if job.step == "creating":
                session.settle(job)
            if job.step in {"prepared", "uploaded"}:
                job.step, job.note = "failed", "cancelled before it was submitted"
            elif job.step == "submitted":
                session.look(job)
                if job.step == "submitted" and job.remote in {"validating", "in_progress"}:
                    session.take(job, session.service(job.endpoint).cancel(job.batch_id or ""))
            session.save()
        return session.state.jobs


class _Session:
    """A lock on the study, its batches' state, and its endpoints' services."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._batches = BatchFolder(folder.batch_path)
        self._services: dict[str, BatchService] = {}
        self._stack = ExitStack()
        self.state = BatchState()
        self._endpoints: dict[str, EndpointConfig] = {}
        self._timeout = 0.0

    def __enter__(self) -> _Session:
        records = self._folder.records_path
        with ExitStack() as stack:
            stack.enter_context(FileLock(records.with_name(records.name + ".lock")))
            self.state = self._batches.load()
            config = settings_of(self._folder, self._folder.describe())
            self._endpoints, self._timeout = config.endpoints, config.sampling.timeout
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def save(self) -> None:
        self._batches.save(self.state)

    def service(self, endpoint: str) -> BatchService:
        if endpoint not in self._services:
            if endpoint not in self._endpoints:
                raise EndpointError(
                    f"a batch was made at endpoint '{endpoint}', which the study does not have any more",
                    hint="put it back into the study.yaml, to collect what it was paid for",
                )
            service = BatchService(endpoint, self._endpoints[endpoint], self._timeout)
            self._services[endpoint] = self._stack.enter_context(service)
        return self._services[endpoint]

    def submit(self, job: Job) -> None:
        service = self.service(job.endpoint)
        if job.step == "creating":
            self.settle(job)
        if job.step == "prepared":
            job.file_id = service.upload(self._batches.requests_path(job))
            job.step = "uploaded"
            self.save()
        if job.step == "uploaded" and not self._must_wait(job):
            job.step = "creating"
            self.save()
            try:
                made = service.create(job.file_id or "", job.url, job.tag)
            except BatchRefusedError:
                # It may have lost the file: that is uploaded anew.
                job.step = "prepared"
                self.save()
                raise
            except EndpointError:
                # Made or not? If the endpoint can say so now, the next command need not ask.
                if not self._was_made(job):
                    raise
            else:
                self.take(job, made)
                self.save()

    def settle(self, job: Job) -> None:
        """Find out whether a batch was made whose answer never came."""
        service = self.service(job.endpoint)
        found = service.find(job.file_id or "", job.tag)
        if found is None:
            time.sleep(LOOK_AGAIN_SECONDS)
            found = service.find(job.file_id or "", job.tag)
        if found is None:
            job.step = "uploaded"
        else:
            self.take(job, found)
        self.save()

    def _was_made(self, job: Job) -> bool:
        try:
            found = self.service(job.endpoint).find(job.file_id or "", job.tag)
        except EndpointError:
            return False
        if found is None:
            return False
        self.take(job, found)
        self.save()
        return True

    def look(self, job: Job) -> None:
        self.take(job, self.service(job.endpoint).look(job.batch_id or ""))
        self.save()

    def take(self, job: Job, remote: RemoteBatch) -> None:
        """Write down what the endpoint says of a job."""
        job.step = "submitted"
        job.batch_id, job.remote, job.created_at = remote.id, remote.status, remote.created_at
        job.completed, job.failed = remote.completed, remote.failed
        job.output_file_id, job.error_file_id = remote.output_file_id, remote.error_file_id
        if remote.status != "failed":
            return
        job.note = "; ".join(message for _, message in remote.errors) or "no reason given"
        if any(code == _NO_ROOM for code, _ in remote.errors) and job.held < _MOST_HELD:
            # Its file is fine: it waits until another batch of the model has made room.
            job.step, job.held, job.batch_id = "uploaded", job.held + 1, None
            job.tag = f"{job.tag.partition('-')[0]}-{job.held}"
        else:
            job.step = "failed"

    def _must_wait(self, job: Job) -> bool:
        return job.held > 0 and any(
            other.step == "submitted" and (other.endpoint, other.model) == (job.endpoint, job.model)
            for other in self.state.jobs
        )
