"""Answers of runs that were asked elsewhere, without our format: looked for where such answers usually stand.

It is used for questions with ``reading: lenient`` alone, after the ways of `reading.read_answer` have found nothing.
In this order: a value in a JSON object; ``@another_name[value]``; after ``####`` or in ``[[…]]``; of a choice the
letter that is named last; the last number; of a yes/no question its last such word; a last line that is one value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dsqa.bank import Question
from dsqa.metrics.answers.statements import only_value
from dsqa.values import parse_boolean, parse_truth

__all__ = ["NUMBER", "letters_asked", "looked_for", "only_letter"]

_REACH = 20_000
_OBJECTS = 20
_KEYS = (
    "answer", "finalanswer", "final", "result", "response", "output", "solution", "value", "prediction", "choice",
    "correctanswer", "label", "option", "antwort",
)  # fmt: skip
_OTHER_NAME = re.compile(r"[@＠]\s?[^\n@\[\]]{1,80}?\s?\[([^\[\]\n]{1,300})\]")
_MARKED = re.compile(r"(?:^|\n)[ \t]*####[ \t]*([^\n]{1,300})|\[\[([^\[\]\n]{1,300})\]\]")
_LETTERS = "ABCDEFGHIJ"
_LETTER = re.compile(r"\(?([A-Ja-j])\)?")
_LEADING = re.compile(r"[\s*_>]*(?:\(([A-Ja-j])\)|([A-J])[).:](?=\s|\*|$))")
_NAMED = (
    re.compile(
        r"\b(?:answer|option|choice|antwort)\b(?:\s+(?:is|would be|ist))?\s{0,2}[:=]?\s{0,2}[*_\"'`({\\a-z]{0,8}"
        r"\b([A-J])\b(?![’'])",
        re.IGNORECASE,
    ),
    re.compile(r"\(([A-Ja-j])\)"),
    re.compile(r"\*\*\(?([A-J])\)?(?:[.):][^*\n]{0,300})?\*\*"),
    re.compile(r"(?:^|\n)[ \t]*[*_\"'`]{0,3}\(?([A-J])\)?[.):]?[*_\"'`]{0,3}[ \t]*(?=\n|$)"),
    re.compile(r"(?:^|\n)[ \t]*\(?([A-J])[.):]\s"),
)
NUMBER = re.compile(
    r"(?<![\w.,])[-−–+]?(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?\s?%?(?![\w])"
)
"""A number within a text."""
_YES_NO = re.compile(r"\b(?:yes|no|true|false|ja|nein|wahr|falsch)\b", re.IGNORECASE)


def looked_for(text: str, question: Question) -> Iterator[tuple[str, str, str, int]]:
    """Yield ``(part, value, how, position)`` for what is found, at most once for a part.

    Parameters
    ----------
    text
        The response without its reasoning, code blocks included: JSON often stands in one.
    question
        The question.
    """
    text = text[-_REACH:] if len(text) > _REACH else text
    names = list(question.answers)
    said = _in_json(text, names)
    for name in names:
        if name in said:
            yield name, said[name], "json", 0
    if len(names) != 1 or said:
        return
    name = names[0]
    for how, found in (("other name", _other_name(text, question)), ("mark", _after_mark(text))):
        if found is not None:
            yield name, _as_letter(found[0], question, name), how, found[1]
            return
    form = parse_truth(question.answers[name]).kind
    finder: Callable[[str, Question, str], tuple[str, int] | None]
    if letters_asked(question, name):
        finder, how = _letter, "letter"
    elif form == "number":
        finder, how = _last_number, "last number"
    elif form == "boolean":
        finder, how = _last_word, "last word"
    else:
        finder, how = _last_line, "last line"
    found = finder(text, question, name)
    if found is not None:
        yield name, found[0], how, found[1]


def letters_asked(question: Question, name: str) -> tuple[str, ...]:
    """Return the letters of which a part's answer is one; () where it is none, or several letters are right."""
    truth = question.answers[name].strip()
    if question.options:
        chosen = question.choice(name)
        return tuple(question.options) if chosen and len(chosen) == 1 else ()
    return tuple(_LETTERS) if len(truth) == 1 and truth in _LETTERS else ()


