"""A finding: one thing about a bank that somebody should know, with its place and its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dsqa.errors import BankError

__all__ = ["Finding", "Severity"]

Severity = Literal["error", "warning", "note"]
"""error: the question is not marked or left out; warning: probably wrong; note: what was taken as meant."""


@dataclass(frozen=True)
class Finding:
    """One thing about a question or a bank: where, what, and how to mend it.

    Parameters
    ----------
    field
        The field of the question, or None where it is about the whole.
    message, hint
        What, and how to mend it.
    severity
        See `Severity`.
    line
        1-based line of a text file, row of a spreadsheet.
    cell
        The cell of a spreadsheet, with its sheet where there are several.
    question
        The question's id, as far as it is known.
    path
        The file.
    whole
        Whether it is about the bank as a whole, so that no question of it can be used.
    """

    field: str | None
    message: str
    hint: str | None = None
    severity: Severity = "error"
    line: int | None = None
    cell: str | None = None
    question: str | None = None
    path: Path | None = None
    whole: bool = False

    def to_error(self) -> BankError:
        """Return the finding as an error to raise."""
        message = self.message if self.cell is None else f"cell {self.cell} {self.message}"
        return BankError(message, path=self.path, line=self.line, field=self.field, hint=self.hint)

    def __str__(self) -> str:
        return str(self.to_error())

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "severity": self.severity,
            "path": None if self.path is None else str(self.path),
            "line": self.line,
            "cell": self.cell,
            "question": self.question,
            "field": self.field,
            "message": self.message,
            "hint": self.hint,
        }
