"""Which failures say nothing about a snippet while others run beside it."""

from __future__ import annotations

from dsqa.execution.model import ExecutionResult

__all__ = ["may_be_the_neighbours"]

# EAGAIN, ENOMEM and ENFILE as the C library words them, and what Python and libraries make of them.
_WORDS = (
    "can't start new thread",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Too many open files in system",
    "pthread_create",
    "failed to spawn thread",
    "thread creation failed",
)
_TAIL = 2000


def may_be_the_neighbours(result: ExecutionResult, *, loaded: bool) -> bool:
    """Return whether a run may have failed for what others took: threads, memory, or the processor.

    Parameters
    ----------
    result
        How it ended beside others.
    loaded
        Whether so much ran that what works may have looked like what waits.

    Notes
    -----
    The wall limit ends what hardly runs; on a loaded machine that may be what gets no processor. CPU limits are the
    run's own.
    """
    if result.outcome == "killed by memory":
        return True
    if result.outcome == "timed out":
        return loaded and result.detail.startswith("wall")
    if result.outcome in {"failed", "blocked"}:
        told = result.detail + result.stderr[-_TAIL:]
        return any(word in told for word in _WORDS)
    return False
