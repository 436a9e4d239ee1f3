"""A question's fields as text of one cell or one line, and back: what tables and Markdown have in common.

Every writer here is checked against its reader when it writes: where the natural way would not come back as it was,
the cell is JSON, which the reader takes too. So nothing is lost, and most cells look as a person would write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from dsqa.bank.columns import LABELS
from dsqa.bank.model import OPTIONAL, Question
from dsqa.bank.options import options_in, options_text
from dsqa.values import closing_positions

__all__ = ["JSON_MARK", "cell_of", "common_answers_of", "is_default", "parse_cell", "table_of"]

JSON_MARK = " (json)"
"""Ends the name of a column whose cells are JSON: further fields that are not text."""

_ORDER = ("id", "question", "common_answers", "format", "file_name", "level", "concepts", "category")
_FORMATTED = re.compile(r"[@＠]([^\s@\[\]]+)\s?\[")
_BETWEEN = re.compile(r"[\s,;]*(?:and\b)?[\s,;]*")
_NAMED = re.compile(r"([A-Za-z]\w{0,60})\s*=\s*([^=\s][^=]*)")
_KEYED = re.compile(r"\s*@?([^:=@]+?)\s*(?:=|:)\s*(.*?)\s*", re.DOTALL)
_OPTION = re.compile(r"([A-Za-z0-9]{1,3})\s*[:=).]\s+(\S.*)", re.DOTALL)
_TRUE = frozenset({"yes", "y", "true", "1", "ja", "x"})
_FALSE = frozenset({"no", "n", "false", "0", "nein"})


def is_default(question: Question, field: str) -> bool:
    """Return whether a field says nothing that would not be taken for granted without it."""
    value = getattr(question, field)
    if field == "category":
        return bool(value == (question.concepts[0] if question.concepts else "Uncategorised"))
    return value is None or value in ((), {}, "")


def table_of(questions: Sequence[Question]) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows of text: the columns that any question needs, the commonest first."""
    fields = [*_ORDER, *(f for f in Question.model_fields if f in OPTIONAL)]
    used = [f for f in fields if f in _ORDER[:6] or any(not is_default(q, f) for q in questions)]
    extras = list(dict.fromkeys(name for q in questions for name in q.model_extra or {}))
    as_json = {name: any(_not_plain(q, name) for q in questions) for name in extras}
    header = [LABELS.get(f, f) for f in used] + [n + JSON_MARK if as_json[n] else n for n in extras]
    rows = []
    for question in questions:
        row = ["" if is_default(question, f) else cell_of(question, f) for f in used]
        further = question.model_extra or {}
        for name in extras:
            if name not in further:
                row.append("")
            else:
                row.append(json.dumps(further[name], ensure_ascii=False) if as_json[name] else further[name])
        rows.append(row)
    return header, rows


def _not_plain(question: Question, name: str) -> bool:
    further = question.model_extra or {}
    return name in further and not (isinstance(further[name], str) and further[name].strip())


def cell_of(question: Question, field: str) -> str:
    """Return a field as text that `parse_cell` reads back as it is."""
    value = getattr(question, field)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    natural = _NATURAL[field](value)
    names = tuple(question.answers)
    back = _back(field, natural, names) if natural and natural.strip() == natural else None
    if back == _plain_data(value) and (not isinstance(back, dict) or list(back) == list(value)):
        return natural
    return json.dumps(_plain_data(value), ensure_ascii=False)


def _back(field: str, text: str, names: tuple[str, ...]) -> Any:
    try:
        return _plain_data(parse_cell(field, text, names))
    except ValueError:
        return None


def _plain_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain_data(v) for k, v in value.items()}
    return [_plain_data(v) for v in value] if isinstance(value, list | tuple) else value


def _answers_cell(value: tuple[tuple[str, str], ...]) -> str:
    if len(value) == 1:
        return value[0][1]
    return ", ".join(f"@{name}[{text}]" for name, text in value)


