"""The files that a snippet wrote into its folders."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import Any

from .stream import Stream

__all__ = ["Written"]

_MAX_LOOKED_AT = 2000
_CHUNK = 1 << 20
# What libraries put into a temporary folder by themselves.
_CACHES = re.compile(r"^(?:tmp/)?(?:matplotlib|fontlist-|\.cache|\.config|\.ipython|__pycache__|\.matplotlib|joblib)")
_State = tuple[int, int, int]


class Written:
    """The files of a working and a temporary folder, as they were when this was made.

    Parameters
    ----------
    work, temporary
        The folders.
    """

    def __init__(self, work: str, temporary: str) -> None:
        self.folders = {"": work, "tmp/": temporary}
        self.before = {name: state for name, _, state in self._files()}

    def write(self, stream: Stream) -> int:
        """Write what is new or changed; return how many files that is."""
        count = 0
        for name, path, state in self._files():
            if self.before.get(name) == state or _CACHES.match(name):
                continue
            count += 1
            changed = name in self.before
            self.before[name] = state
            if count > stream.caps.files:
                if count == stream.caps.files + 1:
                    stream.say(f"more than {stream.caps.files} files written: the rest are left out")
                continue
            content, digest, size = _read(path, stream.caps.file_kb * 1024)
            if digest is None:
                continue
            facts: dict[str, Any] = {"size": size, "sha256": digest, "changed": changed}
            if content is None:
                stream.say(f"file {name}: {size:,} bytes, more than the limit of {stream.caps.file_kb} kB for one")
            stream.put("file", name, [] if content is None else [("file", content)], facts)
        return count

    def _files(self) -> list[tuple[str, str, _State]]:
        found: list[tuple[str, str, _State]] = []
        for prefix, top in self.folders.items():
            for folder, _, names in os.walk(top):  # links to folders are not followed
                for name in names:
                    path = os.path.join(folder, name)  # noqa: PTH118
                    try:
                        info = os.lstat(path)
                    except OSError:
                        continue
                    if stat.S_ISREG(info.st_mode):
                        shown = prefix + os.path.relpath(path, top)
                        found.append((shown, path, (info.st_ino, info.st_size, info.st_mtime_ns)))
                    if len(found) >= _MAX_LOOKED_AT:
                        return found
        return sorted(found)


def _read(path: str, cap: int) -> tuple[bytes | None, str | None, int]:
    """Return content (None if larger than `cap`), SHA-256 and size."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None, None, 0
    digest, kept, size = hashlib.sha256(), bytearray(), 0
    try:
        while chunk := os.read(fd, _CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if size <= cap:
                kept += chunk
    except OSError:
        return None, None, 0
    finally:
        os.close(fd)
    return (bytes(kept) if size <= cap else None), digest.hexdigest(), size
