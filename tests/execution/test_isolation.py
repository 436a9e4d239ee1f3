"""Isolation is found wherever Python lies."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path


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
