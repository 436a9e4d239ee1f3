"""Fewer memory maps: what a fork costs grows with their number, and every library brings four or five.

A shared library is mapped as headers, code, constants, relocated constants and data. With one permission for the
first three and one for the last two the kernel merges each group into one map. Code in the sandbox may do as it
likes with its own memory anyway, so nothing is given away.
"""

from __future__ import annotations

import ctypes
import mmap
import sys

__all__ = ["merge_maps"]

_PT_LOAD, _PT_GNU_RELRO = 1, 0x6474E552
_WRITABLE = 2
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PAGE = mmap.PAGESIZE


class _Segment(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("vaddr", ctypes.c_uint64),
        ("paddr", ctypes.c_uint64),
        ("filesz", ctypes.c_uint64),
        ("memsz", ctypes.c_uint64),
        ("align", ctypes.c_uint64),
    )


class _Object(ctypes.Structure):
    _fields_ = (
        ("addr", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("segments", ctypes.POINTER(_Segment)),
        ("count", ctypes.c_uint16),
    )


_Visitor = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Object), ctypes.c_size_t, ctypes.c_void_p)


def merge_maps() -> int:
    """Merge the maps of every loaded library; return how many libraries were treated.

    A library that the kernel refuses to change (a hardened kernel may) is left as it is: only speed depends on it.
    """
    if not sys.platform.startswith("linux") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return 0
    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    groups: list[tuple[int, int, int]] = []

    def visit(found: ctypes._Pointer[_Object], _size: int, _data: int | None) -> int:
        item = found.contents
        if item.name and b".so" in item.name:
            groups.extend(_groups(item))
        return 0

    libc.dl_iterate_phdr(_Visitor(visit), None)
    return sum(libc.mprotect(start, size, rights) == 0 for start, size, rights in groups)


def _groups(item: _Object) -> list[tuple[int, int, int]]:
    """Return (start, bytes, permission) for the read-only part and the relocated constants of a library."""
    fixed: list[tuple[int, int]] = []
    groups: list[tuple[int, int, int]] = []
    for index in range(item.count):
        segment = item.segments[index]
        start = (item.addr + segment.vaddr) & -_PAGE
        end = item.addr + segment.vaddr + segment.memsz
        if segment.type == _PT_LOAD and not segment.flags & _WRITABLE:
            fixed.append((start, (end + _PAGE - 1) & -_PAGE))
        elif segment.type == _PT_GNU_RELRO and (end & -_PAGE) > start:
            groups.append((start, (end & -_PAGE) - start, _READ | _WRITE))
    for start, end in fixed:
        groups.append((start, end - start, _READ | _EXECUTE))
    return groups
