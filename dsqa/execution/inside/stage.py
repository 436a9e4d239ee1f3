"""Started by root: gather what a sandbox will show, give root up for good, and start the sandbox as nobody.

Root may read folders that are closed to others, such as its own; who is to read what lies in them has to be given it
before root is gone. Everything happens in a mount namespace of this process's own, on a tmpfs over ``/sys``, so the
machine sees none of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

__all__ = ["main"]

_STAGE = "/sys"
_CLONE_NEWNS = 0x00020000
_MS_RDONLY, _MS_NOSUID, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 8, 32, 4096
_MS_REC, _MS_PRIVATE = 16384, 1 << 18


def main(settings: dict[str, object]) -> None:
    """Become the sandbox's program.

    Parameters
    ----------
    settings
        ``sources``: folders, files and devices; ``devices``: those of them that nobody may change; ``command``: the
        program and its arguments, where ``{n}`` stands for source n; ``environment``: its variables, likewise;
        ``identity``: the user and group to become.
    """
    sources, devices, command, identity = (settings[k] for k in ("sources", "devices", "command", "identity"))
    assert isinstance(sources, list) and isinstance(devices, list) and isinstance(command, list)  # noqa: S101, PT018
    environment = settings["environment"]
    assert isinstance(identity, int) and isinstance(environment, dict)  # noqa: S101, PT018
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
        texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
        if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), target)

    if libc.unshare(_CLONE_NEWNS) < 0:
        raise OSError(ctypes.get_errno(), "no mount namespace")
    mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    mount("dsqa", _STAGE, "tmpfs", _MS_NOSUID, "mode=755,size=1m")
    # The program keeps its name, which listings of processes show.
    targets = [f"{_STAGE}/{number or os.path.basename(source)}" for number, source in enumerate(sources)]  # noqa: PTH119
    for source, target in zip(sources, targets, strict=True):
        if os.path.isdir(source):  # noqa: PTH112
            os.mkdir(target, 0o755)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        mount(source, target, None, _MS_BIND | _MS_REC)
        if source in devices:
            mount(None, target, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC)
    os.setgroups([])
    os.setresgid(identity, identity, identity)
    os.setresuid(identity, identity, identity)

    def placed(text: str) -> str:
        return targets[int(text[1:-1])] if text[:1] == "{" and text[-1:] == "}" else text

    arguments = [placed(part) for part in command]
    os.execve(arguments[0], arguments, {name: placed(text) for name, text in environment.items()})  # noqa: S606


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
