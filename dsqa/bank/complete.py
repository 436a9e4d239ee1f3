"""From what a person wrote to a question's fields: names matched, cells read, what is missing made up and said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from dsqa.bank.cells import JSON_MARK, common_answers_of, parse_cell
from dsqa.bank.checks import format_names
from dsqa.bank.columns import fields_of
from dsqa.bank.fields import as_text, check_unit
from dsqa.bank.findings import Finding
from dsqa.bank.model import Level, Question
from dsqa.bank.rows import Row
from dsqa.values import parse_boolean, parse_truth

__all__ = ["MADE_UP", "Completed", "complete", "format_for"]

_COMMA_NUMBER = re.compile(r"((?:[€£$] ?)?-?(?:\d{1,3}(?:\.\d{3})+|\d+)),(\d+)( ?(?:[%€£$]|[A-Za-z]{1,5}))?")
_COMMA_ALONE = re.compile(r"[-−]?\d+,(?:\d{1,2}|\d{4,})")
_MADE_LEVEL = "medium"


@dataclass
class Completed:
    """A row's fields, and where each was found; what was made up, by field; whether the answer is still missing."""

    fields: dict[str, Any]
    row: Row
    written: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    made_up: dict[str, str] = field(default_factory=dict)
    unanswered: bool = False

    def place(self, name: str | None) -> tuple[int, str | None]:
        """Return the line, and the cell of a spreadsheet, of a field; of the row where the field has none."""
        as_written = self.written.get(name or "", name or "")
        return self.row.lines.get(as_written, self.row.line), self.row.cells.get(as_written)

    def add(self, name: str | None, message: str, hint: str | None = None, **kind: Any) -> None:
        """Add a finding at the place of a field."""
        line, cell = self.place(name)
        if cell is None and self.row.cells:
            # The cell is blank; of several sheets, the line alone would not say which row.
            message = f"{message}, in the row of cell {next(iter(self.row.cells.values()))}"
        said = self.fields.get("id")
        question = said if isinstance(said, str) else None
        self.findings.append(Finding(name, message, hint, line=line, cell=cell, question=question, **kind))


def complete(row: Row, position: int, *, decimal_comma: bool = False, answers_needed: bool = True) -> Completed:
    """Return the fields of a row.

    Parameters
    ----------
    row
        As its reader gave it. An `exact` one is taken as it is.
    position
        Its place in the bank, from 1.
    decimal_comma
        Whether ``3,14`` in a cell of answers is the number 3.14, as in a file of cells between semicolons.
    answers_needed
        Whether a question without an answer is an error; else one with reference code waits for it.
    """
    kept = fields_of(str(name) for name in row.values)
    done = Completed({}, row, {kept[str(name)]: str(name) for name in row.values})
    if row.exact:
        done.fields.update(row.values)
        if not answers_needed and row.values.get("reference_code") and not row.values.get("common_answers"):
            _leave_unanswered(done, format_names(str(row.values.get("format") or "")))
        return done
    raw = {kept[str(name)]: value for name, value in row.values.items()}
    raw = {name: value for name, value in raw.items() if value not in (None, "") or name not in Question.model_fields}
    given = raw.get("id")
    done.fields["id"] = str(as_text(given)).strip() if given is not None else f"q{position}"
    if given is None:
        done.made_up["id"] = (
            "numbered by their place, q1, q2, …; with ids, recorded runs are kept when questions move"
        )
    _further(raw, done)
    names = _format_and_answers(raw, done, decimal_comma, answers_needed)
    for name, value in raw.items():
        if name in done.fields or name not in Question.model_fields or name in {"common_answers", "format"}:
            continue
        _field(name, value, names, done, decimal_comma)
    level = done.fields.get("level")
    if level is None:
        done.fields["level"] = _MADE_LEVEL
        done.made_up["level"] = f"taken as '{_MADE_LEVEL}'"
    elif isinstance(level, str) and level.strip().casefold() in get_args(Level):
        done.fields["level"] = level.strip().casefold()
    if isinstance(done.fields.get("traps"), dict) and len(names) == 1:
        done.fields["traps"] = {
            convention: values if isinstance(values, dict) else {names[0]: values}
            for convention, values in done.fields["traps"].items()
        }
    return done


def _further(raw: dict[str, Any], done: Completed) -> None:
    for name, value in raw.items():
        if name in Question.model_fields:
            continue
        if name.endswith(JSON_MARK) and isinstance(value, str):
            try:
                done.fields[name.removesuffix(JSON_MARK)] = json.loads(value)
            except (ValueError, RecursionError):
                done.add(name, "is not valid JSON", "the column's name says that its cells are JSON")
        else:
            done.fields[name] = value


def _field(name: str, value: Any, names: tuple[str, ...], done: Completed, decimal_comma: bool) -> None:
    if name == "tolerance" and decimal_comma and isinstance(value, str):
        value = value.replace(",", ".")
    if not isinstance(value, str):
        done.fields[name] = [value] if name in {"concepts", "criteria", "unmarked"} and _single(value) else value
        return
    try:
        done.fields[name] = parse_cell(name, value, names)
    except ValueError as error:
        done.add(name, str(error))


def _single(value: Any) -> bool:
    return not isinstance(value, list | tuple | dict)


