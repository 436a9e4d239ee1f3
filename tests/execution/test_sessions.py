# ruff: noqa: E501
"""A kernel in the real sandbox, cell after cell: IPython's rules, outputs in order, limits, restarts, isolation."""

import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from PIL import Image

from dsqa.errors import ExecutionRefusedError, SessionEndedError
from dsqa.execution import SessionHost, SessionLimits, open_session
from dsqa.execution import isolation as isolation_module
from dsqa.study.sections import ArtefactConfig, ExecutionConfig

LIMITS = ExecutionConfig(
    cpu_seconds=3,
    wall_seconds=20,
    memory_mb=512,
    disk_mb=8,
    output_kb=16,
    artefacts=ArtefactConfig(figures=3, total_mb=2),
)


@pytest.fixture(scope="module")
def host():
    with SessionHost(LIMITS) as opened:
        yield opened


@pytest.fixture
def session(host, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    with host.open({"d.csv": path}) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(host):
    """One kernel for the cells that leave it as it was."""
    return host.open()


def kinds(result):
    return [output.kind for output in result.outputs]


def test_state_stays_and_the_last_expression_shows(session):
    assert session.run("x = 20").outputs == ()
    result = session.run("x + 1")
    assert (result.outcome, result.value, result.number) == ("ran", "21", 2)
    assert session.run("_ + 1, Out[2], In[1]").value == "(22, 21, 'x = 20')"
    assert session.run("_3[0];").value is None
    assert session.run("def f():\n    return x\n\nf()").value == "20"
    assert session.run("import pandas as pd\npd.read_csv('d.csv').b.sum()").value == "np.int64(7)"


def test_outputs_come_in_order_as_text_table_and_image(session):
    result = session.run(
        "import pandas as pd, matplotlib.pyplot as plt\nprint('one')\ndisplay(pd.DataFrame({'a': [1]}))\nprint('two')\n"
        "plt.plot([1, 2])\nplt.show()\nprint('three')\nplt.hist([1, 2])\nplt.title('later')\npd.Series([5], name='s')"
    )
    assert kinds(result) == ["stdout", "text", "table", "stdout", "figure", "stdout", "text", "table", "figure"]
    assert result.stdout == "one\ntwo\nthree\n"
    assert result.value == "0    5\nName: s, dtype: int64"
    table, figure, series, later = result.artefacts
    assert json.loads(table.part("json").content)["rows"] == [[1]]
    assert [part.media for part in figure.parts] == ["png", "svg", "json"]
    assert Image.open(io.BytesIO(figure.part("png").content)).size[0] > 200
    assert json.loads(series.part("json").content)["columns"] == ["s"]
    assert later.facts["title"] == "later"


def test_images_and_figures_shown_as_values(shared):
    result = shared.run("from PIL import Image\nImage.new('RGB', (3, 2))")
    assert kinds(result) == ["text", "image"]
    assert kinds(shared.run("from matplotlib.figure import Figure\nf = Figure()\nf.subplots()\nf")) == [
        "text",
        "figure",
    ]
    # each is drawn in the cell that made it, and once more only where it is shown once more
    assert kinds(shared.run("1")) == ["text"]
    assert kinds(shared.run("f")) == ["text", "figure"]


def test_files_written_by_a_cell(shared):
    assert [a.name for a in shared.run("open('out.csv', 'w').write('a')").artefacts] == ["out.csv"]
    assert shared.run("1").artefacts == ()
    assert [a.name for a in shared.run("open('out.csv', 'a').write('b')").artefacts] == ["out.csv"]


@pytest.mark.parametrize(
    "cell", ["!pip install x", "%pip install x", "%%bash\nls", "files = !ls", "%%R\nmean(x)", "%conda install x"]
)
def test_what_needs_another_program_is_said(shared, cell):
    result = shared.run(cell)
    assert (result.outcome, kinds(result)) == ("ran", ["note"])
    assert "not run" in result.outputs[0].text


def test_magics_that_need_none_work(shared):
    assert shared.run("%matplotlib inline\n%time 1 + 1").value == "2"
    assert "CPU times" in shared.run("%%time\ny = 3").stdout
    assert shared.run("y").value == "3"
    unknown = shared.run("%nosuchmagic")
    assert (unknown.outcome, unknown.exception) == ("failed", "UsageError")
    assert shared.run("await __import__('asyncio').sleep(0, 8)").value == "8"


@pytest.mark.parametrize(
    ("cell", "outcome", "detail", "line"),
    [
        ("y = 1\n1 / 0", "failed", "ZeroDivisionError at line 2: division by zero", 2),
        ("def g():\n    raise KeyError('k')\n\ng()", "failed", "KeyError at line 2: 'k'", 2),
        ("x = (", "does not parse", "line 1: ", 1),
        ("import surely_not_here", "missing package", "needs surely_not_here", 1),
        ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "blocked", "PermissionError at line 2", 2),
        ("open('/etc/passwd')", "failed", "FileNotFoundError at line 1", 1),
        ("import os\nos.fork()", "blocked", "PermissionError at line 2", 2),
        ("x = bytearray(1 << 40)", "killed by memory", "MemoryError at line 1", 1),
        ("input()", "failed", "EOFError at line 1", 1),
        # IPython alone needs tens of seconds to tell of it.
        ("def f():\n    return f()\n\nf()", "failed", "RecursionError at line 2", 2),
        ("import sys\nsys.exit(3)", "failed", "SystemExit at line 2: 3", 2),
    ],
)
def test_a_cell_that_fails_leaves_the_kernel_alive(shared, cell, outcome, detail, line):
    shared.run("kept = 5")
    result = shared.run(cell)
    assert (result.outcome, result.line, result.restarted) == (outcome, line, False), result
    assert result.detail.startswith(detail)
    assert "error" in kinds(result)
    assert shared.run("kept").value == "5"


