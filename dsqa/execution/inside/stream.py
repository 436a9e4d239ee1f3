"""What a run leaves behind, as it is written to the host.

A frame is a line of JSON, ``{"kind", "name", "parts": [[type, bytes], …], "facts"}``, and then the parts' bytes.
The last frame's kind is ``end``; without one, it was cut off.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

__all__ = ["Caps", "Stream"]

_encode = json.JSONEncoder().encode
_NOTE_CAP = 20
_NAME_CAP = 200


@dataclass(frozen=True)
class Caps:
    """How much of one run is kept; see `dsqa.study.sections.ArtefactConfig`."""

    figures: int = 20
    files: int = 20
    file_kb: int = 1024
    total_mb: int = 8
    cpu_seconds: float = 10.0


class Stream:
    """The writing end.

    Parameters
    ----------
    fd
        Open for writing.
    caps
        What there is room for.
    """

    def __init__(self, fd: int, caps: Caps) -> None:
        self.fd = fd
        self.caps = caps
        self.renew()

    def renew(self) -> None:
        """Start again with all the room there is."""
        self.room = self.caps.total_mb << 20
        self.notes: list[str] = []

    def say(self, note: str) -> None:
        """Add a note for whoever reads the result."""
        if len(self.notes) < _NOTE_CAP:
            self.notes.append(note[:300])

    def put(self, kind: str, name: str, parts: list[tuple[str, bytes]], facts: dict[str, Any]) -> None:
        """Write a frame, without the parts that there is no room for."""
        kept = []
        for media, content in parts:
            if len(content) > self.room:
                self.say(f"{kind} {name}: {media} left out, {len(content):,} bytes are more than there is room for")
                continue
            self.room -= len(content)
            kept.append((media, content))
        head = {"kind": kind, "name": name[:_NAME_CAP], "facts": facts}
        self._write({**head, "parts": [[media, len(content)] for media, content in kept]}, kept)

    def end(self, facts: dict[str, Any]) -> None:
        """Write the last frame."""
        self._write({"kind": "end", "name": "", "parts": [], "facts": {**facts, "notes": self.notes}}, [])

    def _write(self, head: dict[str, Any], parts: list[tuple[str, bytes]]) -> None:
        data = memoryview(b"".join([_encode(head).encode(), b"\n", *(content for _, content in parts)]))
        while data:
            data = data[os.write(self.fd, data) :]
