"""What a child may use and has used, as its parent keeps account of it."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

__all__ = ["Child", "send_mark"]

_MARK = struct.Struct("<cd")
# Drawing and reading files wait for more than the processor.
_WALL_PER_CPU = 3


def send_mark(fd: int, kind: bytes, cpu: float) -> None:
    """Tell the parent, from the child, that work apart begins (``b``) or ends (``e``), or the run is over (``f``)."""
    os.write(fd, _MARK.pack(kind, cpu))


@dataclass
class Child:
    """One run.

    Keeping what the run drew and wrote is work apart: it has a limit of its own (`apart_limit`, CPU seconds) and
    does not count as the snippet's time. A snippet that lies about it gains no more than that limit.
    """

    job: str
    pid: int
    started: float
    wall_limit: float
    cpu_limit: float
    apart_limit: float
    marks: int
    killed: str | None = None
    own_cpu: float | None = None
    own_wall: float | None = None
    _polled: float = 0.0
    _apart: float = 0.0
    _apart_wall: float = 0.0
    _begun: tuple[float, float] | None = None

    def read_marks(self, now: float) -> None:
        """Take in what the child has said."""
        try:
            data = os.read(self.marks, 4096)
        except BlockingIOError:
            return
        for start in range(0, len(data) - _MARK.size + 1, _MARK.size):
            kind, cpu = _MARK.unpack_from(data, start)
            if self.own_cpu is not None:
                return
            if kind == b"b":
                self._begun = (cpu, now)
            elif kind == b"e" and self._begun is not None:
                self._apart += max(0.0, cpu - self._begun[0])
                self._apart_wall += now - self._begun[1]
                self._begun = None
            elif kind == b"f":
                self.own_cpu = max(cpu, self._polled) - self._excused(0.0)
                self.own_wall = now - self.started - self._excused_wall(now)

    def _excused(self, cpu: float) -> float:
        open_since = max(0.0, cpu - self._begun[0]) if self._begun is not None else 0.0
        return min(self._apart + open_since, self.apart_limit)

    def _excused_wall(self, now: float) -> float:
        open_since = now - self._begun[1] if self._begun is not None else 0.0
        return min(self._apart_wall + open_since, self.apart_limit * _WALL_PER_CPU)

    def overrun(self, now: float, cpu: float) -> str | None:
        """Return the limit that has been hit: ``cpu``, ``wall``, ``apart``, or None."""
        if self.own_cpu is not None and self.own_wall is not None:
            late = now - self.started - self.own_wall >= self.apart_limit * _WALL_PER_CPU
            return "apart" if late or cpu - self.own_cpu >= self.apart_limit else None
        self._polled = cpu
        if cpu - self._excused(cpu) >= self.cpu_limit:
            return "cpu"
        return "wall" if now - self.started - self._excused_wall(now) >= self.wall_limit else None

    def used(self, now: float, cpu: float) -> dict[str, float | bool]:
        """Return the snippet's own wall and CPU seconds, the CPU seconds apart, and whether it came to its end."""
        own = self.own_cpu if self.own_cpu is not None else cpu - self._excused(cpu)
        wall = self.own_wall if self.own_wall is not None else now - self.started - self._excused_wall(now)
        return {"wall": wall, "cpu": min(own, cpu), "apart": max(0.0, cpu - own), "over": self.own_cpu is not None}
