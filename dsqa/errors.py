"""The exceptions `dsqa` raises on purpose: one tree, each message says what to supply.

Every class is a way in which a person's input or environment is wrong, so the command line turns each
into one line on stderr and exit code 2. Anything else that escapes is a bug and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "BankError",
    "ClusterError",
    "DsqaError",
    "EndpointError",
    "ExecutionRefusedError",
    "MissingDependencyError",
    "RecordError",
    "ReportError",
    "SessionEndedError",
    "SourceError",
    "StatisticsError",
    "StudyError",
    "StudyLockedError",
]


class DsqaError(Exception):
    """Something a user can mend.

    Parameters
    ----------
    message
        What is wrong, in one sentence.
    path, line, field
        Where: a file, a 1-based line in it, and the field's name, as far as they are known.
    hint
        How to mend it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else Path(path)
        self.line = line
        self.field = field
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ""
        if self.path is not None:
            where = f"{self.path}:{self.line}" if self.line is not None else f"{self.path}"
        if self.field is not None:
            where = f"{where}: field '{self.field}'" if where else f"field '{self.field}'"
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class BankError(DsqaError):
    """A bank, a question in it, or one of its data files cannot be used."""


class StudyError(DsqaError):
    """A `study.yaml`, or the study folder made from it, cannot be used."""


class StudyLockedError(StudyError):
    """Another process is already working on the study."""


class EndpointError(DsqaError):
    """The endpoint refuses for good: wrong key, unknown model, unreachable address."""


class RecordError(DsqaError):
    """The recorded runs cannot be read or written."""


class ClusterError(DsqaError):
    """The cluster that work is spread over cannot be reached, or does not fit this installation."""


class ExecutionRefusedError(DsqaError):
    """Generated code may not run here: the machine offers too little isolation."""


class SourceError(DsqaError):
    """What another tool recorded cannot be read, or contradicts itself."""


class StatisticsError(DsqaError, ValueError):
    """A statistic is not defined on this input; refused rather than made up."""


class SessionEndedError(DsqaError):
    """A kernel's session is closed, or has used up what it may use in all."""


class ReportError(DsqaError):
    """A notebook failed or a report could not be rendered."""


class MissingDependencyError(DsqaError):
    """An optional package or program that this step needs is not installed."""
