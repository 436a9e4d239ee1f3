"""From a row's fields to a question: what is wrong is said in plain words, and the question kept without it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import ValidationError

from dsqa.bank.checks import format_names
from dsqa.bank.complete import MADE_LEVEL, Completed
from dsqa.bank.model import NO_ANSWER, OPTIONAL, Level, Question

__all__ = ["MARKED_BY", "unmarked", "validated"]

_FIELDS = "id, question, concepts, format, file_name, level, common_answers"
_EXAMPLES = {
    "concepts": ("must be a list of texts", 'for example ["Data Summary"]'),
    "criteria": ("must be a list of texts", 'for example ["The axes are labelled."]'),
    "unmarked": ("must be a list of names", 'for example ["p_value"]'),
    "options": ("must give the options by letter", 'for example {"A": "the mean", "B": "the median"}'),
    "accepted": ("must give other right values by answer", 'for example {"city": ["NYC"]}'),
    "traps": ("must give values by convention and answer", 'for example {"ddof=0": {"sd": "1.23"}}'),
    "ordered": ("must be true or false", None),
    "decimal_comma": ("must be true or false", None),
    "n": ("must be a whole number from 1", None),
}
_KINDS = {
    "str": "text", "bool": "true/false", "int": "a number", "float": "a number", "list": "a list",
    "tuple": "a list", "dict": "an object", "NoneType": "null",
}  # fmt: skip


MARKED_BY = frozenset(
    {"common_answers", "format", "unmarked", "options", "accepted", "tolerance", "rounding", "unit", "traps"}
)
"""The fields by which a question is marked: where one is wrong, the question is asked and not marked."""


def validated(done: Completed) -> tuple[Question | None, bool]:
    """Return the question that a row's fields make, and whether it can be asked; what is wrong is added to `done`.

    A field that is wrong is left out where the question can be asked without it.
    """
    try:
        return Question.model_validate(done.fields), True
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
    said = {f.field for f in done.findings}
    wrong: set[str | None] = set()
    for error in errors:
        field = str(error["loc"][0]) if error["loc"] else None
        field = "common_answers" if error["type"] == NO_ANSWER else field
        wrong.add(field)
        if field not in said:
            said.add(field)
            message, hint = _in_plain_words(field, error["type"], error["input"], error["msg"])
            done.add(field, message, hint)
    if wrong & {None, "id", "question", "file_name"}:
        return None, False
    kept = {name: value for name, value in done.fields.items() if name not in wrong}
    kept.setdefault("level", MADE_LEVEL)
    if wrong & MARKED_BY:
        kept = unmarked(kept)
    try:
        return Question.model_validate(kept), True
    except ValidationError:
        return None, False


def unmarked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question's fields without an answer; what its author wrote is kept under another name."""
    kept = {name: value for name, value in fields.items() if name not in MARKED_BY}
    form = fields.get("format")
    kept["format"] = form if isinstance(form, str) else ""
    kept["common_answers"] = []
    kept["unmarked"] = list(format_names(kept["format"])) or ["answer"]
    written = fields.get("common_answers")
    if written:
        kept["answer_not_used"] = json.dumps(written, ensure_ascii=False, default=str)
    if fields.get("options"):
        kept["options"] = fields["options"]
    return kept


def _in_plain_words(field: str | None, kind: str, value: Any, message: str) -> tuple[str, str | None]:
    if kind == "missing" and field != "common_answers":
        return "is missing", f"a question has: {_FIELDS}"
    if field == "level":
        levels = get_args(Level)
        near = difflib.get_close_matches(str(value).strip().casefold(), levels, n=1)
        hint = f"levels are: {', '.join(levels)}" + (f"; did you mean '{near[0]}'?" if near else "")
        return f"{json.dumps(value, ensure_ascii=False, default=str)} is not a level", hint
    if field == "common_answers":
        said = "is missing" if kind == "missing" else "must be a list of [name, value] pairs, at least one"
        return said, 'for example [["mean_age", "31.5"]]'
    if field in _EXAMPLES:
        return _EXAMPLES[field]
    if kind == "string_too_short":
        return "is blank", None
    if kind == "string_unicode":
        return "holds half of a surrogate pair (\\ud800 to \\udfff alone)", "write the whole character"
    if kind == "string_type":
        optional = " or nothing" if field in OPTIONAL else ""
        return f"must be text{optional}, not {_KINDS.get(type(value).__name__, type(value).__name__)}", None
    return message.removeprefix("Value error, "), None
