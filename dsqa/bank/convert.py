"""A bank from one file format to another, with nothing lost: what was written is read back and compared."""

from __future__ import annotations

import filecmp
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dsqa.bank.findings import Finding
from dsqa.bank.formats import SUFFIXES, format_of
from dsqa.bank.load import data_folder, examine_bank, load_bank
from dsqa.bank.model import Bank, Question
from dsqa.errors import BankError

__all__ = ["Converted", "convert_bank", "write_bank"]


@dataclass(frozen=True)
class Converted:
    """What was written, and what could not be.

    Parameters
    ----------
    path, questions
        The bank file, and how many questions it has.
    copied
        The data files that were copied beside it.
    problems
        What was wrong in the source: those questions are written without their answer, or left out.
    not_held
        Fields that the format has no place for, and how many questions lost them.
    """

    path: Path
    questions: int
    copied: tuple[Path, ...]
    problems: tuple[Finding, ...] = ()
    not_held: Mapping[str, int] = field(default_factory=dict)


def convert_bank(
    source: Path,
    target: Path,
    *,
    data_dir: Path | None = None,
    labels: Path | None = None,
    overwrite: bool = False,
) -> Converted:
    """Write a bank in the format that the target's name says.

    Data files keep their names. Where the target would not find them, they are copied to its data folder.

    Parameters
    ----------
    source, data_dir, labels
        As for `load_bank`.
    target
        The file to write.
    overwrite
        Whether a target that is there may be replaced.

    Raises
    ------
    BankError
        No question of the source can be used, the target is there already, or the format cannot hold the bank.
    """
    format_of(target)
    if target.exists() and not overwrite:
        raise BankError("is there already", path=target, hint="name another, or --force replaces it")
    bank = examine_bank(source, data_dir, labels=labels, check_data=False).bank()
    folder = _folder_for(bank, target)
    copies = list(_copies(bank, folder)) if folder is not None else []
    target.parent.mkdir(parents=True, exist_ok=True)
    not_held = write_bank(target, bank.questions)
    for origin, copy in copies:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin, copy)
    return Converted(target, len(bank), tuple(copy for _, copy in copies), bank.problems, not_held)


def write_bank(path: Path, questions: Sequence[Question]) -> dict[str, int]:
    """Write questions to a file, whole or not at all, in the format that its name says.

    Returns
    -------
    dict
        The fields that a quiz format has no place for, with the number of questions that lost them; empty for any
        other format.

    Raises
    ------
    BankError
        The format cannot hold them as they are; the file is left as it was.
    """
    form = format_of(path)
    beside = path.with_name(f".{path.stem}.new{path.suffix}")
    lost: Counter[str] = Counter()
    try:
        form.write(beside, questions)
        back = load_bank(beside, path.parent, check_data=False, strict=True)
        if len(back) != len(questions):
            raise BankError("cannot hold these questions as they are", path=path, hint="choose another format")
        for wrote, read in zip(questions, back, strict=True):
            differing = {k for k in {**wrote.to_dict(), **read.to_dict()} if _of(wrote, k) != _of(read, k)}
            unheld = differing if form.quiz and _asks_the_same(wrote, read) else set()
            lost.update(unheld)
            for name in sorted(differing - unheld):
                message = f"cannot hold '{name}' of question '{wrote.id}' as it is"
                raise BankError(message, path=path, field=name, hint="choose another format, for example .jsonl")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return dict(lost)


def _asks_the_same(wrote: Question, read: Question) -> bool:
    """Whether a quiz format kept what is asked and what is right; names of parts and letters may be others."""
    return _essence(wrote) == _essence(read)


def _essence(question: Question) -> object:
    letters = {letter: i for i, letter in enumerate(question.options)}
    right = [
        [letters[letter] for letter in question.choice(name) or ()]
        or (truth, sorted(question.accepted.get(name, ())))
        for name, truth in question.common_answers
    ]
    text = " ".join((question.question if any(isinstance(r, list) for r in right) else question.asked).split())
    return text, [" ".join(o.split()) for o in question.options.values()] if letters else [], right


def _of(question: Question, name: str) -> object:
    return question.to_dict().get(name)


def _folder_for(bank: Bank, target: Path) -> Path | None:
    """Return where the target's data files must be copied to, or None where it finds the source's own."""
    names = {q.file_name for q in bank if q.file_name is not None}
    folder = data_folder(target)
    if not names or folder.resolve() == bank.data_dir.resolve():
        return None
    if folder != target.parent:
        return folder
    # Other banks there look for their data beside them, which a new folder 'data' would hide.
    others = target.parent.is_dir() and any(
        p.suffix.lower() in SUFFIXES and p.name != target.name for p in target.parent.iterdir()
    )
    return folder if others else target.parent / "data"


def _copies(bank: Bank, folder: Path) -> list[tuple[Path, Path]]:
    copies = []
    for name in sorted({q.file_name for q in bank if q.file_name is not None}):
        origin, copy = bank.data_dir / name, folder / name
        if not origin.is_file():
            continue
        if copy.exists():
            if not filecmp.cmp(origin, copy, shallow=False):
                message = "is another file than the bank's of that name"
                raise BankError(message, path=copy, hint="move it away, or convert into another folder")
            continue
        copies.append((origin, copy))
    return copies
