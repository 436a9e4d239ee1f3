"""Which format files are of: asked of every reader, which looks at their beginnings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dsqa.errors import SourceError
from dsqa.importing.files import head
from dsqa.importing.readers import all_readers
from dsqa.importing.runs import Reader

__all__ = ["choose_reader", "source_files"]

_SURE = 0.2
"""A reader that is less sure than this does not know the file."""


def source_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are meant: those named, and those in a folder that is named, or below it, by name.

    Raises
    ------
    SourceError
        One is not there, or a folder holds none.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p.relative_to(path)))
            if not inside:
                raise SourceError("holds no file", path=path)
            found.extend(inside)
        elif not path.exists():
            raise SourceError("no such file", path=path)
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def choose_reader(files: Sequence[Path], wanted: str | None = None) -> Reader:
    """Return the reader of the files' format.

    Parameters
    ----------
    files
        All of one format.
    wanted
        Its name, where a person says so.

    Raises
    ------
    SourceError
        There is no such reader; or none knows a file, or the files are of several formats, or two readers are
        equally sure.
    """
    readers = all_readers()
    if wanted is not None:
        if wanted not in readers:
            raise SourceError(
                f"'{wanted}' is not a format that can be imported", hint=f"one of: {', '.join(readers)}"
            )
        return readers[wanted]
    chosen: dict[str, Path] = {}
    for path in files:
        chosen.setdefault(_of_one(path, readers), path)
    if len(chosen) > 1:
        told = "; ".join(f"{path} is {readers[name].title}" for name, path in chosen.items())
        raise SourceError(f"the files are of several formats: {told}", hint="import them one format at a time")
    return readers[next(iter(chosen))]


def _of_one(path: Path, readers: dict[str, Reader]) -> str:
    sure = {name: reader.detect(path) for name, reader in readers.items()}
    best = max(sure.values(), default=0.0)
    names = [name for name, how in sure.items() if how == best]
    if best >= _SURE and len(names) == 1:
        return names[0]
    if best >= _SURE:
        raise SourceError(f"could be {' or '.join(names)}", path=path, hint=f"say which: --format {names[0]}")
    begins = head(path, 1024)
    if not begins.strip():
        raise SourceError("is empty", path=path)
    why = "is binary, and of no format that is known" if b"\0" in begins else "is of no format that is known"
    hint = (
        f"formats: {', '.join(readers)}; name one with --format; of a table with other column names also "
        "--column text=COLUMN --column question=COLUMN"
    )
    raise SourceError(why, path=path, hint=hint)
