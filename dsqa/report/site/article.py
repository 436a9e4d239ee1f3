"""All notebooks as one document: the overview's answer, a chapter each, the overview's methods and appendix."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from dsqa.report.markdown import escape
from dsqa.report.site.front import PageTitle, titled_notebook
from dsqa.report.site.texts import (
    Section,
    defined_ids,
    map_markdown,
    markdown_cell,
    notebook_of,
    rename_ids,
    retarget,
    sections,
    shift_headings,
)

__all__ = ["Chapter", "join_notebooks"]

# Of the overview: what an article opens and closes with. The rest of it (cards of the questions, pictures that the
# chapters show again) is for a reader who wants one page.
_OPENING = ("sec-answer", "sec-questions")
_CLOSING = ("sec-ledger", "sec-methods", "sec-appendix")
# The sheet repeats the overview, for print.
_NO_CHAPTERS = ("overview", "sheet")
_BIBLIOGRAPHY = "::: {#refs}"


@dataclass(frozen=True)
class Chapter:
    """A page and its executed notebook."""

    page: PageTitle
    notebook: NotebookNode


def join_notebooks(title: str, chapters: Sequence[Chapter]) -> NotebookNode:
    """Return the notebooks as one, to be rendered as a single document.

    Each notebook but ``overview`` and ``sheet`` becomes a chapter, its headings one level down. An identifier that an
    earlier chapter has given is renamed, with the references to it; links to what the article leaves out become plain
    text; there is one list of references, at the end.

    Parameters
    ----------
    title
        The article's.
    chapters
        In order. Their notebooks are not changed.
    """
    opening: list[NotebookNode] = []
    closing: list[NotebookNode] = []
    middle: list[NotebookNode] = []
    taken: set[str] = set()
    for chapter in chapters:
        if chapter.page.name != "overview":
            continue
        parts = {part.id: part for part in sections(copy.deepcopy(chapter.notebook))}
        opening = [cell for name in _OPENING if name in parts for cell in parts[name].cells]
        closing = [cell for name in _CLOSING if name in parts for cell in parts[name].cells]
        taken |= set(defined_ids(notebook_of([*opening, *closing])))
    for chapter in chapters:
        if chapter.page.name in _NO_CHAPTERS:
            continue
        cells = _chapter(chapter, taken)
        taken |= set(defined_ids(notebook_of(cells)))
        middle += cells
    references = [markdown_cell("## References {#sec-references}\n\n::: {#refs}\n:::")]
    article = titled_notebook(title, [*opening, *middle, *closing, *references])
    known = set(defined_ids(article))
    map_markdown(article, lambda text: retarget(text, known, {}))
    return article


def _chapter(chapter: Chapter, taken: set[str]) -> list[NotebookNode]:
    parts = sections(copy.deepcopy(chapter.notebook))
    kept = [cell for part in parts if not _is_bibliography(part) for cell in part.cells if cell.cell_type != "raw"]
    notebook = notebook_of(kept)
    name = f"sec-{chapter.page.name}"
    own = set(defined_ids(notebook))
    again = {i: _renamed(i, chapter.page.name, own | taken) for i in sorted(own & taken)}
    map_markdown(notebook, lambda text: shift_headings(rename_ids(text, again) if again else text))
    heading = f"## {escape(chapter.page.title)}"
    if name not in own | taken:
        heading += f" {{#{name}}}"
    return [markdown_cell(heading), *notebook.cells]


def _renamed(identifier: str, name: str, avoid: set[str]) -> str:
    # What kind of thing it is stays in front: figures, tables, equations and sections are told apart by it.
    kind, dash, rest = identifier.partition("-")
    new = f"{kind}{dash}{name}-{rest}" if dash else f"{name}-{identifier}"
    while new in avoid:
        new += "-again"
    return new


def _is_bibliography(part: Section) -> bool:
    return any(cell.cell_type == "markdown" and _BIBLIOGRAPHY in cell.source for cell in part.cells)
