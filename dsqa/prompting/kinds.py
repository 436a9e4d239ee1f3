"""The kind of a column, in plain words, from its cells as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["ColumnKind", "is_missing", "is_number"]

# What pandas.read_csv takes as missing by default, so that a reader who follows the preview gets the same.
_MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>")
) | {"N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_DAY = r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})"
_DATE = re.compile(_DAY + r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII)
_YES_NO = frozenset(["yes", "no", "true", "false"])


def is_missing(cell: str) -> bool:
    """Return whether a cell counts as missing."""
    return cell.strip() in _MISSING


def is_number(cell: str) -> bool:
    """Return whether a cell is an integer or a decimal number."""
    text = cell.strip()
    return bool(_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text))


@dataclass
class ColumnKind:
    """Gathers what is known of a column, cell by cell."""

    missing: int = 0
    _seen: bool = False
    _open: list[str] = field(default_factory=lambda: ["yes/no", "integer", "decimal", "date"])

    def add(self, cell: str) -> None:
        """Take one more cell into account."""
        text = cell.strip()
        if text in _MISSING:
            self.missing += 1
            return
        self._seen = True
        # A kind that one cell rules out stays ruled out; the tests that remain get fewer.
        self._open = [kind for kind in self._open if _fits(kind, text)]

    @property
    def name(self) -> str:
        """One of: integer, decimal, yes/no, date, text, or `empty` where every cell is missing."""
        if not self._seen:
            return "empty"
        return self._open[0] if self._open else "text"


def _fits(kind: str, text: str) -> bool:
    if kind == "integer":
        return _INTEGER.fullmatch(text) is not None
    if kind == "decimal":
        return is_number(text)
    if kind == "date":
        return _DATE.fullmatch(text) is not None
    return text.casefold() in _YES_NO
