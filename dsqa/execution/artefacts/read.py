"""Read what a run left behind. The snippet may have written any of it, so nothing in it is believed unchecked."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from dsqa.execution.artefacts.model import Artefact, Media, Part, whole_text
from dsqa.execution.artefacts.reader import Clean, PartUnreadError, clean_here
from dsqa.study.sections import ArtefactConfig

__all__ = ["PARTS", "DamagedFrameError", "Kept", "artefact_of", "next_frame", "notes_of", "read_artefacts"]

Frame = tuple[dict[str, Any], list[tuple[str, bytes]]]

_HEAD_CAP = 1 << 16
_NAME_CAP = 200
_TEXT_CAP = 300
_NOTES = 20
_MAX_FACTS = 12
PARTS: dict[str, tuple[str, ...]] = {
    "figure": ("png", "svg", "json"), "table": ("json",), "image": ("png",), "file": ("file",),
}  # fmt: skip
"""Which parts each kind of artefact may have."""
# Beyond the figures and files that are counted: tables and images shown.
_MORE = 200


class DamagedFrameError(ValueError):
    """What was read is no frame: the snippet wrote it, or wrote into it."""


@dataclass(frozen=True)
class Kept:
    """What was read, and what was wrong with the rest."""

    artefacts: tuple[Artefact, ...] = ()
    notes: tuple[str, ...] = ()


def read_artefacts(data: bytes, caps: ArtefactConfig, clean: Clean = clean_here) -> Kept:
    """Read the frames that a run wrote.

    Parameters
    ----------
    data
        The run's file: untrusted.
    caps
        What may be kept; more than that is dropped, whatever the run says.
    clean
        Checks each part.

    Returns
    -------
    Kept
        Everything before the first frame that is none.
    """
    found: list[Artefact] = []
    notes: list[str] = []
    counts = dict.fromkeys(PARTS, 0)
    most = {"figure": caps.figures, "file": caps.files, "table": _MORE, "image": _MORE}
    room = caps.total_mb << 20
    ended = not data
    for head, parts in _frames(data):
        if head["kind"] == "end":
            ended = True
            notes += notes_of(head["facts"])
            break
        counts[head["kind"]] += 1
        room -= sum(len(content) for _, content in parts)
        if counts[head["kind"]] > most[head["kind"]] or room < 0:
            continue
        found.append(artefact_of(head, parts, notes, clean))
    if not ended:
        notes.append("what came after is lost: the run ended while it was being kept")
    return Kept(tuple(found), tuple(dict.fromkeys(notes)))


def _frames(data: bytes) -> Iterator[Frame]:
    position = 0
    with contextlib.suppress(DamagedFrameError):
        while (found := next_frame(data, position, {**PARTS, "end": ()})) is not None:
            head, parts, position = found
            yield head, parts


def next_frame(
    data: bytes | bytearray, position: int, allowed: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, Any], list[tuple[str, bytes]], int] | None:
    """Return the frame at `position` and where the next one begins; None where it is not whole yet.

    Parameters
    ----------
    data
        What was read so far.
    position
        In it.
    allowed
        Kind of frame → the parts it may have.

    Raises
    ------
    DamagedFrameError
        There is something else.
    """
    stop = data.find(b"\n", position, position + _HEAD_CAP)
    if stop < 0:
        if len(data) - position >= _HEAD_CAP:
            raise DamagedFrameError("no frame")
        return None
    try:
        head = json.loads(data[position:stop])
        sizes = [(str(media), int(size)) for media, size in head["parts"]]
        kind, valid = head["kind"], isinstance(head["name"], str) and isinstance(head["facts"], dict)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        raise DamagedFrameError("no frame") from None
    if not valid or kind not in allowed or len(sizes) > len(allowed[kind]):
        raise DamagedFrameError("a frame of no known kind, or of too many parts")
    if any(media not in allowed[kind] or size < 0 for media, size in sizes):
        raise DamagedFrameError("a frame with parts of no known kind")
    position = stop + 1
    if position + sum(size for _, size in sizes) > len(data):
        return None
    parts = []
    for media, size in sizes:
        parts.append((media, bytes(data[position : position + size])))
        position += size
    return head, parts, position


def notes_of(facts: dict[str, Any]) -> list[str]:
    """Return the notes in a last frame."""
    said = facts.get("notes")
    return [whole_text(str(note)[:_TEXT_CAP]) for note in said[:_NOTES]] if isinstance(said, list) else []


def artefact_of(
    head: dict[str, Any], raw: list[tuple[str, bytes]], notes: list[str], clean: Clean = clean_here
) -> Artefact:
    """Return what a frame holds, each part checked; what is not what it says is left out and noted."""
    name = "".join(c if c.isprintable() else "�" for c in head["name"][:_NAME_CAP])
    parts: dict[str, Part] = {}
    for media, content in raw:
        try:
            checked = clean(media, name, content)
        except PartUnreadError:
            notes.append(f"{head['kind']} {name}: reading it as {media} took too long")
            continue
        if checked is None:
            notes.append(f"{head['kind']} {name}: what it gave as {media} is none")
        else:
            kept = cast("Media", checked[0])
            parts.setdefault(kept, Part.of(kept, checked[1]))
    facts = {whole_text(str(key)[:40]): _fact(value) for key, value in list(head["facts"].items())[:_MAX_FACTS]}
    return Artefact(head["kind"], name, tuple(parts.values()), facts)


def _fact(value: Any) -> Any:
    """Return a small plain value: a number, a text, or a short list of them."""
    if isinstance(value, list):
        return [_fact(item) for item in value[:20] if not isinstance(item, list | dict)]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < 1e15 and math.isfinite(value) else None
    return whole_text(value[:_TEXT_CAP]) if isinstance(value, str) else None
