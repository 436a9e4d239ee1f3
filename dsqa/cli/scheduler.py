"""`--scheduler`: the machines that asking and running code are spread over."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dsqa.cluster import ClusterExecutor, ClusterOpener

__all__ = ["HERE", "Machines", "machines", "scheduler_option"]

scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Spread the work over a dask.distributed cluster: tcp://host:8786, or local:2 for two workers here.",
)


@dataclass(frozen=True)
class Machines:
    """What opens endpoints and what runs code; None for this machine alone."""

    opener: ClusterOpener | None = None
    executor: ClusterExecutor | None = None


HERE = Machines()


@contextmanager
def machines(address: str | None) -> Iterator[Machines]:
    """Reach the cluster, if one is named, for the length of a block; say what its workers lost."""
    if address is None:
        yield HERE
        return
    from dsqa.cluster import ClusterExecutor, ClusterOpener, open_cluster

    # Workers that do not fit, or are gone, are said as they are found.
    handler = _Said()
    log = logging.getLogger("dsqa.cluster")
    log.addHandler(handler)
    log.propagate = False
    try:
        with open_cluster(address) as cluster:
            workers = cluster.workers()
            hosts = len({facts.host for facts in workers.values()})
            click.echo(f"{_count(len(workers), 'worker')} on {_count(hosts, 'machine')}", err=True)
            found = Machines(ClusterOpener(cluster), ClusterExecutor(cluster))
            try:
                yield found
            finally:
                _say_what_was_lost(found)
    finally:
        log.removeHandler(handler)


def _say_what_was_lost(found: Machines) -> None:
    if found.opener is not None and found.opener.lost:
        click.echo(
            f"{_count(found.opener.lost, 'request')} had no answer yet when a worker was lost; sent again elsewhere",
            err=True,
        )
    if found.executor is not None and found.executor.lost:
        click.echo(f"{_count(found.executor.lost, 'snippet')} run again: a worker was lost with them", err=True)


class _Said(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        click.echo(record.getMessage(), err=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
