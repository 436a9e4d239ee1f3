"""`dsqa batch`: a study through the Batch API, step by step or all in a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.options import json_option, study_argument
from dsqa.cli.studies import YAML, load_settings, open_recorded, shown
from dsqa.study.folder import StudyFolder

if TYPE_CHECKING:
    from dsqa.sampling.batch import Collected, Job

__all__ = ["batch"]

_limit = click.option("--limit", type=click.IntRange(1), help="Put at most this many runs into batches.")
_size = click.option(
    "--max-requests",
    type=click.IntRange(1, 50_000),
    default=50_000,
    show_default=True,
    help="Requests in one file; fewer where the endpoint's queue is short.",
)


@click.group()
def batch() -> None:
    """Ask the runs that are missing through the Batch API of an endpoint, into the same records.

    \b
      dsqa batch run study.yaml      everything: prepare, submit, wait, collect, again for what expired
    \b
    Or step by step, also from different days and shells:
      dsqa batch prepare study.yaml  write the missing runs as files, send nothing
      dsqa batch submit study.yaml   upload them and make batches of them (costs money)
      dsqa batch status study.yaml   how far the batches are
      dsqa batch collect study.yaml  record what has come back
      dsqa batch cancel study.yaml   ask for no more; what was answered can be collected

    Killed at any moment, run the same command again: nothing is lost, and nothing is asked twice. While runs wait in
    a batch, 'dsqa sample' leaves them alone.
    """  # noqa: D301  (the backslashes are click's)


@batch.command("run", short_help="Prepare, submit, wait and collect until nothing is missing.")
@study_argument
@_limit
@_size
@click.option("--every", type=click.FloatRange(0.01), default=60.0, show_default=True, help="Seconds between looks.")
@json_option
def run(study: Path, limit: int | None, max_requests: int, every: float, as_json: bool) -> int:
    """Ask what STUDY asks for and is not recorded yet, through the Batch API.

    Ctrl-C ends the waiting, not the batches: they go on at the endpoint, and the same command collects them.
    """
    from dsqa.sampling.batch import run_batches

    folder = _prepared(study)
    said: list[str] = []

    def tell(jobs: Sequence[Job]) -> None:
        lines = [_line(job) for job in jobs if job.undecided]
        if lines != said:
            said[:] = lines
            for line in lines:
                click.echo(line, err=True)

    try:
        got = run_batches(folder, limit=limit, max_requests=max_requests, every=every, tell=tell)
    except KeyboardInterrupt:
        click.echo(
            "dsqa: the batches go on at the endpoint; run the same command again to collect them, or "
            f"'dsqa batch cancel {study}' to end them",
            err=True,
        )
        return 130
    _say_collected(folder, got, as_json)
    return 0


@batch.command("prepare", short_help="Write the missing runs as files; send nothing.")
@study_argument
@_limit
@_size
@json_option
def prepare(study: Path, limit: int | None, max_requests: int, as_json: bool) -> None:
    """Write the runs of STUDY that are missing as input files of the Batch API, in runs/NAME/batch."""
    from dsqa.sampling.batch import prepare_batches

    folder = _prepared(study)
    _say_jobs(folder, prepare_batches(folder, limit=limit, max_requests=max_requests), as_json, "nothing is missing")


@batch.command("submit", short_help="Upload what is prepared and make batches of it.")
@study_argument
@json_option
def submit(study: Path, as_json: bool) -> None:
    """Upload the prepared files of STUDY and make batches of them. This is the step that costs money."""
    from dsqa.sampling.batch import submit_batches

    folder = open_recorded(study)
    _say_jobs(folder, submit_batches(folder), as_json)


@batch.command("status", short_help="How far the batches are.")
@study_argument
@json_option
def status(study: Path, as_json: bool) -> None:
    """Ask the endpoints how far the batches of STUDY are."""
    from dsqa.sampling.batch import check_batches

    folder = open_recorded(study)
    _say_jobs(folder, check_batches(folder), as_json)


@batch.command("collect", short_help="Record what has come back.")
@study_argument
@json_option
def collect(study: Path, as_json: bool) -> None:
    """Fetch the results of every batch of STUDY that has ended and record them."""
    from dsqa.sampling.batch import collect_batches

    folder = open_recorded(study)
    got = collect_batches(folder)
    _say_collected(folder, got, as_json)
    for problem in got.problems.values():
        raise problem


@batch.command("cancel", short_help="Ask for no more.")
@study_argument
@json_option
def cancel(study: Path, as_json: bool) -> None:
    """Cancel the batches of STUDY. What was answered by then can be collected, the rest can be asked again."""
    from dsqa.sampling.batch import cancel_batches

    folder = open_recorded(study)
    _say_jobs(folder, cancel_batches(folder), as_json)


def _prepared(study: Path) -> StudyFolder:
    if study.suffix not in YAML:
        return open_recorded(study)
    from dsqa.sampling import prepare_study

    config, root = load_settings(study)
    return prepare_study(config, study, root)


def _say_jobs(
    folder: StudyFolder, jobs: Sequence[Job], as_json: bool, otherwise: str = "no batches: run  dsqa batch prepare"
) -> None:
    if as_json:
        click.echo(json.dumps({"folder": str(folder.root), "jobs": [asdict(job) for job in jobs]}))
        return
    for job in jobs:
        click.echo(_line(job))
    if not jobs:
        click.echo(otherwise)


def _line(job: Job) -> str:
    step = job.remote if job.step == "submitted" and job.remote else job.step
    counts = f", {job.completed:,} done, {job.failed:,} failed" if job.completed or job.failed else ""
    note = f" ({job.note})" if job.note and job.step in {"failed", "uploaded"} else ""
    name = f" {job.batch_id}" if job.batch_id else ""
    return f"{job.name} {job.model}: {job.requests:,} requests, {step}{counts}{name}{note}"


def _say_collected(folder: StudyFolder, got: Collected, as_json: bool) -> None:
    if as_json:
        row: dict[str, Any] = {
            "folder": str(folder.root),
            "recorded": got.recorded,
            "failed": got.failed,
            "again": got.again,
            "waiting": got.waiting,
            "problems": list(got.problems),
        }
        click.echo(json.dumps(row))
        return
    more = f", {got.again:,} came back without an answer and can be asked again" if got.again else ""
    wait = f", {got.waiting} batches have not ended" if got.waiting else ""
    click.echo(f"{shown(folder.records_path)}: {got.recorded:,} new runs, {got.failed:,} of them failed{more}{wait}")
