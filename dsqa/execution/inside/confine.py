"""What a snippet's process does to itself before the snippet runs. Any step that fails stops the run."""

from __future__ import annotations

import math
import os
import resource
import sys
from dataclasses import dataclass, field

from . import kernel, landlock, seccomp
from .stream import Caps

__all__ = ["Layers", "Limits", "confine", "make_scratch", "prepare"]

_MB = 1 << 20
_MAX_FILES_ON_DISK = 4096
_MAX_OPEN_FILES = 256
_MAX_TASKS = 256
_MAX_PENDING_SIGNALS = 128
_OTHERS_TASKS = 1024
# Reserved but unused address space (allocator arenas, thread stacks) that counts for RLIMIT_AS alone.
_ADDRESS_SLACK_MB = 256


@dataclass(frozen=True)
class Limits:
    """What one snippet may use; see `dsqa.study.ExecutionConfig`."""

    cpu_seconds: float
    wall_seconds: float
    memory_mb: int
    disk_mb: int
    output_kb: int
    artefacts: Caps = field(default_factory=Caps)
    shares: int = 1
    """How many runs are under way at once, where they share one count of threads."""


@dataclass(frozen=True)
class Layers:
    """Which protections this sandbox was found to have; each one named here must hold or nothing runs."""

    namespaces: bool = False
    users: bool = False
    landlock: bool = False
    seccomp: bool = False
    scratch: str = "/sandbox"
    readable: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    base_memory: dict[str, int] = field(default_factory=dict)


def make_scratch(layers: Layers, job: str, limits: Limits, data_bytes: int) -> str:
    """Make this process's private folders, enter the working folder and return its path."""
    base = layers.scratch
    if layers.namespaces:
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
        # The data files come on top of what the snippet may write.
        kernel.mount_private_tmpfs(base, limits.disk_mb * _MB + data_bytes + 64 * 1024, _MAX_FILES_ON_DISK)
    else:
        base = os.path.join(base, job)  # noqa: PTH118
        os.mkdir(base, 0o700)  # noqa: PTH102
    work, temporary = (os.path.join(base, name) for name in ("work", "tmp"))  # noqa: PTH118
    os.mkdir(work, 0o700)  # noqa: PTH102
    os.mkdir(temporary, 0o700)  # noqa: PTH102
    os.chdir(work)
    os.environ.update(HOME=work, TMPDIR=temporary, MPLCONFIGDIR=temporary)
    return work


def prepare(layers: Layers) -> None:
    """Make ahead, in the preloader, what is the same for every run."""
    if layers.namespaces and layers.seccomp:
        # Each run is process 1 of a namespace of its own.
        seccomp.own_filter(1, real_modes=True)


def confine(layers: Layers, limits: Limits) -> None:
    """Limit this process for good.

    Raises
    ------
    OSError
        A layer did not hold.
    """
    if layers.users:
        # No identity is mapped, so it is nobody's; what it counts (threads, signals) is this run's alone.
        kernel.unshare(kernel.CLONE_NEWUSER)
    if layers.namespaces or layers.users:
        kernel.drop_capabilities()
    _set_limits(layers, limits)
    if sys.platform == "linux":
        kernel.forbid_new_privileges()
    if layers.landlock:
        # One per run: the folder that it may write to is its own.
        writable = (layers.scratch if layers.namespaces else os.path.dirname(os.getcwd()), "/dev/null")  # noqa: PTH109, PTH120
        landlock.restrict(landlock.make_ruleset(layers.readable, writable))
    if layers.seccomp:
        seccomp.apply_filter(real_modes=layers.namespaces)


def _set_limits(layers: Layers, limits: Limits) -> None:
    cpu = max(1, math.ceil(limits.cpu_seconds + limits.artefacts.cpu_seconds))
    # SIGXCPU can be caught, so the hard limit a second later is the one that holds; the preloader is exact.
    _limit(resource.RLIMIT_CPU, cpu, cpu + 1)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits.disk_mb * _MB)
    _limit(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    memory = limits.memory_mb * _MB
    if "data" in layers.base_memory:
        _limit(resource.RLIMIT_DATA, layers.base_memory["data"] + memory)
    if "as" in layers.base_memory:
        _limit(resource.RLIMIT_AS, layers.base_memory["as"] + memory + _ADDRESS_SLACK_MB * _MB)
    for kind, most in (("SIGPENDING", _MAX_PENDING_SIGNALS), ("MSGQUEUE", 0), ("MEMLOCK", 0)):
        if hasattr(resource, f"RLIMIT_{kind}"):
            _limit(getattr(resource, f"RLIMIT_{kind}"), most)
    if layers.users:
        _limit(resource.RLIMIT_NPROC, _MAX_TASKS)
    elif layers.namespaces:
        # Counted together with the other runs in this sandbox, on old kernels with everything the user runs.
        _limit(resource.RLIMIT_NPROC, _MAX_TASKS * max(limits.shares, 1) + _OTHERS_TASKS)


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    _, ceiling = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))
