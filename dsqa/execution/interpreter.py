"""The Python that snippets see: dsqa's own, or another virtual environment's; what is installed there."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dsqa.errors import ExecutionRefusedError
from dsqa.execution.inside.describe import describe
from dsqa.study.sections import ExecutionConfig

__all__ = ["Environment", "changed_packages", "environment_of", "find_environment"]

_DESCRIBE = Path(__file__).parent / "inside" / "describe.py"
_OLDEST = (3, 11)
_SECONDS = 60.0
_SHOWN = 4


@dataclass(frozen=True)
class Environment:
    """An interpreter and its libraries.

    Parameters
    ----------
    version
        Python's.
    implementation
        ``CPython``, …
    executable
        The interpreter.
    prefixes
        The folders it is installed in.
    paths
        The folders its packages are in.
    libraries
        The folders its own library is in.
    packages
        Installed distribution (as package indexes spell it) → version.
    """

    version: str
    implementation: str
    executable: str
    prefixes: tuple[str, ...]
    paths: tuple[str, ...]
    packages: dict[str, str]
    libraries: tuple[str, ...] = ()

    @functools.cached_property
    def fingerprint(self) -> str:
        """16 hex digits, equal where Python and every package (dsqa itself apart) are of the same version."""
        packages = {name: version for name, version in self.packages.items() if name != "dsqa"}
        parts = {"python": self.version, "implementation": self.implementation, "packages": packages}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return what is recorded of it: versions, no paths."""
        return {"python": self.version, "implementation": self.implementation, "packages": self.packages}

    def problems(self, declared: tuple[str, ...]) -> list[str]:
        """Return what is declared and not here, one phrase each: absent, or of another version."""
        found = []
        for text in declared:
            wanted = Requirement(text)
            if wanted.marker is not None and not wanted.marker.evaluate():
                continue
            have = self.packages.get(canonicalize_name(wanted.name))
            if have is None:
                found.append(f"'{text}' is not installed")
            elif not wanted.specifier.contains(have, prereleases=True):
                found.append(f"'{text}' is installed as {have}")
        return found


def changed_packages(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return in words what differs between two environments, as `Environment.to_dict` gives them."""
    old = {"Python": before.get("python", ""), **before.get("packages", {})}
    new = {"Python": after["python"], **after["packages"]}
    changes = [
        f"{name} {old.get(name) or 'absent'} → {new.get(name) or 'absent'}"
        for name in sorted({*old, *new}, key=lambda name: (name != "Python", name))
        if old.get(name) != new.get(name)
    ]
    more = [f"{len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return ", ".join([*changes[:_SHOWN], *more]) or "another build"


def environment_of(config: ExecutionConfig) -> Environment:
    """Return the environment that snippets see under `config`, once it is what the study declares.

    Raises
    ------
    ExecutionRefusedError
        The interpreter does not answer, or a declared package is absent or of another version.
    """
    environment = find_environment(config.python or "")
    problems = environment.problems(config.packages)
    if problems:
        where = environment.executable
        raise ExecutionRefusedError(
            f"generated code is not run: the study declares packages that {where} lacks: {'; '.join(problems)}",
            hint="install them there, or change 'execution: packages' in the study",
        )
    return environment


@functools.lru_cache(maxsize=8)
def find_environment(python: str = "") -> Environment:
    """Return what `python` is: an interpreter, the folder of a virtual environment, or by default our own.

    Raises
    ------
    ExecutionRefusedError
        There is no such interpreter, it does not answer, or it is too old.
    """
    if not python:
        return _from_row(describe())
    program = Path(python).expanduser()
    if program.is_dir():
        program = program / "bin" / "python"
    if not program.is_file():
        raise ExecutionRefusedError("no Python here", path=program, hint="'execution: python' in the study names it")
    try:
        done = subprocess.run(
            [str(program), "-I", str(_DESCRIBE)], capture_output=True, timeout=_SECONDS, check=True, cwd="/"
        )
        environment = _from_row(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise ExecutionRefusedError(
            f"does not answer as a Python interpreter ({type(error).__name__})",
            path=program,
            hint="'execution: python' in the study names it",
        ) from None
    if tuple(int(part) for part in environment.version.split(".")[:2]) < _OLDEST:
        raise ExecutionRefusedError(
            f"is Python {environment.version}; generated code needs {'.'.join(map(str, _OLDEST))} or later",
            path=program,
        )
    return environment


def _from_row(row: dict[str, Any]) -> Environment:
    return Environment(
        version=row["version"],
        implementation=row["implementation"],
        executable=row["executable"],
        prefixes=tuple(row["prefixes"]),
        paths=tuple(row["paths"]),
        packages=dict(row["packages"]),
        libraries=tuple(row["libraries"]),
    )
