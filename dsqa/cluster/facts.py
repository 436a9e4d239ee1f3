"""What a machine has installed, so that a worker that differs is known before it works."""

from __future__ import annotations

import os
import platform
import socket
from dataclasses import dataclass

from dsqa.installed import installed_version

__all__ = ["Facts", "differences", "machine_facts"]

_PACKAGES = (
    "dsqa", "distributed", "numpy", "pandas", "scipy", "matplotlib", "seaborn", "statsmodels", "scikit-learn",
)  # fmt: skip
_MUST_MATCH = ("dsqa",)


@dataclass(frozen=True)
class Facts:
    """A machine: its name, its usable processors, and versions by package ("" where one is not installed)."""

    host: str
    processors: int
    versions: dict[str, str]


def machine_facts() -> Facts:
    """Return the facts of the machine that this runs on."""
    return Facts(
        host=socket.gethostname(),
        processors=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        versions={"python": platform.python_version(), **{name: installed_version(name) or "" for name in _PACKAGES}},
    )


def differences(here: Facts, there: Facts) -> tuple[list[str], list[str]]:
    """Return in words how `there` differs from `here`: what rules it out, and what is only said."""
    ruled_out: list[str] = []
    said: list[str] = []
    for name, ours in here.versions.items():
        theirs = there.versions.get(name, "")
        if theirs != ours:
            text = f"{name} {theirs or 'not installed'} (here {ours or 'not installed'})"
            (ruled_out if name in _MUST_MATCH else said).append(text)
    return ruled_out, said
