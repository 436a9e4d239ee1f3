"""Reach a cluster, or start one on this machine, and make sure that its workers fit."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import Any

from dsqa.cluster.facts import Facts, differences, machine_facts
from dsqa.errors import ClusterError, MissingDependencyError

__all__ = ["Cluster", "open_cluster"]

_log = logging.getLogger("dsqa.cluster")

CONNECT_SECONDS = 10.0
WORKER_SECONDS = 20.0
FACTS_SECONDS = 60.0
_LOCAL = re.compile(r"local:([1-9]\d{0,2})$")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+$")


class Cluster:
    """An open cluster; `open_cluster` makes one.

    Parameters
    ----------
    client
        A `distributed.Client`.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(client.scheduler.address)
        self._here = machine_facts()
        self._facts: dict[str, Facts] = {}
        self._unfit: set[str] = set()

    def executor(self, worker: str) -> Executor:
        """Return the executor of one worker: what is submitted runs there or, if it is gone, nowhere."""
        executor: Executor = self.client.get_executor(workers=[worker], allow_other_workers=False, pure=False)
        return executor

    def workers(self) -> dict[str, Facts]:
        """Return the workers there are now and that fit, by address.

        Raises
        ------
        ClusterError
            The scheduler does not answer.
        """
        try:
            present = list(self.client.nthreads())
        except (OSError, TimeoutError) as error:
            raise self.gone(error) from None
        for address in present:
            if address not in self._facts and address not in self._unfit:
                self._meet(address)
        return {address: self._facts[address] for address in sorted(present) if address in self._facts}

    def gone(self, error: BaseException) -> ClusterError:
        """Return the error of a scheduler that does not answer any more."""
        return ClusterError(
            f"the scheduler at {self.address} does not answer any more ({type(error).__name__})",
            hint="what is recorded is kept; run the same command again to go on",
        )

    def _meet(self, address: str) -> None:
        """Ask a new worker what it has; one that does not fit is said and left out."""
        future = self.executor(address).submit(machine_facts)
        try:
            there: Facts = future.result(FACTS_SECONDS)
        except ModuleNotFoundError as error:
            self._leave_out(address, f"{error.name} is not installed there")
            return
        except Exception as error:
            future.cancel()
            if not isinstance(error, TimeoutError):
                self._leave_out(address, f"{type(error).__name__}: {error}")
            return
        ruled_out, said = differences(self._here, there)
        if ruled_out:
            self._leave_out(address, f"it has {', '.join(ruled_out)}")
            return
        if said:
            _log.warning("the worker %s has %s", address, ", ".join(said))
        self._facts[address] = there

    def _leave_out(self, address: str, why: str) -> None:
        self._unfit.add(address)
        _log.warning("the worker %s is not used: %s", address, why)


@contextmanager
def open_cluster(address: str) -> Iterator[Cluster]:
    """Reach the cluster at an address for the length of a block.

    Parameters
    ----------
    address
        Of the scheduler (``tcp://host:8786``), or ``local:N`` to start N workers on this machine.

    Raises
    ------
    ClusterError
        No scheduler answers there, or none of its workers fits this installation.
    MissingDependencyError
        `distributed` is not installed.
    """
    local = _LOCAL.match(address)
    if local is None and not _ADDRESS.match(address):
        raise ClusterError(
            f"'{address}' is no scheduler",
            field="--scheduler",
            hint="write tcp://HOST:8786, or local:2 for this machine",
        )
    try:
        with warnings.catch_warnings():
            # What differs between machines is said in our own words.
            warnings.simplefilter("ignore")
            import distributed  # noqa: PLC0415
    except ImportError:
        raise MissingDependencyError(
            "--scheduler needs dask.distributed, which is not installed", hint="pip install 'dsqa[cluster]'"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target: Any = address
        if local is not None:
            target = stack.enter_context(
                distributed.LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=int(local.group(1)),
                    threads_per_worker=2,
                    processes=True,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                    preload=["dsqa.cluster.quiet"],
                )
            )
        try:
            client = distributed.Client(  # type: ignore[no-untyped-call]
                target, timeout=CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address} ({type(error).__name__})",
                hint="start one with 'dask scheduler', its workers with 'dask worker ADDRESS', or use local:2",
            ) from None
        stack.enter_context(client)
        cluster = Cluster(client)
        _await_workers(cluster)
        yield cluster


def _await_workers(cluster: Cluster) -> None:
    try:
        cluster.client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except (OSError, TimeoutError):
        raise ClusterError(
            f"the scheduler at {cluster.address} has no workers", hint=f"start some: dask worker {cluster.address}"
        ) from None
    if not cluster.workers():
        raise ClusterError(
            f"no worker of {cluster.address} fits this installation", hint="install the same dsqa on all of them"
        )
