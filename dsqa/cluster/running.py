"""On a worker: run a chunk of snippets in its own sandbox."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.cluster.store import find_file
from dsqa.cluster.wire import pack_error
from dsqa.errors import DsqaError
from dsqa.execution import ExecutionResult, Snippet, execute
from dsqa.study.sections import ExecutionConfig

__all__ = ["Chunk", "ChunkResult", "call_off", "run_chunk"]

_called_off: deque[str] = deque(maxlen=64)


@dataclass(frozen=True)
class Chunk:
    """Snippets to run.

    Parameters
    ----------
    token
        Which session they belong to.
    snippets
        Id, code, and the data files: name in the working folder, SHA-256, path on the chief's machine.
    limits
        As plain data.
    unsafe, workers
        As for `dsqa.execution.execute`.
    """

    token: str
    snippets: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...]
    limits: dict[str, Any]
    unsafe: bool
    workers: int | None


@dataclass(frozen=True)
class ChunkResult:
    """What came of a chunk: results, hashes of files that must be sent first, or an error."""

    results: tuple[ExecutionResult, ...] = ()
    missing: tuple[str, ...] = ()
    error: dict[str, Any] | None = None


def run_chunk(chunk: Chunk) -> ChunkResult:
    """Run the snippets one after another, `workers` at a time; after `call_off` no more are begun."""
    places: dict[str, Path] = {}
    missing: dict[str, None] = {}
    for digest, path in {(digest, path) for _, _, files in chunk.snippets for _, digest, path in files}:
        found = find_file(digest, path)
        if found is None:
            missing[digest] = None
        else:
            places[digest] = found
    if missing:
        return ChunkResult(missing=tuple(missing))
    limits = ExecutionConfig.model_validate(chunk.limits)
    snippets = (
        Snippet(name, code, {file: places[digest] for file, digest, _ in files})
        for name, code, files in chunk.snippets
        if chunk.token not in _called_off
    )
    try:
        return ChunkResult(tuple(execute(snippets, limits, unsafe=chunk.unsafe, workers=chunk.workers)))
    except DsqaError as error:
        return ChunkResult(error=pack_error(error))


async def call_off(token: str) -> None:
    """Begin no more snippets of a session; run by the worker's own loop, which needs no free thread."""
    _called_off.append(token)
