"""One running sandbox, seen from the host: jobs go in, endings come out."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsqa.errors import ExecutionRefusedError
from dsqa.execution.classify import Ending
from dsqa.execution.inside.watch import WAITING_SHARE
from dsqa.execution.launch import Launch, make_scratch_folder, start_process
from dsqa.execution.model import Snippet
from dsqa.study.sections import ExecutionConfig

__all__ = ["Sandbox", "SandboxDiedError", "job_file", "open_data"]

_START_SECONDS = 120.0
# A preloader that has not ended a run this long after its wall limit is taken for dead.
_GRACE_SECONDS = 10.0
_LEAVE_SECONDS = 2.0
_CHUNK = 1 << 16
_REPORT_SLACK = 1 << 16
# What a run may take longer than its wall limit: keeping what it drew has a limit of its own, and some grace.
_APART_WALL = 3


class SandboxDiedError(Exception):
    """The sandbox ended, hung or spoke nonsense; what it was running has to be run again."""


@dataclass
class _Channel:
    fd: int
    cap: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    ended: bool = False

    def drain(self) -> bool:
        """Read what is there, keeping no more than the cap; return False at the end of the stream."""
        while not self.ended:
            try:
                chunk = os.read(self.fd, _CHUNK)
            except BlockingIOError:
                return True
            if not chunk:
                self.ended = True
                break
            room = self.cap - len(self.data)
            self.data += chunk[: max(room, 0)]
            self.truncated |= len(chunk) > room
            if len(chunk) < _CHUNK:
                return True
        return False


@dataclass
class _Job:
    snippet: Snippet
    deadline: float
    channels: dict[str, _Channel]


class Sandbox:
    """A preloader in its sandbox.

    Parameters
    ----------
    launch
        How it is started.
    modules
        What it loads before it forks.
    selector
        The caller's; the sandbox registers its descriptors there with itself as the data.
    shares
        How many runs the caller has under way at once, here and elsewhere.

    Raises
    ------
    ExecutionRefusedError
        It could not be started.
    """

    def __init__(
        self, launch: Launch, modules: tuple[str, ...], selector: selectors.BaseSelector, shares: int = 1
    ) -> None:
        self.launch = launch
        self._shares = shares
        self.jobs: dict[str, _Job] = {}
        self.ready = False
        self.versions: dict[str, str] = {}
        self._selector = selector
        self._buffer = b""
        self._count = 0
        self._started = time.monotonic()
        self._scratch: Path | None = None if launch.kind == "bubblewrap" else make_scratch_folder()
        self._link, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = start_process(launch, theirs.fileno(), modules, self._scratch)
            except OSError as error:
                self._link.close()
                raise ExecutionRefusedError(f"{launch.kind} could not be started: {error}") from None
        self._link.setblocking(False)
        selector.register(self._link, selectors.EVENT_READ, self)

    @property
    def load(self) -> int:
        """How many runs are under way or waiting here."""
        return len(self.jobs)

    def submit(self, snippet: Snippet, limits: ExecutionConfig) -> str:
        """Start a run and return its name; only once the sandbox is `ready`.

        Raises
        ------
        SandboxDiedError
            The sandbox ended or hung.
        ExecutionRefusedError
            A data file cannot be read.
        """
        self._count += 1
        name = f"run{self._count}"
        # A run that works is given until it has used its CPU seconds, however busy the machine.
        longest = max(limits.wall_seconds, limits.cpu_seconds / WAITING_SHARE)
        longest += 2 * _APART_WALL * limits.artefacts.cpu_seconds + _GRACE_SECONDS
        job = _Job(snippet, time.monotonic() + longest, {})
        self.jobs[name] = job
        self._send(name, job, limits)
        return name

    def poll(self) -> list[tuple[str, Snippet, Ending]]:
        """Read what has arrived and return the runs that ended.

        Raises
        ------
        SandboxDiedError
            The sandbox ended, hung or spoke nonsense.
        """
        for job in self.jobs.values():
            for channel in job.channels.values():
                if not channel.ended and not channel.drain():
                    # An ended stream is always "readable": watched on, it would wake us until the run is over.
                    self._selector.unregister(channel.fd)
        ended = []
        for message in self._messages():
            if "ready" in message:
                self._become_ready(message)
            else:
                ended.append(self._finish(message))
        now = time.monotonic()
        if not self.ready and now - self._started > _START_SECONDS:
            raise SandboxDiedError(f"did not start within {_START_SECONDS:g} s")
        if any(now > job.deadline for job in self.jobs.values()):
            raise SandboxDiedError("stopped answering")
        return ended

    def close(self) -> None:
        """End the sandbox and everything in it."""
        idle = self.ready and not self.jobs
        for job in self.jobs.values():
            self._release(job)
        self.jobs.clear()
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(self._link)
        self._link.close()
        if idle:
            # It leaves by itself when the host hangs up; what it used is then accounted for.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVE_SECONDS)
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _become_ready(self, message: dict[str, Any]) -> None:
        self.ready = True
        versions = message["ready"]
        if isinstance(versions, dict):
            self.versions = {str(k): str(v) for k, v in versions.items()}

    def _send(self, name: str, job: _Job, limits: ExecutionConfig) -> None:
        cap = limits.output_kb * 1024
        passed: list[int] = []
        try:
            passed.append(job_file(name, job.snippet, limits, shares=self._shares))
            # A value's text can take six bytes a character in JSON.
            sizes = {"stdout": cap, "stderr": cap, "report": 6 * cap + _REPORT_SLACK}
            sizes["kept"] = (limits.artefacts.total_mb + 1) << 20
            for channel, size in sizes.items():
                read_end, write_end = os.pipe()
                passed.append(write_end)
                os.set_blocking(read_end, False)
                job.channels[channel] = _Channel(read_end, size)
                self._selector.register(read_end, selectors.EVENT_READ, self)
            for path in job.snippet.data_files.values():
                passed.append(open_data(Path(path)))
            header = {
                "job": name,
                "fds": len(passed),
                "wall_seconds": limits.wall_seconds,
                "cpu_seconds": limits.cpu_seconds,
                "apart_seconds": limits.artefacts.cpu_seconds,
            }
            self._link.setblocking(True)
            self._link.settimeout(_GRACE_SECONDS)
            socket.send_fds(self._link, [json.dumps(header).encode() + b"\n"], passed)
        except (BrokenPipeError, ConnectionResetError, TimeoutError) as error:
            raise SandboxDiedError(f"hung up: {error}") from None
        finally:
            self._link.setblocking(False)
            for fd in passed:
                os.close(fd)

    def _messages(self) -> list[dict[str, Any]]:
        try:
            data = self._link.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError as error:
            raise SandboxDiedError(str(error)) from None
        if not data:
            raise SandboxDiedError(self._last_words())
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        try:
            return [dict(json.loads(line)) for line in lines]
        except (ValueError, TypeError, RecursionError):
            raise SandboxDiedError("spoke nonsense") from None

    def _last_words(self) -> str:
        """Return the last line the dead process wrote, for the error message."""
        self._process.kill()
        text = ""
        if self._process.stderr is not None:
            text = self._process.stderr.read(_CHUNK).decode("utf-8", "replace").strip()
        return text.splitlines()[-1] if text else "ended without a word"

    def _finish(self, message: dict[str, Any]) -> tuple[str, Snippet, Ending]:
        try:
            name = str(message["job"])
            job = self.jobs.pop(name)
        except KeyError:
            raise SandboxDiedError("spoke of a run that is not its own") from None
        for channel in job.channels.values():
            channel.drain()
        try:
            killed = message["killed"]
            peak = float(message["peak"])
            ending = Ending(
                status=int(message["status"]),
                killed=killed if killed in {"cpu", "wall", "apart"} else None,
                wall=float(message["wall"]),
                cpu=float(message["cpu"]),
                peak_mb=round(peak / 1024, 1),
                stdout=bytes(job.channels["stdout"].data),
                stderr=bytes(job.channels["stderr"].data),
                truncated=job.channels["stdout"].truncated or job.channels["stderr"].truncated,
                report=bytes(job.channels["report"].data),
                over=message["over"] is True,
                apart=float(message["apart"]),
                kept=bytes(job.channels["kept"].data),
                preloader=(float(message["clock"][0]), float(message["clock"][1])),
            )
        except (KeyError, TypeError, ValueError, IndexError):
            raise SandboxDiedError("spoke nonsense") from None
        finally:
            self._release(job)
        return name, job.snippet, ending

    def _release(self, job: _Job) -> None:
        for channel in job.channels.values():
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(channel.fd)
            os.close(channel.fd)
        job.channels.clear()


def job_file(name: str, snippet: Snippet, limits: ExecutionConfig, *, session: bool = False, shares: int = 1) -> int:
    """Return a descriptor of a nameless file that holds the job."""
    row = {
        "session": session,
        "shares": shares,
        "id": name,
        "code": snippet.code,
        "files": list(snippet.data_files),
        "limits": limits.per_snippet(),
    }
    data = json.dumps(row).encode()
    with tempfile.TemporaryFile() as handle:
        handle.write(data)
        handle.flush()
        return os.dup(handle.fileno())


def open_data(path: Path) -> int:
    """Open a data file for a run; raises ExecutionRefusedError."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError as error:
        raise ExecutionRefusedError(f"data file cannot be read: {error.strerror}", path=path) from None
