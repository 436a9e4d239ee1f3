"""A plain log of a study's sampling, for whoever wants to know later what happened."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from dsqa.foreign import visible

__all__ = ["LOG_FILE", "sampling_log"]

LOG_FILE = "sampling.log"
_BYTES = 1 << 20
_OLDER = 2


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Write an entry on one line that commands no terminal, whatever a model or an endpoint put into it."""
        return visible(super().format(record), keep="")


class _QuietHandler(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Leave it at that: a full disk is told of by the records."""


@contextmanager
def sampling_log(folder: Path) -> Iterator[logging.Logger]:
    """Open ``sampling.log`` in a folder: at most three files of 1 MB, the oldest lines go first.

    The logger is this session's own: what others log does not end up in it, and what it is told goes nowhere else.
    """
    logger = logging.Logger("dsqa.sampling.log", logging.INFO)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = _QuietHandler(
            folder / LOG_FILE, maxBytes=_BYTES, backupCount=_OLDER, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        handler = logging.NullHandler()
    form = _OneLine("%(asctime)sZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    handler.setFormatter(form)
    logger.addHandler(handler)
    try:
        yield logger
    finally:
        handler.close()
