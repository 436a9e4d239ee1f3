"""One part of what a run left, checked and written anew: in time that grows with its length and no faster."""

from __future__ import annotations

import json

from .png import checked_png
from .svg import cleaned_svg

__all__ = ["clean_part"]

_TEXTS = {"csv", "tsv", "txt", "md", "log", "json", "jsonl", "dat"}


def clean_part(media: str, name: str, content: bytes) -> tuple[str, bytes] | None:
    """Return what a part is kept as, or None where it is not what it says.

    Parameters
    ----------
    media
        ``png``, ``svg`` or ``json``; ``file`` for a file of any kind.
    name
        The file's name.
    content
        Untrusted bytes.
    """
    if media == "file":
        return _file(name, content)
    if media == "png":
        png = checked_png(content)
        return None if png is None else ("png", png)
    if media == "svg":
        svg = cleaned_svg(content)
        return None if svg is None else ("svg", svg)
    try:
        value = json.loads(content)
        plain = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError, MemoryError):
        return None
    return "json", plain.encode("ascii")


def _file(name: str, content: bytes) -> tuple[str, bytes]:
    """Keep a file as what it is found to be, by content first and name second."""
    png = checked_png(content)
    if png is not None:
        return "png", png
    suffix = name.rpartition(".")[2].lower() if "." in name else "txt"
    if suffix == "svg" and (svg := cleaned_svg(content)) is not None:
        return "svg", svg
    if suffix in {"jpg", "jpeg"} and content.startswith(b"\xff\xd8\xff"):
        return "jpg", content
    if suffix in _TEXTS and _is_text(content):
        return "csv" if suffix in {"csv", "tsv"} else "txt", content
    return "bin", content


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
