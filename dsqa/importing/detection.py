"""Which format files are of: asked of every reader, which looks at their beginnings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from dsqa.errors import DsqaError, SourceError
from dsqa.importing.columns import known_name
from dsqa.importing.files import head
from dsqa.importing.readers import all_readers
from dsqa.importing.runs import ImportReport, Reader
from dsqa.importing.tables import kind_of, rows_of

__all__ = ["choose_files", "choose_reader", "source_files"]

_SURE = 0.2
"""A reader that is less sure than this does not know the file."""
_CERTAIN = 0.8
"""A reader that is as sure has seen what only its format has."""


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
    """Return the reader of the files' format; see `choose_files`."""
    return choose_files(files, wanted)[0]


def choose_files(
    files: Sequence[Path], wanted: str | None = None, report: ImportReport | None = None, named: Collection[str] = ()
) -> tuple[Reader, list[Path]]:
    """Return the reader of the files' format, and the files that are of it; what else lies beside them is told.

    Parameters
    ----------
    files
        All of one format, but for files that no reader knows and plain tables beside the runs of a tool.
    wanted
        The format's name, where a person says so.
    report
        Where the files that are left out are told.
    named
        Columns that a person named: only a table has columns.

    Raises
    ------
    SourceError
        There is no such reader; or none knows any file, or the files are of several formats, or two readers are
        equally sure.
    """
    readers = all_readers()
    report = report or ImportReport(skip_bad=True)
    if wanted is not None:
        if wanted not in readers:
            raise SourceError(
                f"'{wanted}' is not a format that can be imported", hint=f"one of: {', '.join(readers)}"
            )
        return readers[wanted], list(files)
    found: dict[str, list[Path]] = {}
    sureness: dict[str, float] = {}
    unknown: list[SourceError] = []
    for path in files:
        try:
            name, sure = _of_one(path, readers, named)
        except SourceError as error:
            unknown.append(error)
            continue
        found.setdefault(name, []).append(path)
        sureness[name] = max(sure, sureness.get(name, 0.0))
    if not found:
        raise unknown[0]
    # A table without responses lies beside the runs of a tool, such as what it measured of its prompts.
    certain = [
        name for name, sure in sureness.items() if sure >= _CERTAIN or any(_has_responses(p) for p in found[name])
    ]
    if len(found) > 1 and len(certain) != 1:
        told = "; ".join(f"{paths[0]} is {readers[name].title}" for name, paths in found.items())
        raise SourceError(f"the files are of several formats: {told}", hint="import them one format at a time")
    chosen = certain[0] if len(found) > 1 else next(iter(found))
    for why in unknown:
        report.skip(why.path or files[0], why.line, why.message)
    for name, paths in found.items():
        for path in paths if name != chosen else []:
            report.leave_out(str(path), f"{readers[name].title}, and the others are {readers[chosen].title}")
    return readers[chosen], found[chosen]


def _of_one(path: Path, readers: dict[str, Reader], named: Collection[str]) -> tuple[str, float]:
    sure = {name: reader.detect(path) for name, reader in readers.items()}
    best = max(sure.values(), default=0.0)
    names = [name for name, how in sure.items() if how == best]
    if best >= _SURE and len(names) == 1:
        return names[0], best
    if best >= _SURE:
        raise SourceError(f"could be {' or '.join(names)}", path=path, hint=f"say which: --format {names[0]}")
    begins = head(path, 1024)
    if not begins.strip():
        raise SourceError("is empty", path=path)
    if named and kind_of(path) is not None:
        return "table", _SURE
    columns = _columns(path)
    if columns is not None:
        if not columns:
            raise SourceError("has no rows", path=path)
        shown = ", ".join(f"'{name}'" for name in columns[:12]) + (", …" if len(columns) > 12 else "")
        hint = "of a plain table say which column is what: --column text=COLUMN --column question=COLUMN"
        raise SourceError(f"is of no format that is known; its columns are {shown}", path=path, hint=hint)
    why = "is binary, and of no format that is known" if b"\0" in begins else "is of no format that is known"
    raise SourceError(why, path=path, hint=f"formats: {', '.join(readers)}; name one with --format")


def _has_responses(path: Path) -> bool:
    return any(known_name(name) == "text" for name in _columns(path) or ())


def _columns(path: Path) -> list[str] | None:
    """Return the columns of a table's first row, [] where it has none, None where it is no table."""
    if kind_of(path) is None:
        return None
    try:
        row = next(iter(rows_of(path, ImportReport(skip_bad=True))), None)
    except DsqaError:
        return None
    return [] if row is None else [name for name in row.values if len(name) < 80]
