"""One run makes no other fail, nor touches the machine; limits are each run's own, also where root runs them."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import dsqa
from dsqa.execution import ExecutionResult, Snippet, detect_isolation, execute
from dsqa.execution import execute as execute_module
from dsqa.execution.crowding import may_be_the_neighbours
from dsqa.execution.places import find_places
from dsqa.study.sections import ExecutionConfig

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux only")
LIMITS = ExecutionConfig(cpu_seconds=5, wall_seconds=60, memory_mb=512, disk_mb=8, output_kb=16)
DEVICES = ("null", "zero", "full", "random", "urandom")
THREADS = """
import threading, time
threads = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print("all")
"""
MANY = """
import threading, time
threading.stack_size(65536)
count = 0
try:
    while count < 3000:
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
        count += 1
finally:
    print(count)
"""


def test_forty_eight_runs_of_eight_threads_all_run_and_3000_threads_meet_a_limit():
    honest = [Snippet(f"honest {i}", f"{THREADS}# {i}") for i in range(48)]
    greedy = [Snippet(f"greedy {i}", f"{MANY}# {i}") for i in range(2)]
    results = list(execute([*honest[:20], *greedy, *honest[20:]], LIMITS, workers=48))
    for result in results:
        if result.snippet_id.startswith("honest"):
            assert (result.outcome, result.stdout, result.attempts) == ("ran", "all\n", 1), result
        else:
            assert result.outcome == "failed"
            assert "can't start new thread" in result.detail
            assert 100 < int(result.stdout) < 300
            assert result.attempts == 2  # it might have been the others


def test_a_run_as_root_is_not_root_outside():
    if os.geteuid() != 0:
        pytest.skip("needs root: what root must not leave to snippets")
    isolation = detect_isolation()
    assert "root given up before the sandbox starts" in isolation.layers, isolation


def test_no_device_of_the_machine_changes():
    before = {name: Path(f"/dev/{name}").stat() for name in DEVICES}
    code = (
        "import os\nfound = []\n"
        f"for path in [f'/dev/{{n}}' for n in {DEVICES}]:\n"
        "    for change in (lambda: os.chmod(path, 0o667), lambda: os.utime(path), lambda: os.utime(path, (1, 1)),\n"
        "                   lambda: os.chown(path, os.getuid(), -1), lambda: os.setxattr(path, 'user.a', b'b')):\n"
        "        try:\n            change()\n            found.append(path)\n"
        "        except OSError:\n            pass\nfound"
    )
    (result,) = execute([Snippet("a", code)], LIMITS)
    assert (result.outcome, result.value) == ("ran", "[]")
    after = {name: Path(f"/dev/{name}").stat() for name in DEVICES}
    for name in DEVICES:
        for field in ("st_mode", "st_uid", "st_gid", "st_mtime_ns", "st_ctime_ns"):
            assert getattr(before[name], field) == getattr(after[name], field), (name, field)


def test_where_memory_runs_out_a_run_goes_before_the_rest():
    runs = execute([Snippet("a", "1"), Snippet("b", "import time\ntime.sleep(1)")], LIMITS, workers=2)
    next(runs)
    listing = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
    boxes = [pid for pid, parent, name in rows if parent == str(os.getpid()) and "bwrap" in name]
    assert boxes
    for pid in boxes:
        assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"
    runs.close()


def result_of(outcome, detail, stderr=""):
    return ExecutionResult("a", outcome, detail, "", stderr, None, 1.0, 1.0, "bubblewrap")


@pytest.mark.parametrize(
    ("outcome", "detail", "stderr", "loaded", "expected"),
    [
        ("failed", "RuntimeError at line 3: can't start new thread", "", False, True),
        ("failed", "BlockingIOError at line 1: [Errno 11] Resource temporarily unavailable", "", False, True),
        ("blocked", "OSError at line 1: [Errno 23] Too many open files in system: 'x'", "", False, True),
        ("failed", "killed by SIGABRT", "OpenBLAS blas_thread_init: pthread_create failed", False, True),
        ("killed by memory", "memory limit of 512 MB", "", False, True),
        ("timed out", "wall limit of 30 s", "", True, True),
        ("timed out", "wall limit of 30 s", "", False, False),
        ("timed out", "CPU limit of 10 s", "", True, False),
        ("failed", "KeyError at line 1: 'a'", "", True, False),
        ("ran", "", "can't start new thread", True, False),
        ("missing package", "needs x", "can't start new thread", True, False),
    ],
)
def test_which_failures_others_may_have_caused(outcome, detail, stderr, loaded, expected):
    assert may_be_the_neighbours(result_of(outcome, detail, stderr), loaded=loaded) is expected


def test_such_a_failure_counts_only_where_it_fails_alone_too():
    # It fails while another runs beside it, and says so in the words of a machine that has no more threads.
    code = 'import time\ntime.sleep(0.2)\nraise RuntimeError("can\'t start new thread")'
    results = list(execute([Snippet("a", code), Snippet("b", "import time\ntime.sleep(0.5)")], LIMITS, workers=2))
    assert [(r.outcome, r.attempts) for r in results] == [("failed", 2), ("ran", 1)]
    (alone,) = execute([Snippet("a", code)], LIMITS, workers=2)
    assert (alone.outcome, alone.attempts) == ("failed", 1)
    assert execute_module is execute


@pytest.fixture
def installed(tmp_path):
    """An environment with dsqa as a wheel lays it out, and a key beside it as a careless user would."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    site = next(home.glob("lib/python*/site-packages"))
    paths = [path for path in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) if path]
    (site / "outer.pth").write_text("\n".join(dict.fromkeys(paths)) + "\n")
    package = site / "dsqa"
    (package / "bank" / "builtin").mkdir(parents=True)
    source = Path(dsqa.__file__).parent / "bank" / "builtin" / "questions.jsonl"
    (package / "bank" / "builtin" / "questions.jsonl").write_bytes(source.read_bytes())
    (package / "__init__.py").write_text("ANSWERS = 1\n")
    (home / ".env").write_text("OPENAI_API_KEY=s3cret-in-prefix")
    (home / "notes.txt").write_text("s3cret-in-prefix")
    (home / "lib" / "python-other").mkdir()
    return home


