"""From what a person wrote to a question's fields: names matched, cells read, what is missing made up and said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from dsqa.bank.answer_format import MADE_UP, format_for
from dsqa.bank.cells import JSON_MARK, common_answers_of, parse_cell
from dsqa.bank.checks import format_names
from dsqa.bank.columns import fields_of
from dsqa.bank.fields import as_text, options_by_letter
from dsqa.bank.findings import Finding
from dsqa.bank.model import Level, Question
from dsqa.bank.options import letters_of, options_in
from dsqa.bank.rows import Row
from dsqa.bank.written import decimals_said, final_answer, is_open, option_columns, with_decimals

__all__ = ["MADE_LEVEL", "Completed", "complete"]

_COMMA_NUMBER = re.compile(r"((?:[€£$] ?)?-?(?:\d{1,3}(?:\.\d{3})+|\d+)),(\d+)( ?(?:[%€£$]|[A-Za-z]{1,5}))?")
_COMMA_ALONE = re.compile(r"[-−]?\d+,(?:\d{1,2}|\d{4,})")
MADE_LEVEL = "medium"
"""The level of a question that says none."""


@dataclass
class Completed:
    """A row's fields and where each was found.

    `made_up` says, by field, what was made up; `taken` how what is there was taken; `unanswered` whether the answer
    is still to be worked out.
    """

    fields: dict[str, Any]
    row: Row
    written: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    made_up: dict[str, str] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    unanswered: bool = False

    def place(self, name: str | None) -> tuple[int, str | None]:
        """Return the line, and the cell of a spreadsheet, of a field; of the row where the field has none."""
        as_written = self.written.get(name or "", name or "")
        return self.row.lines.get(as_written, self.row.line), self.row.cells.get(as_written)

    def header(self, name: str) -> str:
        """Return what the field is called where it was written: "Answer (2 decimals)"."""
        return self.written.get(name, "")

    def unrounded(self, name: str) -> bool:
        """Whether a field is a number of a spreadsheet that its cell does not round."""
        return self.written.get(name, name) in self.row.unrounded

    def add(self, name: str | None, message: str, hint: str | None = None, **kind: Any) -> None:
        """Add a finding at the place of a field."""
        line, cell = self.place(name)
        if cell is None and self.row.cells:
            # The sheet has no such column; of several sheets, the line alone would not say which row.
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
    kept = fields_of([*(str(name) for name in row.values), *(c for c in row.cells if c not in row.values)])
    done = Completed({}, row, {field: written for written, field in kept.items()})
    if row.exact:
        done.fields.update(row.values)
        if not answers_needed and row.values.get("reference_code") and not row.values.get("common_answers"):
            asked = format_names(str(row.values.get("format") or ""))
            names = _leave_unanswered(done, asked or ("answer",))
            done.fields.pop("unmarked", None)
            if not asked:
                done.fields["format"] = _made_format(names, [""], {}, done)
        return done
    raw = {kept[str(name)]: value for name, value in row.values.items()}
    raw = {name: value for name, value in raw.items() if value not in (None, "") or name not in Question.model_fields}
    _options(raw, done)
    given = raw.get("id")
    done.fields["id"] = str(as_text(given)).strip() if given is not None else f"q{position}"
    if given is None:
        done.made_up["id"] = (
            "numbered by their place, q1, q2, …; with ids, recorded runs are kept when questions move"
        )
    _further(raw, done)
    names = _format_and_answers(raw, done, decimal_comma, answers_needed)
    if done.fields["common_answers"] == []:
        raw.setdefault("unmarked", list(names))
    for name, value in raw.items():
        if name in done.fields or name not in Question.model_fields or name in {"common_answers", "format"}:
            continue
        _field(name, value, names, done, decimal_comma)
    level = done.fields.get("level")
    if level is None:
        done.fields["level"] = MADE_LEVEL
        done.made_up["level"] = f"taken as '{MADE_LEVEL}'"
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


def _options(raw: dict[str, Any], done: Completed) -> None:
    """Settle what is chosen from: the field, a column for each option, or a list in the question's text."""
    columns = option_columns(str(name) for name in raw if name not in Question.model_fields)
    value = raw.get("options")
    if value is not None:
        if isinstance(value, str):
            try:
                value = parse_cell("options", value, ())
            except ValueError as error:
                done.add("options", str(error))
                value = {}
    elif columns:
        value = {letter: str(as_text(raw[column])) for letter, column in columns.items()}
        for column in columns.values():
            del raw[column]
        done.taken["options"] = "read from a column for each option"
    else:
        return
    try:
        raw["options"] = options_by_letter(value)
    except ValueError as error:
        done.add("options", str(error))
        del raw["options"]


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
    if value is None or value in ([], {}) or (isinstance(value, str) and (not value.strip() or is_open(value))):
        if not answers_needed and raw.get("reference_code"):
            names = _leave_unanswered(done, asked or format_names(form) or ("answer",))
            raw.pop("unmarked", None)
            done.fields["format"] = form if format_names(form) else _made_format(names, [""], raw, done)
            return names
        return _leave_open(value, raw, done)
    try:
        pairs = _pairs(_final(value, raw), asked)
    except ValueError as error:
        done.add("common_answers", str(error))
        pairs = [(name, "?") for name in asked or ("answer",)]
    if decimal_comma:
        pairs = [_with_point(pair, done) for pair in pairs]
    elif raw.get("decimal_comma") is None:
        _look_at_commas(pairs, done)
    pairs = _with_decimals(_with_letters(pairs, raw, done), raw, done)
    done.fields["common_answers"] = pairs
    try:
        names = tuple(str(name) for name, _ in pairs)
        truths = [str(truth) for _, truth in pairs]
    except (TypeError, ValueError):
        done.fields["format"] = form
        return asked
    done.fields["format"] = form if asked else _made_format(names, truths, raw, done)
    return names


