"""Pages, search index and single-file documents from executed notebooks, with the bundled pandoc and Typst."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from dsqa.errors import ReportError
from dsqa.report.execute import notebook_text, read_notebook
from dsqa.report.locate import shipped
from dsqa.report.pandoc import pandoc_version, render_with_pandoc
from dsqa.report.site.article import Chapter, join_notebooks
from dsqa.report.site.fingerprint import code_hash, hash_of, theme_hash
from dsqa.report.site.front import failure_page, index_page
from dsqa.report.site.parallel import in_parallel
from dsqa.report.site.pictures import lighter_pictures, pictures_of
from dsqa.report.site.search import search_index
from dsqa.report.site.state import State
from dsqa.report.site.texts import defined_ids, map_markdown, retarget
from dsqa.study.folder import hash_file, replace_text

__all__ = [
    "ALONE",
    "SEARCH",
    "article_notebook",
    "document_notebooks",
    "linked_notebooks",
    "render_documents",
    "render_pages",
    "write_search",
]

SEARCH = ("search-index.js", "search.js")
"""The scripts beside the pages: the index, and the code that looks in it."""

ALONE = ("overview", "sheet")
"""Pages that are printed and sent by themselves."""


def linked_notebooks(state: State, ending: str) -> dict[str, NotebookNode]:
    """Return what each page is rendered from, and ``index``; links to a part of another page name that page.

    Parameters
    ----------
    state
        After the notebooks were executed.
    ending
        Of the addresses of pages: ``.html``, or ``.ipynb`` for Quarto, which makes the links itself.
    """
    books = _notebooks(state)
    homes = {i: f"{name}{ending}" for name, nb in reversed(books.items()) for i in defined_ids(nb)}
    whole = "overview" in books and state.pages["overview"].failure is None
    books["index"] = index_page(
        state.description.name, list(state.pages.values()), books["overview"] if whole else None, ending
    )
    for notebook in books.values():
        _lead_somewhere(notebook, homes)
    return books


def article_notebook(state: State) -> NotebookNode:
    """Return all notebooks as one."""
    chapters = [Chapter(state.pages[name], notebook) for name, notebook in _notebooks(state).items()]
    return join_notebooks("How reliable are the answers?", chapters)


def document_notebooks(
    state: State, formats: Sequence[str], *, article: bool
) -> dict[str, tuple[NotebookNode, tuple[str, ...]]]:
    """Return what each single-file document is rendered from, and to which formats.

    They are ``article``, where it is wanted, in each format, and the pages that are read alone in those for paper.
    """
    found: dict[str, tuple[NotebookNode, tuple[str, ...]]] = {}
    if article and formats:
        found["article"] = (article_notebook(state), tuple(formats))
    paper = tuple(ending for ending in formats if ending != "html")
    for name, book in _notebooks(state).items() if paper else ():
        if name in ALONE and state.pages[name].failure is None:
            _lead_somewhere(book, {})
            found[name] = (book, paper)
    return found


def render_pages(state: State) -> None:
    """Render the pages that have changed; where one cannot be, its page says so and the others are told."""
    while True:
        failures = _failures(state)
        targets = {f"{name}.html": notebook for name, notebook in linked_notebooks(state, ".html").items()}
        errors = _render_changed(state, targets, {target: _page_metadata(state, target) for target in targets})
        for target, error in errors.items():
            name = target.removesuffix(".html")
            if name not in state.pages or state.pages[name].failure is not None:
                raise error
            state.fail(name, error)
        if _failures(state) == failures:
            return


def write_search(state: State) -> None:
    """Write the index of the words of every page, and the script that looks in it."""
    pages = list(state.pages.values())
    index, script = (state.dir / name for name in SEARCH)
    key = hash_of([[(page.href, hash_file(state.dir / page.href)) for page in pages], code_hash()])
    if not state.made.is_current(index.name, key):
        replace_text(index, search_index(state.dir, pages))
        state.made.note(index.name, key)
    text = (shipped("reports") / "theme" / SEARCH[1]).read_text(encoding="utf-8")
    if not script.is_file() or script.read_text(encoding="utf-8") != text:
        replace_text(script, text)


def render_documents(state: State, formats: Sequence[str], *, article: bool) -> list[Path]:
    """Render the article, and the pages that are read alone in the formats for paper.

    Returns
    -------
    list of Path
        Those that could be made; `State.failed_documents` has the others.
    """
    targets = {
        f"{name}.{ending}": book
        for name, (book, endings) in document_notebooks(state, formats, article=article).items()
        for ending in endings
    }
    before = set(state.made.names)
    errors = _render_changed(state, targets, {target: {"subtitle": state.line} for target in targets})
    for target, error in errors.items():
        state.failed_documents[target] = str(error)
        state.say(f"{target} failed: {error}")
        if target in before:
            # What an earlier making left is of another state of the study.
            (state.dir / target).unlink(missing_ok=True)
            state.made.forget(target)
    return [state.dir / target for target in targets if target not in errors]


def _notebooks(state: State) -> dict[str, NotebookNode]:
    return {
        name: read_notebook(state.executed_path(name))
        if page.failure is None
        else failure_page(page, state.sources[name], page.failure)
        for name, page in state.pages.items()
    }


def _lead_somewhere(notebook: NotebookNode, homes: Mapping[str, str]) -> None:
    known = set(defined_ids(notebook))
    map_markdown(notebook, lambda text: retarget(text, known, homes))


def _failures(state: State) -> dict[str, str | None]:
    return {name: page.failure for name, page in state.pages.items()}


def _page_metadata(state: State, target: str) -> dict[str, Any]:
    rows = [
        {"href": page.href, "title": page.title, "current": page.href == target, "failed": page.failure is not None}
        for page in state.pages.values()
    ]
    start = {"href": "index.html", "title": "Start", "current": target == "index.html", "failed": False}
    nav = [start, *rows]
    at = next(number for number, row in enumerate(nav) if row["current"])
    around = {"prev": nav[at - 1]} if at else {}
    if at + 1 < len(nav):
        around["next"] = nav[at + 1]
    return {"subtitle": state.line, "site": True, "nav": nav, "search": True, **around}


def _render_changed(
    state: State, books: Mapping[str, NotebookNode], metadata: Mapping[str, Mapping[str, Any]]
) -> dict[str, ReportError]:
    """Render what has changed, several at a time, and return the errors."""
    keys = {target: _key(state, target, book, metadata[target]) for target, book in books.items()}
    wanted = [target for target in books if not state.made.is_current(target, keys[target])]
    state.up_to_date += [target for target in books if target not in wanted and target not in state.up_to_date]
    tasks = {target: partial(_render, state, books[target], target, metadata[target]) for target in wanted}
    errors: dict[str, ReportError] = {}
    for target, error in in_parallel(tasks, state.jobs):
        if isinstance(error, ReportError):
            errors[target] = error
        elif error is not None:
            raise error
        else:
            state.made.note(target, keys[target])
            state.say(f"Rendered {target}")
    return errors


def _key(state: State, target: str, notebook: NotebookNode, metadata: Mapping[str, Any]) -> str:
    return hash_of(
        {
            "target": target,
            "notebook": notebook,
            "pictures": {path.name: hash_file(path) for path in pictures_of(notebook, state.dir)},
            "metadata": metadata,
            "theme": theme_hash(),
            "code": code_hash(),
            "pandoc": pandoc_version(),
            "epoch": os.environ.get("SOURCE_DATE_EPOCH", ""),
        }
    )


def _render(state: State, notebook: NotebookNode, target: str, metadata: Mapping[str, Any]) -> None:
    """Render a notebook that is not on disk as it is rendered."""
    book = copy.deepcopy(notebook)
    if target.endswith(".html"):
        lighter_pictures(book, state.dir)
    # Beside the others, since its pictures are relative to it.
    handle, name = tempfile.mkstemp(dir=state.dir, prefix=f".{Path(target).stem}-", suffix=".ipynb")
    os.close(handle)
    beside = Path(name)
    try:
        beside.write_text(notebook_text(book), encoding="utf-8")
        render_with_pandoc(beside, state.dir / target, metadata)
    except ReportError as error:
        raise ReportError(error.message, path=state.dir / target, hint=error.hint) from None
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=state.dir / target) from None
    finally:
        beside.unlink(missing_ok=True)
