"""The site and the documents with Quarto: laid, rendered, checked and only then moved to where the reader looks."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from dsqa.errors import ReportError
from dsqa.report.quarto import Quarto, QuartoError, run_quarto
from dsqa.report.site.fingerprint import code_hash, hash_of, theme_hash
from dsqa.report.site.project import OUTPUT, lay_documents, lay_study
from dsqa.report.site.rendering import document_notebooks, linked_notebooks
from dsqa.report.site.state import State
from dsqa.report.site.whole import what_is_wrong
from dsqa.study.folder import hash_file

__all__ = ["render_documents_with_quarto", "render_one_with_quarto", "render_site_with_quarto"]


def render_site_with_quarto(state: State, quarto: Quarto) -> list[str]:
    """Render the website of a study into its ``report/``, unless all of it is there and up to date.

    Quarto renders a project as a whole, and its pages share files (``site_libs/``), so here one change renders all
    pages anew.

    Returns
    -------
    list of str
        The files that the pages need beside them, by their paths in ``report/``.

    Raises
    ------
    QuartoError
        Quarto failed, or what it made is not whole; nothing of the report was touched.
    ReportError
        A file cannot be written.
    """
    pages = {f"{name}.html": book for name, book in linked_notebooks(state, ".ipynb").items()}
    with tempfile.TemporaryDirectory(prefix="dsqa-quarto-") as scratch:
        project = Path(scratch) / "project"
        laid = lay_study(state, project, for_author=False)
        key = _key(project, laid, quarto)
        shared = [name for name, made in state.made.keys if made == key and name not in pages]
        if all(state.made.is_current(target, key) for target in [*pages, *shared]):
            state.up_to_date += list(pages)
            return shared
        state.say(f"Rendering the site with Quarto {quarto.version}")
        site = _rendered(quarto, project, pages, state.warn)
        files = sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())
        shared = [name for name in files if name not in pages]
        # What the pages need comes before them.
        _move(site, state.dir, [*shared, *pages])
    state.made.note_all([*shared, *pages], key)
    return shared


def render_documents_with_quarto(
    state: State, quarto: Quarto, formats: Sequence[str], *, article: bool
) -> list[Path]:
    """Render the single-file documents of a study, those formats that are asked for, unless they are up to date.

    Returns
    -------
    list of Path
        The documents.

    Raises
    ------
    QuartoError, ReportError
        As `render_site_with_quarto`.
    """
    books = document_notebooks(state, formats, article=article)
    targets = {f"{name}.{ending}": book for name, (book, endings) in books.items() for ending in endings}
    if not targets:
        return []
    with tempfile.TemporaryDirectory(prefix="dsqa-quarto-") as scratch:
        project = Path(scratch) / "project"
        laid = lay_documents(project, books, base=state.dir, subtitle=state.line)
        key = _key(project, laid, quarto)
        if all(state.made.is_current(target, key) for target in targets):
            state.up_to_date += list(targets)
        else:
            state.say(f"Rendering {', '.join(targets)} with Quarto {quarto.version}")
            made = _rendered(quarto, project, targets, state.warn)
            _move(made, state.dir, list(targets))
            state.made.note_all(list(targets), key)
    return [state.dir / target for target in targets]


def render_one_with_quarto(
    quarto: Quarto,
    notebook: NotebookNode,
    name: str,
    formats: Sequence[str],
    folder: Path,
    subtitle: str,
    warn: Callable[[str], None],
) -> None:
    """Render one executed notebook to files ``NAME.html``, … in its folder.

    Raises
    ------
    QuartoError, ReportError
        As `render_site_with_quarto`.
    """
    targets = {f"{name}.{ending}": notebook for ending in formats}
    with tempfile.TemporaryDirectory(prefix="dsqa-quarto-") as scratch:
        project = Path(scratch) / "project"
        lay_documents(project, {name: (notebook, formats)}, base=folder, subtitle=subtitle)
        _move(_rendered(quarto, project, targets, warn), folder, list(targets))


def _rendered(
    quarto: Quarto, project: Path, targets: Mapping[str, NotebookNode], warn: Callable[[str], None]
) -> Path:
    for line in run_quarto(quarto, ["render", str(project), "--no-execute"], project):
        warn(line)
    made = project / OUTPUT
    for target, book in targets.items():
        wrong = what_is_wrong(made / target, book)
        if wrong:
            raise QuartoError(f"Quarto said that all went well, but {target} {wrong}")
    return made


def _key(project: Path, laid: Sequence[Path], quarto: Quarto) -> str:
    files = sorted((path.relative_to(project).as_posix(), hash_file(path)) for path in laid)
    program = Path(quarto.program)
    changed = program.stat().st_mtime_ns if program.is_file() else 0
    return hash_of([files, theme_hash(), code_hash(), [quarto.program, quarto.version, changed]])


def _move(source: Path, target: Path, names: Sequence[str]) -> None:
    try:
        for name in names:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # Beside its place first: the two folders may be on different disks.
            beside = place.with_name(f".{os.getpid()}-{place.name}")
            shutil.copyfile(source / name, beside)
            beside.replace(place)
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
