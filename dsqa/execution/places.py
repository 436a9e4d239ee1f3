"""Which parts of this machine's file system the interpreter needs, wherever it is installed, and nothing else."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dsqa.execution.interpreter import Environment, find_environment

__all__ = ["Places", "find_places"]

_OUTSIDE = "/outside"
_PACKAGE = Path(__file__).parent.parent
_SYSTEM = (
    "/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64",
    "/nix/store",
)  # fmt: skip
_PREFIXES = ("/usr", "/usr/local")
_CONFIGURATION = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts", "/etc/mime.types",
    "/etc/alternatives",
)  # fmt: skip
# What libraries look for in an installation beside `lib`.
_SHARED: tuple[str, ...] = (
    "share/fonts", "share/fontconfig", "share/zoneinfo", "share/mime", "share/matplotlib", "share/proj", "share/gdal",
    "share/nltk_data", "nltk_data", "etc/fonts",
)  # fmt: skip


@dataclass(frozen=True)
class Places:
    """What is shown, read-only, inside a sandbox.

    Parameters
    ----------
    folders
        Path inside → real path outside; single files among them.
    links
        Path inside → target, for top-level symbolic links such as ``/lib``.
    hidden
        Folders inside that are shown empty: dsqa itself, whose questions come with their answers.
    import_paths
        What the interpreter inside adds to `sys.path`.
    executable
        The interpreter.
    """

    folders: dict[str, str]
    links: dict[str, str]
    hidden: tuple[str, ...]
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
        return replace(
            self,
            folders={inside(path): outside for path, outside in self.folders.items()},
            hidden=tuple(inside(path) for path in self.hidden),
            import_paths=tuple(inside(path) for path in self.import_paths),
            executable=inside(str(Path(self.executable).resolve())),
        )


@functools.cache
def find_places(python: str = "") -> Places:
    """Return what an interpreter (by default this one) and its libraries need, and nothing above it."""
    environment = find_environment(python)
    folders: dict[str, str] = {}
    links: dict[str, str] = {}
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink() and path.parent == Path("/"):
            links[name] = str(path.readlink())
        elif path.is_dir():
            folders[name] = str(path.resolve())
    for name in _CONFIGURATION:
        path = Path(name)
        if path.exists():
            folders[name] = str(path.resolve())
    for prefix in dict.fromkeys([*_PREFIXES, *environment.prefixes]):
        _add_prefix(folders, Path(prefix))
    for entry in (*environment.libraries, *environment.paths):
        _add(folders, Path(entry))
    # `python` in a virtual environment is a chain of links; each is shown as the program that it leads to.
    link = Path(environment.executable)
    _add(folders, link)
    while link.is_symlink():
        target = link.readlink()
        link = target if target.is_absolute() else link.parent / target
        _add(folders, link)
    return Places(folders, links, _hidden(folders, environment), environment.paths, environment.executable)


def _add_prefix(folders: dict[str, str], prefix: Path) -> None:
    """Show the libraries of an installation; what else lies in its folder (an ``.env``, say) is the user's."""
    if sys.platform == "darwin":
        names: tuple[str, ...] = (".",)  # a framework's parts lie beside each other
    elif str(prefix) in _PREFIXES:
        names = _SHARED
    else:
        names = ("lib", "lib64", "pyvenv.cfg", *_SHARED)
    if prefix in {Path("/"), Path.home()}:
        # Everything there may be anything; the library itself is added by name.
        for library in prefix.glob("lib/libpython*"):
            _add(folders, library)
        return
    for name in names:
        _add(folders, prefix / name)


def _add(folders: dict[str, str], path: Path) -> None:
    for spelled in (path, path.resolve()):
        covered = any(spelled.is_relative_to(known) for known in folders)
        if not covered and spelled.exists() and spelled not in {Path("/"), Path.home()}:
            folders[str(spelled)] = str(spelled.resolve())


def _hidden(folders: dict[str, str], environment: Environment) -> tuple[str, ...]:
    """Return dsqa's folders as they would be seen inside, by every way that leads to them."""
    own = {_PACKAGE.resolve(), *((Path(entry) / "dsqa").resolve() for entry in environment.paths)}
    found = []
    for inside, outside in folders.items():
        for package in own:
            if package.is_dir() and package.is_relative_to(outside):
                found.append(str(Path(inside) / package.relative_to(outside)))
    return tuple(dict.fromkeys(found))
