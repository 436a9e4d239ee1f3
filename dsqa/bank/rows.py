"""What a reader of a file format hands on: the questions' fields as written, and where each of them stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsqa.bank.findings import Finding

__all__ = ["Row", "Source"]


@dataclass(frozen=True)
class Row:
    """One question as it stands in a file.

    Parameters
    ----------
    values
        By the column's or field's name, as written.
    line
        Where it begins: 1-based line, or row of a spreadsheet.
    lines, cells
        Where each value is, as far as that is known: line, and cell of a spreadsheet, blank ones too.
    exact
        Written in the paper's fields by a program: nothing is to be filled in.
    tabular
        Read from a table: its columns are the same for all rows.
    unrounded
        The values that are numbers of a spreadsheet in cells which show as many decimals as fit.
    """

    values: Mapping[str, Any]
    line: int
    lines: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False
    tabular: bool = False
    unrounded: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Source:
    """All questions of a file, and what its reader found on the way; `decimal_comma` as the file's dialect has it."""

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...] = ()
    decimal_comma: bool = False
