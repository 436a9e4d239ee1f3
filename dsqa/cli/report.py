"""`dsqa report`: the whole report of a study, or one notebook's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.options import json_option, study_argument
from dsqa.cli.studies import open_recorded, shown
from dsqa.errors import ReportError
from dsqa.study.folder import StudyFolder

if TYPE_CHECKING:
    from dsqa.report import SiteResult
    from dsqa.report.formats import Renderer

__all__ = ["formats_option", "render_overview", "report"]

FORMATS = ("html", "pdf", "docx")


def formats_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--format``; with an empty default, none is chosen unless it is given."""
    return click.option(
        "--format",
        "formats",
        default=default,
        show_default=bool(default),
        metavar="LIST",
        help=f"Comma-separated: {', '.join(FORMATS)}."
        + (
            "" if default else " Single files beside the website: the whole as article.*, the overview as overview.*."
        ),
        callback=lambda _c, _p, value: _parse_formats(value) if value or default else (),
    )


def _parse_formats(value: str) -> tuple[str, ...]:
    chosen = tuple(part.strip().lower() for part in value.split(",") if part.strip())
    for part in chosen:
        if part not in FORMATS:
            raise click.BadParameter(f"'{part}' is not a format; choose from {', '.join(FORMATS)}")
    if not chosen:
        raise click.BadParameter(f"name at least one of {', '.join(FORMATS)}")
    return chosen


def _say(text: str) -> None:
    click.echo(text, err=True)


def render_overview(folder: StudyFolder, formats: tuple[str, ...]) -> list[Path]:
    """Render the overview alone, and say how to get the rest.

    Raises
    ------
    ReportError
        It could not be made.
    """
    from dsqa.report import build_site

    result = build_site(folder, formats=formats, notebooks=("overview",), progress=_say)
    _raise_failures(result)
    _say(f"This is the overview; the whole report: dsqa report {shown(folder.root)}")
    return [folder.report_dir / f"overview.{name}" for name in formats]


def _raise_failures(result: SiteResult) -> None:
    if len(result.failed) == 1:
        [(name, why)] = result.failed.items()
        raise ReportError(f"{name} could not be made, the rest of the report is there: {why}")
    if result.failed:
        raise ReportError(
            f"could not be made: {', '.join(result.failed)}",
            hint=f"the lines above and the pages say why; the others are in {shown(result.index)}",
        )
    if result.incomplete:
        count = sum(map(len, result.incomplete.values()))
        parts = "; ".join(f"{name}, {part}" for name, missing in result.incomplete.items() for part in missing[:1])
        raise ReportError(f"{count} part{'s' if count > 1 else ''} of the report could not be made: {parts}")


@click.command()
@study_argument
@formats_option("")
@click.option(
    "--notebook",
    "notebooks",
    metavar="NAME",
    multiple=True,
    help="Only this notebook, as one file: a shipped one's name, or an .ipynb. May be repeated.",
)
@click.option(
    "-p", "--parameter", "parameters", nargs=2, multiple=True, metavar="KEY VALUE", help="A notebook parameter."
)
@click.option(
    "--quarto-project",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also lay the executed notebooks into DIR as a Quarto website, for 'quarto render DIR'.",
)
@click.option(
    "--renderer",
    type=click.Choice(["auto", "quarto", "pandoc"]),
    default="auto",
    show_default=True,
    help="auto: Quarto where one works, else the bundled pandoc and Typst.",
)
@json_option
def report(
    study: Path,
    formats: tuple[str, ...],
    notebooks: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    quarto_project: Path | None,
    renderer: Renderer,
    as_json: bool,
) -> None:
    """Render the report of a marked STUDY (a folder under runs/, or its study.yaml).

    A website, report/index.html, with a page for each notebook; --format adds single files to print or to send.
    What has not changed is not made again. A notebook that fails is a page that says so.
    """
    folder = open_recorded(study, marked=True)
    values = {key: _typed(value) for key, value in parameters}
    if notebooks:
        if quarto_project is not None:
            raise click.UsageError("--quarto-project is for the whole report: leave --notebook out")
        from dsqa.report import render_report

        paths = [
            path
            for notebook in notebooks
            for path in render_report(
                folder,
                formats=formats or ("html",),
                notebook=notebook,
                parameters=values,
                renderer=renderer,
                progress=_say,
            )
        ]
        _print(paths, as_json, {"reports": [str(path) for path in paths]})
        return
    from dsqa.report import build_site

    result = build_site(
        folder,
        formats=formats,
        parameters=values,
        quarto_project=quarto_project,
        renderer=renderer,
        progress=_say,
    )
    if result.up_to_date:
        _say(f"Up to date: {', '.join(result.up_to_date)}")
    if result.warnings:
        number = len(result.warnings)
        _say(f"Quarto warned {number} time{'s' if number > 1 else ''}; the lines above say of what")
    paths = [result.index, *result.documents, *([quarto_project] if quarto_project else [])]
    data = {
        "reports": [str(path) for path in paths],
        "up_to_date": list(result.up_to_date),
        "failed": dict(result.failed),
        "incomplete": {name: list(parts) for name, parts in result.incomplete.items()},
        "warnings": list(result.warnings),
    }
    _print(paths, as_json, data)
    _raise_failures(result)


def _print(paths: list[Path], as_json: bool, data: dict[str, Any]) -> None:
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        for path in paths:
            click.echo(shown(path))


def _typed(value: str) -> Any:
    # As papermill's own -p: numbers and true/false by their look, everything else as text.
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value
