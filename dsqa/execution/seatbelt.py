"""macOS: a `sandbox-exec` profile. Written from its documentation; not tried on a Mac by us, so it is probed."""

from __future__ import annotations

import shutil

from dsqa.execution.launch import INSIDE, Launch
from dsqa.execution.places import find_places

__all__ = ["profile", "seatbelt_launch"]

_SYSTEM = ("/System", "/Library/Frameworks", "/Library/Fonts", "/usr/lib", "/usr/share", "/private/var/db/dyld")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper")


def profile(readable: tuple[str, ...], hidden: tuple[str, ...], scratch_root: str) -> str:
    """Return a profile that allows reading `readable` without `hidden`, and using what is below `scratch_root`."""
    lines = ["(version 1)", "(deny default)", "(allow process-fork)", "(allow process-exec)"]
    lines += ["(allow sysctl-read)", "(allow mach-lookup)", "(allow signal (target self))"]
    lines += ["(allow file-read-metadata)", "(deny network*)"]
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in (*readable, *_SYSTEM)]
    # Of several rules the last one counts.
    lines += [f"(deny file-read* (subpath {_quoted(path)}))" for path in hidden]
    lines += [f"(allow file-read* (subpath {_quoted(str(INSIDE))}))"]
    lines += [f"(allow file-read* file-write-data (literal {_quoted(path)}))" for path in _DEVICES]
    lines.append(f"(allow file-read* file-write* (subpath {_quoted(scratch_root)}))")
    return "\n".join(lines)


def seatbelt_launch(python: str = "") -> Launch | None:
    """Return the launch under `sandbox-exec`, or None where the program is missing."""
    program = shutil.which("sandbox-exec")
    if program is None:
        return None
    places = find_places(python)
    # The scratch folder's own path is only known at the start; sandbox-exec fills it in by name.
    text = profile(places.readable, places.hidden, "@scratch@").replace('"@scratch@"', '(param "SCRATCH")')
    return Launch("sandbox-exec", program, extra=("-p", text))


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
