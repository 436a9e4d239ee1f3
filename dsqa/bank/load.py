"""Read a bank from JSONL, one question per line; what is wrong is named with its line and field."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from dsqa.bank.checks import check_data_file, check_names, check_text
from dsqa.bank.model import Bank, Level, Question
from dsqa.errors import BankError

__all__ = ["builtin_bank_path", "load_bank"]

_ONE_PER_LINE = "a bank is JSONL: one whole {…} object per line"
_FIELDS = "id, question, concepts, format, file_name, level, common_answers"
_KINDS = {
    "str": "text",
    "bool": "true/false",
    "int": "a number",
    "float": "a number",
    "list": "a list",
    "tuple": "a list",
    "dict": "an object",
    "NoneType": "null",
}


def builtin_bank_path() -> Path:
    """Return the path of the bank that `dsqa` ships."""
    return Path(__file__).parent / "builtin" / "questions.jsonl"


def load_bank(path: Path, data_dir: Path | None = None, *, check_data: bool = True) -> Bank:
    """Read and check a bank.

    Parameters
    ----------
    path
        A JSONL file: one question per line, in the fields of `Question`. Blank lines are skipped.
    data_dir
        The folder of the data files. By default the folder `data` beside the bank file if there is one,
        else the bank file's own folder.
    check_data
        Whether every data file must be there.

    Returns
    -------
    Bank
        The questions in file order.

    Raises
    ------
    BankError
        The first thing that is wrong, with its line, field and remedy.
    """
    text = _read_text(path)
    if data_dir is None:
        beside = path.parent / "data"
        data_dir = beside if beside.is_dir() else path.parent
    questions: list[Question] = []
    line_of: dict[str, int] = {}
    for line, row in _rows(text, path):
        question = _question(row, path, line)
        if question.id in line_of:
            raise BankError(
                f"'{question.id}' is already the id of line {line_of[question.id]}",
                path=path,
                line=line,
                field="id",
                hint="give each question an id of its own",
            )
        line_of[question.id] = line
        findings = chain(
            check_text(question),
            check_names(question),
            check_data_file(question, data_dir, exists=check_data),
        )
        for finding in findings:
            raise BankError(finding.message, path=path, line=line, field=finding.field, hint=finding.hint)
        questions.append(question)
    if not questions:
        raise BankError("holds no question", path=path, hint=_ONE_PER_LINE)
    return Bank(tuple(questions), data_dir, path)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BankError("no such bank file", path=path, hint=_nearest_bank(path)) from None
    except IsADirectoryError:
        hint = _nearest_bank(path / "questions.jsonl")
        raise BankError("is a folder, not a bank file", path=path, hint=hint) from None
    except OSError as error:
        raise BankError(f"cannot be read: {error.strerror or error}", path=path) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 text (byte 0x{raw[error.start]:02x})"
        raise BankError(message, path=path, line=line, hint="save the file as UTF-8") from None


def _nearest_bank(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(p.name for p in path.parent.glob("*.jsonl"))
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{path.parent / near[0]}'?"
    return f"that folder has: {', '.join(names[:5])}" if names else None


def _rows(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    # Not splitlines(): JSON text may hold U+2028 and the like as they are.
    for line, row_text in enumerate(text.split("\n"), start=1):
        if not row_text.strip():
            continue
        try:
            row = json.loads(row_text, object_pairs_hook=_object, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            message = f"not valid JSON at column {error.colno}: {error.msg}"
            raise BankError(message, path=path, line=line, hint=_ONE_PER_LINE) from None
        except (ValueError, RecursionError) as error:
            message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise BankError(f"not valid JSON: {message}", path=path, line=line) from None
        if not isinstance(row, dict):
            kind = _KINDS[type(row).__name__]
            raise BankError(f"is {kind}, not an object", path=path, line=line, hint=_ONE_PER_LINE)
        yield line, row


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


def _question(row: dict[str, Any], path: Path, line: int) -> Question:
    try:
        return Question.model_validate(row)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else None
    message, hint = _in_plain_words(field, first["type"], first["input"], first["msg"])
    raise BankError(message, path=path, line=line, field=field, hint=hint)


def _in_plain_words(field: str | None, kind: str, value: Any, message: str) -> tuple[str, str | None]:
    if kind == "missing" and field != "common_answers":
        return "is missing", f"a question has: {_FIELDS}"
    if field == "level":
        levels = get_args(Level)
        near = difflib.get_close_matches(str(value).strip().casefold(), levels, n=1)
        hint = f"levels are: {', '.join(levels)}" + (f"; did you mean '{near[0]}'?" if near else "")
        return f"{json.dumps(value, ensure_ascii=False)} is not a level", hint
    if field == "common_answers":
        said = "is missing" if kind == "missing" else "must be a list of [name, value] pairs, at least one"
        return said, 'for example [["mean_age", "31.5"]]'
    if field == "concepts":
        return "must be a list of texts", 'for example ["Data Summary"]'
    if kind == "string_too_short":
        return "is blank", None
    if kind == "string_type":
        return f"must be text, not {_KINDS.get(type(value).__name__, type(value).__name__)}", None
    return message.removeprefix("Value error, "), None
