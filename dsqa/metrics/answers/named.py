"""Parts by name in other notations than ``@name[value]``: JSON, ``@name: value``, last lines ``name = value``."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from dsqa.bank import Question
from dsqa.metrics.answers.statements import has_form
from dsqa.values import closing_positions, plain

__all__ = ["named_values"]

_REACH = 20_000
_LINE = 300
_MOST_LINES = 40
_MOST_OBJECTS = 20
_MARKS = r"[\s*_`\"'>•+-]*"
_GENERIC = ("answer", "finalanswer", "result", "value", "output", "choice")


def named_values(text: str, question: Question) -> dict[str, tuple[int, str]]:
    """Return ``(position, value)`` by part, of the last JSON object, ``@name: value`` or last lines that name parts.

    Parameters
    ----------
    text
        A response without its code, or what a program printed.
    question
        Its part names are looked for; for a question of one part a JSON object may also say ``answer``.
    """
    start = max(0, len(text) - _REACH)
    tail = text[start:]
    for found in (_in_object(tail, question), _in_lines(tail, question)):
        if found:
            return {name: (start + position, value) for name, (position, value) in found.items()}
    return {}


def _folded(name: str) -> str:
    return re.sub(r"[\s_@-]+", "", name).casefold()


def _in_object(text: str, question: Question) -> dict[str, tuple[int, str]]:
    if "{" not in text or "}" not in text:
        return {}
    opened = [match.start() for match in re.finditer(r"\{", text)]
    closing = closing_positions(text, set(opened), ("{", "}"))
    names = {_folded(name): name for name in question.answers}
    if len(names) == 1:
        names |= {generic: next(iter(question.answers)) for generic in _GENERIC if generic not in names}
    for position in [p for p in reversed(opened) if p in closing][:_MOST_OBJECTS]:
        if text[max(0, position - 1) : position] in {"\\", "$", "d"}:
            continue  # LaTeX: '\boxed{'
        row = _object(text[position : closing[position] + 1])
        if row is None:
            continue
        found = {
            names[_folded(str(key))]: (position, _as_text(value))
            for key, value in row.items()
            if _folded(str(key)) in names and value is not None
        }
        if found:
            return found
    return {}


_TYPED = re.compile(
    r"\b(?:(?:np|numpy)\.(?:u?int|float|bool|str|datetime)\w*|(?:pd\.)?Timestamp)\(([^()\n]{1,100})\)"
)


def _object(text: str) -> dict[Any, Any] | None:
    if len(text) > 5_000 or text.count("{") > 50 or text.count("[") > 200:
        return None
    # What numpy 2 and pandas write of a value: {'n': np.int64(12), 'day': Timestamp('2021-11-30 00:00:00')}.
    text = _TYPED.sub(r"\1", text)
    for read in (json.loads, ast.literal_eval):
        try:
            row = read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return row if isinstance(row, dict) else None
    return None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return (
        repr(value) if isinstance(value, (bool, float, int)) else json.dumps(value, ensure_ascii=False, default=str)
    )


def _in_lines(text: str, question: Question) -> dict[str, tuple[int, str]]:
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\n]+", text) if match[0].strip()][-_MOST_LINES:]
    found: dict[str, tuple[int, str]] = {}
    for marked in (True, False):
        pattern = _pair(question, marked=marked)
        for position, line in reversed(lines):
            pairs = _pairs(line, pattern, question) if len(line) <= _LINE else {}
            for name, value in pairs.items():
                found.setdefault(name, (position, value))
            # Without the '@' only the last lines count, and nothing but such lines.
            if not pairs and not marked:
                break
        if found:
            break
    return found


def _pair(question: Question, *, marked: bool) -> re.Pattern[str]:
    names = "|".join(
        r"[\s_]".join(re.escape(word) for word in re.split(r"[\s_]+", name))
        for name in sorted(question.answers, key=len, reverse=True)
    )
    return re.compile(
        rf"{'[@＠]' if marked else ''}\s?(?P<name>{names})(?!\w)[*_`\"']{{0,3}}\s?(?::|=|→|->|\bis\b)[*_`\s]{{0,5}}",
        re.IGNORECASE,
    )


def _pairs(line: str, pattern: re.Pattern[str], question: Question) -> dict[str, str]:
    """Return the values of a line that is ``name = value`` and nothing else, or several of them."""
    hits = list(pattern.finditer(line))
    if not hits or re.fullmatch(rf"{_MARKS}(?:\d{{1,2}}[.)]\s)?{_MARKS}", line[: hits[0].start()]) is None:
        return {}
    by_folded = {_folded(name): name for name in question.answers}
    found: dict[str, str] = {}
    for hit, following in zip(hits, [*hits[1:], None], strict=True):
        value = line[hit.end() : following.start() if following else len(line)]
        value = (
            re.sub(r"[\s,;]*(?:\band\b)?[\s,;]*[*_`\"'(]*$", "", value)
            if following
            else value.strip().rstrip(",;").strip()
        )
        value = value[:-2].rstrip() if value.endswith("**") and value.count("**") == 1 else value
        name = by_folded[_folded(hit["name"])]
        if not value or not has_form(value.rstrip("."), question.answers[name]):
            return {}
        found[name] = plain(value)
    return found
