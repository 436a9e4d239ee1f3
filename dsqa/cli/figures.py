"""`dsqa figures`: every figure of a study, each with its data and caption."""

from __future__ import annotations

from pathlib import Path

import click

from dsqa.cli.options import study_argument
from dsqa.cli.studies import open_recorded, shown

__all__ = ["figures"]


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]


@click.command()
@study_argument
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder. [default: the study's own]")
@click.option(
    "--only", metavar="LIST", callback=_names, help="Comma-separated names. [default: all that apply to the study]"
)
@click.option(
    "--format", "formats", default="svg,pdf", show_default=True, metavar="LIST", callback=_names, help="Of the files."
)
@click.option("--question", metavar="ID", help="For the figures that show one question. [default: each chooses one]")
@click.option("--list", "listed", is_flag=True, help="Name the figures, and draw none.")
def figures(
    study: Path, out: Path | None, only: list[str] | None, formats: list[str], question: str | None, listed: bool
) -> None:
    """Draw the figures of a marked STUDY (a folder under runs/, or its study.yaml).

    Each is written with the data it shows (CSV) and its caption (text). The same runs give the same bytes. Figures
    that the study has nothing for, as it has one model only, say, are left out with a line that says why.
    """
    folder = open_recorded(study, marked=True)
    from dsqa.figures import FIGURES, StudyTables, save_figures

    if listed:
        for name in FIGURES:
            click.echo(name)
        return
    options = {} if question is None else {"question": question}
    saved = save_figures(StudyTables.read(folder), out or folder.figures_dir, only=only, formats=formats, **options)
    for path in saved.paths:
        click.echo(shown(path))
    for name, why in saved.skipped.items():
        click.echo(f"left out: {name} ({why})", err=True)
