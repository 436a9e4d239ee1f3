"""The few Linux system calls that Python has no names for, through the C library."""

from __future__ import annotations

import ctypes
import os
import platform

__all__ = [
    "CLONE_NEWIPC",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "drop_capabilities",
    "forbid_new_privileges",
    "make_read_only",
    "mount_private_tmpfs",
    "prctl",
    "set_namespace",
    "syscall",
    "unshare",
]

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWUSER = 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 32, 4096
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    """Make a raw system call.

    Raises
    ------
    OSError
        The kernel refused it.
    """
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), what)


def prctl(option: int, *arguments: object) -> int:
    """Call `prctl`; raises OSError."""
    padded = [*arguments, *[0] * (4 - len(arguments))]
    values = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in padded]
    return _checked(_libc.prctl(option, *values), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags`; raises OSError."""
    _checked(_libc.unshare(flags), "unshare")


def set_namespace(fd: int, kind: int) -> None:
    """Enter the namespace of `kind` behind `fd`; raises OSError."""
    _checked(_libc.setns(fd, kind), "setns")


def mount_private_tmpfs(target: str, size_bytes: int, inodes: int) -> None:
    """Mount an empty tmpfs on `target` in this process's own mount namespace; raises OSError."""
    options = f"size={size_bytes},nr_inodes={inodes},mode=700".encode()
    _checked(_libc.mount(b"dsqa", target.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, options), "mount tmpfs")


def make_read_only(target: str) -> None:
    """Let nobody change what is mounted on `target`; a device there can still be written to; raises OSError."""
    flags = _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC
    _checked(_libc.mount(None, target.encode(), None, flags, None), f"remount {target}")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


# Made once, before the forks.
_CAPABILITIES, _NONE = _CapabilityHeader(0x20080522, 0), (ctypes.c_uint32 * 6)()
_CAPSET = _SYS_CAPSET.get(platform.machine(), -1)


def drop_capabilities() -> None:
    """Give up every capability for good; raises OSError."""
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    syscall(_CAPSET, ctypes.byref(_CAPABILITIES), _NONE, what="capset")


def forbid_new_privileges() -> None:
    """Set no_new_privs, and make this process unreadable to others of the same user; raises OSError."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    prctl(_PR_SET_DUMPABLE, 0)
