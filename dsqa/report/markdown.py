"""Markdown that pandoc and Quarto read alike, and the escaping that keeps other people's text text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "Markdown", "anchor", "clean", "code_span", "escape", "figure", "span", "table", "verbatim"]

# C0 and C1 controls but tab and newline, lone surrogates, bidirectional overrides, non-characters: they break
# UTF-8, XML or the reading order of whatever follows.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_SPACES = re.compile(r"[^\S\u00a0]+")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


class Markdown(str):
    """Markdown text that a notebook shows as such."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Markdown, {len(self)} characters>"

    def _repr_markdown_(self) -> str:
        return str(self)


def clean(text: str) -> str:
    """Replace what no document may hold (controls, lone surrogates, reading-order overrides) by U+FFFD."""
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escape(text: object) -> str:
    """Return `text` on one line as Markdown that reads as exactly that text, whatever is in it."""
    return _PUNCTUATION.sub(r"\\\1", _on_one_line(text))


def verbatim(text: str, *, max_lines: int | None = None, max_chars: int | None = None, rest: str = "") -> str:
    """Return `text` as a fenced code block that nothing in it can close.

    Parameters
    ----------
    text
        Any text.
    max_lines, max_chars
        Cut the text there, and say so.
    rest
        Where the whole text is, for the note about the cut.
    """
    body = clean(text)
    whole = len(body)
    if max_lines is not None:
        body = "\n".join(body.split("\n")[:max_lines])
    if max_chars is not None:
        body = body[:max_chars]
    cut = whole - len(body)
    # Quarto reads {{< … >}} even inside code.
    body = body.replace("{{<", "{\u2060{<").replace("{{%", "{\u2060{%")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    block = f"{fence}{{.text}}\n{body}\n{fence}"
    if cut:
        block += (
            f"\n\n[… {cut:,} more {'character' if cut == 1 else 'characters'}{'; ' + rest if rest else ''}]{{.note}}"
        )
    return block


def code_span(text: object) -> str:
    """Return `text` as inline code on one line."""
    line = _on_one_line(text).replace("{{<", "{\u2060{<")
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def span(text: str, *classes: str) -> str:
    """Return Markdown `text` with classes."""
    return f"[{text}]{{{' '.join('.' + name for name in classes)}}}"


def anchor(prefix: str, name: str) -> str:
    """Return an identifier that is safe in HTML, Typst and Markdown; different names differ."""
    safe = re.sub(r"[^A-Za-z0-9-]", lambda m: f"_{ord(m.group()):x}_", name)
    return f"{prefix}-{safe}"


@dataclass(frozen=True)
class Column:
    """A table's column.

    Parameters
    ----------
    title
        Markdown.
    align
        Where its cells stand.
    width
        Share of the page's width, in any unit, where the page is paper.
    spanner
        Markdown; neighbours with the same one stand under it together.
    """

    title: str
    align: Literal["left", "right", "center"] = "left"
    width: int = 10
    spanner: str = ""


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    *,
    label: str | None = None,
    caption: str = "",
    notes: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> Markdown:
    """Return a table; with a label it has a number and can be referred to as ``@label``.

    `dsqa.report.tables.data_table` makes one from a data frame.

    Parameters
    ----------
    columns
        Its columns.
    rows
        Cells, already Markdown (use `escape`). A row of one cell, where there are more columns, is the title of
        the rows that follow.
    label
        ``tbl-…``, unique in the document.
    caption
        Markdown; for a table with a label.
    notes
        Markdown, a line each below the table.
    classes
        ``stack``: on a narrow screen each row becomes a block of its own. ``whole``: short enough for one page of
        paper, and not broken over two. ``sortable``: a reader of the HTML can sort it by any column.
    """
    # A pipe table takes its relative widths from the rule's dashes once any of its lines is long.
    marks = {"left": (":", ""), "right": ("", ":"), "center": (":", ":")}
    # The filter gathers spanners into a row of their own; where nothing does, they read as part of the title.
    titles = [f"{span(c.spanner, 'spanner')} {c.title}" if c.spanner else c.title for c in columns]
    lines = [
        "| " + " | ".join(titles) + " |",
        "|" + "|".join(marks[c.align][0] + "-" * max(3, c.width) + marks[c.align][1] for c in columns) + "|",
        *("| " + " | ".join(cell or " " for cell in _whole_row(row, len(columns))) + " |" for row in rows),
    ]
    marked = " ".join([*([f"#{label}"] if label else []), *(f".{name}" for name in ("data", *classes))])
    below = "".join(f"\n\n{part}" for part in (_notes(notes), caption) if part)
    return Markdown("::: {" + marked + "}\n\n" + "\n".join(lines) + f"{below}\n\n:::\n")


def _whole_row(row: Sequence[str], width: int) -> Sequence[str]:
    return [span(row[0], "group"), *[""] * (width - 1)] if len(row) == 1 < width else row


def _notes(notes: Sequence[str]) -> str:
    return "::: {.table-notes}\n\n" + "\n\n".join(notes) + "\n\n:::" if notes else ""


def figure(path: str, *, label: str, caption: str, alt: str, width: str = "100%") -> Markdown:
    """Return a captioned figure that can be referred to as ``@label``.

    Parameters
    ----------
    path
        Of the picture, relative to the document.
    label
        ``fig-…``, unique in the document.
    caption
        Markdown.
    alt
        Plain text for those who cannot see it.
    width
        Share of the page's width.
    """
    target = "".join(c if (c.isalnum() and c.isascii()) or c in "-._~/" else _percent(c) for c in path)
    text = _on_one_line(alt).replace("\\", "\\\\").replace('"', '\\"')
    return Markdown(f'::: {{#{label}}}\n\n![]({target}){{fig-alt="{text}" width={width}}}\n\n{caption}\n\n:::\n')


def _on_one_line(text: object) -> str:
    # Spaces that keep words together are kept.
    return " ".join(part for part in _SPACES.split(clean(str(text))) if part)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
