"""Which parts of this machine's file system the interpreter needs, wherever it is installed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from dsqa.execution.interpreter import find_environment

__all__ = ["Places", "find_places"]

_OUTSIDE = "/outside"
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store")
_CONFIGURATION = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts", "/etc/mime.types",
    "/etc/alternatives",
)  # fmt: skip


@dataclass(frozen=True)
class Places:
    """What is shown, read-only, inside a sandbox.

    Parameters
    ----------
    folders
        Path inside → real path outside.
    links
        Path inside → target, for top-level symbolic links such as ``/lib``.
    import_paths
        What the interpreter inside adds to `sys.path`.
    executable
        The interpreter.
    """

    folders: dict[str, str]
    links: dict[str, str]
    import_paths: tuple[str, ...]
    executable: str

    @property
    def readable(self) -> tuple[str, ...]:
        """Every path inside that may be read."""
        return tuple(self.folders)

    def clear_of(self, roots: tuple[str, ...]) -> Places:
        """Return the places with what lies below one of `roots` shown below ``/outside`` instead.

        The interpreter is then called by its real name: a link to it may lead to where nothing is any more.
        """

        def inside(path: str) -> str:
            return f"{_OUTSIDE}{path}" if any(Path(path).is_relative_to(root) for root in roots) else path

        if all(inside(path) == path for path in self.folders):
            return self
        return Places(
            {inside(path): outside for path, outside in self.folders.items()},
            self.links,
            tuple(inside(path) for path in self.import_paths),
            inside(str(Path(self.executable).resolve())),
        )


@functools.cache
def find_places(python: str = "") -> Places:
    """Return what an interpreter (by default this one) and its libraries need, and nothing above it."""
    environment = find_environment(python)
    folders: dict[str, str] = {}
    links: dict[str, str] = {}
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            links[name] = str(path.readlink())
        elif path.is_dir():
            folders[name] = name
    for name in _CONFIGURATION:
        path = Path(name)
        if path.exists():
            folders[name] = str(path.resolve())
    for prefix in environment.prefixes:
        _add(folders, Path(prefix))
    # `python` in a virtual environment is a chain of links; each folder on the way must be there.
    link = Path(environment.executable)
    while link.is_symlink():
        target = link.readlink()
        link = target if target.is_absolute() else link.parent / target
        _add(folders, link.parent.parent if link.parent.name == "bin" else link.parent)
    for entry in environment.paths:
        _add(folders, Path(entry))
    return Places(folders, links, environment.paths, environment.executable)


def _add(folders: dict[str, str], path: Path) -> None:
    for spelled in (path, path.resolve()):
        covered = any(spelled.is_relative_to(known) for known in folders)
        # A prefix that is the root or a home folder would show everything in it.
        if not covered and spelled.is_dir() and spelled not in {Path("/"), Path.home()}:
            folders[str(spelled)] = str(spelled.resolve())