def test_a_cell_that_runs_too_long_is_interrupted_and_the_variables_stay(host):
    limits = LIMITS.model_copy(update={"cpu_seconds": 0.5, "wall_seconds": 1.5})
    with host.open(limits=limits) as session:
        session.run("x = 1")
        spin, sleep = session.run("while True: pass"), session.run("import time\ntime.sleep(60)")
        assert (spin.outcome, spin.detail) == ("timed out", "CPU limit of 0.5 s")
        assert (sleep.outcome, sleep.detail) == ("timed out", "wall limit of 1.5 s")
        assert (spin.interrupted, spin.restarted, sleep.interrupted, sleep.restarted) == (True, False, True, False)
        assert session.run("x").value == "1"
        stubborn = session.run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
        assert (stubborn.outcome, stubborn.interrupted, stubborn.restarted) == ("timed out", True, True)
        assert any("variables" in note for note in stubborn.notes)
        gone = session.run("x")
        assert (gone.number, gone.exception) == (6, "NameError")
        assert session.run("2").value == "2"


@pytest.mark.parametrize(
    ("cell", "detail"),
    [
        ("import os\nos._exit(0)", "the code ended its own process"),
        ("import os\nos._exit(3)", "exit status 3"),
        ("import ctypes\nctypes.string_at(0)", "killed by SIGSEGV"),
        ("import os\nos.write(4, b'nonsense\\n')", "the kernel stopped answering, or lied"),
        ("import os\nwhile True: os.write(4, bytes(60_000))", "the kernel stopped answering, or lied"),
    ],
)
def test_a_kernel_that_dies_is_replaced_and_it_is_said(session, cell, detail):
    session.run("x = 1")
    result = session.run(cell)
    assert (result.outcome, result.detail, result.restarted) == ("failed", detail, True)
    assert session.run("'x' in dir(), 1").value == "(False, 1)"


def test_output_is_cut_and_said(shared):
    result = shared.run("print('x' * 100_000)\n'y' * 100_000")
    assert (len(result.stdout), result.truncated) == (16384, True)
    raw = shared.run("import os\n_ = os.write(1, b'past python')")
    assert raw.stdout == "past python"


def test_figures_are_capped_for_each_cell(shared):
    cell = "import matplotlib.pyplot as plt\nfor i in range(5):\n    plt.figure()\n    plt.plot([0, i])"
    for _ in range(2):
        result = shared.run(cell)
        assert kinds(result) == ["figure"] * 3
        assert "more than 3 figures: the rest are left out" in result.notes


def test_sessions_see_nothing_of_each_other(host):
    first, second = host.open(), host.open()
    first.run(
        "import os, random, numpy as np, matplotlib.pyplot as plt\nx = 1\nopen('f', 'w').write('x')\nnp.random.seed(1)\nplt.rcParams['figure.dpi'] = 7\nos.environ['A'] = '1'"
    )
    probe = second.run(
        "import os, matplotlib.pyplot as plt\n'x' in dir(), os.listdir('.'), plt.rcParams['figure.dpi'], os.environ.get('A')"
    )
    assert probe.value == "(False, [], 100.0, None)"
    assert first.run("x, os.listdir('.')").value == "(1, ['f'])"
    first.close()
    assert second.run("1").value == "1"


