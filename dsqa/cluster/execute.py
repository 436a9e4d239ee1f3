"""Run code on the workers of a cluster, in the place of `dsqa.execution.execute`."""

from __future__ import annotations

import concurrent.futures as cf
import logging
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from dsqa.cluster.connect import Cluster
from dsqa.cluster.facts import Facts
from dsqa.cluster.running import Chunk, ChunkResult, call_off, run_chunk
from dsqa.cluster.store import keep_piece
from dsqa.cluster.wire import error_of
from dsqa.errors import ClusterError
from dsqa.execution import ExecutionResult, Snippet
from dsqa.study.folder import hash_file
from dsqa.study.sections import ExecutionConfig

__all__ = ["ClusterExecutor"]

_log = logging.getLogger("dsqa.cluster")

SMALLEST, LARGEST = 8, 256
"""Snippets in a chunk: a sandbox has to start for each, and a worker that dies loses one."""
WATCH_SECONDS = 1.0
ALONE_SECONDS = 60.0
PIECE = 4 << 20
MOST_FAILURES = 3


class ClusterExecutor:
    """Runs snippets on a cluster's workers, each in its own sandbox; see `dsqa.outcomes.score.Execute`.

    Parameters
    ----------
    cluster
        The open cluster.

    Attributes
    ----------
    lost
        Snippets that were with a worker when it was lost, and were run again on another.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.lost = 0
        self._cluster = cluster

    def __call__(
        self,
        snippets: Iterable[Snippet],
        limits: ExecutionConfig,
        *,
        unsafe: bool = False,
        workers: int | None = None,
    ) -> Iterator[ExecutionResult]:
        """Run every snippet once, in chunks that get smaller towards the end; yield results as chunks come back.

        Raises
        ------
        ExecutionRefusedError
            A worker offers too little isolation.
        ClusterError
            The scheduler, or the last worker, is gone; a worker fails again and again.
        """
        return _Running(self, self._cluster, deque(snippets), limits, unsafe, workers).run()


class _Running:
    def __init__(
        self,
        owner: ClusterExecutor,
        cluster: Cluster,
        waiting: deque[Snippet],
        limits: ExecutionConfig,
        unsafe: bool,
        workers: int | None,
    ) -> None:
        self.owner = owner
        self.cluster = cluster
        self.waiting = waiting
        self.limits = limits
        self.unsafe = unsafe
        self.workers = workers
        self.token = uuid.uuid4().hex
        self.hashes: dict[Path, str] = {}
        self.busy: dict[str, tuple[cf.Future[ChunkResult], list[Snippet]]] = {}
        self.failures: Counter[str] = Counter()
        self.present: dict[str, Facts] = {}

    def run(self) -> Iterator[ExecutionResult]:
        alone_since: float | None = None
        try:
            while self.waiting or self.busy:
                self.look()
                alone_since = None if self.present else alone_since or time.monotonic()
                if alone_since is not None and time.monotonic() - alone_since > ALONE_SECONDS:
                    raise ClusterError(
                        f"no worker of {self.cluster.address} is left",
                        hint="what was run is kept; run it again to go on",
                    )
                for address in self.present.keys() - self.busy.keys():
                    if self.waiting:
                        self.give(address, self.next_chunk())
                cf.wait(
                    [future for future, _ in self.busy.values()],
                    timeout=WATCH_SECONDS,
                    return_when=cf.FIRST_COMPLETED,
                )
                if not self.busy:
                    time.sleep(WATCH_SECONDS)
                for address in [address for address, (future, _) in self.busy.items() if future.done()]:
                    yield from self.collect(address)
        finally:
            self.end()

    def look(self) -> None:
        """See which workers are there; what a lost one had waits again."""
        self.present = self.cluster.workers()
        for address in self.busy.keys() - self.present.keys():
            future, snippets = self.busy.pop(address)
            future.cancel()
            self.put_back(snippets, f"the worker {address} is gone")

    def put_back(self, snippets: list[Snippet], why: str) -> None:
        self.owner.lost += len(snippets)
        self.waiting.extendleft(reversed(snippets))
        _log.warning("%s; its %d snippets are run again", why, len(snippets))

    def next_chunk(self) -> list[Snippet]:
        size = max(SMALLEST, min(LARGEST, len(self.waiting) // (2 * len(self.present))))
        return [self.waiting.popleft() for _ in range(min(size, len(self.waiting)))]

    def give(self, address: str, snippets: list[Snippet]) -> None:
        chunk = Chunk(
            self.token,
            tuple((s.id, s.code, self.files_of(s)) for s in snippets),
            self.limits.model_dump(mode="json"),
            self.unsafe,
            self.workers or self.limits.workers or self.share(address),
        )
        self.busy[address] = self.cluster.executor(address).submit(run_chunk, chunk), snippets

    def share(self, address: str) -> int:
        """Return how many snippets a worker runs at a time: its machine's processors, shared with those beside it."""
        facts = self.present[address]
        beside = sum(other.host == facts.host for other in self.present.values())
        return max(1, facts.processors // beside)

    def files_of(self, snippet: Snippet) -> tuple[tuple[str, str, str], ...]:
        rows = []
        for name, path in snippet.data_files.items():
            place = Path(path).resolve()
            if place not in self.hashes:
                self.hashes[place] = hash_file(place)
            rows.append((name, self.hashes[place], str(place)))
        return tuple(rows)

    def collect(self, address: str) -> Iterator[ExecutionResult]:
        future, snippets = self.busy.pop(address)
        try:
            came = future.result()
        except Exception as error:
            self.failures[address] += 1
            why = f"the worker {address} failed ({type(error).__name__}: {error})"
            if self.failures[address] >= MOST_FAILURES:
                raise ClusterError(why) from None
            self.put_back(snippets, why)
            return
        if came.error is not None:
            raise error_of(came.error, address)
        if came.missing:
            self.send(address, set(came.missing))
            self.give(address, snippets)
            return
        yield from came.results

    def send(self, address: str, digests: set[str]) -> None:
        """Send data files to a worker that does not have them."""
        executor = self.cluster.executor(address)
        for path in [path for path, digest in self.hashes.items() if digest in digests]:
            digests.discard(self.hashes[path])
            size = path.stat().st_size
            with path.open("rb") as handle:
                for offset in range(0, max(size, 1), PIECE):
                    piece = handle.read(PIECE)
                    last = offset + PIECE >= size
                    # In order, since the last piece makes the file whole.
                    self.await_while_present(
                        address, executor.submit(keep_piece, self.hashes[path], offset, piece, last)
                    )

    def await_while_present(self, address: str, sent: cf.Future[None]) -> None:
        while True:
            done, _ = cf.wait([sent], timeout=WATCH_SECONDS)
            if done:
                sent.result()
                return
            if address not in self.cluster.workers():
                sent.cancel()
                return

    def end(self) -> None:
        """Call off what is still under way."""
        if not self.busy:
            return
        for future, _ in self.busy.values():
            future.cancel()
        try:
            self.cluster.client.run(call_off, self.token, workers=list(self.busy), on_error="ignore", wait=False)
        except (OSError, TimeoutError, ValueError):
            return