def test_neither_answers_nor_keys_of_an_installation_are_shown(installed):
    assert b"common_answers" in next(installed.glob("lib/*/site-packages/dsqa/bank/builtin/*.jsonl")).read_bytes()
    code = (
        "import os, sys\nfound = []\n"
        "for top in {*sys.path, sys.prefix, sys.base_prefix, '/usr/local', '/outside'}:\n"
        "    for folder, folders, names in os.walk(top):\n"
        "        folders[:] = [f for f in folders if folder.count('/') < 12 and f not in ('numpy', 'scipy',\n"
        "            'pandas', 'sklearn', 'statsmodels', 'matplotlib', 'pyarrow', 'python3.11', 'test')]\n"
        "        found += [os.path.join(folder, n) for n in names if n in ('.env', 'notes.txt', 'questions.jsonl')]\n"
        "try:\n    from dsqa import ANSWERS\n    found.append(ANSWERS)\nexcept ImportError:\n    pass\n"
        "print(sys.path)\nfound"
    )
    limits = LIMITS.model_copy(update={"python": str(installed)})
    (result,) = execute([Snippet("a", code)], limits)
    assert (result.outcome, result.value) == ("ran", "[]"), (result.detail, result.stderr, result.value)
    assert f"{installed.name}/lib" in result.stdout


def test_the_places_shown_are_libraries(installed):
    places = find_places(str(installed))
    shown = {Path(outside) for outside in places.folders.values()}
    assert installed.resolve() not in shown
    for path in (installed / ".env", installed / "notes.txt", Path("/etc/passwd"), Path("/usr/bin/env"), Path.home()):
        assert not any(path.resolve().is_relative_to(folder) for folder in shown), path
    assert any(hidden.endswith("site-packages/dsqa") for hidden in places.hidden)
