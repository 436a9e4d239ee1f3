# ruff: noqa: E501
"""Every hostile snippet is contained, has its named outcome, and leaves the host and the next snippet as they were.

All of them go through one call of `execute`, each followed by the same honest snippet, two at a time. A snippet says
in its first lines what must come of it. It prints ESCAPED when it gets somewhere it must not.
"""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dsqa.execution import Snippet, detect_isolation, execute
from dsqa.study.sections import ExecutionConfig

FILES = sorted((Path(__file__).parent / "snippets").glob("*.snippet"))
LIMITS = ExecutionConfig(
    cpu_seconds=1, wall_seconds=6, memory_mb=256, disk_mb=4, output_kb=64, artefacts={"cpu_seconds": 2}
)
SECRET = "s3cret-7c1f"
DATA = "a,b\n1,2\n3,5\n"
# Everything that another snippet could have changed shows in what this prints.
HONEST = """
# a sibling's private text
import builtins, json, math, os, random
import numpy as np, pandas as pd
import matplotlib.pyplot as plt
print(pd.read_csv("data.csv").mean().to_dict(), np.mean([1, 2]), math.pi, json.dumps([1]), pd.options.display.precision)
print(sorted(os.listdir(".")), sorted(os.listdir("/tmp")), sorted(os.listdir("..")), os.getcwd())
print(plt.get_fignums(), list(plt.rcParams["figure.figsize"]), plt.rcParams["axes.facecolor"])
open("mine", "w").write("x" * 1_000_000)
state = (random.random(), float(np.random.rand()))
"""


def _children():
    listing = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
    family, known = set(), {str(os.getpid())}
    while known:
        family |= known
        known = {pid for pid, parent, _ in rows if parent in family} - family
    return {pid for pid, _, name in rows if pid in family and name not in {"ps"}} - {str(os.getpid())}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    isolation = detect_isolation()
    if sys.platform == "darwin" and not isolation.sufficient:
        pytest.skip(isolation.why)
    assert isolation.sufficient, f"this machine cannot hold hostile code: {isolation.why}"
    host = tmp_path_factory.mktemp("host")
    data = host / "data.csv"
    data.write_text(DATA)
    (host / ".env").write_text(f"OPENAI_API_KEY={SECRET}")
    (host / "runs").mkdir()
    (host / "runs" / "records.jsonl").write_text(SECRET)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    abstract = socket.socket(socket.AF_UNIX)
    if sys.platform == "linux":
        abstract.bind("\0dsqa-hostile")
        abstract.listen()
    os.environ["DSQA_HOSTILE_KEY"] = SECRET
    before_files = _tree(host)
    before_children = _children()
    honest = Snippet("honest", HONEST, {"data.csv": data})
    snippets = [honest]
    for file in FILES:
        code = file.read_text()
        for name, value in (
            ("HOST", host), ("PID", os.getpid()), ("PORT", listener.getsockname()[1]), ("SECRET", SECRET),
        ):  # fmt: skip
            code = code.replace("{{" + name + "}}", str(value))
        snippets += [Snippet(file.stem, code, {"data.csv": data}), honest]
    try:
        results = list(execute(snippets, LIMITS, workers=2))
        connected = _connections(listener)
    finally:
        del os.environ["DSQA_HOSTILE_KEY"]
        listener.close()
        abstract.close()
    return {
        "results": results, "host": host, "before": before_files, "connected": connected,
        "left": _children() - before_children,
    }  # fmt: skip


def _tree(root):
    return {str(p.relative_to(root)): (p.read_bytes() if p.is_file() else None) for p in sorted(root.rglob("*"))}


def _connections(listener):
    try:
        listener.accept()
    except BlockingIOError:
        return 0
    return 1


def test_the_corpus_is_large_enough():
    assert len(FILES) >= 130


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_contained_with_its_own_outcome(ran, file):
    index = 1 + 2 * FILES.index(file)
    result, after, first = ran["results"][index], ran["results"][index + 1], ran["results"][0]
    assert result.snippet_id == file.stem
    head = file.read_text().split("\n", 2)
    expected = head[0].removeprefix("# expect: ").split("|")
    printed = result.stdout + result.stderr + (result.value or "") + result.detail
    assert result.outcome in expected, (result.outcome, result.detail, result.stderr[-500:])
    if head[1].startswith("# detail: "):
        assert re.search(head[1].removeprefix("# detail: "), result.detail), result.detail
    # A traceback may quote the line that would have printed it.
    assert "ESCAPED" not in result.stdout + (result.value or "")
    assert SECRET not in printed.replace(f'"{SECRET}"', "")
    cap = LIMITS.output_kb * 1024
    assert len(result.stdout) <= cap
    assert len(result.stderr) <= cap
    assert len(result.value or "") <= cap
    assert result.cpu_seconds < LIMITS.cpu_seconds + 1.5
    assert result.isolation == detect_isolation().name
    # the next snippet's result is what it was before any of them ran
    assert (after.outcome, after.stdout, after.stderr) == (first.outcome, first.stdout, first.stderr)


def test_the_honest_snippet_ran(ran):
    first = ran["results"][0]
    assert first.outcome == "ran", first.stderr
    assert first.stdout.splitlines()[0] == "{'a': 2.0, 'b': 3.5} 1.5 3.141592653589793 [1] 6"
    assert "['data.csv'] [] " in first.stdout


def test_the_host_is_unharmed(ran):
    assert _tree(ran["host"]) == ran["before"]
    assert ran["connected"] == 0


def test_no_process_is_left(ran):
    assert ran["left"] == set()
