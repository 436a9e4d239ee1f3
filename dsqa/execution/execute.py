"""Run many snippets: in order, a few at a time, each in a process of its own under the isolation that was found."""

from __future__ import annotations

import dataclasses
import os
import selectors
from collections import deque
from collections.abc import Iterable, Iterator

from dsqa.errors import ExecutionRefusedError
from dsqa.execution.artefacts.reader import Reader
from dsqa.execution.classify import WorkerBrokenError, classify
from dsqa.execution.crowding import may_be_the_neighbours
from dsqa.execution.inside.watch import WAITING_SHARE
from dsqa.execution.interpreter import Environment, environment_of
from dsqa.execution.isolation import find_launch, unsafe_launch
from dsqa.execution.launch import Launch
from dsqa.execution.model import ExecutionResult, Isolation, Snippet, check_names
from dsqa.execution.sandbox import Sandbox, SandboxDiedError
from dsqa.execution.tiers import choose_modules
from dsqa.study.sections import ExecutionConfig

__all__ = ["execute"]

_POLL_SECONDS = 0.5
# Results that wait for a slower one before them; with it, memory does not grow with the number of snippets.
_WINDOW_PER_WORKER = 32
_MAX_FAILED_STARTS = 2


def execute(
    snippets: Iterable[Snippet],
    limits: ExecutionConfig,
    *,
    unsafe: bool = False,
    workers: int | None = None,
) -> Iterator[ExecutionResult]:
    """Run every snippet once in a fresh process and say how it ended.

    Parameters
    ----------
    snippets
        What to run; read lazily, a few ahead of what has been yielded.
    limits
        Per snippet: CPU and wall seconds, memory beyond the loaded libraries, disk, output.
    unsafe
        Where this machine offers no isolation, run anyway, with limits only.
    workers
        How many run at once; by default `limits.workers`, else the number of usable processors.

    Returns
    -------
    iterator of ExecutionResult
        In input order. Closing it early ends every sandbox.

    Raises
    ------
    ExecutionRefusedError
        There is no sufficient isolation and `unsafe` is not set, or the environment is not what `limits` declare
        (raised by the call itself); a sandbox cannot be
        started or a data file not be read (raised while iterating).
    ValueError
        A data file's name would lead out of the working folder.

    Notes
    -----
    A snippet during whose run its sandbox broke is run once more, alone; if that breaks too it is named as
    "failed", so one snippet can neither stop the others nor change their results. What failed in a way that others
    may have caused (`dsqa.execution.crowding`) is run once more, alone, too, and that is its result.
    """
    environment = environment_of(limits)
    python = limits.python or ""
    launch, isolation = find_launch(python)
    if launch is None:
        if not unsafe:
            raise ExecutionRefusedError(
                f"generated code is not run: this machine offers no sufficient isolation ({isolation.why})",
                hint="install what is missing ('dsqa doctor' says what), or pass --unsafe to run it as yourself",
            )
        launch, isolation = unsafe_launch(python)
    count = workers or limits.workers or _processors()
    return _Execution(iter(snippets), limits, launch, isolation, environment, count).run()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_loaded() -> bool:
    """Return whether so much runs that what works may look like what waits: a fair share is hardly more than that."""
    try:
        return os.getloadavg()[0] * 2 * WAITING_SHARE > _processors()
    except OSError:
        return True


@dataclasses.dataclass(frozen=True)
class _Task:
    index: int
    snippet: Snippet
    attempts: int = 1
    crowded: bool = False
    """Whether others were under way at the same time."""