def _mapping_cell(value: dict[str, str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in value.items())


def _traps_cell(value: dict[str, dict[str, str]]) -> str:
    return "; ".join(
        f"{convention}: " + ", ".join(f"@{name}[{text}]" for name, text in values.items())
        for convention, values in value.items()
    )


def _accepted_cell(value: dict[str, tuple[str, ...]]) -> str:
    return "; ".join(next(iter(value.values()))) if len(value) == 1 else ""


_NATURAL: dict[str, Callable[[Any], str]] = {
    "common_answers": _answers_cell,
    "concepts": "; ".join,
    "unmarked": "; ".join,
    "criteria": "\n".join,
    "tolerance": _mapping_cell,
    "rounding": _mapping_cell,
    "unit": _mapping_cell,
    "traps": _traps_cell,
    "options": options_text,
    "accepted": _accepted_cell,
}


def parse_cell(field: str, text: str, names: tuple[str, ...]) -> Any:
    """Read a field from the text of a cell or line.

    Parameters
    ----------
    field
        A field of `Question`.
    text
        As written; not blank.
    names
        The names of the answers, as far as they are known.

    Raises
    ------
    ValueError
        It cannot be read, with what is expected.
    """
    if field in {"concepts", "unmarked", "criteria"}:
        return _list(field, text)
    if field == "common_answers":
        return common_answers_of(text, names)
    if field in {"tolerance", "rounding", "unit"}:
        return _per_part(text, names)
    if field == "traps":
        return _traps(text, names)
    if field == "options":
        return _options(text)
    if field == "accepted":
        return _accepted(text, names)
    if field in {"ordered", "decimal_comma"}:
        word = text.strip().casefold()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        raise ValueError(f"'{text.strip()}' is neither yes nor no")
    if field == "n":
        digits = text.strip().replace(",", "").removesuffix(".0")
        if not digits.isdecimal() or int(digits) < 1:
            raise ValueError(f"'{text.strip()}' is no number of observations")
        return int(digits)
    return text if field in {"question", "format"} or field in OPTIONAL else text.strip()


def _json(text: str, start: str) -> Any:
    """Return the JSON in a text that begins with `start`, or None."""
    if not text.lstrip().startswith(start):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list(field: str, text: str) -> list[str]:
    value = _json(text, "[")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    separators = "\n" if "\n" in text.strip() else ";" if ";" in text else "\n" if field == "criteria" else ","
    return [item for item in (part.strip().removeprefix("- ") for part in text.split(separators)) if item]


def common_answers_of(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Read the ground truth of one cell: ``34.65``, ``@a[1], @b[2]``, ``a = 1; b = 2``, ``1; 2``, or JSON pairs.

    Raises
    ------
    ValueError
        Several answers are asked for and cannot be told apart in the text.
    """
    value = _json(text, "[[")
    if (
        isinstance(value, list)
        and all(isinstance(p, list) and len(p) == 2 and all(isinstance(t, str) for t in p) for p in value)
        and (not names or {p[0] for p in value} <= set(names))
    ):
        return [(name, answer) for name, answer in value]
    formatted = _formatted(text)
    if formatted and (not names or {name for name, _ in formatted} & set(names)):
        return formatted
    several = _keyed_by_name(text) if not names else []
    if several:
        return several
    if len(names) <= 1:
        return [(names[0] if names else "answer", text.strip())]
    for separator in (mark for mark in ("\n", ";", ",") if mark in text.strip()):
        parts = [part.strip().removeprefix("- ") for part in text.strip().split(separator) if part.strip()]
        keyed = [_KEYED.fullmatch(part) for part in parts]
        by_folded = {name.casefold(): name for name in names}
        if parts and all(m is not None and m[1].strip().casefold() in by_folded for m in keyed):
            return [(by_folded[m[1].strip().casefold()], m[2]) for m in keyed if m is not None]
        if len(parts) == len(names) and not any(m is not None for m in keyed):
            return list(zip(names, parts, strict=True))
    wanted = ", ".join(f"@{name}[…]" for name in names)
    raise ValueError(f"the format asks for {len(names)} answers, which cannot be told apart here; write {wanted}")


def _keyed_by_name(text: str) -> list[tuple[str, str]]:
    """Return the pairs of ``mean = 3.2; sd = 1.1`` or of such lines, or none; ``a = 1, b = 2`` is one value."""
    parts = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
    named = [_NAMED.fullmatch(part) for part in parts]
    pairs = [(match[1], match[2]) for match in named if match is not None]
    distinct = len({name.casefold() for name, _ in pairs}) == len(pairs)
    return pairs if len(pairs) > 1 and len(pairs) == len(parts) and distinct else []


def _formatted(text: str) -> list[tuple[str, str]]:
    """Return the pairs of a text that is ``@name[value]`` and nothing else, or none."""
    hits = list(_FORMATTED.finditer(text))
    closing = closing_positions(text, {hit.end() - 1 for hit in hits})
    pairs, position = [], 0
    for hit in hits:
        if hit.start() < position:
            continue  # within the value before
        between = _BETWEEN.match(text, position)
        if between is None or between.end() != hit.start() or hit.end() - 1 not in closing:
            return []
        end = closing[hit.end() - 1]
        pairs.append((hit[1], text[hit.end() : end]))
        position = end + 1
    return [] if text[position:].strip(" \t\r\n,;.") else pairs


def _per_part(text: str, names: tuple[str, ...]) -> str | dict[str, str]:
    value = _json(text, "{")
    if isinstance(value, dict):
        return value
    parts = [part for part in re.split(r"[;\n]", text) if part.strip()]
    keyed = [_KEYED.fullmatch(part) for part in parts]
    if parts and all(m is not None and (not names or m[1].strip() in names) for m in keyed):
        return {m[1].strip(): m[2] for m in keyed if m is not None}
    return text.strip()


def _options(text: str) -> Any:
    for start in "{[":
        value = _json(text, start)
        if isinstance(value, dict | list):
            return value
    lettered = options_in(text)
    if lettered:
        return lettered
    parts = [part.strip() for part in re.split(r"\n" if "\n" in text.strip() else r"[;|]", text) if part.strip()]
    if len(parts) < 2:
        raise ValueError("holds a single option; write one on a line, or put a semicolon between them")
    keyed = [_OPTION.fullmatch(part) for part in parts]
    if all(m is not None for m in keyed):
        return {m[1]: m[2] for m in keyed if m is not None}
    return [part.removeprefix("- ") for part in parts]


def _accepted(text: str, names: tuple[str, ...]) -> dict[str, Any]:
    value = _json(text, "{")
    if isinstance(value, dict):
        return value
    if len(names) > 1:
        raise ValueError(f'write by answer which values are right as well: {{"{names[0]}": ["…"]}}')
    parts = re.split(r"\n" if "\n" in text.strip() else ";", text)
    return {names[0] if names else "answer": [part.strip() for part in parts if part.strip()]}


def _traps(text: str, names: tuple[str, ...]) -> dict[str, dict[str, str]]:
    value = _json(text, "{")
    if isinstance(value, dict):
        return value
    traps: dict[str, dict[str, str]] = {}
    for part in re.split(r"[;\n]", text):
        if not part.strip():
            continue
        convention, colon, values = part.strip().removeprefix("- ").rpartition(": ")
        if not colon or not values.strip():
            raise ValueError("a trap is 'convention: value', for example 'ddof=0: 1.23'")
        traps[convention.strip()] = dict(common_answers_of(values, names))
    return traps
