"""A study's report as a Quarto website project: the sources of the same pages and article, for `quarto render`."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from dsqa.errors import ReportError
from dsqa.report.locate import shipped
from dsqa.report.site.front import PageTitle, front_matter
from dsqa.report.site.pictures import pictures_of, replace_pictures
from dsqa.report.site.rendering import article_notebook, linked_notebooks
from dsqa.report.site.state import State
from dsqa.report.site.texts import raw_cell

__all__ = ["lay_project", "lay_study"]

_SITE = "_site"


def lay_project(
    target: Path,
    pages: Sequence[PageTitle],
    books: Mapping[str, NotebookNode],
    *,
    base: Path,
    title: str,
    subtitle: str,
) -> list[Path]:
    """Lay the Quarto project of a study into a folder: `quarto render` there makes ``_site/``.

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
        ``index``, ``article`` and a notebook for each page, with outputs.
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
    if target.exists() and (
        not target.is_dir() or (any(target.iterdir()) and not (target / "_quarto.yml").is_file())
    ):
        raise ReportError(
            "holds something else than a Quarto project", path=target, hint="name a new or an empty folder"
        )
    try:
        # The study has an index of its own.
        skip = shutil.ignore_patterns("index.qmd")
        shutil.copytree(shipped("reports"), target, copy_function=shutil.copyfile, dirs_exist_ok=True, ignore=skip)
        target.chmod(0o755)
        written = [_write(target / "_quarto.yml", _settings(pages, title))]
        pictures: dict[str, Path] = {}
        for name, book in books.items():
            own = copy.deepcopy(book)
            for path in pictures_of(own, base):
                pictures[path.name] = path
            replace_pictures(own, lambda path: f"figures/{Path(path).name}")
            _head(own, subtitle, _article_formats() if name == "article" else None)
            text = json.dumps(own, indent=1, sort_keys=True, ensure_ascii=False)
            written.append(_write(target / f"{name}.ipynb", text + "\n"))
        (target / "figures").mkdir(exist_ok=True)
        for name, path in sorted(pictures.items()):
            shutil.copyfile(path, target / "figures" / name)
            written.append(target / "figures" / name)
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
    return written


def lay_study(state: State, target: Path) -> list[Path]:
    """Lay the project of a study whose notebooks have been executed: its pages, its first page and its article."""
    # Quarto makes the links between pages from their sources' names.
    books = {**linked_notebooks(state, ".ipynb"), "article": article_notebook(state)}
    title = f"{state.description.name}: how reliable are the answers?"
    return lay_project(target, list(state.pages.values()), books, base=state.dir, title=title, subtitle=state.line)


def _shipped_settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((shipped("reports") / "_quarto.yml").read_text(encoding="utf-8"))
    return settings


def _settings(pages: Sequence[PageTitle], title: str) -> str:
    settings = _shipped_settings()
    files = ["index.ipynb", *(f"{page.name}.ipynb" for page in pages), "article.ipynb"]
    settings["project"] = {**settings.get("project", {}), "type": "website", "output-dir": _SITE, "render": files}
    website = dict(settings.get("website") or {})
    website["title"] = title
    website["sidebar"] = {**(website.get("sidebar") or {}), "contents": files}
    settings["website"] = website
    formats = settings.get("format") or {}
    # What a website's pages are; a format for paper would be rendered for each of them.
    settings["format"] = {"html": {k: v for k, v in (formats.get("html") or {}).items() if k != "embed-resources"}}
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=118)


def _article_formats() -> dict[str, Any]:
    formats = _shipped_settings().get("format") or {}
    html = {**(formats.get("html") or {}), "embed-resources": True}
    return {"html": html, **{name: formats[name] for name in ("typst", "docx") if name in formats}}


def _head(book: NotebookNode, subtitle: str, formats: Mapping[str, Any] | None) -> None:
    """Write what a page's front matter holds beside its title."""
    front = {**front_matter(book), "subtitle": subtitle}
    if formats is not None:
        front["format"] = dict(formats)
    if not book.cells or book.cells[0].cell_type != "raw":
        book.cells.insert(0, raw_cell(""))
    book.cells[0].source = "---\n" + yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=10_000) + "---"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path
