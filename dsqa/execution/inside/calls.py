"""Which system calls a snippet may make, by name, with their numbers on both processors.

What is listed nowhere here is refused, so a call that a later kernel brings is refused too.
"""

from __future__ import annotations

__all__ = ["ABSENT", "ALLOWED", "CHECKED", "DONE", "MODES", "NEWEST", "Numbers"]

Numbers = tuple[int | None, int | None]
"""The call's number on x86-64 and on ARM64; None where the processor lacks the call."""

ALLOWED: dict[str, Numbers] = {
    # reading and writing what is open
    "read": (0, 63), "write": (1, 64), "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65),
    "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287),
    "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436), "dup": (32, 23), "dup2": (33, None),
    "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "sendfile": (40, 71), "copy_file_range": (326, 285),
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441), "eventfd": (284, None), "eventfd2": (290, 19),
    # files and folders; which ones is for Landlock and the mounts to say
    "open": (2, None), "openat": (257, 56), "creat": (85, None), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44),
    "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None),
    "readlinkat": (267, 78), "getdents": (78, None), "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49),
    "fchdir": (81, 50), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37), "symlink": (88, None),
    "symlinkat": (266, 36), "unlink": (87, None), "unlinkat": (263, 35), "truncate": (76, 45),
    "ftruncate": (77, 46), "fallocate": (285, 47), "umask": (95, 166), "getxattr": (191, 8), "lgetxattr": (192, 9),
    "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
    # memory
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "membarrier": (324, 283),
    # threads, time, its own signals
    "set_robust_list": (273, 99), "rseq": (334, 293), "set_tid_address": (218, 96),
    "gettid": (186, 178), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "sched_rr_get_interval": (148, 127), "nanosleep": (35, 101), "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "gettimeofday": (96, 169), "time": (201, None),
    "times": (100, 153), "alarm": (37, None), "setitimer": (38, 103), "getitimer": (36, 102), "pause": (34, None),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260),
    "waitid": (247, 95),
    # itself and the machine
    "getpid": (39, 172), "getppid": (110, 173), "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158), "capget": (125, 90),
    "getpriority": (140, 141), "getrlimit": (97, 163), "setrlimit": (160, 164), "getrusage": (98, 165),
    "sysinfo": (99, 179), "uname": (63, 160), "getcpu": (309, 168), "getrandom": (318, 278),
    # the two ends of a pair
    "recvfrom": (45, 207), "recvmsg": (47, 212), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip

# Answered with success and not made. What a run writes lies in memory and nobody else has it, so there is nothing to
# lock, to write through or to read ahead; on the libraries' files these would hold up the machine.
DONE: dict[str, Numbers] = {
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "sync": (162, 81), "syncfs": (306, 267),
    "sync_file_range": (277, 84), "msync": (26, 227), "fadvise64": (221, 223), "readahead": (187, 213),
}  # fmt: skip

# Modes and times: made where devices and libraries are mounted read-only, else answered with success and not made.
MODES: dict[str, Numbers] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "utime": (132, None),
    "utimes": (235, None), "utimensat": (280, 88), "futimesat": (261, None),
}  # fmt: skip

# Allowed or not by their arguments; see `seccomp`.
CHECKED: dict[str, Numbers] = {
    "clone": (56, 220), "tgkill": (234, 131), "prlimit64": (302, 261), "fcntl": (72, 25), "ioctl": (16, 29),
    "prctl": (157, 167), "sendto": (44, 206), "socketpair": (53, 199), "futex": (202, 98),
}  # fmt: skip

# "No such call" instead of "not permitted": the C library then does it another way.
ABSENT: dict[str, Numbers] = {
    "clone3": (435, 435), "openat2": (437, 437), "futex_waitv": (449, 449),
}  # fmt: skip
NEWEST = 450
"""From this number on, an unlisted call is one that a C library only tries: it is answered as absent too."""
