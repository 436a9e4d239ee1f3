"""The process that parses what runs left: in a sandbox like theirs, for a few CPU seconds a part.

A request is a line of JSON, ``[media, name, bytes]``, and the bytes; the answer ``[media, bytes]`` and the bytes, or
``null``. Whoever asks must wait no longer than it likes: a part that takes too long ends this process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from typing import Any

from . import kernel, landlock, seccomp
from .clean import clean_part

__all__ = ["main"]

_CPU_SECONDS = 5.0  # rather more than a part as large as the caps allow takes
_MEMORY = 1 << 30


def main(settings: dict[str, Any]) -> None:
    """Answer until the host hangs up.

    Parameters
    ----------
    settings
        ``layers``: which protections hold here.
    """
    layers = settings["layers"]
    link = socket.socket(fileno=os.dup(0)).makefile("rwb")
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        kernel.forbid_new_privileges()
        if layers["namespaces"]:
            kernel.drop_capabilities()
        if layers["landlock"]:
            landlock.restrict(landlock.make_ruleset((), ()))
        if layers["seccomp"]:
            seccomp.apply_filter(real_modes=False)
    link.write(b"ready\n")
    link.flush()
    while line := link.readline():
        media, name, size = json.loads(line)
        content = link.read(size)
        # Its default action ends the process.
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        found = clean_part(media, name, content)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if found is None:
            link.write(b"null\n")
        else:
            link.write(json.dumps([found[0], len(found[1])]).encode() + b"\n" + found[1])
        link.flush()
    os._exit(0)
