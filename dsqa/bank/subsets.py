"""Named selections of a bank's questions: `subsets.yaml` beside the bank's file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from dsqa.bank.model import Bank
from dsqa.errors import BankError

__all__ = ["Subset", "select_questions", "subsets_of"]

_EXAMPLE = "for example: short: {about: a first look, questions: [q1, q2]}"


@dataclass(frozen=True)
class Subset:
    """A named selection: the ids of its questions, and what it is for."""

    name: str
    questions: tuple[str, ...]
    about: str = ""


def subsets_of(bank: Bank) -> dict[str, Subset]:
    """Return a bank's named selections; none where there is no `subsets.yaml` beside its file.

    Raises
    ------
    BankError
        The file is not of the form ``NAME: {about: TEXT, questions: [ID, ...]}``, or takes an id for a name.
    """
    path = None if bank.path is None else bank.path.parent / "subsets.yaml"
    if path is None or not path.is_file():
        return {}
    try:
        stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BankError(f"not valid YAML: {' '.join(str(error).split())}", path=path) from None
    if stored is None:
        return {}
    if not isinstance(stored, dict):
        raise BankError("is not a list of names with their questions", path=path, hint=_EXAMPLE)
    ids = {question.id for question in bank}
    subsets = {}
    for key, value in stored.items():
        name = str(key)
        chosen = value.get("questions") if isinstance(value, dict) else value
        if not isinstance(chosen, list) or not chosen:
            raise BankError("names no questions", path=path, field=name, hint=_EXAMPLE)
        if name in ids:
            raise BankError("is the id of a question", path=path, field=name, hint="give the selection another name")
        about = str(value.get("about") or "") if isinstance(value, dict) else ""
        subsets[name] = Subset(name, tuple(str(i) for i in chosen), about)
    return subsets


def select_questions(bank: Bank, names: Sequence[str]) -> Bank:
    """Return the bank of the questions named, by id or by the name of a selection, each once, in that order.

    Raises
    ------
    BankError
        A name is neither, or a selection names a question that the bank does not have.
    """
    ids = {question.id for question in bank}
    subsets = {} if ids.issuperset(names) else subsets_of(bank)
    wanted: list[str] = []
    for name in names:
        if name in subsets:
            wanted.extend(subsets[name].questions)
        elif name not in ids and subsets:
            known = ", ".join(subsets)
            message = f"no question has the id '{name}', and no selection the name"
            raise BankError(
                message, path=bank.path, hint=f"selections: {known}; 'dsqa bank show' lists the questions"
            )
        else:
            wanted.append(name)
    return bank.select(tuple(dict.fromkeys(wanted)))
