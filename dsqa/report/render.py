"""Execute a notebook on a study and render it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsqa.errors import ReportError
from dsqa.report.execute import execute_notebook, parts_missing
from dsqa.report.locate import notebook_path
from dsqa.report.pandoc import render_with_pandoc
from dsqa.report.quarto import quarto_path, render_with_quarto
from dsqa.report.studyline import study_line
from dsqa.study import StudyFolder

__all__ = ["FORMATS", "check_formats", "key_variables", "render_report"]

FORMATS = ("html", "pdf", "docx")
"""Formats a report can be rendered to."""


def render_report(
    folder: StudyFolder,
    *,
    formats: Sequence[str] = ("html",),
    notebook: str = "overview",
    parameters: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Execute a notebook on a marked study and render it.

    The executed notebook goes to ``report/NAME.ipynb`` in the study's folder, the rendered report beside it,
    the figures to ``figures/``. With `quarto` on the PATH, Quarto renders; otherwise the bundled pandoc,
    and Typst for a PDF. The same study, parameters and installation give the same HTML bytes.

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
    program = quarto_path()
    metadata = {"subtitle": study_line(folder)}
    made = []
    for name in formats:
        target = report_dir / f"{source.stem}.{name}"
        tool = "Quarto" if program else "pandoc and Typst" if name == "pdf" else "pandoc"
        say(f"Rendering {target.name} with {tool}")
        try:
            if program:
                render_with_quarto(program, executed, target, metadata)
            else:
                render_with_pandoc(executed, target, metadata)
        except OSError as error:
            raise ReportError(f"cannot be written: {error.strerror or error}", path=target) from None
        made.append(folder.report_dir / target.name)
    if missing := parts_missing(made_of):
        raise ReportError(
            missing[0] if len(missing) == 1 else f"{len(missing)} parts could not be made; the first: {missing[0]}",
            path=source,
            hint=f"a sentence stands in place of what could not be made in {', '.join(path.name for path in made)}",
        )
    return made


def check_formats(formats: Sequence[str]) -> None:
    """Check that formats are among `FORMATS`.

    Raises
    ------
    ReportError
        One is not.
    """
    for name in formats:
        if name not in FORMATS:
            raise ReportError(f"'{name}' is not a format of reports", hint=f"formats are: {', '.join(FORMATS)}")


def key_variables(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the environment variables that hold the study's keys; a notebook needs none."""
    endpoints = settings.get("endpoints") or {}
    names = {endpoint.get("api_key_env") for endpoint in endpoints.values() if isinstance(endpoint, dict)}
    return tuple(sorted(name for name in names if isinstance(name, str) and name))
