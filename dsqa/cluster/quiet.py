"""Loaded by workers that are started on this machine: Ctrl-C in the terminal reaches them too, and is not theirs."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(worker: Any) -> None:
    """Leave it to the process that was started to stop its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
