"""A busy machine changes no outcome: work is limited in CPU seconds, and the wall limit ends only what waits."""

import subprocess
import sys

import pytest

from dsqa.execution import Snippet, execute
from dsqa.execution.inside.watch import Child
from dsqa.study.sections import ExecutionConfig

WORK = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end:\n    pass\nprint('done')"
CODES = {
    "quick": "print(1)",
    # More than its wall limit on any machine, several times that on a busy one: it works and does not wait.
    "works": WORK.format(1.5),
    "works too long": "while True:\n    pass",
    "waits too long": "import time\ntime.sleep(60)",
    "fails": "1 / 0",
    "too much memory": "x = bytearray(1 << 40)",
}
LIMITS = ExecutionConfig(cpu_seconds=3, wall_seconds=1)
OUTCOMES = {
    "quick": ("ran", ""),
    "works": ("ran", ""),
    "works too long": ("timed out", "CPU limit of 3 s"),
    "waits too long": ("timed out", "wall limit of 1 s"),
    "fails": ("failed", "ZeroDivisionError at line 1: division by zero"),
    "too much memory": ("killed by memory", "MemoryError at line 1"),
}


def test_eight_competing_processes_change_nothing():
    rivals = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        results = list(execute([Snippet(name, code) for name, code in CODES.items()], LIMITS, workers=2))
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    assert {r.snippet_id: (r.outcome, r.detail) for r in results} == OUTCOMES
    slow = next(r for r in results if r.snippet_id == "works")
    assert slow.wall_seconds > LIMITS.wall_seconds
    assert slow.near_limit  # by its CPU seconds


@pytest.fixture
def child():
    return Child("run1", 1, started=0.0, wall_limit=30.0, cpu_limit=10.0, apart_limit=5.0, marks=-1)


def test_the_wall_limit_ends_what_waits(child):
    assert child.overrun(29.9, 0.1) is None
    assert child.overrun(30.0, 0.1) == "wall"


def test_the_wall_limit_lets_work_go_on_until_its_cpu_seconds_are_used(child):
    assert child.overrun(90.0, 9.9) is None
    assert child.overrun(90.0, 10.0) == "cpu"


def test_no_run_goes_on_for_ever(child):
    # 5 % of the processor at least, so 200 s of wall time at most
    assert child.overrun(199.0, 9.96) is None
    assert child.overrun(200.0, 9.99) == "wall"
