"""One kernel as the host sees it: its pipes, and the preloader that keeps its clocks."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.execution.artefacts.read import PARTS, DamagedFrameError, next_frame
from dsqa.execution.launch import Launch
from dsqa.execution.model import Snippet
from dsqa.execution.sandbox import Sandbox, SandboxDiedError, job_file, open_data
from dsqa.execution.tiers import FULL
from dsqa.study.sections import ExecutionConfig

__all__ = ["Frame", "Kernel", "KernelBox", "KernelEndedError"]

Frame = tuple[dict[str, Any], list[tuple[str, bytes]]]
_MODULE = "inside.session"
_FRAMES: Mapping[str, tuple[str, ...]] = {
    **PARTS, "ready": (), "done": (), **dict.fromkeys(("stdout", "stderr", "text", "note", "error"), ("txt",)),
}  # fmt: skip
_CHUNK = 1 << 16
_START_SECONDS = 120.0
_SEND_SECONDS = 10.0
_SLACK = 4 << 20
# A kernel may wait for its next cell; how long its cells take together is for the session to say.
_LONGEST_SECONDS = 7 * 86400.0


class KernelEndedError(Exception):
    """The kernel is no more; `message` is the preloader's word on how it ended, None where it had to be given up."""

    def __init__(self, message: dict[str, Any] | None) -> None:
        super().__init__("the kernel ended")
        self.message = message


