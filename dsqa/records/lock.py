"""One process at a time: an advisory lock that the kernel drops when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from dsqa.errors import RecordError, StudyLockedError

__all__ = ["FileLock"]


class FileLock:
    """An exclusive lock on a file of its own, held from construction to `release`.

    The file stays when the lock is released: deleting it would let two processes lock two files of one name.

    Parameters
    ----------
    path
        The lock file; made if it is not there. It holds the process id of its holder.

    Raises
    ------
    StudyLockedError
        Another process holds the lock; the message names it.
    RecordError
        The file cannot be made or locked.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RecordError(
                f"cannot be made: {error.strerror}",
                path=path,
                hint="the study's folder must be writable, with room left",
            ) from None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._fd, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise StudyLockedError(
                f"another dsqa process (pid {holder}) is working on this study",
                path=path.parent,
                hint="wait until it ends, or stop it; no run is lost",
            ) from None
        except OSError as error:
            os.close(self._fd)
            raise RecordError(
                f"cannot be locked: {error.strerror}", path=path, hint="put the study on a local disk"
            ) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            # A full disk: the lock holds all the same, only its holder's name is missing.
            pass

    def release(self) -> None:
        """Let go; harmless when done already."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
