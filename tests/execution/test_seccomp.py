"""The filter's numbers are the kernel's on both processors, and its program answers as it says."""

import csv
import errno
import struct
from pathlib import Path

import pytest

from dsqa.execution.inside import kernel, landlock, seccomp

with (Path(__file__).parent / "system_calls.tsv").open() as _handle:
    # From the kernel's own headers: asm/unistd_64.h, and asm-generic/unistd.h, which arm64 uses.
    NUMBERS = {row["name"]: row for row in csv.DictReader(_handle, delimiter="\t")}
MACHINES = ("x86_64", "aarch64")
EVERY = {**seccomp._REFUSED, "clone": seccomp._CLONE, "clone3": seccomp._CLONE3, "tgkill": seccomp._TGKILL,
         "prlimit64": seccomp._PRLIMIT}  # fmt: skip
OWN = 7


@pytest.mark.parametrize("name", EVERY)
def test_the_numbers_are_the_kernels(name):
    expected = tuple(int(NUMBERS[name][m]) if NUMBERS[name][m] else None for m in MACHINES)
    assert EVERY[name] == expected


def test_numbers_used_elsewhere():
    assert {m: int(NUMBERS["capset"][m]) for m in MACHINES} == kernel._SYS_CAPSET
    for machine in MACHINES:
        assert int(NUMBERS["landlock_create_ruleset"][machine]) == landlock._CREATE
        assert int(NUMBERS["landlock_restrict_self"][machine]) == landlock._RESTRICT


def answer(machine, number, argument=0, arch=None):
    """Run the program as the kernel would (classic BPF) and return what it answers."""
    data = struct.pack("<IIQQ", number, arch or seccomp._AUDIT_ARCH[machine], 0, argument)
    program = list(struct.iter_unpack("=HBBI", seccomp.build_filter(machine, OWN)))
    accumulator, place = 0, 0
    while True:
        code, if_true, if_false, value = program[place]
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
            continue
        holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
        place += if_true if holds else if_false


ALLOW, KILL, EPERM = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_refuses_what_is_listed_and_nothing_else(machine):
    listed = {numbers[MACHINES.index(machine)] for numbers in EVERY.values()}
    for numbers in seccomp._REFUSED.values():
        number = numbers[MACHINES.index(machine)]
        if number is not None:
            assert answer(machine, number) == EPERM
    for row in NUMBERS.values():
        if row[machine] and int(row[machine]) not in listed:
            assert answer(machine, int(row[machine])) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_threads_yes_processes_no_own_signals_only(machine):
    column = MACHINES.index(machine)
    assert answer(machine, seccomp._CLONE[column], 0x00010000) == ALLOW
    assert answer(machine, seccomp._CLONE[column], 17) == EPERM
    assert answer(machine, seccomp._CLONE3[column]) == 0x00050000 | errno.ENOSYS
    assert answer(machine, seccomp._TGKILL[column], OWN) == ALLOW
    assert answer(machine, seccomp._TGKILL[column], 1) == EPERM
    assert answer(machine, seccomp._PRLIMIT[column], 0) == ALLOW
    assert answer(machine, seccomp._PRLIMIT[column], 1) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_a_foreign_architecture_is_killed(machine):
    assert answer(machine, 1, arch=0x40000003) == KILL


def test_the_x32_calls_are_killed():
    assert answer("x86_64", 0x40000000 | 57) == KILL