class KernelBox(Sandbox):
    """A sandbox whose children are kernels.

    Parameters
    ----------
    launch
        How it is started.
    """

    def __init__(self, launch: Launch) -> None:
        self.selector = selectors.DefaultSelector()
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        super().__init__(launch, (*FULL, _MODULE), self.selector)
        deadline = time.monotonic() + _START_SECONDS
        try:
            while not self.ready:
                self.selector.select(0.2)
                self.poll()
                if time.monotonic() > deadline:
                    raise SandboxDiedError("did not start in time")
        except BaseException:
            self.close()
            raise
        self.has_sessions = _MODULE in self.versions

    def close(self) -> None:
        """End the sandbox, its kernels included."""
        super().close()
        self.selector.close()

    def tell(self, row: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """Send the preloader a message; raises SandboxDiedError."""
        try:
            self._link.setblocking(True)
            self._link.settimeout(_SEND_SECONDS)
            socket.send_fds(self._link, [json.dumps(row).encode() + b"\n"], fds)
        except OSError as error:
            raise SandboxDiedError(f"hung up: {error}") from None
        finally:
            with contextlib.suppress(OSError):  # it may be closed by now
                self._link.setblocking(False)

    def messages(self, name: str) -> list[dict[str, Any]]:
        """Return what the preloader has said of a kernel since this was last asked; raises SandboxDiedError."""
        for message in self._messages():
            waiting = self._waiting.get(str(message.get("job", message.get("cell"))))
            if waiting is not None:
                waiting.append(message)
        found = self._waiting[name]
        self._waiting[name] = []
        return found

    def answers(self) -> bool:
        """Return False once the sandbox is no more."""
        name = self.add()
        try:
            self.messages(name)
        except SandboxDiedError:
            return False
        finally:
            del self._waiting[name]
        return True

    def add(self) -> str:
        """Return a name for a new kernel."""
        self._count += 1
        name = f"kernel{self._count}"
        self._waiting[name] = []
        return name

    def drop(self, name: str) -> None:
        """End a kernel, if it has not ended by itself."""
        self._waiting.pop(name, None)
        with contextlib.suppress(SandboxDiedError):
            self.tell({"cell": name, "kills": True})


@dataclass
class _Pipe:
    read: int
    data: bytearray


class Kernel:
    """A running kernel.

    Parameters
    ----------
    box
        Where it runs.
    limits
        Per cell; memory and disk are the kernel's.
    data_files
        Name in the working folder → file on this machine.
    cpu_seconds
        What it may use in all.

    Raises
    ------
    SandboxDiedError
        The sandbox ended.
    KernelEndedError
        The kernel could not be set up.
    """

    def __init__(
        self,
        box: KernelBox,
        limits: ExecutionConfig,
        data_files: Mapping[str, Path],
        cpu_seconds: float,
    ) -> None:
        self.box = box
        self.limits = limits
        self.name = box.add()
        self._cap = (limits.artefacts.total_mb << 20) + 4 * limits.output_kb * 1024 + _SLACK
        self._received = 0
        self._pipes: dict[str, _Pipe] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(box._link, selectors.EVENT_READ)
        self._commands = -1
        self._ended: dict[str, Any] | None = None
        try:
            self._start(data_files, cpu_seconds)
            self._wait_until("ready", time.monotonic() + _START_SECONDS)
        except BaseException:
            self.close()
            raise

    def _start(self, data_files: Mapping[str, Path], cpu_seconds: float) -> None:
        whole = self.limits.model_copy(update={"cpu_seconds": cpu_seconds})
        passed: list[int] = []
        try:
            passed.append(job_file(self.name, Snippet(self.name, "", data_files), whole, session=True))
            for name in ("stdout", "stderr", "report", "kept"):
                read, write = os.pipe()
                passed.append(write)
                os.set_blocking(read, False)
                self._pipes[name] = _Pipe(read, bytearray())
                self._selector.register(read, selectors.EVENT_READ)
            passed += [open_data(Path(path)) for path in data_files.values()]
            theirs, self._commands = os.pipe()
            passed.append(theirs)
            header = {
                "job": self.name,
                "fds": len(passed),
                "session": True,
                "cpu_seconds": cpu_seconds,
                "wall_seconds": _LONGEST_SECONDS,
                "apart_seconds": self.limits.artefacts.cpu_seconds,
            }
            self.box.tell(header, tuple(passed))
        finally:
            for fd in passed:
                os.close(fd)

    def begin(self, number: int, code: str, wall_seconds: float) -> None:
        """Start a cell that may take at most `wall_seconds`.

        Raises
        ------
        KernelEndedError, SandboxDiedError
            It is no more.
        """
        self._received = 0
        limits = {"cpu_seconds": self.limits.cpu_seconds, "wall_seconds": wall_seconds}
        self.box.tell({"cell": self.name, "ends": False, **limits})
        data = memoryview(json.dumps({"number": number, "code": code}).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._commands, data) :]
        except BrokenPipeError:
            self._wait_until("done", time.monotonic() + _SEND_SECONDS)
            raise KernelEndedError(self._ended) from None

    def frames(self, timeout: float) -> list[Frame]:
        """Return what the kernel has given since, after waiting at most `timeout` seconds.

        Raises
        ------
        KernelEndedError
            It is no more, or wrote what is no frame, or too much.
        SandboxDiedError
            Its sandbox is no more.
        """
        self._selector.select(timeout)
        for message in self.box.messages(self.name):
            if "job" in message:
                self._ended = message
        for pipe in self._pipes.values():
            self._drain(pipe)
        kept = self._pipes["kept"].data
        found: list[Frame] = []
        position = 0
        try:
            while (frame := next_frame(kept, position, _FRAMES)) is not None:
                head, parts, position = frame
                found.append((head, parts))
        except DamagedFrameError:
            raise KernelEndedError(None) from None
        del kept[:position]
        if not found and self._ended is not None:
            raise KernelEndedError(self._ended)
        return found

    def end(self) -> dict[str, Any]:
        """Stop the cell's clocks and return what the preloader says it used.

        Raises
        ------
        KernelEndedError, SandboxDiedError
            It is no more.
        """
        self.box.tell({"cell": self.name, "ends": True})
        deadline = time.monotonic() + _SEND_SECONDS
        while time.monotonic() < deadline:
            self._selector.select(0.2)
            for message in self.box.messages(self.name):
                if "cell" in message:
                    return message
                self._ended = message
            if self._ended is not None:
                raise KernelEndedError(self._ended)
        raise SandboxDiedError("stopped answering")

    def loose(self, name: str) -> str:
        """Return, and forget, what was written past Python's own streams."""
        pipe = self._pipes[name]
        self._drain(pipe)
        text = bytes(pipe.data[: self.limits.output_kb * 1024]).decode("utf-8", "replace")
        pipe.data.clear()
        return text

    def close(self) -> None:
        """End the kernel."""
        self.box.drop(self.name)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(self.box._link)
        self._selector.close()
        for pipe in self._pipes.values():
            os.close(pipe.read)
        self._pipes.clear()
        if self._commands >= 0:
            os.close(self._commands)
            self._commands = -1

    def _drain(self, pipe: _Pipe) -> None:
        while True:
            try:
                chunk = os.read(pipe.read, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(pipe.read)
                return
            self._received += len(chunk)
            if self._received > self._cap:
                # An honest kernel keeps within its limits by itself.
                raise KernelEndedError(None)
            pipe.data += chunk

    def _wait_until(self, kind: str, deadline: float) -> None:
        while time.monotonic() < deadline:
            if any(head["kind"] == kind for head, _ in self.frames(0.2)):
                return
        raise KernelEndedError(None)
