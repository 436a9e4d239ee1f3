"""The words of this room: a snippet, the isolation it runs under, and how running it ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from dsqa.execution.artefacts.model import Artefact
from dsqa.study.sections import ExecutionConfig

__all__ = ["UNSAFE_NAME", "ExecutionResult", "Isolation", "Outcome", "Snippet", "check_names"]

_MAX_DATA_FILES = 100

Outcome = Literal[
    "no code",
    "other language",
    "does not parse",
    "failed",
    "timed out",
    "killed by memory",
    "blocked",
    "missing package",
    "ran",
]
"""How running a response's code ended.

no code, other language: nothing to run; does not parse: not valid Python; failed: an exception, a non-zero exit
status or a fatal signal; timed out: the CPU or the wall limit; killed by memory: the memory limit; blocked: the
sandbox refused what the code asked for, and the code ended there; missing package: an import that the environment
lacks; ran: it came to its end. Whether what it printed is right is for the metrics to say.
"""

UNSAFE_NAME = "none (--unsafe)"


@dataclass(frozen=True)
class Snippet:
    """Code to run, and the data files it finds in its working folder.

    Parameters
    ----------
    id
        The caller's name for it.
    code
        Python source.
    data_files
        Name in the working folder → file on this machine. Each run gets its own read-only copy.
    """

    id: str
    code: str
    data_files: Mapping[str, Path] = field(default_factory=dict)

    def fingerprint(self, limits: ExecutionConfig) -> str:
        """Return a hash that is equal for equal code, data and limits, whatever the id.

        Parameters
        ----------
        limits
            The limits it would run under; how many workers share the work is left out.

        Returns
        -------
        str
            SHA-256, as 64 hex digits. Every data file is read.
        """
        data = {}
        for name, path in sorted(self.data_files.items()):
            with Path(path).open("rb") as handle:
                data[name] = hashlib.file_digest(handle, "sha256").hexdigest()
        parts = {"code": self.code, "data": data, "limits": limits.per_snippet()}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Isolation:
    """What this machine offers to run untrusted code under.

    Parameters
    ----------
    name
        ``bubblewrap``, ``sandbox-exec``, ``none`` or ``none (--unsafe)``.
    sufficient
        True if `execute` runs code under it without being told `unsafe`.
    why
        One sentence for a person: what was found, or what is missing and how to get it.
    layers
        The protections found to work, in words.
    missing
        Those this machine does not offer, without which it is sufficient all the same.
    """

    name: str
    sufficient: bool
    why: str
    layers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExecutionResult:
    """How one snippet ended.

    Parameters
    ----------
    snippet_id
        The snippet's id.
    outcome, detail
        See `Outcome`; the detail is the exception type and line, the limit that was hit, the package, ….
    stdout, stderr
        What it printed, each cut at the output limit.
    value
        `repr` of the last expression's value, as a notebook would show it; None where there is none.
    wall_seconds, cpu_seconds
        What it took, setting up its process included.
    isolation
        The name of the isolation it ran under.
    line
        1-based line of the snippet where it failed, where that is known.
    exception
        The exception's type, where it ended in one.
    truncated
        True if it printed more than the output limit.
    near_limit
        True if it ended, in whatever way, having used at least half of its CPU limit, or half of its wall limit in
        waiting: on another machine the outcome might have been another.
    environment
        Fingerprint of the Python and the packages it saw; see `dsqa.execution.interpreter`.
    peak_mb
        Largest resident memory of its process, the loaded libraries included.
    attempts
        2 if its worker broke, or it failed as others beside it may have made it, and it was run again alone.
    artefacts
        The figures it drew, the tables and images it showed, the files it wrote, as far as the caps allow; also of
        a run that failed, up to there.
    artefact_notes
        What was not kept, and why.
    artefact_cpu_seconds
        CPU seconds that drawing and keeping them took; not part of `cpu_seconds`.
    """

    snippet_id: str
    outcome: Outcome
    detail: str
    stdout: str
    stderr: str
    value: str | None
    wall_seconds: float
    cpu_seconds: float
    isolation: str
    line: int | None = None
    exception: str | None = None
    truncated: bool = False
    near_limit: bool = False
    environment: str = ""
    peak_mb: float | None = None
    attempts: int = 1
    artefacts: tuple[Artefact, ...] = ()
    artefact_notes: tuple[str, ...] = ()
    artefact_cpu_seconds: float = 0.0


def check_names(owner: str, names: Iterable[str]) -> None:
    """Make sure that data files' names stay inside a working folder.

    Raises
    ------
    ValueError
        One does not, or there are too many.
    """
    names = list(names)
    if len(names) > _MAX_DATA_FILES:
        raise ValueError(f"{owner}: more than {_MAX_DATA_FILES} data files")
    for name in names:
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
            raise ValueError(f"{owner}: '{name}' is not a name inside the working folder")
