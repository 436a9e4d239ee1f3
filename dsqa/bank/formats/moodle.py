"""Moodle XML, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from dsqa.bank.findings import Finding
from dsqa.bank.formats.exercises import Exercise, plain_text, source_of
from dsqa.bank.model import Question
from dsqa.bank.rows import Source
from dsqa.errors import BankError
from dsqa.values import parse_number

__all__ = ["exercises_of", "read_tree", "write"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_tree(root: Element, raw: bytes, path: Path) -> Source:
    """Read the questions of a ``<quiz>``.

    Raises
    ------
    BankError
        It holds none.
    """
    findings: list[Finding] = []
    exercises = list(exercises_of(root, _lines(raw), findings))
    if not exercises and not any(f.severity == "error" for f in findings):
        raise BankError("holds no question", path=path, hint="export the questions of a course as Moodle XML")
    return source_of(exercises, findings)


def _lines(raw: bytes) -> list[int]:
    """Return the line at which each question begins, as far as the bytes show it."""
    lines, line, position = [], 1, 0
    for match in re.finditer(rb"<question[\s>]", raw):
        line += raw.count(b"\n", position, match.start())
        position = match.start()
        lines.append(line)
    return lines


def exercises_of(root: Element, lines: list[int], findings: list[Finding]) -> Iterator[Exercise]:
    """Yield the questions of a ``<quiz>``; `lines` says where each begins, as far as that is known."""
    category = ""
    for i, element in enumerate(root.findall("question")):
        line = lines[i] if i < len(lines) else 1
        kind = element.get("type") or ""
        if kind == "category":
            category = _text(element.find("category")).split("/")[-1].strip()
            continue
        name = _text(element.find("name"))
        exercise = Exercise("", line, name, category)
        exercise.text = _html(element.find("questiontext"), exercise)
        exercise.explanation = _html(element.find("generalfeedback"), exercise)
        if element.find(".//file") is not None:
            exercise.lost.add("images and media")
        for tag in element.findall("tags/tag"):
            _tag(_text(tag), exercise)
        reader = _KINDS.get(kind)
        if reader is None:
            what = (
                "a text without a question" if kind == "description" else f"of the type '{kind}', which is not read"
            )
            severity = "note" if kind == "description" else "error"
            hint = "leave it out" if kind == "description" else f"types that are: {', '.join(_KINDS)}"
            findings.append(
                Finding(None, f"is {what}", hint, severity=severity, line=line, question=name)  # type: ignore[arg-type]
            )
            continue
        try:
            reader(element, exercise)
        except ValueError as error:
            findings.append(Finding("common_answers", str(error), "mend it in Moodle", line=line, question=name))
            continue
        yield exercise


def _text(element: Element | None) -> str:
    """Return the text of an element, or of the ``<text>`` in it."""
    if element is None:
        return ""
    inside = element.find("text")
    return "".join((element if inside is None else inside).itertext()).strip()


def _html(element: Element | None, exercise: Exercise) -> str:
    html = element is None or element.get("format") in {None, "html", "moodle_auto_format"}
    return plain_text(_text(element), exercise.lost, html=html)


def _tag(text: str, exercise: Exercise) -> None:
    word = text.casefold().removeprefix("level:").strip()
    if word in {"easy", "medium", "hard"}:
        exercise.more["level"] = word
    elif text.startswith("data:"):
        exercise.more["data"] = text.removeprefix("data:").strip()
    elif text:
        exercise.more.setdefault("concepts", []).append(text)


def _answers(element: Element, exercise: Exercise) -> list[tuple[float, str, Element]]:
    found = []
    for answer in element.findall("answer"):
        try:
            fraction = float(answer.get("fraction") or 0)
        except ValueError:
            fraction = 0.0
        if _text(answer.find("feedback")):
            exercise.lost.add("feedback to single answers is")
        html = answer.get("format") in {None, "html", "moodle_auto_format"}
        found.append((fraction, plain_text(_text(answer), exercise.lost, html=html), answer))
    return found


def _multichoice(element: Element, exercise: Exercise) -> None:
    answers = _answers(element, exercise)
    exercise.options = [text for _, text, _ in answers]
    exercise.several = _text(element.find("single")).casefold() in {"false", "0"}
    exercise.right = [i for i, (f, _, _) in enumerate(answers) if (f > 0 if exercise.several else f >= 100)]
    if not exercise.several and any(0 < f < 100 for f, _, _ in answers):
        exercise.lost.add("partial credit is")


def _truefalse(element: Element, exercise: Exercise) -> None:
    right = [text for fraction, text, _ in _answers(element, exercise) if fraction >= 100]
    if not right:
        raise ValueError("has no right answer")
    exercise.values = {"answer": ["True" if right[0].casefold() == "true" else "False"]}


def _full(element: Element, exercise: Exercise) -> list[tuple[str, Element]]:
    answers = _answers(element, exercise)
    full = [(text, answer) for fraction, text, answer in answers if fraction >= 100]
    if any(0 < fraction < 100 for fraction, _, _ in answers):
        exercise.lost.add("partial credit is")
    if not full:
        raise ValueError("has no answer that is right in full")
    return full


def _shortanswer(element: Element, exercise: Exercise) -> None:
    texts = [text for text, _ in _full(element, exercise)]
    if any("*" in text for text in texts):
        exercise.lost.add("wildcards (*) in short answers are")
    exercise.values = {"answer": texts}


def _numerical(element: Element, exercise: Exercise) -> None:
    full = _full(element, exercise)
    if parse_number(full[0][0]) is None:
        raise ValueError(f"'{full[0][0][:60]}' is no number")
    exercise.values = {"answer": [text for text, _ in full]}
    tolerance = _text(full[0][1].find("tolerance"))
    number = parse_number(tolerance) if tolerance else None
    exercise.tolerance = tolerance if number is not None and number.value > 0 else ""
    if element.find("units/unit") is not None:
        exercise.lost.add("units of numerical questions are")


def _matching(element: Element, exercise: Exercise) -> None:
    pairs = []
    for sub in element.findall("subquestion"):
        html = sub.get("format") in {None, "html", "moodle_auto_format"}
        pairs.append((plain_text(_text(sub), exercise.lost, html=html), _text(sub.find("answer"))))
    exercise.options = list(dict.fromkeys(target for _, target in pairs if target))
    stems = [(stem, target) for stem, target in pairs if stem and target]
    if not stems or len(exercise.options) > len(_LETTERS):
        raise ValueError("has no pairs, or too many")
    exercise.values = {
        f"match_{i}": [_LETTERS[exercise.options.index(target)]] for i, (_, target) in enumerate(stems, start=1)
    }
    exercise.text += "\n\n" + "\n".join(f"{i}. {stem}" for i, (stem, _) in enumerate(stems, start=1))


def _essay(_element: Element, _exercise: Exercise) -> None:
    return


_KINDS = {
    "multichoice": _multichoice, "truefalse": _truefalse, "shortanswer": _shortanswer, "numerical": _numerical,
    "matching": _matching, "essay": _essay,
}  # fmt: skip


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write a quiz.

    Raises
    ------
    BankError
        A question has several answers, or a text has characters that XML does not hold.
    """
    root = Element("quiz")
    for question in questions:
        _write_one(root, question, path)
    indent(root)
    ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _write_one(root: Element, question: Question, path: Path) -> None:
    names = list(question.answers)
    if len(names) > 1:
        message = f"question '{question.id}' has several answers, which Moodle XML is not written with"
        raise BankError(message, path=path, hint="choose another format, for example .jsonl")
    letters = question.choice(names[0]) if names else None
    truth = question.answers[names[0]] if names else ""
    number = parse_number(truth) if re.fullmatch(r"[-+]?[\d.]+", truth.strip()) else None
    if not names:
        kind = "essay"
    elif letters is not None:
        kind = "multichoice"
    elif truth.strip().casefold() in {"true", "false"}:
        kind = "truefalse"
    else:
        kind = "shortanswer" if number is None else "numerical"

    def put(parent: Element, tag: str, text: str, **attributes: str) -> Element:
        if _NOT_XML.search(text):
            message = f"question '{question.id}' has a character that XML does not hold"
            raise BankError(message, path=path, field=tag, hint="choose another format, for example .jsonl")
        element = SubElement(parent, tag, attributes)
        SubElement(element, "text").text = text
        return element

    element = SubElement(root, "question", {"type": kind})
    put(element, "name", question.id)
    asked = question.question if letters is not None else question.asked
    put(element, "questiontext", asked, format="plain_text")
    if question.reference_text:
        put(element, "generalfeedback", question.reference_text, format="plain_text")
    if letters is not None:
        SubElement(element, "single").text = "true" if len(letters) == 1 else "false"
        for letter, text in question.options.items():
            share = f"{100 / len(letters):.5g}" if letter in letters else "0"
            put(element, "answer", text, fraction=share, format="plain_text")
    elif kind == "truefalse":
        for value in ("true", "false"):
            put(element, "answer", value, fraction="100" if value == truth.strip().casefold() else "0")
    elif names:
        for value in (truth, *question.accepted.get(names[0], ())):
            answer = put(element, "answer", value, fraction="100", format="plain_text")
            tolerance = question.setting("tolerance", names[0])
            if kind == "numerical" and tolerance and not tolerance.endswith("%"):
                SubElement(answer, "tolerance").text = tolerance
    tags = SubElement(element, "tags")
    for text in (
        f"level: {question.level}",
        f"data: {question.file_name}" if question.file_name else "",
        *question.concepts,
    ):
        if text:
            put(tags, "tag", text)