def test_a_session_has_limits_as_a_whole(host):
    session = host.open(whole=SessionLimits(cells=2, cpu_seconds=60))
    session.run("1")
    session.run("2")
    with pytest.raises(SessionEndedError, match="used up its 2 cells"):
        session.run("3")
    session = host.open(whole=SessionLimits(cpu_seconds=1.0))
    session.run("import time\nwhile time.process_time() < 30: pass")
    with pytest.raises(SessionEndedError, match="CPU seconds"):
        session.run("1")
    session = host.open(whole=SessionLimits(wall_seconds=1.5))
    session.run("import time\ntime.sleep(30)")
    with pytest.raises(SessionEndedError, match="wall seconds"):
        session.run("1")


def test_a_closed_session_says_so(host):
    session = host.open()
    session.run("1")
    assert session.alive
    session.close()
    assert not session.alive
    with pytest.raises(SessionEndedError, match="closed"):
        session.run("1")


def test_a_session_can_be_started_anew(session):
    session.run("x = 1")
    session.restart()
    assert session.run("x").exception == "NameError"


def _sandboxes():
    out = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in out.splitlines()[1:]]
    return [int(pid) for pid, parent, name in rows if parent == str(os.getpid()) and "bwrap" in name]


def _below(pids):
    """Return these processes and all that came from them, but the dead that nobody has waited for yet."""
    out = subprocess.run(["ps", "-eo", "pid,ppid,stat"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()[1:]]
    found, known = set(), set(pids)
    while known - found:
        found |= known
        known = {int(pid) for pid, parent, _ in rows if int(parent) in found}
    return {int(pid) for pid, _, state in rows if int(pid) in found and not state.startswith("Z")}


def _kill(pids):
    """Kill sandboxes and wait until nothing of them is left that could still answer."""
    family = _below(pids)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    while family & _below(family):
        time.sleep(0.02)


def test_closing_ends_everything_and_leaves_no_descriptor(shared):
    shared.run("1")  # what is opened once for good does not count
    before, descriptors = set(_sandboxes()), len(list(Path("/dev/fd").iterdir()))
    with open_session(LIMITS) as session:
        assert session.run("1 + 1").value == "2"
        assert session.run("import os\nos._exit(1)").restarted
        assert session.run("1 + 2").value == "3"
        assert set(_sandboxes()) - before
    assert set(_sandboxes()) == before
    assert len(list(Path("/dev/fd").iterdir())) == descriptors


def test_a_sandbox_that_is_killed_is_replaced_for_all_its_sessions():
    before = set(_sandboxes())
    with SessionHost(LIMITS) as opened:
        first, second = opened.open(), opened.open()
        first.run("x = 1")
        second.run("x = 2")
        _kill(set(_sandboxes()) - before)
        for session in (first, second):
            result = session.run("x")
            assert (result.outcome, result.restarted) == ("failed", True)
            assert result.detail.startswith("its sandbox ended")
        assert (first.run("1").value, second.run("2").value) == ("1", "2")
    assert set(_sandboxes()) == before


def test_without_isolation_no_session_starts(monkeypatch):
    isolation_module._detect.cache_clear()
    monkeypatch.setattr(isolation_module, "find_bubblewrap", list)
    try:
        with pytest.raises(ExecutionRefusedError, match="no sufficient isolation"):
            SessionHost(LIMITS)
    finally:
        monkeypatch.undo()
        isolation_module._detect.cache_clear()


@pytest.mark.parametrize("name", ["../x", "/etc/x", ""])
def test_a_data_file_cannot_be_placed_outside(host, name, tmp_path):
    with pytest.raises(ValueError, match="not a name inside"):
        host.open({name: tmp_path})


def test_the_data_file_on_this_machine_is_never_changed(session, tmp_path):
    session.run("import os\nos.chmod('d.csv', 0o600)\nopen('d.csv', 'w').write('gone')")
    assert (tmp_path / "d.csv").read_text() == "a,b\n1,2\n3,5\n"


@pytest.mark.parametrize(
    "cell",
    [
        "get_ipython().run_cell = None",
        "type(get_ipython()).run_cell = lambda *_, **__: None",
        "get_ipython().compile = None",
        "get_ipython().run_ast_nodes = lambda *_, **__: 1",
        "import os\nos.closerange(6, 12)",
    ],
)
def test_a_cell_that_breaks_what_runs_cells_gets_a_new_kernel(session, cell):
    session.run("x = 1")
    result = session.run(cell)
    assert (result.outcome, result.restarted, session.alive) == ("ran", True, False)
    assert session.run("x").exception == "NameError"
    assert session.run("1 + 1").value == "2"


def test_a_cell_may_replace_what_python_prints_to(session):
    result = session.run("import io, json, os, sys\nsys.stdout = io.StringIO()\nos.read = json.loads = None")
    assert (result.outcome, result.restarted) == ("ran", False)
    assert session.run("1 + 1").value == "2"
