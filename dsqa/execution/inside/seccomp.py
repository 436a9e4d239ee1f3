"""The system-call filter of a snippet, assembled by hand: no new processes, sockets, mounts, tracing, keys.

Classic BPF as in seccomp(2): the program reads the architecture and the call's number, then answers. What is
refused gets EPERM, so a snippet sees a `PermissionError` that can be named; a foreign architecture is killed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

from . import kernel

__all__ = ["SUPPORTED", "apply_filter", "build_filter"]

_LD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x00010000
_X32_BIT = 0x40000000
_NUMBER, _ARCH, _ARG0 = 0, 4, 16  # offsets in struct seccomp_data (low halves, little endian)
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SUPPORTED = platform.machine() in _AUDIT_ARCH

# name: (x86_64, aarch64); None where the architecture lacks the call
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # new programs and processes
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    # sockets; socketpair stays, asyncio needs it
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kill": (62, 129), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122), "setpgid": (109, 154), "setsid": (112, 157),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "mknod": (133, None), "mknodat": (259, 33), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # memory that no limit of ours counts
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    "mq_unlink": (241, 181), "mlock": (149, 228), "mlock2": (325, 284), "mlockall": (151, 230),
    # doors into the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "fanotify_init": (300, 262), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "iopl": (172, None),
    "ioperm": (173, None), "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "personality": (135, 92), "lookup_dcookie": (212, 18),
    "vhangup": (153, 58), "modify_ldt": (154, None), "seccomp": (317, 277),
}  # fmt: skip
_CLONE, _CLONE3, _TGKILL, _PRLIMIT = (56, 220), (435, 435), (234, 131), (302, 261)


def _statement(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def build_filter(machine: str, own_pid: int) -> bytes:
    """Return the filter program for `machine`.

    Parameters
    ----------
    machine
        As `platform.machine()` names it.
    own_pid
        The snippet's process, the only one whose threads it may signal and whose limits it may read.
    """
    column = 0 if machine == "x86_64" else 1

    def when(number: int, body: list[bytes]) -> list[bytes]:
        return [_statement(_JEQ, number, 0, len(body)), *body]

    refuse = _statement(_RET, _ERRNO | _EPERM)
    allow = _statement(_RET, _ALLOW)
    program = [
        _statement(_LD, _ARCH),
        _statement(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _statement(_RET, _KILL),
        _statement(_LD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [_statement(_JGE, _X32_BIT, 0, 1), _statement(_RET, _KILL)]
    # glibc falls back to clone, whose flags a filter can read; clone3 hides them behind a pointer.
    program += when(_CLONE3[column], [_statement(_RET, _ERRNO | _ENOSYS)])
    program += when(_CLONE[column], [_statement(_LD, _ARG0), _statement(_JSET, _CLONE_THREAD, 1, 0), refuse, allow])
    program += when(_TGKILL[column], [_statement(_LD, _ARG0), _statement(_JEQ, own_pid, 1, 0), refuse, allow])
    own_limits = [_statement(_LD, _ARG0), _statement(_JEQ, own_pid, 2, 0), _statement(_JEQ, 0, 1, 0), refuse, allow]
    program += when(_PRLIMIT[column], own_limits)
    for numbers in _REFUSED.values():
        number = numbers[column]
        if number is not None:
            program += when(number, [refuse])
    return b"".join([*program, allow])


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def apply_filter() -> None:
    """Confine this process for good; needs no_new_privs; raises OSError."""
    code = build_filter(platform.machine(), os.getpid())
    program = _Program(len(code) // 8, code)
    kernel.prctl(22, 2, ctypes.byref(program))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