def only_letter(value: str, question: Question, name: str) -> str | None:
    """Return the letter that a value begins with, as in ``(B) two``, or is; None where it is no option's."""
    match = _LETTER.fullmatch(value.strip().strip("*_.\"'` ")) or _LEADING.match(value)
    if match is None:
        return None
    given = next(group for group in match.groups() if group).casefold()
    return next((letter for letter in letters_asked(question, name) if letter.casefold() == given), None)


def _as_letter(value: str, question: Question, name: str) -> str:
    return (only_letter(value, question, name) if letters_asked(question, name) else None) or value


def _in_json(text: str, names: list[str]) -> dict[str, str]:
    """Return the parts that the last JSON object with any of them gives."""
    decoder = json.JSONDecoder()
    starts = [hit.start() for hit in re.finditer(r"\{", text)][-_OBJECTS * 5 :]
    found: list[Mapping[str, Any]] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value:
            found.append(value)
    for given in reversed(found):
        folded = {_folded(key): value for key, value in given.items()}
        said = {name: folded[_folded(name)] for name in names if _folded(name) in folded}
        if not said and len(names) == 1:
            key = next((key for key in _KEYS if key in folded), None)
            if key is None and len(folded) == 1:
                key = next(iter(folded))
            said = {} if key is None else {names[0]: folded[key]}
        texts = {name: _plain(value) for name, value in said.items()}
        if said and all(text is not None for text in texts.values()):
            return {name: text for name, text in texts.items() if text is not None}
    return {}


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _plain(value: Any) -> str | None:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, str | int | float):
        try:
            text = str(value).strip()
        except ValueError:  # an integer of thousands of digits
            return None
        return text or None
    if isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return None


def _other_name(text: str, question: Question) -> tuple[str, int] | None:
    hits = [hit for hit in _OTHER_NAME.finditer(text) if hit[0] not in question.format]
    return (hits[-1][1].strip(), hits[-1].start()) if hits else None


def _after_mark(text: str) -> tuple[str, int] | None:
    hits = list(_MARKED.finditer(text))
    return ((hits[-1][1] or hits[-1][2]).strip(), hits[-1].start()) if hits else None


def _letter(text: str, question: Question, name: str) -> tuple[str, int] | None:
    allowed = {letter.casefold(): letter for letter in letters_asked(question, name)}
    for pattern in _NAMED:
        # "the answer is a mean" names no option; ``(a)`` does.
        hits = [
            hit
            for hit in pattern.finditer(text)
            if hit[1].casefold() in allowed and (hit[1].isupper() or hit[0][0] == "(" or not hit[1].isascii())
        ]
        if hits:
            return allowed[hits[-1][1].casefold()], hits[-1].start(1)
    by_text = {" ".join(option.split()).rstrip(".").casefold(): letter for letter, option in question.options.items()}
    lines = [line.strip().strip("*_\"'`").rstrip(".").casefold() for line in text.splitlines() if line.strip()]
    if lines and (letter := by_text.get(" ".join(lines[-1].split()))) is not None:
        return letter, max(0, len(text) - len(lines[-1]))
    return None


def _last_number(text: str, _question: Question, _name: str) -> tuple[str, int] | None:
    hits = list(NUMBER.finditer(text))
    return (hits[-1][0].strip(), hits[-1].start()) if hits else None


def _last_word(text: str, question: Question, name: str) -> tuple[str, int] | None:
    hits = [hit for hit in _YES_NO.finditer(text) if parse_boolean(hit[0]) is not None]
    return (hits[-1][0], hits[-1].start()) if hits else None


def _last_line(text: str, question: Question, name: str) -> tuple[str, int] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    last = lines[-1].strip()
    label, colon, value = last.rpartition(": ")
    for candidate in ([value] if colon and len(label.split()) <= 6 else []) + [last]:
        if hits := only_value(candidate.strip().strip("*_`").rstrip("."), question.answers[name]):
            return hits[-1][1], max(0, len(text) - len(candidate))
    return None
