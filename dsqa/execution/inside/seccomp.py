"""The system-call filter of a snippet: what `calls` lists may be made, and nothing else.

Classic BPF as in seccomp(2): the program reads the architecture and the call's number, looks the number up in a
search tree and answers. What is refused gets EPERM, so a snippet sees a `PermissionError` that can be named; a
foreign architecture is killed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from . import kernel
from .calls import ABSENT, ALLOWED, CHECKED, DONE, MODES, NEWEST, Numbers

__all__ = ["SUPPORTED", "apply_filter", "build_filter", "own_filter"]

_LD, _AND, _JEQ, _JGE, _JSET, _JA, _RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x05, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_X32_BIT = 0x40000000
_NUMBER, _ARCH = 0, 4  # offsets in struct seccomp_data (little endian)
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SUPPORTED = platform.machine() in _AUDIT_ARCH

_CLONE_THREAD = 0x00010000
# Every namespace, a new parent, a process descriptor, tracing.
_CLONE_MORE = 0x7E020000 | 0x02000000 | 0x00000080 | 0x00008000 | 0x00001000 | 0x00002000
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_OFD_GETLK, F_DUPFD_CLOEXEC, F_GETPIPE_SZ
_FCNTL = (0, 1, 2, 3, 4, 5, 36, 1030, 1032)
# F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW: SQLite takes them; nobody else has the file.
_FCNTL_DONE = (6, 7, 37, 38)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PRCTL = (15, 16)  # PR_SET_NAME, PR_GET_NAME
# WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET, WAKE_BITSET; none that lends priority.
_FUTEX = (0, 1, 3, 4, 5, 9, 10)
_SEND_FLAGS = 0x4000 | 0x40  # MSG_NOSIGNAL, MSG_DONTWAIT
_PAIR_FLAGS = 0x800 | 0x80000  # SOCK_NONBLOCK, SOCK_CLOEXEC


def _low(argument: int) -> int:
    """Return where the low half of an argument lies in struct seccomp_data."""
    return 16 + 8 * argument


def _statement(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _one_of(argument: int, values: tuple[int, ...], found: int, mask: int | None = None) -> list[bytes]:
    """Answer `found` where an argument is one of `values`, else go on."""
    body = [_statement(_LD, _low(argument))]
    if mask is not None:
        body.append(_statement(_AND, mask))
    for left, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
        body.append(_statement(_JEQ, value, left, 0 if left else 1))
    return [*body, _statement(_RET, found)]


def _checks(own_pid: int) -> dict[str, list[bytes]]:
    """Return the body for each call that is allowed by its arguments."""
    refuse, allow = _statement(_RET, _ERRNO | _EPERM), _statement(_RET, _ALLOW)
    zero = [_statement(_JEQ, 0, 1, 0), refuse]
    return {
        "clone": [_statement(_LD, _low(0)), _statement(_JSET, _CLONE_MORE, 1, 0),
                  _statement(_JSET, _CLONE_THREAD, 1, 0), refuse, allow],
        "tgkill": [*_one_of(0, (own_pid,), _ALLOW), refuse],
        "prlimit64": [*_one_of(0, (own_pid, 0), _ALLOW), refuse],
        "fcntl": [*_one_of(1, _FCNTL, _ALLOW), *_one_of(1, _FCNTL_DONE, _ERRNO), refuse],
        "ioctl": [*_one_of(1, _IOCTL, _ALLOW), refuse],
        "prctl": [*_one_of(0, _PRCTL, _ALLOW), refuse],
        # To the other end alone: an address, both halves of it, would name a socket outside.
        "sendto": [_statement(_LD, _low(4)), *zero, _statement(_LD, _low(4) + 4), *zero,
                   _statement(_LD, _low(3)), _statement(_AND, 0xFFFFFFFF ^ _SEND_FLAGS), *zero, allow],
        # AF_UNIX, SOCK_STREAM
        "socketpair": [_statement(_LD, _low(0)), _statement(_JEQ, 1, 1, 0), refuse,
                       *_one_of(1, (1,), _ALLOW, 0xFFFFFFFF ^ _PAIR_FLAGS), refuse],
        "futex": [*_one_of(1, _FUTEX, _ALLOW, 0x7F), _statement(_RET, _ERRNO | _ENOSYS)],
    }  # fmt: skip


@dataclass
class _Tree:
    """Which number leads to which body: runs of equal answers, halved until one is left."""

    bodies: dict[str, list[bytes]]
    starts: list[tuple[int, str]]
    code: list[bytes | tuple[str, str]] = field(default_factory=list)

    def build(self) -> bytes:
        self._node(0, len(self.starts))
        places: dict[str, int] = {}
        position = len(self.code)
        for name, body in self.bodies.items():
            places[name] = position
            position += len(body)
        done = [
            item if isinstance(item, bytes) else _statement(_JA, places[item[1]] - index - 1)
            for index, item in enumerate(self.code)
        ]
        return b"".join([*done, *(part for body in self.bodies.values() for part in body)])

    def _node(self, first: int, last: int) -> None:
        if last - first == 1:
            self.code.append(("to", self.starts[first][1]))
            return
        middle = (first + last) // 2
        place = len(self.code)
        self.code += [_statement(_JGE, self.starts[middle][0], 0, 1), b""]
        self._node(first, middle)
        self.code[place + 1] = _statement(_JA, len(self.code) - place - 2)
        self._node(middle, last)


def build_filter(machine: str, own_pid: int, *, real_modes: bool) -> bytes:
    """Return the filter program for `machine`.

    Parameters
    ----------
    machine
        As `platform.machine()` names it.
    own_pid
        The snippet's process, the only one whose threads it may signal and whose limits it may read.
    real_modes
        Whether modes and times of files may be changed: where a mount keeps those of devices as they are.
    """
    column = 0 if machine == "x86_64" else 1
    checks = _checks(own_pid)
    bodies = {
        "allow": [_statement(_RET, _ALLOW)],
        "refuse": [_statement(_RET, _ERRNO | _EPERM)],
        "done": [_statement(_RET, _ERRNO)],
        "absent": [_statement(_RET, _ERRNO | _ENOSYS)],
        **checks,
    }
    answers: dict[int, str] = {}
    groups: list[tuple[dict[str, Numbers], Callable[[str], str]]] = [
        (ALLOWED, lambda _: "allow"),
        (DONE, lambda _: "done"),
        (MODES, lambda _: "allow" if real_modes else "done"),
        (CHECKED, lambda name: name),
        (ABSENT, lambda _: "absent"),
    ]
    for group, answer in groups:
        for name, numbers in group.items():
            number = numbers[column]
            if number is not None:
                answers[number] = answer(name)
    last = max(NEWEST, *answers) + 1
    starts: list[tuple[int, str]] = []
    for number in range(last + 1):
        named = answers.get(number, "refuse" if number < NEWEST else "absent")
        if not starts or starts[-1][1] != named:
            starts.append((number, named))
    head = [
        _statement(_LD, _ARCH),
        _statement(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _statement(_RET, _KILL),
        _statement(_LD, _NUMBER),
    ]
    if machine == "x86_64":
        head += [_statement(_JGE, _X32_BIT, 0, 1), _statement(_RET, _KILL)]
    return b"".join(head) + _Tree(bodies, starts).build()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


@functools.cache
def own_filter(own_pid: int, *, real_modes: bool) -> bytes:
    """Return the filter for this machine, made once."""
    return build_filter(platform.machine(), own_pid, real_modes=real_modes)


def apply_filter(*, real_modes: bool) -> None:
    """Confine this process for good; needs no_new_privs; raises OSError."""
    code = own_filter(os.getpid(), real_modes=real_modes)
    program = _Program(len(code) // 8, code)
    kernel.prctl(22, 2, ctypes.byref(program))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
