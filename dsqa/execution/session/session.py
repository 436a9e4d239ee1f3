"""A session: cells in a row, in one kernel for as long as it lives."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dsqa.errors import ExecutionRefusedError, SessionEndedError
from dsqa.execution.artefacts.model import whole_text
from dsqa.execution.artefacts.read import artefact_of, notes_of
from dsqa.execution.artefacts.reader import Clean
from dsqa.execution.classify import Ending, WorkerBrokenError, missing_detail, name_outcome
from dsqa.execution.interpreter import Environment
from dsqa.execution.model import Outcome
from dsqa.execution.sandbox import SandboxDiedError
from dsqa.execution.session.kernel import Frame, Kernel, KernelBox, KernelEndedError
from dsqa.execution.session.model import CellResult, Output, SessionLimits
from dsqa.study.sections import ExecutionConfig

__all__ = ["Session"]

# An interrupt, its grace, and a machine that is busy with something else.
_PATIENCE_SECONDS = 30.0
_TEXTS = ("stdout", "stderr", "text", "note", "error")


class Session:
    """Cells in a row. Made by `SessionHost.open` or `open_session`.

    Parameters
    ----------
    box
        Returns the sandbox to start kernels in, a new one where the last has died.
    limits
        Per cell: CPU and wall seconds, output, artefacts. Memory, disk: per kernel.
    data_files
        Name in the working folder → file on this machine.
    whole
        What all cells together may use.
    isolation
        The name of the isolation.
    environment
        What is installed there.
    clean
        Checks what cells leave.
    """

    def __init__(
        self,
        box: Callable[[], KernelBox],
        limits: ExecutionConfig,
        data_files: Mapping[str, Path],
        whole: SessionLimits,
        isolation: str,
        environment: Environment,
        clean: Clean,
    ) -> None:
        self._clean = clean
        self.limits = limits
        self.whole = whole
        self.isolation = isolation
        self._environment = environment
        self.cells = 0
        self.cpu_seconds = 0.0
        self.wall_seconds = 0.0
        self._box = box
        self._data_files = dict(data_files)
        self._kernel: Kernel | None = None
        self._kernel_cpu = 0.0
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """True while there is a kernel with the variables of the cells before."""
        return self._kernel is not None

    def run(self, code: str) -> CellResult:
        """Run a cell and return what it gave.

        Parameters
        ----------
        code
            By IPython's rules: the last expression is shown, `%` lines work, `await` may stand alone.

        Returns
        -------
        CellResult
            A cell that fails leaves the kernel as it is. One that hits its CPU or wall limit is interrupted, which
            keeps the variables; where that does not help, or memory runs out, or the process dies, the kernel
            ends, `restarted` says so, and the next cell starts in a new one.

        Raises
        ------
        SessionEndedError
            The session is closed, or has used up its cells, CPU or wall seconds.
        ExecutionRefusedError
            No kernel can be started.
        """
        self._check()
        self.cells += 1
        number, started = self.cells, time.monotonic()
        frames: list[Frame] = []
        used: dict[str, Any] = {}
        ended: KernelEndedError | None = None
        broken = False
        kernel = self._kernel or self._start()
        self._kernel = kernel
        try:
            kernel.begin(number, code, self._wall_limit())
            self._follow(kernel, number, frames)
            used = kernel.end()
            broken = frames[-1][0]["facts"].get("broken") is True
        except KernelEndedError as gone:
            ended = gone
        except SandboxDiedError as died:
            ended = KernelEndedError({"died": str(died)})
        loose = {} if ended is not None and ended.message is None else _loose(kernel)
        if ended is not None or broken:
            self.restart()
        if ended is not None:
            used = ended.message or {}
        wall = time.monotonic() - started
        cpu = float(used.get("cpu") or 0.0)
        if ended is not None and "job" in used:
            cpu = max(0.0, cpu - self._kernel_cpu)
            self._kernel_cpu = 0.0
        else:
            self._kernel_cpu += cpu
        self.cpu_seconds += cpu
        self.wall_seconds += wall
        return self._result(number, code, frames, loose, used, ended, wall, cpu, broken=broken)

    def restart(self) -> None:
        """Drop the kernel and its variables; the next cell starts in a new one."""
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def close(self) -> None:
        """End the session."""
        self.restart()
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise SessionEndedError("the session is closed")
        for name, used, most in (
            ("cells", self.cells, self.whole.cells),
            ("CPU seconds", self.cpu_seconds, self.whole.cpu_seconds),
            ("wall seconds", self.wall_seconds, self.whole.wall_seconds),
        ):
            if used >= most:
                raise SessionEndedError(f"the session has used up its {most:g} {name}", hint="open another")

    def _start(self) -> Kernel:
        self._kernel_cpu = 0.0
        left = self.whole.cpu_seconds - self.cpu_seconds
        problem = ""
        for _ in range(2):
            try:
                return Kernel(self._box(), self.limits, self._data_files, left)
            except (SandboxDiedError, KernelEndedError) as error:
                problem = str(error)
        raise ExecutionRefusedError(f"no kernel can be started: {problem}", hint="see 'dsqa doctor'")

    def _wall_limit(self) -> float:
        return min(self.limits.wall_seconds, self.whole.wall_seconds - self.wall_seconds)

    def _follow(self, kernel: Kernel, number: int, frames: list[Frame]) -> None:
        deadline = time.monotonic() + self.limits.wall_seconds + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for head, parts in kernel.frames(0.5):
                frames.append((head, parts))
                if head["kind"] == "done" and head["facts"].get("number") == number:
                    return
        raise KernelEndedError(None)

    def _result(
        self,
        number: int,
        code: str,
        frames: list[Frame],
        loose: dict[str, str],
        used: dict[str, Any],
        ended: KernelEndedError | None,
        wall: float,
        cpu: float,
        *,
        broken: bool,
    ) -> CellResult:
        notes: list[str] = []
        outputs = _outputs(frames, notes, self.limits, self._clean)
        outputs += [Output("stdout" if name == "stdout" else "stderr", text) for name, text in loose.items() if text]
        facts = frames[-1][0]["facts"] if frames and frames[-1][0]["kind"] == "done" else {}
        notes += notes_of(facts)
        interrupted = used.get("interrupted")
        outcome, detail = self._outcome(code, facts, used, ended, loose.get("stderr", ""), wall, cpu)
        if broken:
            notes.append("the cell broke what runs cells")
        if ended is not None or broken:
            notes.append("the kernel was ended: the variables of this and the earlier cells are gone")
        chain, line = facts.get("chain"), facts.get("line")
        exception = str(chain[0].get("type"))[:100] if isinstance(chain, list) and chain else None
        return CellResult(
            number=number,
            outcome=outcome,
            detail=whole_text(detail),
            outputs=tuple(outputs),
            wall_seconds=wall,
            cpu_seconds=cpu,
            isolation=self.isolation,
            line=line if isinstance(line, int) and outcome != "ran" else None,
            exception=None if exception is None else whole_text(exception),
            truncated=facts.get("truncated") is True,
            interrupted=interrupted is not None or str(used.get("killed") or "").startswith("cell"),
            restarted=ended is not None or broken,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _outcome(
        self,
        code: str,
        facts: dict[str, Any],
        used: dict[str, Any],
        ended: KernelEndedError | None,
        stderr: str,
        wall: float,
        cpu: float,
    ) -> tuple[Outcome, str]:
        killed = str(used.get("killed") or "").removeprefix("cell ")
        limit = used.get("interrupted") if used.get("interrupted") in {"cpu", "wall"} else killed
        if limit == "cpu":
            return "timed out", f"CPU limit of {self.limits.cpu_seconds:g} s"
        if limit == "wall":
            return "timed out", f"wall limit of {self.limits.wall_seconds:g} s"
        if ended is not None and "status" not in used:
            why = used.get("died")
            return "failed", f"its sandbox ended: {why}" if why else "the kernel stopped answering, or lied"
        status = used.get("status")
        ending = Ending(
            status=status if ended is not None and isinstance(status, int) else 0,
            killed=None,
            wall=wall,
            cpu=cpu,
            peak_mb=None,
            stdout=b"",
            stderr=stderr.encode(),
            truncated=False,
            report=b"",
        )
        try:
            outcome, detail = name_outcome(facts, False, ending, self.limits)
        except WorkerBrokenError as broken:
            return "failed", str(broken)
        if outcome == "missing package":
            detail = missing_detail(facts, code, self.limits, self._environment)
        if ended is not None and outcome == "ran":
            return "failed", "the code ended its own process"
        return outcome, detail[:300]


def _loose(kernel: Kernel) -> dict[str, str]:
    found = {}
    for name in ("stdout", "stderr"):
        try:
            found[name] = kernel.loose(name)
        except (KernelEndedError, KeyError):
            continue
    return found


def _outputs(frames: list[Frame], notes: list[str], limits: ExecutionConfig, clean: Clean) -> list[Output]:
    outputs: list[Output] = []
    counts = {"figure": limits.artefacts.figures, "file": limits.artefacts.files, "table": 200, "image": 200}
    for head, parts in frames:
        kind = head["kind"]
        if kind in _TEXTS:
            text = b"".join(content for _, content in parts).decode("utf-8", "replace")
            last = outputs[-1] if outputs else None
            if last is not None and last.kind == kind and kind in {"stdout", "stderr"}:
                outputs[-1] = Output(kind, last.text + text)
            else:
                outputs.append(Output(kind, text, facts={"source": str(head["facts"].get("source", ""))[:20]}))
        elif kind in counts and counts[kind] > 0:
            counts[kind] -= 1
            outputs.append(Output(kind, artefact=artefact_of(head, parts, notes, clean)))
    return outputs
