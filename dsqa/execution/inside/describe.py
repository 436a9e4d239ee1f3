"""Say what an interpreter is and what is installed for it; imported by dsqa, or run by another interpreter."""

import importlib.metadata
import json
import platform
import re
import sys
import sysconfig
from pathlib import Path
from typing import Any

__all__ = ["describe"]


def describe() -> dict[str, Any]:
    """Return the version, the prefixes, where libraries lie, and the installed distributions, as plain data."""
    site = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    # A library installed elsewhere (`pip install --user`); the folder of the user's own project is not one.
    names = {"site-packages", "dist-packages"}
    found = [entry for entry in sys.path if entry and Path(entry).is_dir() and Path(entry).name in names]
    paths = list(dict.fromkeys([*found, *site]))
    packages: dict[str, str] = {}
    for distribution in importlib.metadata.distributions(path=paths):
        name = distribution.metadata["Name"]
        if name:
            # As package indexes compare names; the first on the path is the one that is imported.
            packages.setdefault(re.sub(r"[-_.]+", "-", name).lower(), distribution.version or "")
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
        "paths": paths,
        "libraries": [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")],
        "packages": dict(sorted(packages.items())),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(describe()))
