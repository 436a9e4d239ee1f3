"""Moodle's GIFT, read and written: ``::name:: text { =right ~wrong }``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from dsqa.bank.findings import Finding
from dsqa.bank.formats.exercises import Exercise, plain_text, source_of
from dsqa.bank.formats.text import read_text
from dsqa.bank.model import Question
from dsqa.bank.rows import Source
from dsqa.errors import BankError
from dsqa.values import parse_number

__all__ = ["band", "parse", "read", "write"]

_ESCAPED = re.compile(r"\\([~=#{}:n\\])")
_TITLE = re.compile(r"\s*::((?:[^:\\]|\\.|:(?!:))*)::")
_MARKUP = re.compile(r"\s*\[(html|moodle|plain|markdown)\]")
_WEIGHT = re.compile(r"\s*%(-?\d+(?:\.\d+)?)%")
_TRUTH = re.compile(r"(TRUE|FALSE|T|F)", re.IGNORECASE)
_ANSWER = re.compile(r"(?<!\\)([=~])")
_TAG = re.compile(r"\[(id|tag):([^\]]*)\]")


def read(path: Path) -> Source:
    """Read the questions of a GIFT file; descriptions without an answer block are passed over with a note."""
    text, findings = read_text(path)
    return parse(text, path, findings)


def parse(text: str, path: Path, findings: list[Finding]) -> Source:
    """Read GIFT text.

    Raises
    ------
    BankError
        No question is in it.
    """
    exercises = []
    category = ""
    for line, block in _blocks(text):
        if block.startswith("$CATEGORY:"):
            category = block.removeprefix("$CATEGORY:").strip().split("/")[-1].removeprefix("$").strip()
            continue
        try:
            exercise = _exercise(block, line)
        except ValueError as error:
            findings.append(Finding(None, str(error), "mend it, or leave it out", line=line))
            continue
        if exercise is None:
            message = "is a text without an answer block, and is passed over"
            findings.append(Finding(None, message, "an open question ends in {}", severity="note", line=line))
            continue
        exercise.category = category
        exercises.append(exercise)
    if not exercises and not any(f.severity == "error" for f in findings):
        raise BankError("holds no question", path=path, hint="in GIFT a question ends in { =right ~wrong }")
    return source_of(exercises, findings)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks between blank lines, with their first line; comments are left out."""
    block: list[str] = []
    first, depth = 0, 0
    for number, line in enumerate([*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""], start=1):
        if line.lstrip().startswith("//"):
            continue
        if not line.strip() and (depth <= 0 or number > first + 400):
            if block:
                yield first, "\n".join(block).strip()
            block, depth = [], 0
            continue
        if line.startswith("$CATEGORY:") and not block:
            yield number, line.strip()
            continue
        if not block:
            first = number
        block.append(line)
        bare = re.sub(r"\\.", "", line)
        depth += bare.count("{") - bare.count("}")
    if block:
        yield first, "\n".join(block).strip()


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda m: "\n" if m[1] == "n" else m[1], text).strip()


def _exercise(block: str, line: int) -> Exercise | None:
    title = _TITLE.match(block)
    rest = block[title.end() :] if title else block
    name = _plain(title[1]) if title else ""
    markup = _MARKUP.match(rest)
    rest = rest[markup.end() :] if markup else rest
    html = markup is None or markup[1] in {"html", "moodle"}
    opening = re.search(r"(?<!\\)\{", rest)
    if opening is None:
        return None
    closing = re.search(r"(?<!\\)\}", rest[opening.end() :])
    if closing is None:
        raise ValueError("has an answer block that is never closed: write }")
    inside = rest[opening.end() : opening.end() + closing.start()]
    before, after = rest[: opening.start()].strip(), rest[opening.end() + closing.end() :].strip()
    if re.search(r"(?<!\\)\{", after):
        raise ValueError("has several answer blocks, which are not read: make a question of each")
    exercise = Exercise("", line, name)
    text = f"{before} _____ {after}" if after else before
    exercise.text = plain_text(_plain(text), exercise.lost, html=html)
    inside, _, general = inside.partition("####")
    exercise.explanation = plain_text(_plain(general), exercise.lost, html=html)
    inside = inside.strip()
    truth = _TRUTH.match(inside)
    if not inside:
        return exercise
    if truth and inside[truth.end() :].lstrip()[:1] in {"", "#"}:
        exercise.values = {"answer": ["True" if truth[1].upper().startswith("T") else "False"]}
        _feedback(exercise, inside)
    elif inside.startswith("#"):
        _numeric(exercise, inside[1:].strip())
    else:
        _answers(exercise, inside, html=html)
    return exercise


def _feedback(exercise: Exercise, text: str) -> str:
    """Return an answer without its feedback, which is not carried over."""
    found = re.search(r"(?<!\\)#", text)
    if found is None:
        return text
    if text[found.end() :].strip():
        exercise.lost.add("feedback to single answers is")
    return text[: found.start()]


def _answers_of(exercise: Exercise, inside: str) -> list[tuple[str, float | None, str]]:
    """Return mark, weight and text of each answer."""
    marks = list(_ANSWER.finditer(inside))
    result = []
    for i, mark in enumerate(marks):
        text = inside[mark.end() : marks[i + 1].start() if i + 1 < len(marks) else len(inside)]
        weight = _WEIGHT.match(text)
        text = text[weight.end() :] if weight else text
        result.append((mark[1], float(weight[1]) if weight else None, _feedback(exercise, text).strip()))
    return result


