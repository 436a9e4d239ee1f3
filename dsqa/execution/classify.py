"""From what was seen of a process to a named outcome: the one place where that is decided."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.execution.artefacts import read_artefacts
from dsqa.execution.artefacts.model import whole_text
from dsqa.execution.artefacts.reader import Clean, clean_here
from dsqa.execution.inside.watch import WAITING_SHARE
from dsqa.execution.interpreter import Environment
from dsqa.execution.missing import explain_missing
from dsqa.execution.model import ExecutionResult, Outcome, Snippet
from dsqa.study.sections import ExecutionConfig

__all__ = ["Ending", "WorkerBrokenError", "classify", "missing_detail", "name_outcome", "wrong_path"]

_REFUSED_ERRNOS = {
    errno.EPERM, errno.EACCES, errno.EROFS, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH,
    errno.EXDEV,
    # the disk, file-size and open-file limits
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE,
}  # fmt: skip
_NETWORK_ERRORS = {"gaierror", "ConnectionRefusedError", "NewConnectionError", "NameResolutionError"}
_MEMORY_WORDS = ("std::bad_alloc", "MemoryError", "Cannot allocate memory", "Unable to allocate")
_DETAIL_CAP = 300
_NOT_FOUND = re.compile(r"^FileNotFoundError\b.*'([^'\n]{1,200})'")


class WorkerBrokenError(Exception):
    """The run says nothing about the snippet yet: its worker broke under it."""


@dataclass(frozen=True)
class Ending:
    """What was seen of one run: the preloader's word, and the raw bytes of the child's channels.

    `over` is True once the snippet itself has ended and only what it left was being kept, for `apart` CPU seconds.
    `preloader` is the CPU seconds that its preloader has used so far: in forking, and in all.
    """

    status: int
    killed: str | None
    wall: float
    cpu: float
    peak_mb: float | None
    stdout: bytes
    stderr: bytes
    truncated: bool
    report: bytes
    over: bool = False
    apart: float = 0.0
    kept: bytes = b""
    preloader: tuple[float, float] = (0.0, 0.0)


def classify(
    snippet: Snippet,
    ending: Ending,
    limits: ExecutionConfig,
    isolation: str,
    environment: Environment | None = None,
    clean: Clean = clean_here,
) -> ExecutionResult:
    """Name how a run ended; `clean` checks what it left.

    The preloader's word (killed, exit status, times) goes before the child's own report, which the snippet could
    have written; the report can only speak of the snippet itself.

    Raises
    ------
    WorkerBrokenError
        The sandbox could not be set up around the snippet.
    """
    report, forged = _read_report(ending.report)
    if report.get("kind") == "setup":
        raise WorkerBrokenError(str(report.get("message", "")))
    outcome, detail = name_outcome(report, forged, ending, limits)
    if outcome == "missing package":
        detail = missing_detail(report, snippet.code, limits, environment)
    elif outcome == "failed":
        detail = wrong_path(detail, snippet)
    line, value, exception = report.get("line"), report.get("value"), None
    chain = report.get("chain")
    if isinstance(chain, list) and chain and isinstance(chain[0], dict):
        exception = str(chain[0].get("type"))[:100]
    elif report.get("kind") == "syntax":
        exception = "SyntaxError"
    cap = limits.output_kb * 1024
    kept = read_artefacts(ending.kept, limits.artefacts, clean)
    notes = kept.notes
    if ending.killed == "apart":
        notes = (*notes, f"drawing stopped at its CPU limit of {limits.artefacts.cpu_seconds:g} s")
    return ExecutionResult(
        snippet_id=snippet.id,
        outcome=outcome,
        detail=whole_text(detail[:_DETAIL_CAP]),
        stdout=ending.stdout.decode("utf-8", "replace"),
        stderr=ending.stderr.decode("utf-8", "replace"),
        value=whole_text(value[:cap]) if isinstance(value, str) and outcome == "ran" else None,
        wall_seconds=ending.wall,
        cpu_seconds=ending.cpu,
        isolation=isolation,
        line=line if isinstance(line, int) and outcome != "ran" else None,
        exception=None if exception is None else whole_text(exception),
        truncated=ending.truncated,
        near_limit=_near_limit(ending, limits),
        environment="" if environment is None else environment.fingerprint,
        peak_mb=ending.peak_mb,
        artefacts=kept.artefacts,
        artefact_notes=notes,
        artefact_cpu_seconds=ending.apart,
    )


def wrong_path(detail: str, snippet: Snippet) -> str:
    """Say where a file was not found that lies beside the code under its bare name: a wrong path, not wrong code."""
    named = _NOT_FOUND.search(detail)
    if named is None:
        return detail
    asked = named[1].replace("\\\\", "/").replace("\\", "/").rpartition("/")[2].casefold()
    beside = next((name for name in snippet.data_files if Path(name).name.casefold() == asked), None)
    return detail if beside is None else f"wrong path: '{named[1]}', and the file is '{beside}'; {detail}"


def _near_limit(ending: Ending, limits: ExecutionConfig) -> bool:
    """Return whether half of a limit was used; wall time counts where it passed in waiting, not in work."""
    waited = ending.cpu < 2 * WAITING_SHARE * ending.wall
    return ending.cpu * 2 >= limits.cpu_seconds or (waited and ending.wall * 2 >= limits.wall_seconds)


def _read_report(data: bytes) -> tuple[dict[str, Any], bool]:
    """Return the child's report and whether its channel was tampered with.

    The child writes exactly one line, last. Anything else in there is the snippet's.
    """
    if not data:
        return {}, False
    try:
        row = json.loads(data) if data.endswith(b"\n") and data.count(b"\n") == 1 else None
    except (ValueError, RecursionError):
        row = None
    return (row, False) if isinstance(row, dict) and _is_sound(row) else ({}, True)


def _is_sound(row: dict[str, Any]) -> bool:
    """Return whether a report's parts are of the kinds that ours are of."""
    chain = row.get("chain", [])
    return (
        isinstance(row.get("kind"), str)
        and isinstance(row.get("line"), int | None)
        and isinstance(chain, list)
        and all(isinstance(link, dict) and _is_sound_link(link) for link in chain)
    )


