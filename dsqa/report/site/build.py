"""The whole report: every notebook executed, a website of their pages, and the single-file documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.errors import ReportError
from dsqa.report.formats import Renderer, check_formats
from dsqa.report.locate import shipped
from dsqa.report.quarto import Quarto, QuartoError, quarto_for
from dsqa.report.site.executing import execute_notebooks, is_executed
from dsqa.report.site.front import PageTitle
from dsqa.report.site.project import lay_study
from dsqa.report.site.quarto_site import render_documents_with_quarto, render_site_with_quarto
from dsqa.report.site.rendering import (
    ALONE,
    SEARCH,
    render_documents,
    render_pages,
    write_search,
)
from dsqa.report.site.state import State
from dsqa.study import StudyFolder

__all__ = ["ORDER", "SiteResult", "build_site", "shipped_notebooks"]

ORDER = (
    "overview",
    "sheet",
    "instability",
    "accuracy",
    "models",
    "reliability",
    "verbosity",
    "correlation",
    "judges",
    "drift",
    "sources",
)
"""The order in which the pages are to be read."""

_MOST_JOBS = 4


@dataclass(frozen=True)
class SiteResult:
    """What was made.

    Parameters
    ----------
    index
        The site's first page.
    pages
        The pages of the notebooks; one that could not be made says so in `failure`.
    documents
        Single-file documents.
    failed
        Page or document → why it could not be made.
    incomplete
        Page → the parts of it that could not be made; a sentence stands in their places.
    up_to_date
        Notebooks and files that were not made again.
    warnings
        What the renderer warned of.
    """

    index: Path
    pages: tuple[PageTitle, ...]
    documents: tuple[Path, ...]
    failed: Mapping[str, str]
    incomplete: Mapping[str, tuple[str, ...]]
    up_to_date: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def shipped_notebooks() -> tuple[str, ...]:
    """Return the names of the shipped notebooks, in the order of the site."""
    names = {path.stem for path in shipped("notebooks").glob("*.ipynb")}
    return (*(name for name in ORDER if name in names), *sorted(names - set(ORDER)))


def build_site(
    folder: StudyFolder,
    *,
    formats: Sequence[str] = (),
    notebooks: Sequence[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    quarto_project: Path | None = None,
    renderer: Renderer = "auto",
    progress: Callable[[str], None] | None = None,
    jobs: int | None = None,
) -> SiteResult:
    """Make the report of a marked study: ``report/index.html`` and a page for each notebook.

    What was made before and depends on nothing that has changed is left as it is. A notebook that fails is a page
    that says so; the others are made all the same.

    Parameters
    ----------
    folder
        The study.
    formats
        Of the single-file documents, in each of them: ``article`` (all notebooks), and the pages that are read alone
        (`rendering.ALONE`); a page's HTML is the site's.
    notebooks
        Names of shipped notebooks; all by default. With some of them only, the other pages stay on the site as long
        as they are up to date, and there is no article.
    parameters
        Values for parameters of the notebooks; each goes to the notebooks that have it.
    quarto_project
        A folder to lay the executed notebooks into as a Quarto website project, article included.
    renderer
        ``auto``: Quarto where there is one that works, and the bundled pandoc and Typst where it fails; ``quarto``,
        ``pandoc``: nothing else in any case.
    progress
        Called with a line of text after each step.
    jobs
        Notebooks and pages made at once; as many as there are cores, at most four, by default.

    Raises
    ------
    ReportError
        The study has not been marked, no notebook has such a parameter, or a file cannot be written. A notebook's
        failure is not raised: see `SiteResult.failed` and `SiteResult.incomplete`.
    QuartoError
        Quarto was asked for and failed. What was there before is untouched.
    MissingDependencyError
        The bundled programs are not installed.
    """
    check_formats(formats)
    if not folder.outcomes_path.is_file():
        raise ReportError("has not been marked yet", path=folder.root, hint=f"run: dsqa score {folder.root}")
    state = State(
        folder,
        shipped_notebooks(),
        parameters or {},
        progress or (lambda _text: None),
        jobs or max(1, min(_MOST_JOBS, os.cpu_count() or 1)),
    )
    if notebooks is not None:
        state.keep([name for name in state.pages if name in notebooks or is_executed(state, name)])
    execute_notebooks(state)
    quarto = quarto_for(renderer, state.say)
    documents, shared = _rendered(state, quarto, formats, article=notebooks is None, only=renderer == "quarto")
    _remove_outdated(state, formats, shared)
    if quarto_project is not None:
        lay_study(state, quarto_project)
    failed = {name: page.failure for name, page in state.pages.items() if page.failure is not None}
    return SiteResult(
        folder.report_dir / "index.html",
        tuple(state.pages.values()),
        tuple(folder.report_dir / path.name for path in documents),
        failed | state.failed_documents,
        state.incomplete,
        tuple(state.up_to_date),
        tuple(state.warnings),
    )


def _rendered(
    state: State, quarto: Quarto | None, formats: Sequence[str], *, article: bool, only: bool
) -> tuple[list[Path], list[str]]:
    """Render pages and documents; return the documents, and the files beside the pages that belong to them."""
    if quarto is not None:
        before = len(state.up_to_date)
        try:
            shared = render_site_with_quarto(state, quarto)
            return render_documents_with_quarto(state, quarto, formats, article=article), shared
        except QuartoError as error:
            if only:
                raise
            del state.up_to_date[before:]
            state.say(f"{error}. Rendering with the bundled pandoc instead")
    render_pages(state)
    write_search(state)
    return (render_documents(state, formats, article=article) if formats else []), []


def _remove_outdated(state: State, formats: Sequence[str], shared: Sequence[str]) -> None:
    """Remove what an earlier making left and this one does not make: of another state of the study, or renderer."""
    kept = {f"{name}{ending}" for name in state.pages for ending in (".ipynb", ".html")}
    kept |= {"index.html", *SEARCH, *(f"{name}.{ending}" for name in ("article", *ALONE) for ending in formats)}
    for name in state.made.names:
        if name in kept or name in shared:
            continue
        path = state.dir / name
        path.unlink(missing_ok=True)
        state.made.forget(name)
        for parent in path.parents:
            if parent == state.dir or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()
