"""The words: an artefact, and the files it is kept as."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

__all__ = ["Artefact", "ArtefactKind", "Media", "Part", "whole_text"]

ArtefactKind = Literal["figure", "table", "image", "file"]
Media = Literal["png", "svg", "json", "csv", "txt", "jpg", "bin"]
"""What a part is kept as. png: checked, and only what shows; svg: only what draws; json: read and written anew;
csv, txt: valid UTF-8; jpg: by its first bytes; bin: anything else, never to be opened by a program of its own accord.
"""


def whole_text(text: str) -> str:
    """Return a text that has a UTF-8 form: halves of surrogate pairs, which a snippet may raise or show, replaced."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True)
class Part:
    """One form of an artefact.

    Parameters
    ----------
    media
        See `Media`; the suffix of the file it is stored as.
    sha256, size
        Of the content, as hex and in bytes.
    content
        The bytes; None once they are stored.
    """

    media: Media
    sha256: str
    size: int
    content: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, media: Media, content: bytes) -> Self:
        """Return the part with this content."""
        return cls(media, hashlib.sha256(content).hexdigest(), len(content), content)

    @property
    def path(self) -> str:
        """Where it lies in an artefact folder, relative to that."""
        return f"{self.sha256[:2]}/{self.sha256}.{self.media}"


@dataclass(frozen=True)
class Artefact:
    """Something a run showed, drew or wrote.

    Parameters
    ----------
    kind
        ``figure`` (parts: png, svg, and json of what was drawn), ``table`` (json), ``image`` (png), ``file``.
    name
        ``figure 1``, or for a file the name the snippet gave it; never a path to be used as such.
    parts
        What was kept of it; empty where it was too large.
    facts
        Small facts: a figure's title, number of axes, whether it was shown and what it was saved as; a table's
        type, shape and source; a file's size, hash and whether it replaced a data file.
    """

    kind: ArtefactKind
    name: str
    parts: tuple[Part, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def part(self, media: Media) -> Part | None:
        """Return the part of that kind, if there is one."""
        return next((part for part in self.parts if part.media == media), None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the contents, as plain data."""
        parts = [{"media": part.media, "sha256": part.sha256, "size": part.size} for part in self.parts]
        return {"kind": self.kind, "name": self.name, "parts": parts, "facts": self.facts}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Self:
        """Rebuild an artefact from `to_dict`'s output.

        Raises
        ------
        ValueError
            It is not one.
        """
        parts = []
        for part in row["parts"]:
            if part["media"] not in get_args(Media) or not _is_hash(part["sha256"]):
                raise ValueError("an artefact's part is damaged")
            parts.append(Part(part["media"], part["sha256"], int(part["size"])))
        if row["kind"] not in get_args(ArtefactKind):
            raise ValueError(f"'{row['kind']}' is no kind of artefact")
        return cls(row["kind"], str(row["name"]), tuple(parts), dict(row["facts"]))


def _is_hash(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 64 and not set(text) - set("0123456789abcdef")
