"""`dsqa bank`: look at a bank of questions; what else is done with one is in `authoring`."""

from __future__ import annotations

import json
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.authoring import answer, check, convert
from dsqa.cli.options import json_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsqa.bank import Bank, Question
    from dsqa.bank.composition import Composition

__all__ = ["bank"]

_NARROWEST, _WIDEST = 80, 120


@click.group()
def bank() -> None:
    """Look at a bank of questions, look for mistakes in it, bring it to another format, work its answers out."""


for command in (check, convert, answer):
    bank.add_command(command)


@bank.command(short_help="What a bank is made of, and its questions.")
@click.argument("bank_file", metavar="[BANK]", default="builtin")
@click.option(
    "--question", "question_ids", multiple=True, metavar="ID", help="Show this question whole; may be repeated."
)
@click.option("--subset", metavar="NAME", help="Only the questions of this selection, such as default-41.")
@json_option
def show(bank_file: str, question_ids: tuple[str, ...], subset: str | None, as_json: bool) -> None:
    """Print how many questions of each type and level BANK holds, and a line for each question.

    BANK is a bank file; without it, the bank that dsqa ships.
    """
    from dsqa.bank import builtin_bank_path, load_bank, select_questions, subsets_of
    from dsqa.bank.composition import composition_of

    path = builtin_bank_path() if bank_file == "builtin" else Path(bank_file)
    whole = load_bank(path, check_data=False)
    chosen = select_questions(whole, (subset,)) if subset else whole
    subsets = subsets_of(whole)
    width = min(max(shutil.get_terminal_size((_NARROWEST, 24)).columns, _NARROWEST), _WIDEST)
    if question_ids:
        questions = [chosen[i] for i in question_ids]
        if as_json:
            click.echo(json.dumps({"questions": [_as_json(q) for q in questions]}, ensure_ascii=False))
        else:
            click.echo("\n\n".join("\n".join(_item(q, width)) for q in questions))
        return
    made_of = composition_of(chosen)
    if as_json:
        result = {
            "bank": str(path),
            "hash": chosen.hash,
            "total": made_of.total,
            "levels": made_of.levels,
            "by_category": made_of.by_category,
            "by_file": made_of.by_file,
            "subsets": {s.name: list(s.questions) for s in subsets.values()},
            "questions": [_as_json(q) for q in chosen],
        }
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    click.echo(f"{made_of.total} questions in {path}" + (f", selection {subset}" if subset else ""))
    click.echo()
    click.echo("\n".join(_table("type", made_of.by_category, made_of)))
    click.echo()
    click.echo("\n".join(_table("data file", made_of.by_file, made_of)))
    for name, one in {} if subset else subsets.items():
        text = f"Selection {name} ({len(one.questions)} questions): {one.about}"
        click.echo("\n" + textwrap.fill(text, width, subsequent_indent="  "))
    click.echo()
    click.echo("\n".join(_lines(chosen, width)))
    click.echo("\nOne question whole: dsqa bank show --question ID", err=True)


def _as_json(question: Question) -> dict[str, Any]:
    from dsqa.bank import criteria_for

    return question.to_dict() | {"criteria": [criterion.text for criterion in criteria_for(question)]}


def _table(heading: str, rows: dict[str, dict[str, int]], made_of: Composition) -> Iterator[str]:
    wide = max(len(heading), 5, *map(len, rows))
    levels = list(made_of.levels)
    yield f"{heading:<{wide}}  " + "  ".join(f"{level:>6}" for level in levels) + f"  {'total':>6}"
    for name, counts in rows.items():
        cells = "  ".join(f"{counts[level] or '-':>6}" for level in levels)
        yield f"{name:<{wide}}  {cells}  {sum(counts.values()):>6}"
    totals = "  ".join(f"{made_of.levels[level]:>6}" for level in levels)
    yield f"{'total':<{wide}}  {totals}  {made_of.total:>6}"


def _lines(chosen: Bank, width: int) -> Iterator[str]:
    wide = min(max(len(q.id) for q in chosen), 32)
    category = None
    for question in chosen:
        if question.category != category:
            category = question.category
            yield category
        head = f"  {question.id:<{wide}}  {question.level:<6}  "
        yield head + textwrap.shorten(question.question, max(width - len(head), 20), placeholder=" …")


def _rule(question: Question, name: str) -> str:
    said = []
    if (tolerance := question.setting("tolerance", name)) is not None:
        said.append(f"within {tolerance} of the truth")
    elif (rounding := question.setting("rounding", name)) is not None:
        said.append(
            f"rounded to {rounding}"
            + ("" if not rounding.isdigit() else " decimal" if rounding == "1" else " decimals")
        )
    if (unit := question.setting("unit", name)) is not None:
        said.append(f"in {unit}" if unit == "percent" else f"a {unit}")
    return "; ".join(said)


def _item(question: Question, width: int) -> Iterator[str]:
    from dsqa.bank import criteria_for

    def block(label: str, text: str) -> Iterator[str]:
        first = f"{label + ':' if label else '':<12}"
        yield from textwrap.wrap(text, width, initial_indent=first, subsequent_indent=" " * 12) or [first]

    yield f"{question.id} ({question.category}, {question.level}; data: {question.file_name or 'none'})"
    yield from block("question", question.question)
    if question.constraints:
        yield from block("constraints", question.constraints)
    for i, (letter, text) in enumerate(question.options.items()):
        yield from block("" if i else "options", f"{letter}) {text}")
    if question.format:
        yield from block("format", question.format)
    if question.marked:
        yield from block("truth", " ".join(f"@{name}[{value}]" for name, value in question.common_answers))
    else:
        yield from block("truth", "none: an open question, asked and not marked")
    for name, others in question.accepted.items():
        yield from block("also right", " ".join(f"@{name}[{value}]" for value in others))
    for name in question.answers:
        if rule := _rule(question, name):
            yield from block("rule", f"{name}: {rule}")
    for convention, values in question.traps.items():
        yield from block("trap", f"{convention} → " + " ".join(f"@{k}[{v}]" for k, v in values.items()))
    for label, value in (
        ("model text", question.reference_text),
        ("code", question.reference_code),
        ("plot", question.reference_plot),
        ("notes", question.notes),
    ):
        if value:
            yield from block(label, value)
    for criterion in criteria_for(question):
        yield from block("criterion", criterion.text)
