"""`dsqa bank check`, `convert` and `answer`: what staff do with their questions before a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dsqa.cli.options import json_option

if TYPE_CHECKING:
    from dsqa.authoring import Answered

__all__ = ["answer", "check", "convert"]

_path = click.Path(path_type=Path)
_data = click.option("--data", "data_dir", type=_path, help="Folder of the data files. [default: data/ beside FILE]")
_labels = click.option("--labels", type=_path, help="JSONL with the ground truths, where they are not in FILE.")
_force = click.option("--force", is_flag=True, help="Replace the file that is written, if it is there.")


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@click.command(short_help="Look for mistakes in a bank.")
@click.argument("file", type=_path)
@_data
@_labels
@json_option
def check(file: Path, data_dir: Path | None, labels: Path | None, as_json: bool) -> int:
    """Say everything that may be wrong with the questions in FILE, where it is, and how to mend it.

    FILE is a table (.csv, .tsv, .xlsx, .docx), Markdown or Quarto, YAML, JSON or JSONL, a quiz (GIFT, Aiken, Moodle
    XML, R/exams, QTI), or 'builtin'. Exit code 2 if there are errors: those questions are asked and not marked, or
    left out where they cannot be asked. Warnings and notes change nothing.
    """
    from dsqa.authoring import check_bank
    from dsqa.bank import builtin_bank_path

    if str(file) == "builtin" and not file.exists():
        file = builtin_bank_path()
    checked = check_bank(file, data_dir, labels=labels)
    if as_json:
        click.echo(json.dumps(checked.to_dict(), ensure_ascii=False))
    else:
        for finding in checked.findings:
            click.echo(f"{finding.severity}: {finding}")
        counts = [_many(checked.count(s), s) for s in ("error", "warning", "note") if checked.count(s)]
        said = ", ".join(counts) if counts else "nothing to mend"
        click.echo(f"{file}: {_many(checked.questions, 'question')} read; {said}")
    return 2 if checked.count("error") else 0


@click.command(short_help="A bank in another file format.")
@click.argument("source", metavar="IN", type=_path)
@click.argument("target", metavar="OUT", type=_path)
@_data
@_labels
@_force
@json_option
def convert(
    source: Path, target: Path, data_dir: Path | None, labels: Path | None, force: bool, as_json: bool
) -> None:
    """Write the questions of IN to OUT, in the format that OUT's name says.

    Nothing is lost between tables, Markdown, YAML and JSON. A quiz format (GIFT, Aiken, Moodle XML, R/exams, QTI) has
    no place for some fields: which ones is said. A question with an error is written without its answer, and said.
    Data files that would not be found from OUT are copied beside it.
    """
    from dsqa.bank.convert import convert_bank

    done = convert_bank(source, target, data_dir=data_dir, labels=labels, overwrite=force)
    if as_json:
        result = {
            "path": str(done.path),
            "questions": done.questions,
            "copied": [str(path) for path in done.copied],
            "problems": [finding.to_dict() for finding in done.problems],
            "not_held": dict(done.not_held),
        }
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    click.echo(f"{done.path}: {_many(done.questions, 'question')}")
    if done.copied:
        click.echo(f"{_many(len(done.copied), 'data file')} copied to {done.copied[0].parent}")
    for finding in done.problems:
        click.echo(f"not carried over as it was: {finding}", err=True)
    for field, times in done.not_held.items():
        click.echo(f"{target.suffix} holds no '{field}': lost for {_many(times, 'question')}", err=True)


@click.command(short_help="Let reference code work the answers out.")
@click.argument("file", type=_path)
@click.option("--out", type=_path, help="File to write. [default: NAME-answered beside FILE]")
@_data
@click.option("--overwrite", is_flag=True, help="Take the code's answer where FILE says another.")
@_force
@click.option("--unsafe", is_flag=True, help="Run the code even where this machine offers no sandbox.")
@json_option
def answer(
    file: Path,
    out: Path | None,
    data_dir: Path | None,
    overwrite: bool,
    force: bool,
    unsafe: bool,
    as_json: bool,
) -> int:
    """Run the reference code of the questions in FILE and write the bank with the answers filled in.

    The code prints @name[value] for each answer; where there is one answer, its last value or last line will do.
    An answer that FILE has and the code does not confirm is said and kept, unless --overwrite is given; then, or if
    code fails, the exit code is 2.
    """
    from dsqa.authoring import answer_bank
    from dsqa.cli.progress import counting_bar

    target = out or file.with_name(f"{file.stem}-answered{file.suffix}")
    with counting_bar("running", "questions") as advance:
        results = answer_bank(
            file,
            target,
            data_dir=data_dir,
            overwrite=overwrite,
            force=force,
            unsafe=unsafe,
            progress=advance,
        )
    failed = sum(r.outcome == "failed" for r in results)
    differing = sum(r.outcome in {"differs", "left out"} for r in results)
    if as_json:
        written = None if failed else str(target)
        click.echo(json.dumps({"path": written, "questions": [r.to_dict() for r in results]}, ensure_ascii=False))
    else:
        for result in results:
            click.echo(_line(result))
        if failed:
            click.echo(f"nothing written: the code of {_many(failed, 'question')} has to be mended first", err=True)
        else:
            filled = sum(r.outcome in {"filled in", "overwritten"} for r in results)
            click.echo(f"{target}: {_many(len(results), 'question')}, {_many(filled, 'answer')} filled in")
    return 2 if failed or differing else 0


def _line(result: Answered) -> str:
    given = ", ".join(result.given.values()) if len(result.given) == 1 else _pairs(result.given)
    typed = ", ".join(result.typed.values()) if len(result.typed) == 1 else _pairs(result.typed)
    said = {
        "filled in": f"filled in: {given}",
        "as it was": f"as it was: {typed}",
        "overwritten": f"overwritten: {given}, was {typed}",
        "differs": f"differs: the code gives {given}, the file says {typed}; kept (--overwrite takes the code's)",
        "failed": "failed",
        "no code": f"no code; kept: {typed}" if typed else "no code, no answer: not marked",
        "left out": "left out",
    }[result.outcome]
    return f"{result.question}: {said}" + (f" ({result.remark})" if result.remark else "")


def _pairs(values: object) -> str:
    return " ".join(f"@{name}[{value}]" for name, value in dict(values).items())  # type: ignore[call-overload]
