"""What was made of a study's reports so far, and from what: `report/.made.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dsqa.errors import ReportError
from dsqa.study.folder import hash_file, replace_text

__all__ = ["Made", "MadeFile"]


@dataclass
class MadeFile:
    """A file that was made: the key of what it was made from, and the hash of its own content.

    `beside` are the files that were made with it, such as a notebook's figures, by their paths relative to the
    study's folder.
    """

    key: str
    content: str
    beside: dict[str, str] = field(default_factory=dict)


class Made:
    """The list of files that were made; each is noted as soon as it is whole, so an interruption loses little.

    Parameters
    ----------
    report_dir
        The study's ``report/``. Made files are named by their names in it.
    """

    def __init__(self, report_dir: Path) -> None:
        self._dir = report_dir
        self._path = report_dir / ".made.json"
        self._files: dict[str, MadeFile] = {}
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
            self._files = {name: MadeFile(**row) for name, row in rows.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            # Not there, or not ours: everything is made anew.
            self._files = {}

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The files that were made, each with the key of what it was made from."""
        return tuple((name, made.key) for name, made in self._files.items())

    @property
    def names(self) -> tuple[str, ...]:
        """The files that were made."""
        return tuple(self._files)

    def is_current(self, name: str, key: str) -> bool:
        """Tell whether a file was made from just this, and neither it nor what lies beside it was changed since."""
        made = self._files.get(name)
        if made is None or made.key != key:
            return False
        root = self._dir.parent
        wanted = {self._dir / name: made.content, **{root / path: digest for path, digest in made.beside.items()}}
        return all(path.is_file() and hash_file(path) == digest for path, digest in wanted.items())

    def note(self, name: str, key: str, beside: Iterable[Path] = ()) -> None:
        """Note that a file has been made, with the files beside it.

        Raises
        ------
        ReportError
            The list cannot be written.
        """
        root = self._dir.parent
        hashes = {path.relative_to(root).as_posix(): hash_file(path) for path in sorted(set(beside))}
        self._files[name] = MadeFile(key, hash_file(self._dir / name), hashes)
        self._save()

    def note_all(self, names: Iterable[str], key: str) -> None:
        """Note files that have been made together.

        Raises
        ------
        ReportError
            The list cannot be written.
        """
        for name in names:
            self._files[name] = MadeFile(key, hash_file(self._dir / name))
        self._save()

    def forget(self, name: str) -> None:
        """Forget a file: it is made anew the next time."""
        if self._files.pop(name, None) is not None:
            self._save()

    def _save(self) -> None:
        rows = {name: asdict(made) for name, made in sorted(self._files.items())}
        try:
            replace_text(self._path, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ReportError(f"cannot be written: {error.strerror or error}", path=self._path) from None