class _Execution:
    def __init__(
        self,
        source: Iterator[Snippet],
        limits: ExecutionConfig,
        launch: Launch,
        isolation: Isolation,
        environment: Environment,
        workers: int,
    ) -> None:
        self.source = source
        self.limits = limits
        self.launch = launch
        self.isolation = isolation
        self.environment = environment
        self.workers = workers
        self.selector = selectors.DefaultSelector()
        self.sandboxes: list[tuple[tuple[str, ...], Sandbox]] = []
        self.waiting: deque[_Task] = deque()
        self.suspects: deque[_Task] = deque()
        self.running: dict[tuple[Sandbox, str], _Task] = {}
        self.results: dict[int, ExecutionResult] = {}
        self.reader = Reader(launch)
        self.taken = 0
        self.failed_starts = 0
        self.exhausted = False

    def run(self) -> Iterator[ExecutionResult]:
        try:
            given = 0
            while True:
                self.take(given)
                if self.exhausted and given == self.taken:
                    return
                self.dispatch()
                self.selector.select(_POLL_SECONDS)
                self.collect()
                while given in self.results:
                    yield self.results.pop(given)
                    given += 1
        finally:
            for _, sandbox in self.sandboxes:
                sandbox.close()
            self.reader.close()
            self.selector.close()

    def take(self, given: int) -> None:
        """Read snippets ahead, as far as the window allows."""
        while not self.exhausted and self.taken - given < self.workers * _WINDOW_PER_WORKER:
            snippet = next(self.source, None)
            if snippet is None:
                self.exhausted = True
                return
            check_names(snippet.id, snippet.data_files)
            self.waiting.append(_Task(self.taken, snippet))
            self.taken += 1

    def dispatch(self) -> None:
        """Start what may start now; a suspect only when nothing else is under way."""
        queue = self.suspects or self.waiting
        room = 1 if self.suspects else self.workers
        kept: list[_Task] = []
        while queue and len(self.running) < room:
            task = queue.popleft()
            sandbox = self.sandbox_for(choose_modules(task.snippet.code))
            if sandbox is None:
                kept.append(task)
                if self.suspects:
                    break
                continue
            try:
                name = sandbox.submit(task.snippet, self.limits)
            except SandboxDiedError as died:
                queue.appendleft(task)
                self.bury(sandbox, died)
                break
            self.running[sandbox, name] = task
            if len(self.running) > 1:
                self.running = {key: dataclasses.replace(each, crowded=True) for key, each in self.running.items()}
        queue.extendleft(reversed(kept))

    def sandbox_for(self, modules: tuple[str, ...]) -> Sandbox | None:
        """Return a sandbox with these modules that can take a run now, starting one where none does."""
        mine = [sandbox for loaded, sandbox in self.sandboxes if loaded == modules]
        for sandbox in mine:
            if sandbox.ready and (self.launch.parallel or not sandbox.jobs):
                return sandbox
        starting = any(not sandbox.ready for sandbox in mine)
        if not starting and len(mine) < (1 if self.launch.parallel else self.workers):
            self.sandboxes.append((modules, Sandbox(self.launch, modules, self.selector, self.workers)))
        return None

    def collect(self) -> None:
        """Read from every sandbox; bury the dead."""
        for _, sandbox in list(self.sandboxes):
            try:
                ended = sandbox.poll()
            except SandboxDiedError as died:
                self.bury(sandbox, died)
                continue
            if sandbox.ready:
                self.failed_starts = 0
            for name, snippet, ending in ended:
                task = self.running.pop((sandbox, name))
                try:
                    result = classify(
                        snippet, ending, self.limits, self.isolation.name, self.environment, self.reader
                    )
                except WorkerBrokenError as broken:
                    self.suspect(task, str(broken))
                    continue
                if task.attempts == 1 and task.crowded and may_be_the_neighbours(result, loaded=_is_loaded()):
                    self.suspect(task, result.detail)
                else:
                    self.results[task.index] = dataclasses.replace(result, attempts=task.attempts)

    def bury(self, sandbox: Sandbox, died: SandboxDiedError) -> None:
        """Close a dead sandbox and put what it was running aside, to be run again alone."""
        if not sandbox.ready:
            self.failed_starts += 1
            if self.failed_starts >= _MAX_FAILED_STARTS:
                raise ExecutionRefusedError(f"the sandbox does not start: {died}", hint="see 'dsqa doctor'")
        sandbox.close()
        self.sandboxes = [entry for entry in self.sandboxes if entry[1] is not sandbox]
        for key in [key for key in self.running if key[0] is sandbox]:
            self.suspect(self.running.pop(key), str(died))

    def suspect(self, task: _Task, why: str) -> None:
        """Run a task again alone, or name it if that was the second time."""
        if task.attempts == 1:
            self.suspects.append(dataclasses.replace(task, attempts=2, crowded=False))
            return
        self.results[task.index] = ExecutionResult(
            snippet_id=task.snippet.id,
            outcome="failed",
            detail=f"broke its worker twice: {why}",
            stdout="",
            stderr="",
            value=None,
            wall_seconds=0.0,
            cpu_seconds=0.0,
            isolation=self.isolation.name,
            environment=self.environment.fingerprint,
            attempts=2,
        )
