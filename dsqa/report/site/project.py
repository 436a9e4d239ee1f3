"""A study's report as Quarto projects: the sources of the same pages and documents, for `quarto render`."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from dsqa.errors import ReportError
from dsqa.report.execute import notebook_text
from dsqa.report.locate import shipped
from dsqa.report.site.front import PageTitle, front_matter
from dsqa.report.site.pictures import pictures_of, replace_pictures
from dsqa.report.site.rendering import article_notebook, linked_notebooks
from dsqa.report.site.state import State
from dsqa.report.site.texts import raw_cell

__all__ = ["OUTPUT", "lay_documents", "lay_site", "lay_study"]

OUTPUT = "_site"
"""The folder of a project that `quarto render` fills."""

_QUARTO_NAMES = {"html": "html", "pdf": "typst", "docx": "docx"}
# The study has an index of its own; the rest is pandoc's way to the same look, or makes what is shipped.
_NOT_LAID = ("index.qmd", ".*", "pandoc", "pandoc-template.typ", "*.py", "__pycache__")


def lay_site(
    target: Path,
    pages: Sequence[PageTitle],
    books: Mapping[str, NotebookNode],
    *,
    base: Path,
    title: str,
    subtitle: str,
) -> list[Path]:
    """Lay the website of a study into a folder: `quarto render` there makes ``_site/``.

    The project is the shipped ``reports/`` with the study's executed notebooks beside it, their pictures in
    ``figures/`` and, in ``_quarto.yml``, the pages in their order. The formats for paper are those of
    ``article.ipynb`` alone: a website's pages are HTML.

    Parameters
    ----------
    target
        An empty folder, one that is not there, or a project laid before, which is laid anew.
    pages
        The pages, in order.
    books
        ``index``, a notebook for each page and maybe ``article``, with outputs.
    base
        The folder that the notebooks' pictures are relative to.
    title, subtitle
        Of the website; the subtitle is every page's.

    Returns
    -------
    list of Path
        The files that were written, without the shipped ones.

    Raises
    ------
    ReportError
        The folder holds something else, or cannot be written.
    """
    heads: dict[str, dict[str, Any]] = {name: {"subtitle": subtitle} for name in books}
    if "article" in books:
        heads["article"] |= {"sidebar": False, "format": _document_formats(tuple(_QUARTO_NAMES))}
    return _lay(target, _site_settings(pages, title, tuple(books)), books, heads, base)


def lay_documents(
    target: Path,
    books: Mapping[str, tuple[NotebookNode, Sequence[str]]],
    *,
    base: Path,
    subtitle: str,
) -> list[Path]:
    """Lay single-file documents into a folder: `quarto render` there makes them in ``_site/``.

    Parameters
    ----------
    target
        As in `lay_site`.
    books
        Name → its notebook, with outputs, and the formats that are wanted.
    base, subtitle
        As in `lay_site`.

    Returns
    -------
    list of Path
        The files that were written, without the shipped ones.

    Raises
    ------
    ReportError
        The folder holds something else, or cannot be written.
    """
    settings = _shipped_settings()
    settings["project"] = {"type": "default", "output-dir": OUTPUT, "render": [f"{name}.ipynb" for name in books]}
    for key in ("website", "format"):
        settings.pop(key, None)
    heads = {name: {"subtitle": subtitle, "format": _document_formats(wanted)} for name, (_, wanted) in books.items()}
    return _lay(target, settings, {name: book for name, (book, _) in books.items()}, heads, base)


def lay_study(state: State, target: Path, *, for_author: bool = True) -> list[Path]:
    """Lay the website of a study whose notebooks have been executed: its first page and its pages.

    For an author who goes on without dsqa's code also the article, each figure's data beside it, and the tables of
    runs and cells in ``data/``.
    """
    # Quarto makes the links between pages from their sources' names.
    books = linked_notebooks(state, ".ipynb")
    if for_author:
        books["article"] = article_notebook(state)
    title = f"{state.description.name}: how reliable are the answers?"
    pages = list(state.pages.values())
    written = lay_site(target, pages, books, base=state.dir, title=title, subtitle=state.line)
    if for_author:
        written += _lay_data(state, target, written)
    return written


def _lay_data(state: State, target: Path, written: Sequence[Path]) -> list[Path]:
    pictures = {path.stem for path in written if path.parent.name == "figures"}
    figures = state.folder.figures_dir
    data = [(figures / f"{name}.csv", target / "figures" / f"{name}.csv") for name in sorted(pictures)]
    tables = (state.folder.outcomes_path, state.folder.cells_path)
    data += [(path, target / "data" / path.name) for path in tables]
    laid = []
    try:
        (target / "data").mkdir(exist_ok=True)
        for source, place in data:
            if source.is_file():
                shutil.copyfile(source, place)
                laid.append(place)
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
    return laid


def _lay(
    target: Path,
    settings: Mapping[str, Any],
    books: Mapping[str, NotebookNode],
    heads: Mapping[str, Mapping[str, Any]],
    base: Path,
) -> list[Path]:
    if target.exists() and (
        not target.is_dir() or (any(target.iterdir()) and not (target / "_quarto.yml").is_file())
    ):
        raise ReportError(
            "holds something else than a Quarto project", path=target, hint="name a new or an empty folder"
        )
    try:
        skip = shutil.ignore_patterns(*_NOT_LAID)
        shutil.copytree(shipped("reports"), target, copy_function=shutil.copyfile, dirs_exist_ok=True, ignore=skip)
        target.chmod(0o755)
        text = yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True, width=118)
        written = [_write(target / "_quarto.yml", text)]
        if settings["project"]["type"] == "website":
            shutil.copyfile(target / "theme" / "search.js", target / "search.js")
        pictures: dict[str, Path] = {}
        for name, book in books.items():
            own = copy.deepcopy(book)
            for path in pictures_of(own, base):
                pictures[path.name] = path
            replace_pictures(own, lambda path: f"figures/{Path(path).name}")
            _head(own, heads[name])
            written.append(_write(target / f"{name}.ipynb", notebook_text(own)))
        (target / "figures").mkdir(exist_ok=True)
        for name, path in sorted(pictures.items()):
            shutil.copyfile(path, target / "figures" / name)
            written.append(target / "figures" / name)
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
    return written


def _shipped_settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((shipped("reports") / "_quarto.yml").read_text(encoding="utf-8"))
    return settings


def _site_settings(pages: Sequence[PageTitle], title: str, names: Sequence[str]) -> dict[str, Any]:
    settings = _shipped_settings()
    own = ["index.ipynb", *(f"{page.name}.ipynb" for page in pages)]
    extra = ["article.ipynb"] if "article" in names else []
    settings["project"] = {
        **settings.get("project", {}),
        "type": "website",
        "output-dir": OUTPUT,
        "render": [*own, *extra],
        # The search needs its script beside the pages, and an index of what they say.
        "resources": ["search.js"],
        "post-render": ["filters/search_index.lua"],
    }
    website = dict(settings.get("website") or {})
    website["title"] = title
    # The first page and the article have the report's title; here they are told apart.
    links = [
        {"text": "Start", "href": own[0]},
        *own[1:],
        *({"text": "All as one article", "href": name} for name in extra),
    ]
    website["sidebar"] = {**(website.get("sidebar") or {}), "contents": links}
    settings["website"] = website
    # What a website's pages are; a format for paper would be rendered for each of them.
    html = dict((settings.get("format") or {}).get("html") or {})
    html["include-in-header"] = "theme/site-head.html"
    html["include-before-body"] = "theme/site-search.html"
    settings["format"] = {"html": html}
    return settings


def _document_formats(wanted: Sequence[str]) -> dict[str, Any]:
    formats = _shipped_settings().get("format") or {}
    names = [_QUARTO_NAMES[name] for name in wanted]
    found = {name: dict(formats.get(name) or {}) for name in names}
    if "html" in found:
        # One file, as dsqa's own page: without the scripts and styles of a website of Quarto's.
        kept = {
            key: found["html"][key]
            for key in ("html-math-method", "code-fold", "code-summary")
            if key in found["html"]
        }
        found["html"] = {
            **kept,
            "theme": "none",
            "minimal": True,
            "template": "theme/template.html",
            "template-partials": ["theme/page.css", "theme/dsqa.js"],
            "css": ["theme/dsqa.css", "theme/quarto.css"],
            "embed-resources": True,
        }
    return found


def _head(book: NotebookNode, values: Mapping[str, Any]) -> None:
    """Write what a page's front matter holds beside its title."""
    front = {**front_matter(book), **values}
    if not book.cells or book.cells[0].cell_type != "raw":
        book.cells.insert(0, raw_cell(""))
    book.cells[0].source = "---\n" + yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=10_000) + "---"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path
