"""The Markdown of an executed notebook: headings, identifiers and links, changed without reading it as a document.

Pages are joined and linked here, in the notebooks themselves, so that pandoc and Quarto are given the same sources.
Code blocks and code spans are other people's text and are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode, from_dict

__all__ = [
    "Section",
    "defined_ids",
    "map_markdown",
    "rename_ids",
    "retarget",
    "sections",
    "shift_headings",
    "used_ids",
]

_FENCE = re.compile(r"^ {0,3}(?P<marks>`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(?<![`\\])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)")
_HEADING = re.compile(r"^(#{1,5})(?=\s)")
_DEFINED = re.compile(r"\{#([A-Za-z][\w-]*)")
_LINK = re.compile(r"(?<=\]\()#([A-Za-z][\w-]*)(?=\))")
_REFERENCE = re.compile(r"(?<![\w\\])@((?:fig|tbl|eq|sec)-[\w-]*\w)")
_KINDS = {"fig": "figure", "tbl": "table", "eq": "equation", "sec": "section"}
_SECTION = re.compile(r"^##\s+(?P<title>.*?)\s*(?:\{#(?P<id>[\w-]+)[^}]*\})?\s*$")


@dataclass
class Section:
    """A part of a notebook, from one heading of the second level to the next; the first may have no heading."""

    id: str | None
    title: str
    cells: list[NotebookNode] = field(default_factory=list)


def markdown_cell(text: str) -> NotebookNode:
    """Return a Markdown cell."""
    return _cell("markdown", text)


def raw_cell(text: str) -> NotebookNode:
    """Return a raw cell."""
    return _cell("raw", text)


def _cell(kind: str, text: str) -> NotebookNode:
    cell: NotebookNode = from_dict({"cell_type": kind, "id": kind, "metadata": {}, "source": text})  # type: ignore[no-untyped-call]
    return cell


def notebook_of(cells: Iterable[NotebookNode]) -> NotebookNode:
    """Return a notebook of copies of cells, which are numbered: the same cells give the same notebook."""
    # Not nbformat's own way, which gives cells from several notebooks random ids.
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells, start=1)]
    plain = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebook: NotebookNode = from_dict(plain)  # type: ignore[no-untyped-call]
    return notebook


def map_markdown(notebook: NotebookNode, change: Callable[[str], str]) -> None:
    """Replace each piece of Markdown text, of cells and of their outputs, by what `change` makes of it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = change(cell.source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/markdown" in data:
                data["text/markdown"] = change(_joined(data["text/markdown"]))


def shift_headings(text: str) -> str:
    """Return Markdown with every heading one level further down."""
    return _outside_code(text, lambda line: _HEADING.sub(r"\1#", line))


def defined_ids(notebook: NotebookNode) -> list[str]:
    """Return the identifiers that a notebook's Markdown gives, in order."""
    return _found(notebook, _DEFINED)


def used_ids(notebook: NotebookNode) -> list[str]:
    """Return the identifiers that its links and references lead to."""
    return _found(notebook, _LINK) + _found(notebook, _REFERENCE)


def rename_ids(text: str, names: Mapping[str, str]) -> str:
    """Return Markdown with identifiers renamed, where they are given and where they are used."""

    def change(part: str) -> str:
        part = _DEFINED.sub(lambda m: "{#" + names.get(m[1], m[1]), part)
        part = _LINK.sub(lambda m: "#" + names.get(m[1], m[1]), part)
        return _REFERENCE.sub(lambda m: "@" + names.get(m[1], m[1]), part)

    return _outside_code(text, lambda line: _outside_spans(line, change))


def retarget(text: str, known: set[str], elsewhere: Mapping[str, str]) -> str:
    """Return Markdown whose links into the same page lead somewhere.

    Parameters
    ----------
    text
        Markdown.
    known
        Identifiers of the page itself.
    elsewhere
        Identifier → address of the page that has it. A link to an identifier that is nowhere becomes plain text; a
        reference to one is left as it is, and rendering says that it leads nowhere.
    """
    link = re.compile(r"\[(?P<text>(?:\\.|[^\[\]\\])*)\]\(#(?P<id>[A-Za-z][\w-]*)\)")

    def change(match: re.Match[str]) -> str:
        if match["id"] in known:
            return match[0]
        if match["id"] in elsewhere:
            return f"[{match['text']}]({elsewhere[match['id']]}#{match['id']})"
        return match["text"]

    def refer(match: re.Match[str]) -> str:
        name = match[1]
        if name in known or name not in elsewhere:
            return match[0]
        return f"[the {_KINDS[name.partition('-')[0]]}]({elsewhere[name]}#{name})"

    def lead(part: str) -> str:
        return _REFERENCE.sub(refer, link.sub(change, part))

    return _outside_code(text, lambda line: _outside_spans(line, lead))


def sections(notebook: NotebookNode) -> list[Section]:
    """Return a notebook's cells by section; a Markdown cell that holds several headings is cut before each."""
    found = [Section(None, "")]
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            found[-1].cells.append(cell)
            continue
        for match, text in _cut_at_headings(cell.source):
            if match is not None:
                found.append(Section(match["id"], match["title"]))
            if text.strip():
                found[-1].cells.append(markdown_cell(text.strip("\n")))
    return found if found[0].cells else found[1:]


def _cut_at_headings(text: str) -> list[tuple[re.Match[str] | None, str]]:
    parts: list[tuple[re.Match[str] | None, list[str]]] = [(None, [])]
    for line, in_code in _lines(text):
        match = None if in_code else _SECTION.match(line)
        if match is not None:
            parts.append((match, []))
        parts[-1][1].append(line)
    return [(match, "\n".join(lines)) for match, lines in parts]


def _lines(text: str) -> list[tuple[str, bool]]:
    """Return each line, and whether it belongs to a code block."""
    found, fence = [], ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            found.append((line, True))
            if match and match["marks"].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif match:
            fence = match["marks"]
            found.append((line, True))
        else:
            found.append((line, False))
    return found


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    return "\n".join(line if in_code else change(line) for line, in_code in _lines(text))


def _outside_spans(line: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in _CODE_SPAN.finditer(line):
        parts += [change(line[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(line[end:])])


def _found(notebook: NotebookNode, pattern: re.Pattern[str]) -> list[str]:
    ids: list[str] = []

    def note(part: str) -> str:
        ids.extend(match[1] for match in pattern.finditer(part))
        return part

    def look(text: str) -> str:
        return _outside_code(text, lambda line: _outside_spans(line, note))

    map_markdown(notebook, look)
    return ids


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)
