"""What the site adds to the notebooks: the first page, and the page in place of one that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from nbformat import NotebookNode

from dsqa.report.markdown import code_span, escape
from dsqa.report.site.texts import markdown_cell, notebook_of, raw_cell, sections

__all__ = ["PageTitle", "failure_page", "front_matter", "index_page", "title_of", "titled_notebook"]


@dataclass(frozen=True)
class PageTitle:
    """A page of the site: its notebook's name, its title, what it answers, and why it failed where it did."""

    name: str
    title: str
    description: str = ""
    failure: str | None = None

    @property
    def href(self) -> str:
        """Its address, relative to the others."""
        return f"{self.name}.html"


def front_matter(notebook: NotebookNode) -> dict[str, object]:
    """Return the YAML of a notebook's first cell, or nothing."""
    for cell in notebook.cells[:1]:
        if cell.cell_type == "raw":
            try:
                found = yaml.safe_load(cell.source.strip().strip("-"))
            except yaml.YAMLError:
                return {}
            return found if isinstance(found, dict) else {}
    return {}


def title_of(notebook: NotebookNode, name: str) -> PageTitle:
    """Return a page's title and description, from its notebook's front matter."""
    front = front_matter(notebook)
    return PageTitle(name, str(front.get("title") or name.capitalize()), str(front.get("description") or ""))


def titled_notebook(title: str, cells: Sequence[NotebookNode]) -> NotebookNode:
    """Return a notebook that starts with its title; the same cells give the same notebook."""
    front = raw_cell("---\n" + yaml.safe_dump({"title": title}, allow_unicode=True, width=10_000) + "---")
    return notebook_of([front, *cells])


def index_page(name: str, pages: Sequence[PageTitle], overview: NotebookNode | None, ending: str) -> NotebookNode:
    """Return the site's first page: the answer in short, and what each page is for.

    Parameters
    ----------
    name
        The study's.
    pages
        In the order in which they are to be read.
    overview
        The executed overview; its first statement is repeated here.
    ending
        Of the addresses of pages: ``.html``, or that of their sources, where Quarto makes the links.
    """
    lines = []
    for page in pages:
        if page.failure is not None:
            lines.append(f"- [{escape(page.title)}]({page.name}{ending}): this page could not be made.")
        else:
            about = f": {escape(page.description)}" if page.description else ""
            lines.append(f"- [{escape(page.title)}]({page.name}{ending}){about}")
    cells = [markdown_cell(text) for text in _lead(overview)]
    cells.append(markdown_cell("## Pages {#sec-pages}\n\n" + "\n".join(lines)))
    return titled_notebook(f"{name}: how reliable are the answers?", cells)


def _lead(overview: NotebookNode | None) -> list[str]:
    """Return the overview's first statement."""
    for section in [] if overview is None else sections(overview):
        if section.id is None:
            continue
        for cell in section.cells:
            for output in cell.get("outputs", []):
                text = output.get("data", {}).get("text/markdown", "")
                if text:
                    return ["## In short {#sec-short}", text]
        break
    return []


def failure_page(page: PageTitle, notebook: Path, message: str) -> NotebookNode:
    """Return the page that stands where a notebook failed: which, at what cell, why, and the way on."""
    return titled_notebook(
        page.title,
        [
            markdown_cell(
                '::: {.callout-warning title="This page could not be made"}\n'
                f"The notebook {code_span(notebook.name)} stopped before its end.\n\n{escape(message)}\n\n"
                "The other pages do not depend on it.\n:::"
            )
        ],
    )
