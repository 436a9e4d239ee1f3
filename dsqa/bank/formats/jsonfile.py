"""JSON Lines, one question per line, in which a study keeps its questions; and JSON, one list of questions.

Files that are called .jsonl and hold objects over several lines, one after another, are read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dsqa.bank.columns import by_hand, field_named
from dsqa.bank.findings import Finding
from dsqa.bank.formats.text import read_text
from dsqa.bank.model import Question
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["read_document", "read_lines", "write_document", "write_lines"]

_ONE_PER_LINE = "a bank is JSONL: one whole {…} object per line"
_OBJECT = re.compile(r"^\{", re.MULTILINE)
# A line that begins with # is a heading that people put between the objects.
_BETWEEN = re.compile(r"(?:[\s,]|(?<![^\n])#[^\n]*)*")
_ITEM = re.compile(r"[^\s,]")
_KINDS = {
    "str": "text", "bool": "true/false", "int": "a number", "float": "a number", "list": "a list",
    "NoneType": "null", "_Number": "a number", "dict": "an object",
}  # fmt: skip


class _Number(float):
    """A number that remembers how it was written: 34.50 has two decimals."""

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __str__(self) -> str:
        return self.text


def read_lines(path: Path) -> Source:
    """Read the lines of a file; a line that cannot be read is a finding."""
    text, findings = read_text(path, only_unicode=True)
    rows: list[Row] = []
    for line, item in _objects(text) if _spread(text) else _lines(text):
        if isinstance(item, Finding):
            findings.append(item)
        else:
            rows.append(Row(item, line, exact=not by_hand(item)))
    return Source(tuple(rows), tuple(findings))


def read_document(path: Path) -> Source:
    """Read a list of questions, or an object with such a list as its 'questions'.

    Raises
    ------
    BankError
        It is not valid JSON, or neither of these.
    """
    text, findings = read_text(path, only_unicode=True)
    try:
        whole = json.loads(text, **_STRICT)
    except json.JSONDecodeError as error:
        message = f"not valid JSON at column {error.colno}: {error.msg}"
        raise BankError(message, path=path, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BankError(f"not valid JSON: {message}", path=path) from None
    if isinstance(whole, dict):
        whole = whole.get("questions", [whole] if any(field_named(name) == "question" for name in whole) else None)
    if not isinstance(whole, list):
        hint = 'a bank in JSON is a list: [{"question": "…", "answer": "…"}, …]'
        raise BankError("is no list of questions", path=path, hint=hint)
    rows = []
    for line, item in zip(_lines_of_items(text, len(whole)), whole, strict=False):
        if isinstance(item, dict):
            rows.append(Row(item, line, exact=not by_hand(item)))
        else:
            kind = _KINDS.get(type(item).__name__, "a number")
            findings.append(Finding(None, f"is {kind}, not a question with fields", line=line))
    return Source(tuple(rows), tuple(findings))


def _lines_of_items(text: str, items: int) -> list[int]:
    """Return the line at which each item of the document's list begins."""
    decoder = json.JSONDecoder()
    position = text.find("[")
    lines: list[int] = []
    while len(lines) < items:
        start = _ITEM.search(text, position + 1)
        if start is None:
            break
        lines.append(text.count("\n", 0, start.start()) + 1)
        position = decoder.raw_decode(text, start.start())[1]
        following = text.find(",", position)
        position = following if following >= 0 else len(text)
    return lines + [1] * (items - len(lines))


def write_document(path: Path, questions: Sequence[Question]) -> None:
    """Write one list."""
    text = json.dumps([question.to_dict() for question in questions], ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_lines(path: Path, questions: Sequence[Question]) -> None:
    """Write one question per line."""
    lines = [json.dumps(question.to_dict(), ensure_ascii=False) + "\n" for question in questions]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _lines(text: str) -> Iterator[tuple[int, dict[str, Any] | Finding]]:
    # Not splitlines(): JSON text may hold U+2028 and the like as they are.
    for line, row_text in enumerate(text.split("\n"), start=1):
        if not row_text.strip() or row_text.startswith("#"):
            continue
        try:
            row = json.loads(row_text, **_STRICT)
        except json.JSONDecodeError as error:
            message = f"not valid JSON at column {error.colno}: {error.msg}"
            yield line, Finding(None, message, _ONE_PER_LINE, line=line)
        except (ValueError, RecursionError) as error:
            message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            yield line, Finding(None, f"not valid JSON: {message}", line=line)
        else:
            if isinstance(row, dict):
                yield line, row
            else:
                kind = _KINDS[type(row).__name__]
                yield line, Finding(None, f"is {kind}, not an object", _ONE_PER_LINE, line=line)


def _spread(text: str) -> bool:
    """Whether the first object goes on beyond its first line, as printed for people."""
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "").rstrip()
    return first.startswith("{") and not first.endswith("}")


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any] | Finding]]:
    """Yield objects over several lines; after a broken one, reading goes on at the next line that begins one."""
    decoder = json.JSONDecoder(**_STRICT)
    position = 0
    while (position := _BETWEEN.match(text, position).end()) < len(text):  # type: ignore[union-attr]
        line = text.count("\n", 0, position) + 1
        try:
            if text[position] != "{":
                raise ValueError("what stands between two objects is none")
            item, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            at = error.lineno if isinstance(error, json.JSONDecodeError) else line
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            message = f"not valid JSON: {said}, in the object that begins at line {line}"
            yield line, Finding(None, message, "mend the object; the others are read", line=at)
            following = _OBJECT.search(text, position + 1)
            position = following.start() if following else len(text)
        else:
            yield line, item


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python keeps the last of two equal keys without a word; an author would lose an answer that way.
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{twice}' stands twice in one object")
    return row


def _no_constant(name: str) -> Any:
    raise ValueError(f'{name} is not JSON; write it in quotes: "{name}"')


_STRICT: dict[str, Any] = {
    "object_pairs_hook": _object, "parse_constant": _no_constant, "parse_float": _Number,
}  # fmt: skip
