"""The words: a cell's result and its outputs, and what a session may use in all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dsqa.execution.artefacts import Artefact
from dsqa.execution.model import Outcome

__all__ = ["CellResult", "Output", "OutputKind", "SessionLimits"]

OutputKind = Literal["stdout", "stderr", "text", "note", "error", "table", "figure", "image", "file"]


@dataclass(frozen=True)
class SessionLimits:
    """What a session may use in all, restarts included.

    Parameters
    ----------
    cpu_seconds, wall_seconds
        Of all its cells together.
    cells
        How many may be run.
    """

    cpu_seconds: float = 600.0
    wall_seconds: float = 3600.0
    cells: int = 200


@dataclass(frozen=True)
class Output:
    """One thing a cell gave, in the order it came.

    Parameters
    ----------
    kind
        ``stdout``, ``stderr``; ``text``: what a value looks like, as shown by the last expression or `display`;
        ``note``: what dsqa says about the cell, such as a magic that is not run; ``error``: a traceback;
        ``table``, ``figure``, ``image``, ``file``: see `artefact`.
    text
        Of the textual kinds.
    artefact
        Of the others.
    facts
        For ``text``: ``source`` is ``value`` or ``display``.
    """

    kind: OutputKind
    text: str = ""
    artefact: Artefact | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CellResult:
    """What running one cell gave.

    Parameters
    ----------
    number
        1 for the first cell of the session; it goes on counting over restarts.
    outcome, detail
        As for a snippet; see `dsqa.execution.Outcome`.
    outputs
        In order.
    wall_seconds, cpu_seconds
        What the cell took, drawing its figures included.
    isolation
        The name of the isolation it ran under.
    line, exception
        Where it failed, and with what.
    truncated
        True if it gave more than the limits keep.
    interrupted
        True if it was interrupted at a limit; its variables are kept unless it was also `restarted`.
    restarted
        True if the kernel ended with this cell: the next one starts in a new kernel, without any variables.
    notes
        What was not kept, and why.
    """

    number: int
    outcome: Outcome
    detail: str
    outputs: tuple[Output, ...]
    wall_seconds: float
    cpu_seconds: float
    isolation: str
    line: int | None = None
    exception: str | None = None
    truncated: bool = False
    interrupted: bool = False
    restarted: bool = False
    notes: tuple[str, ...] = ()

    def _joined(self, kind: str) -> str:
        return "".join(output.text for output in self.outputs if output.kind == kind)

    @property
    def stdout(self) -> str:
        """Everything printed."""
        return self._joined("stdout")

    @property
    def stderr(self) -> str:
        """Everything written to standard error."""
        return self._joined("stderr")

    @property
    def value(self) -> str | None:
        """The last expression's value as text, or None."""
        shown = [o.text for o in self.outputs if o.kind == "text" and o.facts.get("source") == "value"]
        return shown[-1] if shown else None

    @property
    def artefacts(self) -> tuple[Artefact, ...]:
        """Tables, figures, images and files, in order."""
        return tuple(output.artefact for output in self.outputs if output.artefact is not None)
