"""The warm process: it has the scientific stack loaded, and forks a child for every snippet it is sent.

It never sees a snippet's code, data or output: those pass through descriptors that the host sends along and only
the child reads, so no later child finds them in its memory. What it reports is what only a parent knows: how the
child ended and what it used. It speaks newline-delimited JSON over a socket that children do not inherit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import mmap
import os
import resource
import select
import shutil
import signal
import socket
import sys
import threading
import time
from typing import Any

from . import kernel
from .confine import Layers, prepare
from .heap import reserve_heap, trim_heap
from .maps import merge_maps
from .snippet import child_main
from .warm import warm_up
from .watch import Child, Kernel

__all__ = ["main"]

_POLL_SECONDS = 0.05
_MAX_FDS = 250
# The host's descriptors before the data files: the job, standard output and error, the report, what is kept.
_CHANNELS = 5


class _Preloader:
    def __init__(self, link: socket.socket, layers: Layers) -> None:
        self.link = link
        self.layers = layers
        self.children: dict[int, Child] = {}
        self.buffer = b""
        self.fds: list[int] = []
        self.forking = 0.0
        self.wake_read, self.wake_write = os.pipe()
        for end in (self.wake_read, self.wake_write):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        self.own_pids = os.pidfd_open(os.getpid()) if layers.namespaces else -1

    def send(self, row: dict[str, Any]) -> None:
        self.link.sendall(json.dumps(row).encode() + b"\n")

    def serve(self) -> None:
        while True:
            timeout = _POLL_SECONDS if self.children else None
            # A closed pipe is always "readable": watched on, it would wake us until the child is gone.
            marks = {child.marks: child for child in self.children.values() if not child.silent}
            ready, _, _ = select.select([self.link.fileno(), self.wake_read, *marks], [], [], timeout)
            for fd in marks.keys() & set(ready):
                marks[fd].read_marks(time.monotonic(), _cpu_seconds(marks[fd].pid))
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
            if self.link.fileno() in ready and not self.receive():
                return
            self.enforce()
            self.reap()

    def receive(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self.link, 65536, _MAX_FDS)
        if not data:
            return False
        self.buffer += data
        self.fds += fds
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            job = json.loads(line)
            (self.cell if "cell" in job else self.start)(job)
        return True

    def cell(self, row: dict[str, Any]) -> None:
        """A cell of a session begins or ends."""
        for child in self.children.values():
            if child.job == row["cell"] and isinstance(child, Kernel):
                now, cpu = time.monotonic(), _cpu_seconds(child.pid)
                if row.get("kills"):
                    self.kill(child, "host")
                elif row["ends"]:
                    self.send({"cell": child.job, **child.end(now, cpu)})
                else:
                    child.begin(now, cpu, (row["cpu_seconds"], row["wall_seconds"]))

    def start(self, job: dict[str, Any]) -> None:
        count = int(job["fds"])
        fds, self.fds = self.fds[:count], self.fds[count:]
        if self.layers.namespaces:
            kernel.unshare(kernel.CLONE_NEWPID)  # for the next child only
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            # Here, and not in the child, which would have to copy every page that seeding touches. `random` does
            # it by itself after a fork.
            numpy_random.seed()
        started = time.monotonic()
        marks, marks_end = os.pipe()
        os.set_blocking(marks, False)
        before = time.process_time()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            child_main([*fds[:_CHANNELS], marks_end, *fds[_CHANNELS:]], self.layers)
        self.forking += time.process_time() - before
        os.close(marks_end)
        if self.layers.namespaces:
            kernel.set_namespace(self.own_pids, kernel.CLONE_NEWPID)
        for fd in fds:
            os.close(fd)
        limits = (job["wall_seconds"], job["cpu_seconds"], job["apart_seconds"])
        kind = Kernel if job.get("session") else Child
        self.children[pid] = kind(job["job"], pid, started, *limits, marks)

    def enforce(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            hit = child.overrun(now, _cpu_seconds(child.pid)) if child.killed is None else None
            if hit == "interrupt":
                os.kill(child.pid, signal.SIGINT)
            elif hit is not None:
                self.kill(child, hit)

    def kill(self, child: Child, why: str) -> None:
        child.killed = why
        # Not reaped yet, so the number cannot belong to anyone else.
        os.kill(child.pid, signal.SIGKILL)

    def reap(self) -> None:
        for pid in list(self.children):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done != pid:
                continue
            child = self.children.pop(pid)
            cpu = usage.ru_utime + usage.ru_stime
            child.read_marks(time.monotonic(), cpu)
            os.close(child.marks)
            if not self.layers.namespaces:
                self.sweep(child)
            self.send(
                {
                    "job": child.job,
                    "status": status,
                    "killed": child.killed,
                    **child.used(time.monotonic(), cpu),
                    "peak": usage.ru_maxrss,
                    # Of this process, all runs together: for benchmarks.
                    "clock": [self.forking, time.process_time()],
                }
            )

    def sweep(self, child: Child) -> None:
        """Without a private namespace: end what the child left running and remove what it left on disk."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        shutil.rmtree(os.path.join(self.layers.scratch, child.job), ignore_errors=True)  # noqa: PTH118