def _is_sound_link(link: dict[str, Any]) -> bool:
    bases = link.get("bases")
    return (
        isinstance(bases, list)
        and all(isinstance(base, str) for base in bases)
        and all(isinstance(link.get(part), str | None) for part in ("type", "message", "name"))
        and isinstance(link.get("errno"), int | None)
    )


def name_outcome(
    report: dict[str, Any], forged: bool, ending: Ending, limits: ExecutionConfig
) -> tuple[Outcome, str]:
    """Return the outcome and its detail, from a report that may be `forged` and what was seen from outside."""
    cpu_limit = f"CPU limit of {limits.cpu_seconds:g} s"
    if ending.killed == "cpu":
        return "timed out", cpu_limit
    if ending.killed == "wall":
        return "timed out", f"wall limit of {limits.wall_seconds:g} s"
    if forged or (ending.killed == "apart" and not report):
        return "blocked", "wrote to the channel its outcome is reported on"
    code, kind = os.waitstatus_to_exitcode(ending.status), report.get("kind")
    if ending.over and kind is not None:
        # Whatever it died of, it died of after the snippet: in drawing what that left.
        status = report.get("status")
        code = status if isinstance(status, int) and 0 <= status <= 255 else code
    if code < 0:
        return _by_signal(-code, ending, limits, cpu_limit)
    if kind == "syntax":
        line = report.get("line")
        where = f"line {line}: " if isinstance(line, int) else ""
        return "does not parse", f"{where}{report.get('message', '')}"
    if kind == "exception" and isinstance(report.get("chain"), list) and report["chain"]:
        return _by_exception(report)
    if code != 0:
        if any(word.encode() in ending.stderr[-2000:] for word in _MEMORY_WORDS):
            return "killed by memory", f"memory limit of {limits.memory_mb} MB"
        return "failed", f"exit status {code}"
    if kind == "done":
        return "ran", ""
    return "ran", "left by exit, before its end" if kind == "exit" else "left its process, before its end"


def _by_signal(number: int, ending: Ending, limits: ExecutionConfig, cpu_limit: str) -> tuple[Outcome, str]:
    if number == signal.SIGXCPU or (number == signal.SIGKILL and ending.cpu >= limits.cpu_seconds):
        return "timed out", cpu_limit
    memory = any(word.encode() in ending.stderr[-2000:] for word in _MEMORY_WORDS)
    if number == signal.SIGKILL or memory:
        # Nobody but the kernel's out-of-memory killer sends a SIGKILL that is neither ours nor the CPU limit's.
        return "killed by memory", f"memory limit of {limits.memory_mb} MB"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return "failed", f"killed by {name}"


def _by_exception(report: dict[str, Any]) -> tuple[Outcome, str]:
    chain = [row for row in report["chain"] if isinstance(row, dict)]
    first = chain[0] if chain else {}
    line = report.get("line")
    where = f" at line {line}" if isinstance(line, int) else ""
    what = f"{first.get('type')}{where}: {first.get('message', '')}".rstrip(": \n")
    bases = first.get("bases") or []
    if "MemoryError" in bases:
        return "killed by memory", what
    if "ImportError" in bases and _missing_module(report)[0]:
        return "missing package", what
    for row in chain:
        names = [name for name in row.get("bases") or [] if isinstance(name, str)]
        if "OSError" in names and row.get("errno") in _REFUSED_ERRNOS:
            return "blocked", what
        if _NETWORK_ERRORS & set(names):
            return "blocked", what
    return "failed", what


def missing_detail(
    report: dict[str, Any], code: str, limits: ExecutionConfig, environment: Environment | None
) -> str:
    """Return what the outcome "missing package" needs, and where the code asked for it."""
    module, where = _missing_module(report)
    return explain_missing(module, code, environment, limits.packages) + where


def _missing_module(report: dict[str, Any]) -> tuple[str, str]:
    """Return the module that could not be found ("" if it was none), and where it was asked for.

    pandas and others raise an ImportError of their own from the one that names the package.
    """
    line = report.get("line")
    where = f" at line {line}" if isinstance(line, int) else ""
    for row in report.get("chain") or []:
        if isinstance(row, dict) and "ModuleNotFoundError" in (row.get("bases") or []):
            return str(row.get("name") or row.get("message", ""))[:100], where
    return "", where
