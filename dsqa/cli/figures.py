"""`dsqa figures`: every figure of a study, each with its data and caption."""

from __future__ import annotations

from pathlib import Path

import click

from dsqa.cli.options import study_argument
from dsqa.cli.studies import open_recorded, shown

__all__ = ["figures"]


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]


@click.command(short_help="Write the figures as SVG, PDF or PNG.")
@study_argument
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder. [default: the study's own]")
@click.option("--only", metavar="LIST", callback=_names, help="Comma-separated names. [default: all]")
@click.option(
    "--format", "formats", default="svg,pdf", show_default=True, metavar="LIST", callback=_names, help="Of the files."
)
def figures(study: Path, out: Path | None, only: list[str] | None, formats: list[str]) -> None:
    """Draw the figures of a marked STUDY (a folder under runs/, or its study.yaml).

    Each is written with the data it shows (CSV) and its caption (text). The same runs give the same bytes.
    """
    folder = open_recorded(study, marked=True)
    import pandas as pd

    from dsqa.figures import save_figures
    from dsqa.outcomes import load_outcomes

    outcomes, cells = load_outcomes(folder.outcomes_path), pd.read_parquet(folder.cells_path)
    for path in save_figures(outcomes, cells, out or folder.figures_dir, only=only, formats=formats):
        click.echo(shown(path))
