"""Execute a notebook on a study and render it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from dsqa.errors import ReportError
from dsqa.report.execute import execute_notebook, key_variables, parts_missing
from dsqa.report.formats import Renderer, check_formats
from dsqa.report.locate import notebook_path
from dsqa.report.pandoc import render_with_pandoc
from dsqa.report.quarto import QuartoError, quarto_for
from dsqa.report.site.quarto_site import render_one_with_quarto
from dsqa.report.studyline import study_line
from dsqa.study import StudyFolder

__all__ = ["render_report"]


def render_report(
    folder: StudyFolder,
    *,
    formats: Sequence[str] = ("html",),
    notebook: str = "overview",
    parameters: Mapping[str, Any] | None = None,
    renderer: Renderer = "auto",
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Execute a notebook on a marked study and render it.

    The executed notebook goes to ``report/NAME.ipynb`` in the study's folder, the rendered report beside it,
    the figures to ``figures/``. The same study, parameters and installation give the same HTML bytes.

    Parameters
    ----------
    folder
        The study.
    formats
        Among `FORMATS`.
    notebook
        The name of a shipped notebook, or the path of an ``.ipynb``.
    parameters
        Values for the notebook's parameters; ``study`` is set here.
    renderer
        ``auto``: Quarto where there is one that works, and the bundled pandoc and Typst where it fails; ``quarto``,
        ``pandoc``: nothing else in any case.
    progress
        Called with a line of text before each step.

    Returns
    -------
    list of Path
        The rendered files, in the order of `formats`.

    Raises
    ------
    ReportError
        A format is unknown, a cell of the notebook failed, or rendering did.
    QuartoError
        Quarto was asked for and failed. What was there before is untouched.
    MissingDependencyError
        Neither Quarto nor the bundled programs are installed.
    """
    check_formats(formats)
    say = progress or (lambda _text: None)
    source = notebook_path(notebook)
    description = folder.describe()
    if not folder.outcomes_path.is_file():
        raise ReportError("has not been marked yet", path=folder.root, hint=f"run: dsqa score {folder.root}")
    report_dir = folder.report_dir.resolve()
    try:
        report_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot be made: {error.strerror or error}", path=report_dir) from None
    executed = report_dir / source.name
    say(f"Executing the notebook {source.stem}")
    made_of = execute_notebook(
        source,
        executed,
        # Relative to where the notebook goes, so that no path of this machine gets into it.
        {**(parameters or {}), "study": ".."},
        cwd=report_dir,
        hidden_variables=key_variables(description.settings),
    )
    names = _rendered(made_of, executed, formats, study_line(folder), renderer, say)
    made = [folder.report_dir / name for name in names]
    if missing := parts_missing(made_of):
        raise ReportError(
            missing[0] if len(missing) == 1 else f"{len(missing)} parts could not be made; the first: {missing[0]}",
            path=source,
            hint=f"a sentence stands in place of what could not be made in {', '.join(path.name for path in made)}",
        )
    return made


def _rendered(
    book: NotebookNode,
    executed: Path,
    formats: Sequence[str],
    line: str,
    renderer: Renderer,
    say: Callable[[str], None],
) -> list[str]:
    names = [f"{executed.stem}.{name}" for name in formats]
    quarto = quarto_for(renderer, say)
    if quarto is not None:
        say(f"Rendering {', '.join(names)} with Quarto {quarto.version}")
        try:
            render_one_with_quarto(
                quarto, book, executed.stem, formats, executed.parent, line, lambda text: say(f"Quarto warns: {text}")
            )
        except QuartoError as error:
            if renderer == "quarto":
                raise
            say(f"{error}. Rendering with the bundled pandoc instead")
        else:
            return names
    for name in names:
        say(f"Rendering {name} with {'pandoc and Typst' if name.endswith('.pdf') else 'pandoc'}")
        target = executed.parent / name
        try:
            render_with_pandoc(executed, target, {"subtitle": line})
        except OSError as error:
            raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
    return names
