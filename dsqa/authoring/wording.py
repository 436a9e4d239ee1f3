"""Whether a question's text, format and further fields are what their author means."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from dsqa.bank.checks import format_names
from dsqa.bank.columns import field_named
from dsqa.bank.findings import Finding
from dsqa.bank.model import Question
from dsqa.values import closing_positions, parse_number

__all__ = ["check"]

_OPENING = re.compile(r"@[^\s@\[\]]+\[")
_LONE_NAME = re.compile(r"(?<![\w@.])@([A-Za-z_]\w*)(?![\w\[])(?!\.\w)")
_LEAST_TELLING = 4


def check(question: Question, texts: dict[str, Question]) -> Iterator[Finding]:
    """Yield what is wrong with the wording; `texts` holds the questions seen before, and takes this one up."""
    yield from _brackets(question)
    yield from _same_text(question, texts)
    yield from _given_away(question)
    yield from _unknown_fields(question)
    code = question.reference_code
    if code is not None and not is_code_file(code):
        try:
            ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            where = f" (its line {line})" if line else ""
            yield Finding(
                "reference_code", f"is not valid Python: {getattr(error, 'msg', error)}{where}", "mend the code"
            )
    for field, values in (("criteria", question.criteria), ("concepts", question.concepts)):
        if any(not value.strip() for value in values):
            yield Finding(field, "has a blank entry", "leave it out", severity="warning")


def is_code_file(code: str) -> bool:
    """Whether `reference_code` names a file instead of being code."""
    return "\n" not in code.strip() and code.strip().endswith(".py") and "(" not in code


def _brackets(question: Question) -> Iterator[Finding]:
    text = question.format
    opened = {match.end() - 1: match[0] for match in _OPENING.finditer(text)}
    closing = closing_positions(text, set(opened))
    for position, name in opened.items():
        if position not in closing:
            yield Finding("format", f"'{name}' is never closed", f"write {name}value]")
    if not any(position not in closing for position in opened) and text.count("[") != text.count("]"):
        message = f"has {text.count('[')} opening and {text.count(']')} closing brackets"
        yield Finding("format", message, "close every [ with a ]", severity="warning")
    for match in _LONE_NAME.finditer(text):
        if match[1] not in format_names(text):
            message = f"'@{match[1]}' has no [value] after it"
            yield Finding("format", message, f"write @{match[1]}[value]", severity="warning")


def _same_text(question: Question, texts: dict[str, Question]) -> Iterator[Finding]:
    key = " ".join(f"{question.asked} {question.file_name or ''}".casefold().split())
    other = texts.setdefault(key, question)
    if other is not question:
        message = f"asks the same as '{other.id}', about the same data"
        yield Finding("question", message, "leave one of them out", severity="warning")


def _given_away(question: Question) -> Iterator[Finding]:
    """Yield a finding if a telling ground truth stands in what the model is sent."""
    sent = f"{question.asked}\n{question.format}"
    for name, truth in question.common_answers:
        text = truth.strip()
        if parse_number(text) is None or sum(c.isdigit() for c in text) < _LEAST_TELLING or text.isdigit():
            continue
        if re.search(rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)", sent):
            message = f"the ground truth {text} of {name} stands in the text that is sent"
            yield Finding("question", message, "leave it out of question and format", severity="warning")


def _unknown_fields(question: Question) -> Iterator[Finding]:
    known = [name for name in Question.model_fields if name not in {"id", "n"}]
    for name in question.model_extra or {}:
        folded = re.sub(r"[\s\-]+", "_", name.strip().casefold())
        near = difflib.get_close_matches(folded, known, n=1, cutoff=0.86)
        meant = near[0] if near else field_named(name)
        if meant:
            message = f"'{name}' is no field and is kept as it is"
            if getattr(question, meant) not in (None, "", (), {}) and not near:
                continue
            yield Finding(name, message, f"did you mean '{meant}'?", severity="warning")
