"""Read a bank from any of its file formats; what is wrong is named with its line, field and remedy."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from dsqa.bank.checks import check_data_file, check_names, check_text
from dsqa.bank.complete import Completed, complete
from dsqa.bank.findings import Finding
from dsqa.bank.formats import SUFFIXES, format_of
from dsqa.bank.labels import add_labels, labels_beside
from dsqa.bank.model import NO_ANSWER, OPTIONAL, Bank, Level, Question
from dsqa.bank.rows import Source
from dsqa.errors import BankError

__all__ = ["Examined", "Item", "builtin_bank_path", "data_folder", "examine_bank", "load_bank"]

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


@dataclass(frozen=True)
class Item:
    """A question and where it was read from; `unanswered` if its ground truth is still to be worked out."""

    question: Question
    source: Completed

    @property
    def unanswered(self) -> bool:
        """Whether the ground truth is still to be worked out."""
        return self.source.unanswered


@dataclass(frozen=True)
class Examined:
    """A bank file, read as far as it can be: the questions that are whole, and every finding, in the file's order."""

    path: Path
    data_dir: Path
    items: tuple[Item, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings for which the bank cannot be used."""
        return tuple(f for f in self.findings if f.severity == "error")

    def bank(self) -> Bank:
        """Return the bank.

        Raises
        ------
        BankError
            The first thing that is wrong.
        """
        for finding in self.errors:
            raise finding.to_error()
        return Bank(tuple(item.question for item in self.items), self.data_dir, self.path)


def builtin_bank_path() -> Path:
    """Return the path of the bank that `dsqa` ships."""
    return Path(__file__).parent / "builtin" / "questions.jsonl"


def load_bank(
    path: Path, data_dir: Path | None = None, *, check_data: bool = True, labels: Path | None = None
) -> Bank:
    """Read and check a bank.

    Parameters
    ----------
    path
        A JSONL file with one question per line in the fields of `Question`, or a table (CSV, XLSX), Markdown, YAML or
        JSON as people write them; see `docs/authoring.md`.
    data_dir
        The folder of the data files; see `data_folder`.
    check_data
        Whether every data file must be there.
    labels
        A JSONL file with the ground truths by id, where they are apart from the questions. By default
        ``X-labels.jsonl`` beside ``X-questions.jsonl``, if it is there.

    Returns
    -------
    Bank
        The questions in file order.

    Raises
    ------
    BankError
        The first thing that is wrong, with its line, field and remedy.
    """
    return examine_bank(path, data_dir, check_data=check_data, labels=labels).bank()


def data_folder(path: Path) -> Path:
    """Return where a bank's data files are by default.

    The folder `data` beside the bank file; else ``X-tables`` beside ``X-questions`` or ``X``; else the bank's own.
    """
    beside = path.parent / "data"
    if beside.is_dir():
        return beside
    tables = path.parent / f"{path.stem.removesuffix('-questions')}-tables"
    return tables if tables.is_dir() else path.parent


def examine_bank(
    path: Path,
    data_dir: Path | None = None,
    *,
    check_data: bool = True,
    labels: Path | None = None,
    answers_needed: bool = True,
) -> Examined:
    """Read a bank as far as it can be read, and say everything that is wrong with it.

    Parameters
    ----------
    path, data_dir, check_data, labels
        As for `load_bank`.
    answers_needed
        Whether a question without an answer is an error; else one with reference code waits for it.

    Raises
    ------
    BankError
        The file as a whole cannot be read.
    """
    source = _read(path)
    data_dir = data_dir or data_folder(path)
    labels = labels or labels_beside(path)
    if labels is not None:
        source = add_labels(source, labels)
    findings = list(source.findings)
    items: list[Item] = []
    made_up: Counter[tuple[str, str]] = Counter()
    line_of: dict[str, int] = {}
    for position, row in enumerate(source.rows, start=1):
        done = complete(row, position, decimal_comma=source.decimal_comma, answers_needed=answers_needed)
        made_up.update(done.made_up.items())
        _data_name(done, path, data_dir)
        question = _validate(done)
        if question is not None:
            _twice(question, line_of, done)
            checks = chain(
                check_text(question),
                check_names(question),
                check_data_file(question, data_dir, exists=check_data),
            )
            for finding in checks:
                done.add(finding.field, finding.message, finding.hint, severity=finding.severity)
            items.append(Item(question, done))
        findings.extend(done.findings)
    for (field, what), times in made_up.items():
        many = f"{times} question{'s' if times > 1 else ''}"
        findings.append(Finding(field, f"not given for {many}: {what}", severity="note"))
    if not source.rows and not any(f.severity == "error" for f in findings):
        raise BankError("holds no question", path=path, hint="write one question per row, line or heading")
    # Stable: what belongs to one line keeps its order; what belongs to none comes last.
    findings.sort(key=lambda f: (f.line is None, f.line or 0))
    placed = tuple(replace(f, path=f.path or path) for f in findings)
    return Examined(path, data_dir, tuple(items), placed)


def _read(path: Path) -> Source:
    try:
        if path.is_dir():
            hint = _nearest_bank(path / "questions.jsonl")
            raise BankError("is a folder, not a bank file", path=path, hint=hint)
        if not path.exists():
            raise BankError("no such bank file", path=path, hint=_nearest_bank(path))
        return format_of(path).read(path)
    except OSError as error:
        raise BankError(f"cannot be read: {error.strerror or error}", path=path) from None


def _nearest_bank(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(p.name for p in path.parent.iterdir() if p.suffix.lower() in SUFFIXES)
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{path.parent / near[0]}'?"
    return f"that folder has: {', '.join(names[:5])}" if names else None


def _data_name(done: Completed, path: Path, data_dir: Path) -> None:
    """Take a data file's name from the bank's folder (``data/cars.csv``) for one in the data folder."""
    name = done.fields.get("file_name")
    if done.row.exact or not isinstance(name, str):
        return
    try:
        inside = path.parent.resolve() / name.replace("\\", "/")
        if not (data_dir / name).exists() and inside.is_file():
            done.fields["file_name"] = inside.relative_to(data_dir.resolve()).as_posix()
    except (OSError, ValueError):
        return


def _twice(question: Question, line_of: dict[str, int], done: Completed) -> None:
    if question.id in line_of:
        message = f"'{question.id}' is already the id of line {line_of[question.id]}"
        done.add("id", message, "give each question an id of its own")
    else:
        line_of[question.id] = done.place("id")[0]


def _validate(done: Completed) -> Question | None:
    try:
        return Question.model_validate(done.fields)
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
    said = {f.field for f in done.findings}
    for error in errors:
        field = str(error["loc"][0]) if error["loc"] else None
        field = "common_answers" if error["type"] == NO_ANSWER else field
        if field not in said:
            said.add(field)
            message, hint = _in_plain_words(field, error["type"], error["input"], error["msg"])
            done.add(field, message, hint)
    return None


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
    if kind == "string_type":
        optional = " or nothing" if field in OPTIONAL else ""
        return f"must be text{optional}, not {_KINDS.get(type(value).__name__, type(value).__name__)}", None
    return message.removeprefix("Value error, "), None