def _answers(exercise: Exercise, inside: str, *, html: bool) -> None:
    answers = _answers_of(exercise, inside)
    if not answers:
        raise ValueError("has an answer block without = or ~")
    if all(mark == "=" and "->" in text for mark, _, text in answers):
        pairs = [tuple(part.strip() for part in text.split("->", 1)) for _, _, text in answers]
        _matching(exercise, [(plain_text(_plain(a), exercise.lost, html=html), _plain(b)) for a, b in pairs])
        return
    texts = [plain_text(_plain(text), exercise.lost, html=html) for _, _, text in answers]
    weights = [100.0 if w is None and mark == "=" else w or 0.0 for mark, w, _ in answers]
    if all(mark == "=" for mark, _, _ in answers):
        full = [t for t, w in zip(texts, weights, strict=True) if w >= 100]
        if len(full) < len(texts):
            exercise.lost.add("partial credit is")
        if any("*" in t for t in full):
            exercise.lost.add("wildcards (*) in short answers are")
        exercise.values = {"answer": full or texts[:1]}
        return
    exercise.options = texts
    exercise.several = not any(mark == "=" for mark, _, _ in answers)
    exercise.right = [i for i, w in enumerate(weights) if (w > 0 if exercise.several else w >= 100)]
    if not exercise.several and any(0 < w < 100 for w in weights):
        exercise.lost.add("partial credit is")


def _matching(exercise: Exercise, pairs: Sequence[tuple[str, str]]) -> None:
    """Make each stem a part, answered with one of the options."""
    exercise.options = list(dict.fromkeys(target for _, target in pairs))
    stems = [(stem, target) for stem, target in pairs if stem]
    exercise.values = {}
    lines = []
    for i, (stem, target) in enumerate(stems, start=1):
        exercise.values[f"match_{i}"] = ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[exercise.options.index(target) % 26]]
        lines.append(f"{i}. {stem}")
    exercise.text = "\n".join([exercise.text, "", *lines]) if lines else exercise.text


def band(low: str, high: str) -> tuple[str, str]:
    """Return middle and half width of an interval of numbers.

    Raises
    ------
    ValueError
        An end is no number.
    """
    ends = [parse_number(low.strip()), parse_number(high.strip())]
    if any(end is None or not end.finite for end in ends):
        raise ValueError(f"'{low.strip()[:40]}..{high.strip()[:40]}' is no interval of numbers")
    a, b = (Decimal(end.value) for end in ends if end is not None)
    return f"{(a + b) / 2:f}", f"{abs(b - a) / 2:f}"


def _numeric(exercise: Exercise, inside: str) -> None:
    answers = _answers_of(exercise, inside) if _ANSWER.search(inside) else [("=", None, _feedback(exercise, inside))]
    full = [text.strip() for mark, w, text in answers if mark == "=" and (w is None or w >= 100)]
    if len(full) < len(answers):
        exercise.lost.add("partial credit is")
    if not full:
        raise ValueError("has no number that is right in full")
    low, dots, high = full[0].partition("..")
    value, _, tolerance = full[0].partition(":")
    if dots:
        value, tolerance = band(low, high)
    if parse_number(value.strip()) is None or (tolerance.strip() and parse_number(tolerance.strip()) is None):
        raise ValueError(f"'{full[0][:60]}' is no number with a tolerance")
    exercise.values = {"answer": [value.strip(), *(text.partition(":")[0].strip() for text in full[1:])]}
    exercise.tolerance = "" if not tolerance.strip() or float(tolerance) == 0 else tolerance.strip()


def _escape(text: str) -> str:
    return re.sub(r"([~=#{}:\\])", r"\\\1", text).replace("\n", "\\n")


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write one question a block."""
    path.write_text("\n\n".join(map(_written, questions)) + "\n", encoding="utf-8", newline="\n")


def _written(question: Question) -> str:
    head = (
        f"::{_escape(question.id)}::[plain]{_escape(question.asked if not question.options else question.question)} "
    )
    names = list(question.answers)
    if not names:
        return head + "{}"
    if len(names) > 1:
        raise BankError(
            "GIFT holds no question with several answers", field=question.id, hint="choose another format"
        )
    (name,) = names
    letters = question.choice(name)
    truth = question.answers[name]
    tail = f"\n####{_escape(question.reference_text)}" if question.reference_text else ""
    if letters is not None:
        right = f"{100 / len(letters):.5g}"
        marks = {k: ("=" if len(letters) == 1 else f"~%{right}%") if k in letters else "~" for k in question.options}
        lines = "".join(f"\n{marks[k]}{_escape(text)}" for k, text in question.options.items())
        return f"{head}{{{lines}{tail}\n}}"
    number = parse_number(truth)
    tolerance = question.setting("tolerance", name)
    if truth.strip().casefold() in {"true", "false"}:
        return f"{head}{{{truth.strip().upper()}{tail}}}"
    if number is not None and number.finite and re.fullmatch(r"[-+]?[\d.]+", truth.strip()):
        near = f":{tolerance}" if tolerance and not tolerance.endswith("%") else ""
        return f"{head}{{#{truth.strip()}{near}{tail}}}"
    values = "".join(f" ={_escape(value)}" for value in (truth, *question.accepted.get(name, ())))
    return f"{head}{{{values}{tail} }}"
