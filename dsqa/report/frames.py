"""Tables from data frames: digits by uncertainty, spanners, row groups, footnotes, and why a value is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pandas.api import types

from dsqa.errors import ReportError
from dsqa.report.digits import FILL, aligned, decimals_for, fixed, interval_error
from dsqa.report.markdown import Column, Markdown, escape, span, table
from dsqa.report.wording import MISSING, is_missing, p_text

__all__ = ["Field", "Note", "data_table"]

Style = Literal["auto", "text", "markdown", "count", "number", "signed", "percent", "p"]
_SIGNIFICANT = 3


@dataclass(frozen=True)
class Field:
    """How a column of a data frame is shown.

    Parameters
    ----------
    name
        The column.
    title
        Markdown; by default the name, with spaces for underscores.
    style
        ``auto`` goes by the column's type. ``count`` is a whole number, ``signed`` a number with its plus,
        ``percent`` a share in [0, 1], ``p`` a p value. ``markdown`` is taken as it is, ``text`` is escaped.
    se
        The column with its standard error: the number is rounded to that error's second significant digit.
        ``se=name`` shows an error itself.
    low, high
        The columns with the ends of its interval, shown in brackets after it with the same decimals; without `se`
        their distance sets the digits, as that of a 95 % interval.
    interval_only
        Show ``[low, high]`` and not the number between.
    digits
        Decimals (of the percentage for ``percent``), where no uncertainty says how many.
    spanner
        Markdown; neighbouring fields with the same one stand under it together.
    note
        Markdown; a footnote to the title.
    missing
        Markdown: why a value is missing, as a footnote to the dash that stands for it; or `missing_from`, the
        name of a text column that says it row by row.
    width
        Share of the page's width, in any unit, where the page is paper; by default what its longest cells need.
    """

    name: str
    title: str = ""
    style: Style = "auto"
    se: str | None = None
    low: str | None = None
    high: str | None = None
    interval_only: bool = False
    digits: int | None = None
    spanner: str = ""
    note: str = ""
    missing: str = ""
    missing_from: str | None = None
    width: int | None = None


@dataclass(frozen=True)
class Note:
    """A footnote to one cell of a table.

    Parameters
    ----------
    text
        Markdown.
    row
        Position of the row in the frame, from 0.
    name
        Column of the frame.
    """

    text: str
    row: int
    name: str


def data_table(
    frame: pd.DataFrame,
    columns: Sequence[Field | str] | Mapping[str, str] | None = None,
    *,
    label: str | None = None,
    caption: str = "",
    notes: Sequence[Note | str] = (),
    group: str | None = None,
    missing: str = "not available",
    sortable: bool = True,
    classes: Sequence[str] = (),
) -> Markdown:
    """Return a data frame as a table; its first column names the rows.

    Numbers stand at the right, with as many digits as their standard error or interval allows, otherwise with three
    significant digits of the column's largest. What is missing is a dash with a footnote that says why.

    Parameters
    ----------
    frame
        A row per row of the table.
    columns
        What to show, in order: names, `Field`, or name → title (Markdown); by default all but `group`.
    label
        ``tbl-…``, unique in the document, for a number and references as ``@label``.
    caption
        Markdown; for a table with a label.
    notes
        Footnotes to cells (`Note`), which get a mark, and remarks on the whole table (Markdown).
    group
        A column whose equal neighbours are gathered under its value as a title.
    missing
        Markdown: why a value is missing, where its field does not say.
    sortable
        Whether a reader of the HTML can sort it; within each group.
    classes
        As `dsqa.report.markdown.table`.

    Raises
    ------
    ReportError
        A column is not in the frame.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "accuracy": [0.51234, None], "error": [0.0212, None]})
    >>> print(data_table(rows, [Field("model"), Field("accuracy", se="error")], missing="no run was marked"))
    ::: {.data .sortable}
    <BLANKLINE>
    | model | accuracy |
    |:-----|--------:|
    | a | 0.512 |
    | b | –^a^ |
    <BLANKLINE>
    ::: {.table-notes}
    <BLANKLINE>
    ^a^ no run was marked
    <BLANKLINE>
    :::
    <BLANKLINE>
    :::
    <BLANKLINE>
    """
    fields = _fields(frame, columns, group)
    _check(frame, fields, group, notes)
    marks: dict[str, str] = {}
    shown = [_column(f, frame) for f in fields]
    heads = []
    for f, column in zip(fields, shown, strict=True):
        title = f.title or escape(f.name.replace("_", " "))
        align: Literal["left", "right"] = "left" if _style(f, frame) in ("text", "markdown") else "right"
        heads.append(Column(title + _mark(f.note, marks), align, f.width or _width(title, column), f.spanner))
    cells = list(zip(*shown, strict=True))
    at = {(note.row, note.name): note.text for note in notes if isinstance(note, Note)}
    rows: list[list[str]] = []
    above: Any = None
    for i, row in enumerate(cells):
        if group is not None and (i == 0 or frame[group].iloc[i] != above):
            above = frame[group].iloc[i]
            rows.append([escape(above)])
        marked = []
        for f, cell in zip(fields, row, strict=True):
            why = _reason(f, frame, i, missing) if cell == MISSING else ""
            number = cell.rstrip(FILL)
            mark = _mark(why, marks) + _mark(at.get((i, f.name), ""), marks)
            marked.append(number + mark + cell[len(number) :])
        rows.append(marked)
    below = [f"^{mark}^ {text}" for text, mark in marks.items()] + [n for n in notes if isinstance(n, str)]
    kept = [*(["sortable"] if sortable and len(frame) > 1 else []), *classes]
    return table(heads, rows, label=label, caption=caption, notes=below, classes=kept)


def _fields(
    frame: pd.DataFrame, columns: Sequence[Field | str] | Mapping[str, str] | None, group: str | None
) -> list[Field]:
    if columns is None:
        return [Field(str(name)) for name in frame.columns if name != group]
    if isinstance(columns, Mapping):
        return [Field(name, title) for name, title in columns.items()]
    return [Field(column) if isinstance(column, str) else column for column in columns]


def _check(frame: pd.DataFrame, fields: Sequence[Field], group: str | None, notes: Sequence[Note | str]) -> None:
    wanted = [group, *(n.name for n in notes if isinstance(n, Note))]
    for f in fields:
        wanted += [f.name, f.se, f.low, f.high, f.missing_from]
    for name in wanted:
        if name is not None and name not in frame.columns:
            has = ", ".join(map(str, frame.columns))
            raise ReportError(f"the table has no column '{name}'", hint=f"columns are: {has}")


def _width(title: str, cells: Sequence[str]) -> int:
    """Return about how many letters a column needs; long text is broken, single words of a title are not."""
    return min(40, max(4, *map(len, title.split()), *map(len, cells)))


def _style(field: Field, frame: pd.DataFrame) -> Style:
    if field.style != "auto":
        return field.style
    values = frame[field.name]
    if field.low and types.is_object_dtype(values):
        # Floats beside pandas' NA: what has an interval is a number.
        values = values.dropna().infer_objects()
    if types.is_bool_dtype(values) or not types.is_numeric_dtype(values):
        return "text"
    return "count" if types.is_integer_dtype(values) else "number"


def _column(field: Field, frame: pd.DataFrame) -> list[str]:
    values = [None if is_missing(value) else value for value in frame[field.name].astype(object)]
    style = _style(field, frame)
    if style == "markdown":
        return [MISSING if value is None else str(value) for value in values]
    if style == "text":
        return [MISSING if value is None else _text(value) for value in values]
    if style == "p":
        return [p_text(value).replace("< ", "<\u00a0") for value in values]
    if style == "count":
        return [fixed(value, 0) for value in values]
    numbers = _numbers(field, frame, values, style)
    return numbers if field.low or style == "percent" else aligned(numbers)


def _text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else escape(value)


def _numbers(field: Field, frame: pd.DataFrame, values: list[Any], style: Style) -> list[str]:
    scale = 100.0 if style == "percent" else 1.0
    unit = "\u00a0%" if style == "percent" else ""
    known = [abs(scale * value) for value in values if value is not None and math.isfinite(value)]
    # Three digits of the largest: its "standard error" has its two in the third and fourth place.
    widest = decimals_for(max(known, default=0.0) or 1.0, _SIGNIFICANT) or 0
    otherwise = field.digits if field.digits is not None else max(0, widest)
    cells = []
    for i, value in enumerate(values):
        low, high = (_at(frame, name, i, scale) for name in (field.low, field.high))
        error = _at(frame, field.se, i, scale) if field.se else interval_error(low, high)
        decimals = decimals_for(error)
        used = otherwise if decimals is None or field.digits is not None else decimals
        if value == 0 and decimals is None and field.low and field.digits is None:
            used = min(used, _SIGNIFICANT)  # small neighbours lend a plain 0 no digits
        shown = MISSING if value is None else fixed(scale * value, used, sign=style == "signed") + unit
        if not field.low or is_missing(low) or is_missing(high):
            cells.append(MISSING if field.interval_only else shown)
            continue
        ends = ",\u00a0".join(fixed(end, used, sign=style == "signed") for end in (low, high))
        bracket = f"\\[{ends}\\]{unit}"
        cells.append(bracket if field.interval_only else f"{shown} {span(bracket, 'interval')}")
    return cells


def _at(frame: pd.DataFrame, name: str | None, row: int, scale: float) -> float:
    value = None if name is None else frame[name].iloc[row]
    return math.nan if value is None or is_missing(value) else scale * float(value)


def _reason(field: Field, frame: pd.DataFrame, row: int, otherwise: str) -> str:
    said = frame[field.missing_from].iloc[row] if field.missing_from else None
    return field.missing or otherwise if is_missing(said) else escape(said)


def _mark(text: str, marks: dict[str, str]) -> str:
    """Return the mark of a footnote, the same for the same text."""
    if not text:
        return ""
    if text not in marks:
        n = len(marks)
        marks[text] = (chr(ord("a") + n // 26 - 1) if n >= 26 else "") + chr(ord("a") + n % 26)
    return f"^{marks[text]}^"
