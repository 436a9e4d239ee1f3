"""`dsqa export`: a study's runs for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dsqa.cli.options import json_option, study_argument
from dsqa.cli.studies import open_recorded, shown

__all__ = ["export"]


@click.command()
@study_argument
@click.option(
    "--to",
    "targets",
    default="csv,parquet,r,columns",
    show_default=True,
    metavar="LIST",
    help="Comma-separated: csv, parquet, r, columns, inspect, requests.",
    callback=lambda _c, _p, value: [part.strip().lower() for part in value.split(",") if part.strip()],
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder. [default: STUDY/export]")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@json_option
def export(study: Path, targets: list[str], out: Path | None, force: bool, as_json: bool) -> None:
    """Write the runs of STUDY (a folder under runs/, or its study.yaml) for other programs.

    \b
      csv, parquet   the outcome table, a row per run
      r              a script that reads the CSV with the right types and fits a first model
      columns        what each column of the table holds
      inspect        logs that inspect_ai reads: one per condition, runs as epochs
      requests       OpenAI Batch requests for the runs that are still missing

    Works on any study, sampled or imported. The table needs a marked study; the other two do not.
    """  # noqa: D301  (the backslash is click's)
    folder = open_recorded(study)
    from dsqa.exporting import export_study

    done = export_study(folder, targets, out or folder.root / "export", force=force)
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in done.paths], "notes": list(done.notes)}))
        return
    for note in done.notes:
        click.echo(note, err=True)
    for path in done.paths:
        click.echo(shown(path))
