"""Aiken, read and written: a question, ``A. option`` lines, ``ANSWER: B``; a `.txt` of GIFT is told apart from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dsqa.bank.findings import Finding
from dsqa.bank.formats import gift
from dsqa.bank.formats.exercises import Exercise, source_of
from dsqa.bank.formats.text import read_text
from dsqa.bank.model import Question
from dsqa.bank.rows import Source
from dsqa.errors import BankError

__all__ = ["read", "write"]

_OPTION = re.compile(r"\s{0,8}([A-Za-z])\s?[.)]\s+(\S.*)")
_ANSWER = re.compile(r"\s{0,8}ANSWERS?\s*:\s*([A-Za-z](?:\s*,\s*[A-Za-z])*)\s*", re.IGNORECASE)
_HINT = "in Aiken a question is a line, its options 'A. …' lines, and its answer 'ANSWER: B'"


def read(path: Path) -> Source:
    """Read a file of Aiken, or of GIFT where it has answer blocks and no ``ANSWER:`` line.

    Raises
    ------
    BankError
        It is neither.
    """
    text, findings = read_text(path)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(_ANSWER.fullmatch(line) for line in lines):
        if "{" in text and "}" in text:
            return gift.parse(text, path, findings)
        raise BankError("is neither Aiken nor GIFT", path=path, hint=_HINT)
    exercises = []
    asked: list[str] = []
    options: dict[str, str] = {}
    first = 0
    for number, line in enumerate(lines, start=1):
        answer, option = _ANSWER.fullmatch(line), _OPTION.fullmatch(line)
        if answer:
            letters = [letter.upper() for letter in re.findall(r"[A-Za-z]", answer[1])]
            missing = [letter for letter in letters if letter not in options]
            text_asked = "\n".join(asked).strip()
            if not text_asked or len(options) < 2 or missing:
                message = (
                    f"names '{missing[0]}', which is no option"
                    if missing
                    else "has no question or no options before it"
                )
                findings.append(Finding(None, message, _HINT, line=number))
            else:
                right = [list(options).index(letter) for letter in letters]
                exercises.append(
                    Exercise(text_asked, first, options=list(options.values()), right=right, several=len(right) > 1)
                )
            asked, options = [], {}
        elif option and (options or asked) and option[1].upper() == chr(ord("A") + len(options)):
            options[option[1].upper()] = option[2].strip()
        elif line.strip() and options:
            findings.append(Finding(None, "stands between options and answer", _HINT, line=number))
            asked, options, first = [line.strip()], {}, number
        elif line.strip():
            first = first if asked else number
            asked.append(line.strip())
    if asked:
        findings.append(Finding(None, "has no 'ANSWER:' line after it", _HINT, line=first))
    return source_of(exercises, findings)


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write choices, which are all that Aiken holds.

    Raises
    ------
    BankError
        A question is no choice.
    """
    blocks = []
    for question in questions:
        letters = question.choice(next(iter(question.answers))) if len(question.answers) == 1 else None
        if letters is None:
            message = f"question '{question.id}' is no choice, and Aiken holds nothing else"
            raise BankError(message, path=path, hint="choose another format, for example .gift")
        order = list(question.options)
        named = [chr(ord("A") + i) for i in range(len(order))]
        lines = [" ".join(question.question.split("\n"))]
        lines += [f"{a}. {' '.join(question.options[k].split())}" for a, k in zip(named, order, strict=True)]
        lines.append("ANSWER: " + ", ".join(named[order.index(letter)] for letter in letters))
        blocks.append("\n".join(lines))
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8", newline="\n")