def _cpu_seconds(pid: int) -> float:
    # The clock id of another process's CPU time: clock_getcpuclockid(3).
    try:
        return time.clock_gettime(((~pid) << 3) | 2) if sys.platform == "linux" else 0.0
    except OSError:
        return 0.0


def _mapped_bytes(kind: int) -> int:
    """Find how much this process already counts against a memory limit, by trying limits out.

    There is no /proc here to ask.
    """
    soft, hard = resource.getrlimit(kind)
    low, high = 0, 1 << 44
    while high - low > mmap.PAGESIZE * 16:
        middle = (low + high) // 2
        fits = False
        try:
            resource.setrlimit(kind, (middle, hard))
            try:
                mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
                fits = True
            except (OSError, MemoryError):
                pass
        finally:
            resource.setrlimit(kind, (soft, hard))
        if fits:
            high = middle
        else:
            low = middle
    return high


def _enter_own_pid_namespace() -> None:
    """Become pid 1 of a pid namespace that this user namespace owns, so that it can be returned to."""
    kernel.unshare(kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)
    pid = os.fork()
    if pid:
        os.closerange(0, 3)
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _check_users() -> None:
    """Make sure that threads are counted per user namespace (Linux 5.14), and that there may be one per run.

    Raises
    ------
    OSError
        They are not.
    """
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            kernel.unshare(kernel.CLONE_NEWUSER)
            kernel.drop_capabilities()
            # This process and one more: counted with those outside it would be too many already.
            resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    if status:
        raise OSError("threads are not counted per run here")


def main(settings: dict[str, Any]) -> None:
    """Serve until the host hangs up.

    Parameters
    ----------
    settings
        ``layers`` (fields of `Layers`), ``modules`` to load, ``paths`` to put on `sys.path`.
    """
    lists = {name: tuple(settings["layers"][name]) for name in ("readable", "devices")}
    layers = Layers(**{**settings["layers"], **lists})
    if layers.namespaces:
        _enter_own_pid_namespace()
        for device in layers.devices:
            kernel.make_read_only(device)
    if layers.users:
        _check_users()
    # Nothing of what is loaded is ever garbage.
    gc.disable()
    reserve_heap(settings["heap_mb"] << 20)
    link = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for path in settings["paths"]:
        if path not in sys.path:
            sys.path.append(path)
    versions = {}
    for name in settings["modules"]:
        try:
            versions[name] = str(getattr(importlib.import_module(name), "__version__", ""))
        except ImportError:
            continue  # reported by its absence; a snippet that needs it gets "missing package"
    warm_up(set(versions))
    prepare(layers)
    merge_maps()
    gc.collect()
    trim_heap()
    if sys.platform == "linux":
        memory = {"data": _mapped_bytes(resource.RLIMIT_DATA), "as": _mapped_bytes(resource.RLIMIT_AS)}
        layers = dataclasses.replace(layers, base_memory=memory)
    # Without this a child's first collection would touch, and so copy, every page of the loaded modules.
    gc.freeze()
    gc.enable()
    preloader = _Preloader(link, layers)
    preloader.send({"ready": versions, "python": sys.version.split()[0], "memory": layers.base_memory})
    preloader.serve()
    # Taking the loaded libraries down in order would take longer than a hundred runs.
    os._exit(0)
