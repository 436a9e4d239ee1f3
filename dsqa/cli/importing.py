"""`dsqa import`: runs that another tool recorded, as a study like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.options import json_option
from dsqa.cli.studies import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["import_runs"]

_FILE = click.Path(path_type=Path)
_FIRST = 8
"""Of a long list, so many are printed; import.json has all of them."""


def _pairs(_c: click.Context, _p: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values:
        field, equals, column = value.partition("=")
        if not equals or not field.strip():
            raise click.BadParameter(f"'{value}' is not FIELD=COLUMN, such as question=Prompt")
        pairs[field.strip()] = column.strip()
    return pairs


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--out", type=_FILE, help="Folder to make for the study, such as runs/theirs.")
@click.option("--format", "format_name", metavar="NAME", help="What wrote the files. [default: found out]")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    callback=_pairs,
    help="Of a table: which column is what; may be repeated. FIELD= says that there is none.",
)
@click.option("--map", "map_file", type=_FILE, help="The same as a YAML file of FIELD: COLUMN lines.")
@click.option("--bank", type=_FILE, help="Bank file with the questions and their ground truths.")
@click.option("--data", type=_FILE, help="Folder of the data files that the questions are about.")
@click.option("--model", metavar="NAME", help="The model, where the files do not say.")
@click.option("--temperature", type=float, help="The temperature, where the files do not say.")
@click.option(
    "--on-duplicate",
    type=click.Choice(["error", "first", "last", "all"]),
    default="error",
    show_default=True,
    help="Runs of one cell and number that differ: refuse, keep one of them, or all under new numbers.",
)
@click.option(
    "--on-different-question",
    type=click.Choice(["error", "first", "split"]),
    default="error",
    show_default=True,
    help="One question id with two texts: refuse, keep the first text, or make two questions.",
)
@click.option(
    "--unfilled-accuracy",
    type=click.Choice(["missing", "wrong"]),
    default="missing",
    show_default=True,
    help="What an empty mark of the source means.",
)
@click.option(
    "--strict/--skip-bad",
    help="Refuse files of which a row cannot be read, or pass over such rows and tell them.  [default: skip-bad]",
)
@click.option("--dry-run", is_flag=True, help="Read everything and say what would come of it; write nothing.")
@json_option
def import_runs(
    files: tuple[Path, ...],
    out: Path | None,
    format_name: str | None,
    columns: dict[str, str],
    map_file: Path | None,
    bank: Path | None,
    data: Path | None,
    as_json: bool,
    dry_run: bool,
    **choices: Any,
) -> None:
    """Turn runs that another tool recorded (FILES, of one format) into a study under runs/.

    Nothing is asked of a model. Afterwards 'dsqa score', 'dsqa report' and the others work on the folder as on any
    study. Formats: see docs/import.md; a plain table (CSV, TSV, XLSX, JSONL, Parquet) is one of them.
    """
    from dsqa.cli.progress import counting_bar
    from dsqa.importing import ImportOptions, ReadOptions, import_study, read_map
    from dsqa.stats import design_gaps

    if out is None and not dry_run:
        raise click.UsageError("say where the study is to be: --out runs/NAME (or --dry-run to see what would come)")
    reading = ReadOptions(
        columns=(read_map(map_file) if map_file is not None else {}) | columns,
        model=choices["model"],
        temperature=choices["temperature"],
        skip_bad=not choices["strict"],
        unfilled_accuracy=choices["unfilled_accuracy"],
    )
    with counting_bar("reading", "runs") as advance:
        imported = import_study(
            files,
            None if dry_run else out,
            ImportOptions(
                format_name=format_name,
                reading=reading,
                bank=bank,
                data=data,
                on_duplicate=choices["on_duplicate"],
                on_different_question=choices["on_different_question"],
                describe_design=design_gaps,
                announce=lambda text: click.echo(text, err=True),
                progress=lambda done: advance(done, done),
            ),
        )
    folder = imported.folder
    if as_json:
        data_out = {"folder": None if folder is None else str(folder.root), **imported.description}
        click.echo(json.dumps(data_out, ensure_ascii=False))
        return
    click.echo("\n".join(_lines(imported.description)), err=True)
    if folder is None:
        click.echo("Nothing was written (--dry-run).", err=True)
    else:
        click.echo(f"Next: dsqa score {shown(folder.root)}", err=True)
        click.echo(shown(folder.root))


def _lines(said: Mapping[str, Any]) -> list[str]:
    per_cell = said["runs_per_cell"]
    each = (
        f"{per_cell['fewest']:,}"
        if per_cell["fewest"] == per_cell["most"]
        else "{fewest:,} to {most:,}".format(**per_cell)
    )
    lines = [
        f"{said['runs']:,} runs read as {said['format']}: {said['questions']:,} questions × {said['conditions']:,} "
        f"conditions, {said['cells']:,} cells of {each} runs"
    ]
    mapped = [f"{source} → {meaning}" for source, meaning in said["mapped"].items()]
    lines += _listed("Taken", mapped)
    left = [
        f"{e['what']}: {e['why']}" + (f" ({e['times']:,} times)" if e["times"] > 1 else "") for e in said["left_out"]
    ]
    lines += _listed("Left out", left)
    bad = said["bad_rows"]
    if bad["passed_over"]:
        lines += _listed(f"Rows passed over: {bad['passed_over']:,}", bad["first"])
    duplicates = said["duplicates"]
    if duplicates["dropped_identical"]:
        lines.append(f"{duplicates['dropped_identical']:,} runs were there twice, word for word: counted once")
    if duplicates["differing"]:
        lines += _listed(f"Differing runs of one number: {duplicates['differing']:,}", duplicates["first"])
    if said["keys_struck_out"]:
        lines.append(f"{said['keys_struck_out']:,} texts that look like keys were struck out (***)")
    lines += _listed("Made up", said["made_up"]) + _listed("Note", said["notes"]) + _listed("Design", said["design"])
    marking = said["marking"]
    if marking["warning"]:
        lines.append(f"Warning: {marking['warning']}")
    return [*lines, f"Marking: {marking['line']}"]


def _listed(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = [f"  … and {len(items) - _FIRST} more, see import.json"] if len(items) > _FIRST else []
    return [f"{title}:", *(f"  {item}" for item in items[:_FIRST]), *more]
