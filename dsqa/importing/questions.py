"""The questions that imported runs answer: from a bank, from what the source says of them, or by their ids alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from dsqa.bank import Bank, Question
from dsqa.bank.complete import complete
from dsqa.bank.options import letters_of, options_in
from dsqa.bank.rows import Row
from dsqa.errors import SourceError
from dsqa.importing.meanings import is_judged
from dsqa.importing.readers.chat import asked_text
from dsqa.importing.record import without_keys
from dsqa.importing.runs import ImportReport, SourceRun
from dsqa.values import parse_truth, split_items

__all__ = ["OnDifferentQuestion", "QuestionBook"]

OnDifferentQuestion = Literal["error", "first", "split"]

_NAME = "answer"
"""What the only answer of a question is called."""

_LENIENT = "asked without our answer format: answers are looked for in JSON, choice letters, last values (lenient)"
_FREE_TEXT = (
    "answered in free text, which no word-for-word comparison can mark: left unmarked, so accuracy and score are "
    "missing; the source's own marks are kept"
)
_PLACEHOLDER = re.compile(r"@\w[\w ]{0,60}\[[^\]\n]{0,80}\]")
_IN_BRACKETS = re.compile(r"\(([A-Ja-j])\)|\[([A-J])\]")
_LETTER = re.compile(r"[A-J]")
_MANY_WORDS, _FEW_WORDS = 8, 1
_NO_DATA = "the data file is not here, so code that reads it fails (--data DIR says where the files are)"


@dataclass(slots=True)
class _Entry:
    """What was first said of a question, and where."""

    id: str
    where: str
    text: str | None = None
    category: str | None = None
    level: str | None = None
    truth: Any = None
    concepts: tuple[str, ...] = ()
    file_name: str | None = None
    answer_format: str | None = None
    asked: bool = False
    """Whether its runs were asked for our format, or give their answers in it."""
    prompted: bool = False
    """Whether it is known what was asked."""
    judged: bool = False
    others: dict[str, str] = field(default_factory=dict)


class QuestionBook:
    """Gathers the questions while runs go by.

    Parameters
    ----------
    bank
        The questions as a person keeps them, with their ground truths; runs are matched to them by id, else by text.
    on_different
        What to do where one id comes with different texts: refuse, keep the first text, or make them questions of
        their own.
    data
        Where the data files are that the source names, if they are anywhere.
    """

    def __init__(
        self, bank: Bank | None, data: Path | None, on_different: OnDifferentQuestion, report: ImportReport
    ) -> None:
        self._bank = {} if bank is None else {question.id: question for question in bank}
        self._by_text = {} if bank is None else {_plain(question.question): question.id for question in bank}
        self._data_dir = bank.data_dir if bank is not None else data
        self._on_different = on_different
        self._report = report
        self._entries: dict[str, _Entry] = {}

    def id_of(self, run: SourceRun) -> str:
        """Return the id that a run's question has in the study, and keep what the run says of it.

        Raises
        ------
        SourceError
            The id came before with another text or ground truth.
        """
        name = _clean(str(run.question)).strip()
        if not name:
            raise ValueError("the question has no id")
        text = None if run.question_text is None else _clean(run.question_text)
        if name in self._bank:
            self._see(name, run, None)
            return name
        if self._bank and text is not None and (meant := self._by_text.get(_plain(text))) is not None:
            self._report.note(
                "questions were matched to the bank by their text, not their id", name not in self._entries
            )
            self._see(meant, run, None)
            return meant
        entry = self._see(name, run, text)
        if text is None or entry.text is None or _plain(entry.text) == _plain(text):
            return self._same_truth(entry, run)
        return self._other_text(entry, run, text)

    def _see(self, name: str, run: SourceRun, text: str | None) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = _Entry(name, run.where)
            prompt = asked_text(run.messages or ()) or run.question_text or ""
            entry.prompted = bool(prompt)
            entry.asked = _PLACEHOLDER.search(prompt) is not None
            entry.judged = any(is_judged(metric) for metric in run.metrics)
        if entry.text is None:
            entry.text = text
        for attribute, value in (
            ("category", run.category),
            ("level", run.level),
            ("truth", run.truth),
            ("concepts", run.concepts),
            ("file_name", run.file_name),
            ("answer_format", run.answer_format),
        ):
            if value and not getattr(entry, attribute):
                setattr(entry, attribute, value)
        if not entry.asked and "@" in run.text:
            names = self._bank[name].answers if name in self._bank else dict(_answers(entry.truth))
            entry.asked = any(f"@{part}[" in run.text for part in names)
        return entry

    def _same_truth(self, entry: _Entry, run: SourceRun) -> str:
        if run.truth and entry.truth != run.truth:
            raise SourceError(
                f"question '{entry.id}' has two ground truths: {entry.truth!r} ({entry.where}) and {run.truth!r} "
                f"({run.where})",
                hint="mend the source, or give the right ones as a bank: --bank FILE",
            )
        return entry.id

    def _other_text(self, entry: _Entry, run: SourceRun, text: str) -> str:
        if self._on_different == "error":
            raise SourceError(
                f"question '{entry.id}' has two texts: {_short(entry.text or '')} ({entry.where}) and {_short(text)} "
                f"({run.where})",
                hint="--on-different-question split  makes them two questions,  first  keeps the first text",
            )
        if self._on_different == "first":
            self._report.note("runs came with another text than the first one of their question", 1)
            return self._same_truth(entry, run)
        known = entry.others.get(_plain(text))
        if known is None:
            number = len(entry.others) + 2
            while f"{entry.id}-{number}" in self._entries:
                number += 1
            known = entry.others[_plain(text)] = f"{entry.id}-{number}"
            self._report.note("questions share an id with another one and were given one of their own", 1)
        return self._same_truth(self._see(known, run, text), run)

    def text_of(self, question_id: str) -> str | None:
        """Return the text that the bank has of a question."""
        known = self._bank.get(question_id)
        return None if known is None else known.asked

    def bank(self) -> tuple[Bank, list[str]]:
        """Return the questions that have runs, in the bank's order and then as they came; and what was made up.

        Raises
        ------
        SourceError
            None of the runs answers a question of the bank that was given, or a question cannot be used.
        """
        made: dict[str, int] = {}
        asked = [self._with_data(question, made) for name, question in self._bank.items() if name in self._entries]
        if self._bank and not asked:
            raise SourceError(
                f"the bank has none of the questions: the runs answer {_some(self._entries)}, and the bank has "
                f"{_some(self._bank)}",
                hint="give the bank that was asked, with the ids or the texts that the runs have",
            )
        others = [entry for name, entry in self._entries.items() if name not in self._bank]
        if self._bank and others:
            self._report.note("questions are not in the bank and were made from the source", len(others))
        if self._bank and len(asked) < len(self._bank):
            self._report.note("questions of the bank have no run", len(self._bank) - len(asked))
        asked.extend(_question(entry, self._has_file(entry.file_name), made) for entry in others)
        told = [f"{times:,} of {len(asked):,} questions: {what}" for what, times in made.items()]
        return Bank(tuple(asked), self._data_dir or Path()), told

    def _has_file(self, name: str | None) -> bool:
        return bool(name) and self._data_dir is not None and (self._data_dir / str(name)).is_file()

    def _with_data(self, question: Question, made: dict[str, int]) -> Question:
        """Return a question of the bank, which names its data file only if that is there."""
        further: dict[str, Any] = {}
        if question.file_name is not None and not self._has_file(question.file_name):
            _count(made, _NO_DATA)
            further = {"file_name": None, "source_file": question.file_name}
        entry = self._entries[question.id]
        if question.marked and entry.prompted and not entry.asked:
            _count(made, _LENIENT)
            further["reading"] = "lenient"
        return Question.model_validate({**question.to_dict(), **further}) if further else question


def _question(entry: _Entry, has_file: bool, made: dict[str, int]) -> Question:
    values: dict[str, Any] = {"id": entry.id, "question": entry.text}
    if not entry.text or not entry.text.strip():
        values["question"] = entry.id
        _count(made, "the source has no text of the question; its id stands in its place")
    if entry.category:
        values["category"] = _clean(entry.category)
    if entry.concepts:
        values["concepts"] = [_clean(concept) for concept in entry.concepts]
    level = (entry.level or "").strip().casefold()
    if level in {"easy", "medium", "hard"}:
        values["level"] = level
    elif level:
        values["source_level"] = _clean(entry.level or "")
    if entry.file_name:
        values["file_name" if has_file else "source_file"] = _clean(entry.file_name)
        if not has_file:
            _count(made, _NO_DATA)
    answers = _answers(entry.truth)
    if answers and not entry.answer_format:
        options = options_in(values["question"])
        answers, chosen = _letters(answers, options)
        if chosen and options:
            values["options"] = options
        if not chosen and any(_is_free(truth, entry.judged) for _, truth in answers):
            _count(made, _FREE_TEXT)
            values["reference_text"] = "\n".join(truth for _, truth in answers)
            answers = []
        elif not entry.asked:
            values["reading"] = "lenient"
            _count(made, _LENIENT)
        if chosen and len(answers) == 1 and len(answers[0][1]) == 1:
            values["format"] = f'@{answers[0][0]}[value] where "value" is the letter of the right option'
    if entry.answer_format:
        values["format"] = _clean(entry.answer_format)
    if answers:
        values["common_answers"] = answers
        done = complete(Row(values, 1), 1)
        for name, what in done.made_up.items():
            _count(made, f"{name} {what}")
        fields: dict[str, Any] = done.fields
    else:
        if "reference_text" not in values:
            _count(made, "no ground truth, so accuracy and score are missing (--bank FILE gives ground truths)")
        if "level" not in values:
            _count(made, "level taken as 'medium'")
        values.setdefault("level", "medium")
        fields = {**values, "format": f"@{_NAME}[value]", "common_answers": (), "unmarked": [_NAME]}
    try:
        return Question.model_validate(fields)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        blamed = str(first["loc"][0]) if first["loc"] else None
        raise SourceError(
            f"question '{entry.id}' ({entry.where}) cannot be used: {first['msg']}", field=blamed
        ) from None


def _answers(truth: Any) -> list[tuple[str, str]]:
    if truth is None or truth == "":
        return []
    if isinstance(truth, str):
        return [(_NAME, _clean(truth).strip())] if truth.strip() else []
    # The format may ask for more than one value of a name; the first one is the truth.
    named: dict[str, str] = {}
    for name, value in truth:
        named.setdefault(_clean(str(name)).strip() or _NAME, _clean(str(value)))
    return list(named.items())


def _letters(answers: list[tuple[str, str]], options: Mapping[str, str]) -> tuple[list[tuple[str, str]], bool]:
    """Return truths that name options as letters, ``(B)`` as ``B``, and whether all of them do."""
    named = []
    for name, truth in answers:
        letters = letters_of(truth, options) if options else None
        bracket = _IN_BRACKETS.fullmatch(truth.strip())
        if letters:
            named.append((name, ", ".join(letters)))
        elif bracket:
            named.append((name, (bracket[1] or bracket[2]).upper()))
        elif _LETTER.fullmatch(truth.strip()):
            named.append((name, truth.strip()))
        else:
            return answers, False
    return named, True


def _is_free(truth: str, judged: bool) -> bool:
    """Return whether a truth is a text that a right answer need not repeat word for word."""
    words = len(truth.split())
    if words <= _FEW_WORDS or (words <= _MANY_WORDS and "\n" not in truth.strip() and not judged):
        return False
    kind = parse_truth(truth).kind
    if kind in {"vector", "mapping"}:
        items = split_items(truth)[0]
        return judged or any(len(text.split()) > _MANY_WORDS // 2 for _, text in items)
    return kind == "string"


def _count(made: dict[str, int], what: str) -> None:
    made[what] = made.get(what, 0) + 1


def _clean(text: str) -> str:
    """Return a text without keys and with a UTF-8 form: a lone surrogate is half a character, and stands for none."""
    return without_keys(text.encode("utf-8", "replace"))[0].decode("utf-8")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "…")


def _some(names: Any) -> str:
    listed = list(names)
    return ", ".join(f"'{name}'" for name in listed[:5]) + (", …" if len(listed) > 5 else "")
