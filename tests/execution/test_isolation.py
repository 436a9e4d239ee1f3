"""Isolation is found wherever Python lies."""

import subprocess
import sys
import tempfile
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from dsqa.execution import isolation


def test_a_python_under_tmp_is_no_obstacle():
    # Checkouts and CI environments often lie there, where the sandbox has its own writable folder otherwise.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home = Path(folder) / "venv"
        venv.create(home, with_pip=False, symlinks=True)
        outer = next(home.glob("lib/python*/site-packages")) / "outer.pth"
        outer.write_text("\n".join(path for path in sys.path if path) + "\n")
        code = "from dsqa.execution import detect_isolation as d; print(d().sufficient, d().why)"
        command = [home / "bin" / "python", "-c", code]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("True"), result.stdout + result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux only")
@pytest.mark.parametrize(
    ("lacks", "meaning"),
    [
        ({"users": False}, "one run that starts hundreds of threads can make others fail"),
        ({"namespaces": False}, "one at a time in each sandbox"),
        ({"landlock": False}, "by what is mounted alone"),
        ({"seccomp": False}, "kernel memory is not bounded"),
    ],
)
def test_a_missing_layer_is_told_with_what_it_means(lacks, meaning):
    launch, found = isolation.find_launch()
    assert launch is not None
    told = isolation._describe(replace(launch, **lacks))
    assert told.sufficient
    assert len(told.missing) == len(found.missing) + 1
    assert any(meaning in missing for missing in told.missing)
    # What is there is told as such, with the versions of what holds it.
    assert not any(meaning in layer for layer in told.layers)
    assert "bubblewrap" in told.why
    assert "Linux" in told.why


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux only")
@pytest.mark.parametrize("lacks", [{"users": False}, {"landlock": False}, {"users": False, "seccomp": False}])
def test_the_rest_holds_where_a_layer_is_missing(lacks):
    launch, _ = isolation.find_launch()
    assert isolation._probe(replace(launch, **lacks)) is None
