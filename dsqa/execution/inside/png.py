"""PNG, checked chunk by chunk and stripped of everything that does not show. Nothing is decompressed."""

from __future__ import annotations

import struct
import zlib

__all__ = ["checked_png", "pixels_of"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SHOWN = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}
_MAX_SIDE = 20_000
_MAX_PIXELS = 40_000_000
_MAX_PALETTE = {b"PLTE": 768, b"tRNS": 256}


def checked_png(content: bytes) -> bytes | None:
    """Return the picture alone, or None if this is no whole PNG of bearable size.

    Parameters
    ----------
    content
        Untrusted bytes.

    Notes
    -----
    Chunks as in the PNG specification, third edition, section 5. Texts, profiles and times are left out.
    """
    if not content.startswith(_SIGNATURE):
        return None
    kept, position, first = [_SIGNATURE], len(_SIGNATURE), True
    while position + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, position)
        name = content[position + 4 : position + 8]
        end = position + 12 + length
        if end > len(content) or (name == b"IHDR") != first:
            return None
        (checksum,) = struct.unpack_from(">I", content, end - 4)
        if zlib.crc32(content[position + 4 : end - 4]) != checksum:
            return None
        if first and not _is_bearable(content[position + 8 : end - 4]):
            return None
        first = False
        if length > _MAX_PALETTE.get(name, length):
            return None
        if name in _SHOWN:
            kept.append(content[position:end])
        if name == b"IEND":
            return b"".join(kept) if len(kept) > 3 and length == 0 else None
        position = end
    return None


def pixels_of(content: bytes) -> int:
    """Return how many pixels a PNG has; 0 where it is not one that `checked_png` would keep."""
    if checked_png(content) is None:
        return 0
    width, height = struct.unpack_from(">II", content, len(_SIGNATURE) + 8)
    return int(width * height)


def _is_bearable(header: bytes) -> bool:
    if len(header) != 13:
        return False
    width, height = (int(side) for side in struct.unpack_from(">II", header))
    return 0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE and width * height <= _MAX_PIXELS
