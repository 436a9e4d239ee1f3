"""Read a bank from any of its file formats; what is wrong is named with its line, field and remedy."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from dsqa.bank.checks import check_data_file, check_names, check_text
from dsqa.bank.complete import Completed, complete
from dsqa.bank.data_names import say_once, with_files
from dsqa.bank.findings import Finding
from dsqa.bank.formats import SUFFIXES, format_of, rexams
from dsqa.bank.labels import add_labels, labels_beside
from dsqa.bank.model import Bank, Question
from dsqa.bank.rows import Source
from dsqa.bank.validating import MARKED_BY, unmarked, validated
from dsqa.errors import BankError

__all__ = ["Examined", "Item", "builtin_bank_path", "data_folder", "examine_bank", "load_bank"]


@dataclass(frozen=True)
class Item:
    """A question and where it was read from; `usable` unless it must be left out of the bank."""

    question: Question
    source: Completed
    usable: bool = True

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

    def bank(self, *, strict: bool = False) -> Bank:
        """Return the bank of the questions that can be asked.

        A question of which the answer is wrong in itself is not marked; one that cannot be asked (no text, an id
        given twice, no data file) is left out. The bank's `problems` say which and why.

        Raises
        ------
        BankError
            The first thing that is wrong: with `strict` always, else where no question is left or the data files
            are not where they are looked for.
        """
        questions = tuple(item.question for item in self.items if item.usable)
        for finding in self.errors:
            if strict or not questions or finding.whole:
                raise finding.to_error()
        return Bank(questions, self.data_dir, self.path, self.errors)


def builtin_bank_path() -> Path:
    """Return the path of the bank that `dsqa` ships."""
    return Path(__file__).parent / "builtin" / "questions.jsonl"


def load_bank(
    path: Path | str,
    data_dir: Path | str | None = None,
    *,
    check_data: bool = True,
    labels: Path | str | None = None,
    strict: bool = False,
) -> Bank:
    """Read and check a bank.

    One bad question does not make the bank unusable: it is not marked, or left out where it cannot be asked; see
    `Examined.bank`.

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
    strict
        Refuse a bank in which anything is wrong.

    Returns
    -------
    Bank
        The questions in file order, and the problems of those that are not marked or left out.

    Raises
    ------
    BankError
        The file cannot be read, or the first thing that is wrong where no question is left; with line, field and
        remedy.
    """
    folder = None if data_dir is None else Path(data_dir)
    beside = None if labels is None else Path(labels)
    return examine_bank(Path(path), folder, check_data=check_data, labels=beside).bank(strict=strict)


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
    taken: Counter[tuple[str, str]] = Counter()
    line_of: dict[str, int] = {}
    missing: dict[str, list[Finding]] = {}
    for position, row in enumerate(with_files(source.rows, data_dir, findings), start=1):
        done = complete(row, position, decimal_comma=source.decimal_comma, answers_needed=answers_needed)
        made_up.update(done.made_up.items())
        taken.update(done.taken.items())
        _data_name(done, path, data_dir)
        question, usable = validated(done)
        if question is not None:
            usable = _twice(question, line_of, done) and usable
            for finding in chain(check_text(question), check_names(question)):
                done.add(finding.field, finding.message, finding.hint, severity=finding.severity)
            for finding in check_data_file(question, data_dir, exists=check_data):
                done.add(finding.field, finding.message, finding.hint, severity=finding.severity)
                missing.setdefault(question.file_name or "", []).append(done.findings[-1])
                usable = False
            items.append(_settled(Item(question, done, usable)))
        said = {(f.line, f.field) for f in source.findings if f.severity == "error"}
        findings.extend(f for f in done.findings if f.severity != "warning" or (f.line, f.field) not in said)
    say_once(missing, findings, {item.question.file_name for item in items}, path, data_dir)
    for (field, what), times in made_up.items():
        many = f"{times} question{'s' if times > 1 else ''}"
        findings.append(Finding(field, f"not given for {many}: {what}", severity="note"))
    for (field, what), times in taken.items():
        findings.append(Finding(field, f"{what} ({times} question{'s' if times > 1 else ''})", severity="note"))
    if not source.rows and not any(f.severity == "error" for f in findings):
        raise BankError("holds no question", path=path, hint="write one question per row, line or heading")
    # Stable: what belongs to one line keeps its order; what belongs to none comes last.
    findings.sort(key=lambda f: (f.line is None, f.line or 0))
    placed = tuple(replace(f, path=f.path or path) for f in findings)
    return Examined(path, data_dir, tuple(items), placed)


def _read(path: Path) -> Source:
    try:
        if path.is_dir() and rexams.is_folder(path):
            return rexams.read_folder(path)
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


def _twice(question: Question, line_of: dict[str, int], done: Completed) -> bool:
    """Return whether a question's id is its own, and say it if not."""
    if question.id in line_of:
        message = f"'{question.id}' is already the id of line {line_of[question.id]}"
        done.add("id", message, "give each question an id of its own")
        return False
    line_of[question.id] = done.place("id")[0]
    return True


def _settled(item: Item) -> Item:
    """Return an item of which the question is not marked if its answer is wrong in itself."""
    wrong = {finding.field for finding in item.source.findings if finding.severity == "error"}
    usable = item.usable and not wrong & {None, "id", "question"}
    question = item.question
    if usable and question.marked and wrong & {*MARKED_BY, "answer"} and not item.unanswered:
        question = Question.model_validate(unmarked(question.to_dict()))
    return replace(item, question=question, usable=usable)
