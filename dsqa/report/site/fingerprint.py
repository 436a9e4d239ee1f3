"""What a page depends on, as hashes: the study, the code, the notebook, the theme.

A page is made again when any of them changes. What is left out is listed, not what is taken in: a file that nobody
thought of makes a page anew, and never leaves an outdated one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from dsqa.report.locate import shipped
from dsqa.study import StudyFolder
from dsqa.study.folder import hash_file

__all__ = ["code_hash", "hash_of", "mentioned_hashes", "study_hash", "theme_hash"]

# Of a study's folder, what is made from the rest of it, or says nothing of its runs.
_DERIVED = frozenset({"report", "figures", "cells.parquet", ".cells", "logs", "batch"})
_PASSING = (".lock", ".new", ".tmp")
# Files whose name is the hash of their content, by the thousand.
_NAMED_BY_CONTENT = "artefacts"


def hash_of(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    ).hexdigest()


def study_hash(folder: StudyFolder) -> str:
    """Return a hash of everything in a study's folder that a notebook may read."""
    rows: list[tuple[str, str]] = []
    for path in _files(folder.root):
        parts = path.relative_to(folder.root).parts
        if parts[0] in _DERIVED or path.name.endswith(_PASSING):
            continue
        content = str(path.stat().st_size) if parts[0] == _NAMED_BY_CONTENT else hash_file(path)
        rows.append(("/".join(parts), content))
    return hash_of(rows)


def mentioned_hashes(values: Mapping[str, Any], bases: Sequence[Path]) -> dict[str, str]:
    """Return a hash of each file and recorded study that a parameter names, such as an earlier study's folder.

    Parameters
    ----------
    values
        Parameter → value; lists are looked into.
    bases
        What relative paths are relative to: the notebook's working folder, and where studies lie beside each other.
    """
    found = {}
    for text, base in product(_texts(values.values()), bases):
        try:
            path = base / text
            if path.is_file():
                found[str(path)] = hash_file(path)
            elif StudyFolder(path).description_path.is_file():
                found[str(path)] = study_hash(StudyFolder(path))
        except (OSError, ValueError):  # too long for a path, or not one at all
            continue
    return found


@cache
def code_hash() -> str:
    """Return a hash of dsqa's own code, of the Python that runs it and of every package installed beside it."""
    package = Path(__file__).resolve().parents[2]
    rows = [platform.python_version(), *sorted(_installed())]
    for path in _files(package):
        parts = path.relative_to(package).parts
        # Neither what only turns commands into calls, nor what is shipped as files and hashed where it is used.
        if parts[0] not in {"cli", "_shipped"} and path.suffix != ".pyc":
            rows.append(f"{'/'.join(parts)} {hash_file(path)}")
    return hash_of(rows)


@cache
def theme_hash() -> str:
    """Return a hash of the Quarto project: template, style, filter, bibliography."""
    folder = shipped("reports")
    return hash_of([(path.relative_to(folder).as_posix(), hash_file(path)) for path in _files(folder)])


def _files(folder: Path) -> list[Path]:
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [Path(where) / name for name in names]
    return sorted(path for path in found if path.is_file())


def _installed() -> set[str]:
    # The folders' names say package and version; reading every package's metadata would take a second.
    names: set[str] = set()
    for entry in sys.path:
        place = Path(entry)
        if place.is_dir():
            names.update(path.name for path in place.glob("*.dist-info"))
    return names


def _texts(values: Iterable[Any]) -> list[str]:
    found: list[str] = []
    for value in values:
        if isinstance(value, str) and value:
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _texts(value)
    return found
