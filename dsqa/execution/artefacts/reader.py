"""Have what runs left parsed elsewhere: by a process in a sandbox, which may be ended at any time."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

from dsqa.execution.inside.clean import clean_part
from dsqa.execution.launch import Launch, make_scratch_folder, start_process

__all__ = ["Clean", "PartUnreadError", "Reader", "clean_here"]

# Far more than the CPU seconds that the process gives itself, for a machine that is busy.
_WAIT_SECONDS = 60.0
_CHUNK = 1 << 18
# An answer may be longer than what was asked about, by the escapes that JSON and XML need.
_GROWTH, _SLACK = 8, 1 << 16
_MEDIA = {
    "png": {"png"}, "svg": {"svg"}, "json": {"json"}, "file": {"png", "svg", "jpg", "csv", "txt", "bin"},
}  # fmt: skip


class PartUnreadError(Exception):
    """Reading a part took more time or memory than it may."""


class Clean:
    """How a part is checked: its kind, its name and its bytes go in, what it is kept as comes out."""

    def __call__(self, media: str, name: str, content: bytes) -> tuple[str, bytes] | None:
        """Return what a part is kept as, None where it is not what it says; may raise PartUnreadError."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started for it."""


class _Here(Clean):
    def __call__(self, media: str, name: str, content: bytes) -> tuple[str, bytes] | None:
        return clean_part(media, name, content)


clean_here = _Here()
"""In this process, without a limit: for what comes from elsewhere than a run."""


class Reader(Clean):
    """A process in a sandbox, started with the first part and again after one that ended it.

    Parameters
    ----------
    launch
        How the sandbox is started.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._scratch: Path | None = None

    def __call__(self, media: str, name: str, content: bytes) -> tuple[str, bytes] | None:
        """Return what a part is kept as, or None where it is not what it says.

        Raises
        ------
        PartUnreadError
            The process ended over it.
        """
        try:
            deadline = time.monotonic() + _WAIT_SECONDS
            link = self._link or self._start(deadline)
            head = json.dumps([media, name, len(content)]).encode() + b"\n"
            link.settimeout(_WAIT_SECONDS)
            link.sendall(head + content)
            return self._answer(link, media, _GROWTH * len(content) + _SLACK, deadline)
        except (OSError, ValueError, TypeError, KeyError):
            self.close()
            raise PartUnreadError from None

    def close(self) -> None:
        """End the process."""
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None

    def _start(self, deadline: float) -> socket.socket:
        self.close()
        if self._launch.kind != "bubblewrap":
            self._scratch = make_scratch_folder()
        self._link, theirs = socket.socketpair()
        with theirs:
            self._process = start_process(self._launch, theirs.fileno(), (), self._scratch, entry="reader")
        if _line(self._link, 64, deadline)[0] != b"ready":
            raise ValueError("the reader does not start")
        return self._link

    def _answer(self, link: socket.socket, media: str, most: int, deadline: float) -> tuple[str, bytes] | None:
        line, rest = _line(link, 256, deadline)
        found = json.loads(line)
        if found is None:
            return None
        kept, size = str(found[0]), int(found[1])
        if kept not in _MEDIA[media] or not len(rest) <= size <= most:
            raise ValueError("no answer")
        content = bytearray(rest)
        while len(content) < size:
            content += _received(link, size - len(content), deadline)
        return kept, bytes(content)


def _line(link: socket.socket, most: int, deadline: float) -> tuple[bytes, bytes]:
    data = b""
    while b"\n" not in data:
        if len(data) > most:
            raise ValueError("no line")
        data += _received(link, _CHUNK, deadline)
    line, _, rest = data.partition(b"\n")
    return line, rest


def _received(link: socket.socket, size: int, deadline: float) -> bytes:
    link.settimeout(max(deadline - time.monotonic(), 0.001))
    data = link.recv(min(size, _CHUNK))
    if not data:
        raise ConnectionError("the reader ended")
    return data