def _format_and_answers(
    raw: dict[str, Any], done: Completed, decimal_comma: bool, answers_needed: bool
) -> tuple[str, ...]:
    """Settle the format and the ground truth together, since each can be told from the other."""
    form = str(raw.get("format") or "")
    unmarked = raw.get("unmarked")
    left_out = parse_cell("unmarked", unmarked, ()) if isinstance(unmarked, str) else unmarked or ()
    asked = tuple(name for name in format_names(form) if name not in left_out)
    value = raw.get("common_answers")
    pairs: list[Any] | None = None
    if value is None or (isinstance(value, str) and not value.strip()):
        if not answers_needed and raw.get("reference_code"):
            names = _leave_unanswered(done, asked or ("answer",))
            done.fields["format"] = form if asked else _made_format(names, [""], raw, done)
            return names
        hint = "write the right answer"
        if raw.get("reference_code"):
            hint += ", or let the reference code work it out: dsqa bank answer FILE"
        done.add("answer", "is missing", hint)
        # The error is said; what else is wrong with the question is still looked for.
        pairs = [(name, "?") for name in asked or ("answer",)]
    else:
        try:
            pairs = _pairs(value, asked)
        except ValueError as error:
            done.add("common_answers", str(error))
            pairs = [(name, "?") for name in asked or ("answer",)]
    if decimal_comma:
        pairs = [_with_point(pair, done) for pair in pairs]
    elif raw.get("decimal_comma") is None:
        _look_at_commas(pairs, done)
    done.fields["common_answers"] = pairs
    try:
        names = tuple(str(name) for name, _ in pairs)
        truths = [str(truth) for _, truth in pairs]
    except (TypeError, ValueError):
        done.fields["format"] = form
        return asked
    done.fields["format"] = form if asked else _made_format(names, truths, raw, done)
    return names


def _leave_unanswered(done: Completed, names: tuple[str, ...]) -> tuple[str, ...]:
    done.unanswered = True
    done.fields["common_answers"] = [(name, "") for name in names]
    return names


def _pairs(value: Any, asked: tuple[str, ...]) -> list[Any]:
    if isinstance(value, dict):
        return [(str(name), as_text(truth)) for name, truth in value.items()]
    if isinstance(value, list) and value and all(isinstance(p, list | tuple) and len(p) == 2 for p in value):
        named = [str(p[0]) for p in value]
        if not asked or set(named) & set(asked):
            return [(str(name), as_text(truth)) for name, truth in value]
    if isinstance(value, list | tuple):
        text = "[" + ", ".join(str(item) for item in value) + "]"
    elif isinstance(value, bool):
        text = "True" if value else "False"
    else:
        text = str(value)
    return list(common_answers_of(text, asked))


def _with_point(pair: Any, done: Completed) -> Any:
    name, truth = pair
    match = _COMMA_NUMBER.fullmatch(truth.strip()) if isinstance(truth, str) else None
    if match is None:
        return pair
    text = f"{match[1].replace('.', '')}.{match[2]}{match[3] or ''}"
    done.made_up["common_answers"] = "decimal commas read as points (cells stand between semicolons)"
    return name, text


def _look_at_commas(pairs: list[Any], done: Completed) -> None:
    for _, truth in pairs:
        if isinstance(truth, str) and _COMMA_ALONE.fullmatch(truth.strip()):
            message = f"'{truth.strip()}' is read as a list of two numbers"
            hint = f"if it is one, write {truth.strip().replace(',', '.')}; if it is two, a blank after the comma"
            done.add("common_answers", message, hint, severity="warning")


def _made_format(names: tuple[str, ...], truths: list[str], raw: dict[str, Any], done: Completed) -> str:
    said = str(raw.get("format") or "")
    unit = raw.get("unit") or {}
    if isinstance(unit, str):
        unit = parse_cell("unit", unit, names)
    units = unit if isinstance(unit, dict) else dict.fromkeys(names, str(unit))
    if said.strip():
        done.made_up["format"] = "given the placeholder @name[value] that answers are read by"
    else:
        done.made_up["format"] = MADE_UP
    return format_for(names, truths, said, units)


MADE_UP = "made up from the answer"
"""What is said of a format that the author did not give."""


def format_for(
    names: tuple[str, ...], truths: list[str], said: str = "", units: Mapping[str, str] | None = None
) -> str:
    """Return a format for answers of these names, from what the author said of it or from the truths' own form.

    `units` holds the field ``unit`` by name: whoever is asked must be told in which unit the answer counts.
    """
    units = units or {}
    if len(names) == 1:
        form = f"@{names[0]}[value]"
        about = said.strip() or _described(truths[0], units.get(names[0], ""))
        return f'{form} where "value" is {about}' if about else form
    form = ", ".join(f"@{name}[{name}_value]" for name in names)
    if said.strip():
        return f"{form}, where: {said.strip()}"
    parts = [(name, _described(truth, units.get(name, ""))) for name, truth in zip(names, truths, strict=True)]
    described = "; ".join(f'"{name}_value" is {about}' for name, about in parts if about)
    return f"{form} where {described}" if described else form


def _unit_said(unit: str) -> str:
    try:
        known = check_unit(unit)
    except ValueError:  # said where the field itself is looked at
        return ""
    return ", in per cent" if known == "percent" else ", as a proportion between 0 and 1"


def _described(truth: str, unit: str = "") -> str:
    """Say what form an answer has, without giving it away."""
    value = parse_truth(truth)
    if value.kind == "number" and value.number is not None:
        number = value.number
        percent = _unit_said("%" if number.percent else str(unit))
        if number.bound or not number.finite or number.fraction:
            return "a number"
        decimals = -number.exponent
        if number.whole or decimals <= 0:
            return f"a whole number{percent}"
        return f"a number rounded to {decimals} decimal{'s' if decimals > 1 else ''}{percent}"
    if parse_boolean(truth) is not None:
        return '"yes" or "no"' if truth.strip().casefold() in {"yes", "no"} else '"True" or "False"'
    kinds = {
        "vector": "a list, separated by commas",
        "mapping": "a list of name: value, separated by commas",
        "moment": "a date as YYYY-MM-DD" if "-" in truth else "a date or time",
        "range": "a range",
        "string": "a short text",
    }
    return kinds.get(value.kind, "")
