"""Landlock: file access allowed by list, TCP refused, signals and abstract sockets kept inside."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

from . import kernel

__all__ = ["abi_version", "make_ruleset", "restrict"]

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_MAKE_SYM, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 12, 1 << 13, 1 << 14, 1 << 15
_RESTRICT_QUIETLY = 1
_FIRST_ABI = (1 << 13) - 1
_FOLDER = _READ_DIR | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER
_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


def abi_version() -> int:
    """Return the kernel's Landlock version; 0 where it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return kernel.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1), what="landlock")
    except OSError:
        return 0


def make_ruleset(readable: Iterable[str], writable: Iterable[str]) -> int:
    """Return a descriptor of the rules that allow the paths given and no others.

    Parameters
    ----------
    readable, writable
        Folders or files; those that do not exist are passed over. A rule holds for the folder that is there now: of
        what is mounted over it later, Landlock asks only what lies above.

    Raises
    ------
    OSError
        The kernel refused.
    """
    abi = abi_version()
    handled = _FIRST_ABI
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if abi >= since:
            handled |= right
    attributes = _Ruleset(handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = kernel.syscall(
        _CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0), what="landlock ruleset"
    )
    for paths, rights in ((readable, _READ_FILE | _READ_DIR), (writable, _FILE | _FOLDER)):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    return ruleset


def restrict(ruleset: int) -> None:
    """Hold this process to a ruleset for good, and close it; needs no_new_privs; raises OSError."""
    abi = abi_version()
    # Refusals are not to fill the machine's audit log.
    quiet = _RESTRICT_QUIETLY if abi >= 7 else 0
    kernel.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(quiet), what="landlock restrict")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE  # the kernel answers EINVAL to a folder's right on a file
        rule = _Beneath(rights, fd)
        kernel.syscall(
            _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0),
            what=f"landlock rule for {path}",
        )  # fmt: skip
    finally:
        os.close(fd)
