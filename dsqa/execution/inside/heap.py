"""A heap in huge pages: a fork then copies one entry for 512 pages, and an exit gives one back.

The libraries' objects go into glibc's main heap (``PYTHONMALLOC=malloc`` is set for the preloader), which is taken
in one piece before the first import, so that the kernel fills it with huge pages as it is first touched. Where there
is no glibc, or the kernel has no huge pages to give, nothing changes but the speed.
"""

from __future__ import annotations

import ctypes
import sys

__all__ = ["reserve_heap", "trim_heap"]

_HUGE = 2 << 20
_MADV_HUGEPAGE = 14
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # mallopt(3)
_DEFAULT_PAD = 128 << 10
# What glibc's own adjustment arrives at once large blocks were freed; set, because setting the pad stops that.
_LARGEST_IN_HEAP = 32 << 20


def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim") or not hasattr(libc, "sbrk"):
        return None
    libc.sbrk.restype = libc.malloc.restype = ctypes.c_void_p
    libc.sbrk.argtypes = [ctypes.c_ssize_t]
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc


def reserve_heap(size: int) -> None:
    """Take `size` bytes of heap in one piece and ask for huge pages in it; before the libraries are loaded."""
    libc = _library()
    if libc is None:
        return
    start = libc.sbrk(0)
    libc.mallopt(_TOP_PAD, size)
    libc.mallopt(_MMAP_THRESHOLD, _LARGEST_IN_HEAP)
    libc.mallopt(_TRIM_THRESHOLD, 2 * size)
    libc.free(libc.malloc(_HUGE))
    end = libc.sbrk(0)
    libc.mallopt(_TOP_PAD, _DEFAULT_PAD)
    if start and end:
        first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if last > first:
            libc.madvise(first, last - first, _MADV_HUGEPAGE)


def trim_heap() -> None:
    """Give back what was reserved and not used, so that it does not count as the snippets' own."""
    libc = _library()
    if libc is not None:
        libc.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_IN_HEAP)
        libc.malloc_trim(_HUGE)
