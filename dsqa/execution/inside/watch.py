"""What a child may use and has used, as its parent keeps account of it."""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass

__all__ = ["WAITING_SHARE", "Child", "Kernel", "send_mark"]

# Less of the processor than this share of the wall time is waiting, not work. The wall limit ends what waits: what
# works on a busy machine is slow without fault, and goes on until it has used its CPU seconds.
WAITING_SHARE = 0.05
_MARK = struct.Struct("<cd")
# More than any run's drawing says; what goes on is not listened to any longer.
_MOST_SAID = 1 << 20
# Drawing and reading files wait for more than the processor.
_WALL_PER_CPU = 3
# A cell that has been interrupted may use this much more before its kernel is ended; making a traceback takes some.
_GRACE_CPU_SECONDS = 2.0
_GRACE_WALL_SECONDS = 10.0


def send_mark(fd: int, kind: bytes, cpu: float) -> None:
    """Tell the parent, from the child, that work apart begins (``b``) or ends (``e``), or the run is over (``f``)."""
    os.write(fd, _MARK.pack(kind, cpu))


def _waited(elapsed: float, cpu: float, limit: float) -> bool:
    """Return whether a wall limit has been reached in waiting."""
    return elapsed >= limit and cpu < WAITING_SHARE * elapsed


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
    silent: bool = False
    own_cpu: float | None = None
    own_wall: float | None = None
    _said: int = 0
    _polled: float = 0.0
    _apart: float = 0.0
    _apart_wall: float = 0.0
    _begun: tuple[float, float] | None = None

    def read_marks(self, now: float, used: float) -> None:
        """Take in what the child has said; it may not claim more CPU seconds than the `used` that are counted."""
        try:
            data = os.read(self.marks, 4096)
        except BlockingIOError:
            return
        self._said += len(data)
        self.silent = not data or self._said > _MOST_SAID
        for start in range(0, len(data) - _MARK.size + 1, _MARK.size):
            kind, cpu = _MARK.unpack_from(data, start)
            if self.own_cpu is not None:
                return
            # Where the kernel keeps no count for others, 0 is all that is known.
            cpu = min(cpu, used or cpu) if math.isfinite(cpu) else used
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
        elapsed = now - self.started - self._excused_wall(now)
        return "wall" if _waited(elapsed, cpu, self.wall_limit) else None

    def used(self, now: float, cpu: float) -> dict[str, float | bool]:
        """Return the snippet's own wall and CPU seconds, the CPU seconds apart, and whether it came to its end."""
        own = self.own_cpu if self.own_cpu is not None else cpu - self._excused(cpu)
        wall = self.own_wall if self.own_wall is not None else now - self.started - self._excused_wall(now)
        own = max(0.0, min(own, cpu))
        return {"wall": max(0.0, wall), "cpu": own, "apart": cpu - own, "over": self.own_cpu is not None}


@dataclass
class Kernel(Child):
    """A run that is sent one cell after another; each has limits of its own beside those of the whole."""

    cell_limits: tuple[float, float] | None = None
    interrupted: str | None = None
    _cell_start: tuple[float, float] = (0.0, 0.0)
    _interrupted_at: tuple[float, float] = (0.0, 0.0)

    def begin(self, now: float, cpu: float, limits: tuple[float, float]) -> None:
        """Start the clocks of a cell; limits are CPU and wall seconds."""
        self.cell_limits, self._cell_start, self.interrupted = limits, (cpu, now), None

    def end(self, now: float, cpu: float) -> dict[str, float | str | None]:
        """Stop them; return what the cell used and the limit it was interrupted at, if any."""
        self.cell_limits = None
        return {"cpu": cpu - self._cell_start[0], "wall": now - self._cell_start[1], "interrupted": self.interrupted}

    def overrun(self, now: float, cpu: float) -> str | None:
        """Return ``interrupt`` once when a cell hits a limit, the limit when that did not help."""
        hit = super().overrun(now, cpu)
        if hit is not None or self.cell_limits is None:
            return hit
        if self.interrupted is not None:
            more = (cpu - self._interrupted_at[0], now - self._interrupted_at[1])
            late = more[0] >= _GRACE_CPU_SECONDS or more[1] >= _GRACE_WALL_SECONDS
            return f"cell {self.interrupted}" if late else None
        if cpu - self._cell_start[0] >= self.cell_limits[0]:
            self.interrupted = "cpu"
        elif _waited(now - self._cell_start[1], cpu - self._cell_start[0], self.cell_limits[1]):
            self.interrupted = "wall"
        else:
            return None
        self._interrupted_at = (cpu, now)
        return "interrupt"
