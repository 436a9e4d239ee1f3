"""The filter's numbers are the kernel's on both processors, and its program answers as it says."""

import csv
import errno
import functools
import struct
from pathlib import Path

import pytest

from dsqa.execution.inside import calls, kernel, landlock, seccomp

with (Path(__file__).parent / "system_calls.tsv").open() as _handle:
    # From the kernel's own headers: asm/unistd_64.h, and asm-generic/unistd.h, which arm64 uses.
    NUMBERS = {row["name"]: row for row in csv.DictReader(_handle, delimiter="\t")}
MACHINES = ("x86_64", "aarch64")
GROUPS = {"allow": calls.ALLOWED, "done": calls.DONE, "modes": calls.MODES, "checked": calls.CHECKED,
          "absent": calls.ABSENT}  # fmt: skip
EVERY = {name: numbers for group in GROUPS.values() for name, numbers in group.items()}
OWN = 7


@pytest.mark.parametrize("name", EVERY)
def test_the_numbers_are_the_kernels(name):
    expected = tuple(int(NUMBERS[name][m]) if NUMBERS[name][m] else None for m in MACHINES)
    assert EVERY[name] == expected


def test_a_call_is_in_one_list_alone():
    assert len(EVERY) == sum(len(group) for group in GROUPS.values())


def test_numbers_used_elsewhere():
    assert {m: int(NUMBERS["capset"][m]) for m in MACHINES} == kernel._SYS_CAPSET
    for machine in MACHINES:
        assert int(NUMBERS["landlock_create_ruleset"][machine]) == landlock._CREATE
        assert int(NUMBERS["landlock_restrict_self"][machine]) == landlock._RESTRICT


@functools.cache
def program(machine, real_modes):
    return list(struct.iter_unpack("=HBBI", seccomp.build_filter(machine, OWN, real_modes=real_modes)))


def answer(machine, number, *arguments, arch=None, real_modes=True):
    """Run the program as the kernel would (classic BPF) and return what it answers."""
    values = [value & (2**64 - 1) for value in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("<IIQ6Q", number, arch or seccomp._AUDIT_ARCH[machine], 0, *values)
    accumulator, place = 0, 0
    while True:
        code, if_true, if_false, value = program(machine, real_modes)[place]
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x05:
            place += value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            place += if_true if holds else if_false


ALLOW, KILL, DONE = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = DONE | errno.EPERM, DONE | errno.ENOSYS


def number_of(machine, name):
    return EVERY[name][MACHINES.index(machine)]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_allows_what_is_listed_and_nothing_else(machine):
    listed = {}
    for group, expected in (("allow", ALLOW), ("done", DONE), ("absent", ENOSYS)):
        for name in GROUPS[group]:
            number = number_of(machine, name)
            if number is not None:
                listed[number] = expected
    for name in calls.MODES:
        number = number_of(machine, name)
        if number is not None:
            listed[number] = ALLOW
            assert answer(machine, number, real_modes=False) == DONE
    checked = {number_of(machine, name) for name in calls.CHECKED}
    for number in range(600):
        if number not in checked:
            assert answer(machine, number) == listed.get(number, EPERM if number < calls.NEWEST else ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        # what the C library passes for a thread; a fork; a thread in a new user, network or time namespace
        ("clone", (0x3D0F00,), ALLOW), ("clone", (17,), EPERM), ("clone", (0x3D0F00 | 0x10000000,), EPERM),
        ("clone", (0x3D0F00 | 0x40000000,), EPERM), ("clone", (0x3D0F00 | 0x80,), EPERM),
        ("tgkill", (OWN,), ALLOW), ("tgkill", (1,), EPERM),
        ("prlimit64", (0,), ALLOW), ("prlimit64", (OWN,), ALLOW), ("prlimit64", (1,), EPERM),
        # F_GETFL, F_DUPFD_CLOEXEC; F_SETLK, F_OFD_SETLKW; F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ
        *[("fcntl", (3, command), ALLOW) for command in (3, 1030)],
        *[("fcntl", (3, command), DONE) for command in (6, 7, 37, 38)],
        *[("fcntl", (3, command), EPERM) for command in (8, 10, 1024, 1026, 1031, 1033, 9999)],
        ("ioctl", (1, 0x5401), ALLOW), ("ioctl", (1, 0x5412), EPERM), ("ioctl", (1, 0x5203), EPERM),
        ("prctl", (15,), ALLOW), ("prctl", (4, 1), EPERM), ("prctl", (0x59616D61,), EPERM),
        ("sendto", (3, 9, 1, 0, 0), ALLOW), ("sendto", (3, 9, 1, 0x4040, 0), ALLOW),
        ("sendto", (3, 9, 1, 1, 0), EPERM), ("sendto", (3, 9, 1, 0, 8), EPERM),
        ("sendto", (3, 9, 1, 0, 1 << 32), EPERM),
        ("socketpair", (1, 1), ALLOW), ("socketpair", (1, 0x80801), ALLOW), ("socketpair", (1, 2), EPERM),
        ("socketpair", (2, 1), EPERM), ("socketpair", (1, 5), EPERM),
        ("futex", (0, 0), ALLOW), ("futex", (0, 0x181), ALLOW), ("futex", (0, 0x89), ALLOW),
        ("futex", (0, 6), ENOSYS), ("futex", (0, 0x8B), ENOSYS),
    ],
)  # fmt: skip
def test_what_is_told_by_the_arguments(machine, name, arguments, expected):
    assert answer(machine, number_of(machine, name), *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_a_foreign_architecture_is_killed(machine):
    assert answer(machine, 1, arch=0x40000003) == KILL


def test_the_x32_calls_are_killed():
    assert answer("x86_64", 0x40000000 | 57) == KILL
