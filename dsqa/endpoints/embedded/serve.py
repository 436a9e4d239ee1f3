"""The child process that holds the embedded model: llama.cpp's server, on this machine only.

Started by path, so that it loads nothing of dsqa: ``python serve.py '{"weights": …}'``. It prints one line with
its address when the model is loaded, and ends when its standard input does, which is when its parent ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

__all__ = ["main"]

PR_SET_PDEATHSIG = 1
PROMPT_CACHE_MIB = 2048


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def wait() -> None:
        sys.stdin.buffer.read()
        # llama.cpp's threads would go on with what they are writing; nobody reads it.
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def main(settings: dict[str, Any]) -> None:
    """Serve until standard input ends.

    Parameters
    ----------
    settings
        ``weights`` (path), ``alias`` (what the answers call the model), ``slots``, ``context`` (tokens per slot),
        ``threads``.
    """
    _end_with_parent()
    import xllamacpp  # noqa: PLC0415  (the parent must be watched before a load that takes a while)

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.warmup = False
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    # Runs are interleaved, so a slot seldom sees one prompt twice in a row. The server's store of processed prompts
    # makes up for it: 95 % of prompt tokens came from it after the first block, 39 % without it.
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.slot_prompt_similarity = 0.5
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)  # noqa: T201
    # From here on nobody reads the pipe; what is written to it must not fill it.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Event().wait()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