def _leave_open(value: Any, raw: dict[str, Any], done: Completed) -> tuple[str, ...]:
    """Take a question without an answer as an open one: asked and shown, and not marked."""
    form = str(raw.get("format") or "")
    done.fields["common_answers"] = []
    done.fields["format"] = form
    if raw.get("reference_code"):
        hint = "write the right answer, or let the reference code work it out: dsqa bank answer FILE"
        done.add("common_answers", "is missing", hint)
    elif value is None or not str(value).strip():
        hint = "write the right answer, or 'open' to say that there is none"
        message = "is empty, so this is an open question: asked, shown, not marked"
        done.add("common_answers", message, hint, severity="warning")
    else:
        done.taken["common_answers"] = "an open question: asked, shown, not marked"
    return format_names(form) or ("answer",)


def _final(value: Any, raw: dict[str, Any]) -> Any:
    """Return the last value of a worked solution, which becomes the model answer in words."""
    final = final_answer(value) if isinstance(value, str) else None
    if final is None:
        return value
    raw.setdefault("reference_text", value.strip())
    return final


def _with_letters(pairs: list[Any], raw: dict[str, Any], done: Completed) -> list[Any]:
    """Return truths as the letters of the options that they name."""
    options = raw.get("options")
    told = options or options_in(str(raw.get("question") or ""))
    if not told or not all(isinstance(p, list | tuple) and len(p) == 2 and isinstance(p[1], str) for p in pairs):
        return pairs
    letters = [letters_of(truth, told) for _, truth in pairs]
    if options is None:
        if not all(letters):
            return pairs
        raw["options"] = told
        done.taken["options"] = "read out of the question's text"
    return [(name, ", ".join(named) if named else truth) for (name, truth), named in zip(pairs, letters, strict=True)]


def _with_decimals(pairs: list[Any], raw: dict[str, Any], done: Completed) -> list[Any]:
    """Return truths with the decimals that the question's words ask for: Excel shows 0.90 as 0.9."""
    if raw.get("tolerance") or raw.get("rounding") or raw.get("options"):
        return pairs
    wanted = decimals_said(
        str(raw.get("question") or ""), str(raw.get("format") or ""), done.header("common_answers")
    )
    if wanted is None:
        return pairs
    result = []
    for pair in pairs:
        name, truth = pair if isinstance(pair, list | tuple) and len(pair) == 2 else (None, None)
        # Of several parts the words may be about one: a whole number is left alone.
        alike = isinstance(truth, str) and (len(pairs) == 1 or "." in truth)
        text = with_decimals(str(truth), wanted, rounded=done.unrounded("common_answers")) if alike else None
        if text is not None:
            done.taken["common_answers"] = "written with the decimals that the question asks for"
        result.append(pair if text is None else (name, text))
    return result


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
    done.taken["common_answers"] = "decimal commas read as points (cells stand between semicolons)"
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
    options = raw.get("options") or {}
    letters = {name: letters_of(truth, options) for name, truth in zip(names, truths, strict=True)} if options else {}
    return format_for(names, truths, said, units, {name: len(named) for name, named in letters.items() if named})
