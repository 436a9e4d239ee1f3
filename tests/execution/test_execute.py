# ruff: noqa: E501
"""Running snippets in the real sandbox of this machine: outcomes, order, freshness, limits, refusal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dsqa.errors import ExecutionRefusedError
from dsqa.execution import Snippet, detect_isolation, execute
from dsqa.execution import isolation as isolation_module
from dsqa.execution.tiers import BASE, FULL, LEARN, choose_modules
from dsqa.study.sections import ExecutionConfig

LIMITS = ExecutionConfig(cpu_seconds=5, wall_seconds=60, memory_mb=512, disk_mb=8, output_kb=16)


@pytest.fixture(scope="session", autouse=True)
def _isolated():
    isolation = detect_isolation()
    if sys.platform == "darwin" and not isolation.sufficient:
        pytest.skip(isolation.why)
    assert isolation.sufficient, isolation.why


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    return path


CASES = {
    "print": ("print(1)", "ran", "", "1\n", None),
    "last value": ("x = 20\nx + 1", "ran", "", "", "21"),
    "table": ("import pandas as pd\npd.read_csv('d.csv')", "ran", "", "", "   a  b\n0  1  2\n1  3  5"),
    "none is not shown": ("print('x')\nNone", "ran", "", "x\n", None),
    "semicolon hides": ("1;", "ran", "", "", None),
    "display": ("display('a', 1)", "ran", "", "a\n1\n", None),
    "main": ("if __name__ == '__main__':\n    print(__file__.endswith('.py'))", "ran", "", "True\n", None),
    "future": ("from __future__ import annotations\ndef f(x: nowhere): return 1\nf(1)", "ran", "", "", "1"),
    "class pickles": ("import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))).__name__", "ran", "", "", "'A'"),
    "asyncio": ("import asyncio\nasync def f(): return 3\nasyncio.run(f())", "ran", "", "", "3"),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor as T\nlist(T(4).map(abs, [-1, -2]))", "ran", "", "", "[1, 2]"),
    "exit handlers": ("import atexit\natexit.register(print, 'bye')\nprint('hi')", "ran", "", "hi\nbye\n", None),
    "subfolder": ("open('sub/e.csv').read()", "ran", "", "", "'x\\n'"),
    "figure": ("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('a.png')\nimport os\nos.path.exists('a.png')",
               "ran", "", "", "True"),
    "exception": ("x = 1\ny = [\n  x / 0]", "failed", "ZeroDivisionError at line 3: division by zero", "", None),
    "in a function": ("def f():\n    raise KeyError('k')\n\nf()", "failed", "KeyError at line 2: 'k'", "", None),
    "in a library": ("import pandas as pd\npd.read_csv('none.csv')", "failed", "FileNotFoundError at line 2", "", None),
    "assert": ("assert 1 == 2", "failed", "AssertionError at line 1", "", None),
    "exit status": ("import sys\nprint('x')\nsys.exit(3)", "failed", "exit status 3", "x\n", None),
    "exit message": ("import sys\nsys.exit('no data')", "failed", "exit status 1", "", None),
    "early exit": ("import sys\nsys.exit()\nprint(1)", "ran", "left by exit, before its end", "", None),
    "syntax": ("x = 1\ny = (", "does not parse", "line 2: ", "", None),
    "indentation": ("def f():\nreturn 1", "does not parse", "line 2: ", "", None),
    "return outside": ("return 1", "does not parse", "line 1: ", "", None),
    "package": (
        "import numpy\nimport surely_not_here.sub", "missing package",
        "needs surely_not_here (no package that dsqa knows) at line 2", "", None),
    "optional package": (
        "import pandas as pd\npd.read_html('<table><tr><td>1</td></tr></table>')", "missing package", "needs lxml", "", None),
    "name missing in a package": ("from math import nothing_here", "failed", "ImportError at line 1", "", None),
    "memory": ("x = bytearray(1 << 40)", "killed by memory", "MemoryError at line 1", "", None),
    "network": ("import urllib.request as u\nu.urlopen('http://example.org')", "blocked", "URLError at line 2", "", None),
    "disk": ("open('x', 'wb').write(bytes(9 << 20))", "blocked", "OSError at line 1", "", None),
    "unicode": ("print('σ̄ ≥ 0.3')", "ran", "", "σ̄ ≥ 0.3\n", None),
    "lone surrogate": ("print('\ud800')", "does not parse", "", "", None),
    "empty": ("", "ran", "", "", None),
}  # fmt: skip

# What other tests look at goes through the same sandboxes: to start one takes longer than what runs in it.
FRESH = "import random, numpy as np\nprint(random.random(), np.random.rand(), np.random.default_rng().random())"
SEEDED = "import numpy as np\nnp.random.seed(3)\nprint(np.random.rand(), list({'b', 'a', 'c'}))"
MORE = {
    **{f"fresh {i}": FRESH for i in range(6)},
    **{f"seeded {i}": SEEDED for i in range(4)},
    "long": "print('x' * 100_000); 'y' * 100_000",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "d.csv").write_text("a,b\n1,2\n3,5\n")
    (folder / "e.csv").write_text("x\n")
    files = {"d.csv": folder / "d.csv", "sub/e.csv": folder / "e.csv"}
    codes = {name: case[0] for name, case in CASES.items()} | MORE
    snippets = [Snippet(name, code, files) for name, code in codes.items()]
    found = list(execute(snippets, LIMITS, workers=2))
    assert [r.snippet_id for r in found] == list(codes)  # input order, though they take differently long
    return {r.snippet_id: r for r in found}


@pytest.mark.parametrize("name", CASES)
def test_outcome(results, name):
    _, outcome, detail, stdout, value = CASES[name]
    result = results[name]
    assert (result.outcome, result.stdout, result.value) == (outcome, stdout, value), result
    assert result.detail.startswith(detail)
    assert (detail != "") or outcome != "ran" or result.detail == ""


def test_the_traceback_shows_the_snippet_and_nothing_of_dsqa(results):
    error = results["exception"].stderr
    assert 'snippet.py", line 3' in error
    assert "x / 0" in error
    assert "inside" not in error
    assert results["exception"].line == 3
    assert results["exception"].exception == "ZeroDivisionError"


def test_limits_are_named_and_flagged():
    (spin,) = execute([Snippet("a", "while True: pass")], LIMITS.model_copy(update={"cpu_seconds": 1}))
    sleep, half = execute(
        [Snippet("b", "import time; time.sleep(60)"), Snippet("c", "import time; time.sleep(1.6)")],
        LIMITS.model_copy(update={"wall_seconds": 3}),
        workers=1,
    )
    assert (spin.outcome, spin.detail) == ("timed out", "CPU limit of 1 s")
    assert (sleep.outcome, sleep.detail) == ("timed out", "wall limit of 3 s")
    assert (half.outcome, half.near_limit) == ("ran", True)
    assert 1 <= spin.cpu_seconds < 2
    assert sleep.cpu_seconds < 1


def test_a_fraction_of_a_cpu_second_is_a_limit_too():
    (result,) = execute([Snippet("a", "while True: pass")], LIMITS.model_copy(update={"cpu_seconds": 0.3}))
    assert result.detail == "CPU limit of 0.3 s"
    assert 0.3 <= result.cpu_seconds < 0.9


def test_memory_is_counted_beyond_the_loaded_libraries():
    limits = LIMITS.model_copy(update={"memory_mb": 64})
    codes = ["x = bytearray(40 << 20)", "x = bytearray(80 << 20)",
             "import matplotlib\nx = bytearray(40 << 20)", "import matplotlib\nx = bytearray(80 << 20)"]  # fmt: skip
    outcomes = [r.outcome for r in execute([Snippet(c, c) for c in codes], limits)]
    assert outcomes == ["ran", "killed by memory"] * 2


def test_output_is_cut_where_the_limit_says(results):
    result = results["long"]
    assert (len(result.stdout), len(result.value or ""), result.truncated) == (16384, 16384, True)


def test_randomness_is_fresh_in_every_run(results):
    found = [results[f"fresh {i}"].stdout for i in range(6)]
    assert len(set(found)) == 6
    assert len({value for line in found for value in line.split()}) == 18


def test_seeded_randomness_is_the_same_in_every_run(results):
    found = {results[f"seeded {i}"].stdout for i in range(4)}
    assert len(found) == 1
    assert found != {""}


def test_the_data_file_on_the_host_is_never_changed(data):
    code = "import os\nos.chmod('d.csv', 0o600)\nopen('d.csv', 'w').write('gone')"
    list(execute([Snippet("a", code, {"d.csv": data})], LIMITS))
    assert data.read_text() == "a,b\n1,2\n3,5\n"


def test_a_data_file_larger_than_the_disk_limit_is_still_there(tmp_path):
    big = tmp_path / "big.csv"
    big.write_bytes(b"1\n" * (6 << 20))
    code = "import os\nos.path.getsize('big.csv')"
    (result,) = execute([Snippet("a", code, {"big.csv": big})], LIMITS)
    assert result.value == str(12 << 20)


def test_a_missing_data_file_is_one_clear_error(tmp_path):
    with pytest.raises(ExecutionRefusedError, match=r"gone\.csv: data file cannot be read"):
        list(execute([Snippet("a", "1", {"gone.csv": tmp_path / "gone.csv"})], LIMITS))


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", "a\0b"])
def test_a_data_file_cannot_be_placed_outside(name, data):
    with pytest.raises(ValueError, match="not a name inside"):
        list(execute([Snippet("a", "1", {name: data})], LIMITS))


def test_the_fingerprint_depends_on_code_data_and_limits_and_on_nothing_else(data, tmp_path):
    copy = tmp_path / "copy.csv"
    copy.write_bytes(data.read_bytes())
    first = Snippet("a", "print(1)", {"d.csv": data}).fingerprint(LIMITS)
    assert first == Snippet("b", "print(1)", {"d.csv": copy}).fingerprint(LIMITS)
    assert first == Snippet("a", "print(1)", {"d.csv": data}).fingerprint(LIMITS.model_copy(update={"workers": 7}))
    others = {
        Snippet("a", "print(2)", {"d.csv": data}).fingerprint(LIMITS),
        Snippet("a", "print(1)", {"e.csv": data}).fingerprint(LIMITS),
        Snippet("a", "print(1)").fingerprint(LIMITS),
        Snippet("a", "print(1)", {"d.csv": data}).fingerprint(LIMITS.model_copy(update={"cpu_seconds": 9})),
    }
    copy.write_text("a,b\n1,2\n3,6\n")
    others.add(Snippet("b", "print(1)", {"d.csv": copy}).fingerprint(LIMITS))
    assert len(others | {first}) == 6


def test_without_isolation_nothing_runs_unless_told_to(monkeypatch, tmp_path):
    isolation_module._detect.cache_clear()
    monkeypatch.setattr(isolation_module, "find_bubblewrap", list)
    try:
        found = detect_isolation()
        assert (found.name, found.sufficient) == ("none", False)
        assert "bubblewrap is not installed" in found.why
        marker = tmp_path / "ran"
        with pytest.raises(ExecutionRefusedError, match="--unsafe"):
            execute([Snippet("a", f"open({str(marker)!r}, 'w')")], LIMITS)
        assert not marker.exists()
        codes = [
            "import os; print(os.environ.get('DSQA_TEST_KEY'), sorted(os.listdir('.')))",
            "1 / 0",
            "while True: pass",
        ]
        os.environ["DSQA_TEST_KEY"] = "secret"
        limits = LIMITS.model_copy(update={"cpu_seconds": 1})
        first, second, third = execute([Snippet(c, c) for c in codes], limits, unsafe=True)
        assert first.stdout == "None []\n"
        assert (second.outcome, third.outcome) == ("failed", "timed out")
        assert {r.isolation for r in (first, second, third)} == {"none (--unsafe)"}
    finally:
        os.environ.pop("DSQA_TEST_KEY", None)
        monkeypatch.undo()
        isolation_module._detect.cache_clear()


def test_a_bubblewrap_that_cannot_make_namespaces_is_not_sufficient(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    isolation_module._detect.cache_clear()
    monkeypatch.setattr(isolation_module, "find_bubblewrap", lambda: [str(broken)])
    try:
        found = detect_isolation()
        assert not found.sufficient
        assert "setting up uid map: Permission denied" in found.why
    finally:
        monkeypatch.undo()
        isolation_module._detect.cache_clear()


def test_a_wrapper_that_isolates_nothing_is_found_out(monkeypatch, tmp_path):
    # It drops bubblewrap's options and just runs the command.
    fake = tmp_path / "bwrap"
    fake.write_text(
        f"#!{sys.executable}\nimport os, sys\nrest = sys.argv[sys.argv.index('--') + 1:]\nos.execv(rest[0], rest)\n"
    )
    fake.chmod(0o755)
    isolation_module._detect.cache_clear()
    monkeypatch.setattr(isolation_module, "find_bubblewrap", lambda: [str(fake)])
    try:
        assert not detect_isolation().sufficient
    finally:
        monkeypatch.undo()
        isolation_module._detect.cache_clear()


def _preloaders():
    out = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in out.splitlines()[1:]]
    return [int(pid) for pid, parent, name in rows if parent == str(os.getpid()) and "bwrap" in name]


def test_a_sandbox_that_is_killed_is_replaced_and_nothing_is_lost():
    code = "import time\ntime.sleep(0.3)\nprint({})"
    runs = execute([Snippet(str(i), code.format(i)) for i in range(8)], LIMITS, workers=2)
    found = [next(runs)]
    for pid in _preloaders():
        os.kill(pid, signal.SIGKILL)
    found += list(runs)
    assert [r.stdout for r in found] == [f"{i}\n" for i in range(8)]
    assert {r.outcome for r in found} == {"ran"}
    assert any(r.attempts == 2 for r in found)


def test_closing_early_ends_every_sandbox():
    runs = execute(
        [Snippet(str(i), "import time\ntime.sleep(30)" if i else "1") for i in range(4)], LIMITS, workers=2
    )
    next(runs)
    assert _preloaders()
    runs.close()
    assert not _preloaders()


def test_snippets_are_read_only_as_far_ahead_as_needed():
    taken = []

    def source():
        for i in range(10_000):
            taken.append(i)
            yield Snippet(str(i), "1")

    runs = execute(source(), LIMITS, workers=1)
    next(runs)
    runs.close()
    assert len(taken) < 100


def test_no_descriptor_is_left_open():
    # Linux lists them; two rounds, so that what is opened once for good does not count.
    list(execute([Snippet("a", "1")], LIMITS))
    before = len(list(Path("/dev/fd").iterdir()))
    list(execute([Snippet(str(i), "print(1)") for i in range(10)], LIMITS))
    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import pandas as pd\nprint(1)", BASE),
        ("import seaborn as sns", FULL),
        ("from scipy import stats", FULL),
        ("    import statsmodels.api as sm", FULL),
        ("import os, matplotlib", FULL),
        ("df.plot()", FULL),
        ("import seaborn\nfrom sklearn.cluster import KMeans", LEARN),
        ("# seaborn would do\nprint('import seaborn')", BASE),
    ],
)
def test_libraries_are_chosen_by_the_imports(code, modules):
    assert choose_modules(code) == modules


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux only")
def test_where_runs_cannot_have_namespaces_of_their_own_they_go_one_at_a_time(monkeypatch):
    every = isolation_module._candidates("")
    monkeypatch.setattr(isolation_module, "_candidates", lambda _: [x for x in every if not x.namespaces])
    isolation_module._detect.cache_clear()
    codes = {
        "leave": "import os\nopen('left', 'w').write('x')\nopen(os.path.join(os.environ['TMPDIR'], 'y'), 'w').write('x')",
        "look": "import os\n[sorted(os.listdir(x)) for x in ('.', '..', os.environ['TMPDIR'])]",
        "siblings": "import os\nos.listdir('../..')",
        "fork": "import os\nos.fork()",
        "socket": "import socket\nsocket.socket()",
        "signal": "import os\nos.kill(os.getppid(), 9)",
        "proc": "open('/proc/self/environ').read()",
        "disk": "open('big', 'wb').write(bytes(9 << 20))",
        "after": "import os\nos.listdir('.')",
    }
    try:
        found = detect_isolation()
        assert found.sufficient, found.why
        assert "one at a time" in " ".join(found.missing)
        results = {r.snippet_id: r for r in execute([Snippet(k, v) for k, v in codes.items()], LIMITS, workers=2)}
    finally:
        monkeypatch.undo()
        isolation_module._detect.cache_clear()
    assert results["leave"].outcome == "ran", results["leave"]
    assert results["look"].value == "[[], ['snippet.py', 'tmp', 'work'], []]"
    assert results["after"].value == "[]"
    for name in ("siblings", "fork", "socket", "signal", "disk"):
        assert results[name].outcome == "blocked", results[name]
    assert results["proc"].outcome == "failed"
