"""Contents on disk, each once, named by what they are: `artefacts/ab/ab12….png`."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from dsqa.errors import StudyError
from dsqa.execution.artefacts.model import Artefact, Part

__all__ = ["ArtefactStore"]


class ArtefactStore:
    """A folder of contents by hash.

    Parameters
    ----------
    root
        The folder; made when something is first put there. None stores nothing.
    """

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._known: set[str] = set()

    def put(self, artefact: Artefact) -> Artefact:
        """Store an artefact's contents and return it without them.

        Raises
        ------
        StudyError
            The folder cannot be written.
        """
        for part in artefact.parts:
            if self.root is not None and part.content is not None:
                self._write(self.root, part, part.content)
        return replace(artefact, parts=tuple(replace(part, content=None) for part in artefact.parts))

    def path(self, part: Part) -> Path | None:
        """Return the file that holds a part, or None where it is not stored (or was deleted)."""
        if self.root is None:
            return None
        path = self.root / part.path
        return path if path.is_file() else None

    def read(self, part: Part) -> bytes | None:
        """Return a part's content, or None where it is not stored or no longer what it was."""
        path = self.path(part)
        content = path.read_bytes() if path is not None else None
        return content if content is not None and hashlib.sha256(content).hexdigest() == part.sha256 else None

    def _write(self, root: Path, part: Part, content: bytes) -> None:
        path = root / part.path
        if part.path in self._known:
            return
        try:
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                # Whole or not at all, and two processes may write the same content at once.
                beside = path.with_name(f"{path.name}.{os.getpid()}.new")
                beside.write_bytes(content)
                beside.replace(path)
        except OSError as error:
            raise StudyError(f"cannot be written: {error.strerror}", path=path) from None
        self._known.add(part.path)
