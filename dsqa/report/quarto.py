"""Quarto: which one is here, how it is run, and what of its messages a user has to know."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from dsqa.errors import ReportError
from dsqa.report.formats import Renderer

__all__ = [
    "NEWEST",
    "OLDEST",
    "Quarto",
    "QuartoError",
    "find_quarto",
    "messages",
    "quarto_for",
    "quarto_path",
    "run_quarto",
]

OLDEST, NEWEST = (1, 6), (1, 10)
"""Versions that dsqa's project is written for; an older one is not used, a newer one is with a word about it."""

_SILENCE = 300.0  # seconds without a word; a page of Quarto's is made in far less
_WHOLE = 3600.0
_LINES = 4


class QuartoError(ReportError):
    """Quarto could not do it; the bundled programs may."""


@dataclass(frozen=True)
class Quarto:
    """A Quarto: the program, and what it says of its version."""

    program: str
    version: str

    @property
    def newer(self) -> bool:
        """Whether it is newer than any that dsqa has been tried with."""
        return _numbers(self.version) > NEWEST


def quarto_path() -> str | None:
    """Return the Quarto that ``DSQA_QUARTO`` names, else the one on the PATH, else None."""
    return os.environ.get("DSQA_QUARTO") or shutil.which("quarto")


@cache
def _found(program: str) -> Quarto:
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            check=False,
            errors="replace",
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ReportError(f"cannot be run: {error.strerror or error}", path=program) from None
    except subprocess.TimeoutExpired:
        raise ReportError("did not tell its version within a minute", path=program) from None
    version = done.stdout.strip()
    if done.returncode or not re.match(r"\d+\.\d+", version):
        said = " ".join((done.stderr or done.stdout).split())[:200]
        raise ReportError(f"is not a Quarto that works: --version said '{said}'", path=program)
    if _numbers(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ReportError(f"is Quarto {version}; dsqa's reports need {oldest} or later", path=program)
    return Quarto(program, version)


def find_quarto() -> Quarto | None:
    """Return the Quarto that is here, or None.

    Raises
    ------
    ReportError
        There is one that cannot be used: it does not start, hangs, or is older than `OLDEST`.
    """
    program = quarto_path()
    return None if program is None else _found(program)


def quarto_for(renderer: Renderer, say: Callable[[str], None]) -> Quarto | None:
    """Return the Quarto to render with, or None for the bundled programs.

    Parameters
    ----------
    renderer
        As the user asks.
    say
        Takes a line where a Quarto is passed over, or has not been tried.

    Raises
    ------
    ReportError
        Quarto was asked for and is not here, or cannot be used.
    """
    if renderer == "pandoc":
        return None
    try:
        found = find_quarto()
    except ReportError as error:
        if renderer == "quarto":
            raise
        say(f"Without Quarto: {error}")
        return None
    if found is None and renderer == "quarto":
        raise ReportError(
            "no Quarto is on the PATH", hint="https://quarto.org/docs/get-started, or leave --renderer out"
        )
    if found is not None and found.newer:
        newest = ".".join(map(str, NEWEST))
        say(f"Quarto {found.version} is newer than {newest}, the last that dsqa was tried with")
    return found


def run_quarto(quarto: Quarto, arguments: Sequence[str], folder: Path, *, silence: float | None = None) -> list[str]:
    """Run Quarto in a folder and return its warnings, a line each.

    Parameters
    ----------
    quarto
        The program.
    arguments
        Such as ``render``.
    folder
        Its working folder; taken out of what is said.
    silence
        Seconds without a word after which it is ended; by default five minutes, or ``DSQA_QUARTO_SILENCE``.

    Raises
    ------
    QuartoError
        It failed, with the lines in which it says why; or it was silent for too long and has been ended.
    """
    patience = silence or float(os.environ.get("DSQA_QUARTO_SILENCE") or _SILENCE)
    environment = {**os.environ, "NO_COLOR": "1", "QUARTO_LOG_LEVEL": "info"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [quarto.program, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        listener = _Listener(process, said)
        try:
            ended = _wait(process, listener, patience)
        finally:
            _end(process)
            listener.thread.join(5)
        said.seek(0)
        text = said.read().decode("utf-8", "replace").replace(f"{folder}/", "").replace(f"{folder.resolve()}/", "")
    errors, warnings = messages(text)
    if ended:
        raise QuartoError(f"Quarto was ended: {ended}")
    if process.returncode:
        raise QuartoError(f"Quarto failed: {'; '.join(errors) or _last(text)}")
    return [*warnings, *errors]


class _Listener:
    """Reads what a process says, and knows when it last said something."""

    def __init__(self, process: subprocess.Popen[bytes], target: IO[bytes]) -> None:
        self.last = time.monotonic()
        self._source, self._target = process.stdout, target
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            while self._source is not None and (block := os.read(self._source.fileno(), 65536)):
                self.last = time.monotonic()
                self._target.write(block)


def _wait(process: subprocess.Popen[bytes], listener: _Listener, silence: float) -> str:
    """Wait for its end; return why it must be ended, or nothing."""
    start = time.monotonic()
    while True:
        try:
            process.wait(min(0.2, silence))
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if now - listener.last > silence:
                return f"it said nothing for {silence:g} seconds"
            if now - start > _WHOLE:
                return f"it did not end within {_WHOLE / 60:g} minutes"
        else:
            return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started: Quarto is a script around Deno, which starts pandoc and Typst."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KIND = re.compile(
    r"^\s*(?:\[(?P<boxed>WARNING|ERROR)\]|(?P<word>ERROR|WARNING|WARN|error|warning)\b(?=:| \()"
    r"(?P<place> \([^)]*\))?:?|(?P<filter>Error running filter) \S+)\s*(?P<text>.*)$"
)
_OTHER = re.compile(r"\s*(?:stack traceback:|Stack trace|\[\s*\d+/\d+\] |Output created:)", re.IGNORECASE)
_PLACE = re.compile(r"^\S+\.lua:\d+:\s*")


def messages(text: str) -> tuple[list[str], list[str]]:
    """Return the errors and the warnings in what Quarto said, a line each, without repetitions and Lua stacks.

    Quarto's own (``ERROR: …``, ``WARN: …``, ``WARNING (file.lua:1) …``), pandoc's (``[WARNING] …``), Typst's
    (``error: …``) and those of filters (``Error running filter …``).
    """
    found: dict[str, dict[str, None]] = {"e": {}, "w": {}}
    kind, lines = "", [""]
    for line in [*_COLOUR.sub("", text).replace("\r", "\n").splitlines(), "ERROR: "]:
        match = _KIND.match(line)
        stripped = line.strip()
        if match or _ends(line, kind, lines):
            message = " ".join(part for part in lines if part)
            if kind and message:
                found[kind].setdefault(message[:400])
            kind, lines = "", [""]
        if match:
            word = (match["boxed"] or match["word"] or "error").lower()
            kind, lines = ("w" if word.startswith("warn") else "e"), [_PLACE.sub("", match["text"].strip())]
        elif kind:
            lines.append(_PLACE.sub("", stripped))
    return list(found["e"]), list(found["w"])


def _ends(line: str, kind: str, lines: Sequence[str]) -> bool:
    """Tell whether a line is no more part of the message that has begun."""
    begun = any(lines)
    if _OTHER.match(line) or (begun and (not line.strip() or len(lines) >= _LINES)):
        return True
    # An error goes on over lines; a warning is one line, unless the next is set in.
    return kind == "w" and begun and not line[:1].isspace()


def _last(text: str) -> str:
    lines = [" ".join(line.split()) for line in _COLOUR.sub("", text).partition("stack traceback:")[0].splitlines()]
    return " ".join([line for line in lines if line][-3:])[-400:] or "it said nothing"


def _numbers(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
