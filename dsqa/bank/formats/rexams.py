r"""Exercises of R/exams (`.Rmd`, `.Rnw`), one a file or a folder of them: read.

What R works out when an exercise is knitted is not there yet: such an exercise is said and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dsqa.bank.findings import Finding
from dsqa.bank.formats import markdown
from dsqa.bank.formats.exercises import Exercise, source_of
from dsqa.bank.formats.text import read_text
from dsqa.bank.rows import Source
from dsqa.errors import BankError
from dsqa.values import parse_number

__all__ = ["is_folder", "read", "read_folder"]

_META = re.compile(r"^[ \t]*(ex[a-z]+)(?:\[[^\]\n]*\])?:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_META_RNW = re.compile(r"\\(ex[a-z]+)(?:\[[^\]\n]*\])?\{([^{}\n]*)\}")
_HEADING = re.compile(r"^(?:(.+)\n(=|-){3,}[ \t]*$|(#{1,2})[ \t]+(.+?)[ \t]*#*$)", re.MULTILINE)
_CHUNK = re.compile(r"^(`{3,})[ \t]*\{r\b[^\n]*\n.*?^\1[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_CHUNK_RNW = re.compile(r"^<<[^\n]*>>=.*?^@[^\n]*$\n?", re.MULTILINE | re.DOTALL)
_COMPUTED = re.compile(r"`r\s[^`\n]*`|\\Sexpr\{")
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|\\includegraphics")
_ITEM = re.compile(r"^[*+-][ \t]+", re.MULTILINE)
_SUFFIXES = {".rmd", ".rnw"}


def is_folder(path: Path) -> bool:
    """Return whether a folder holds exercises."""
    return any(p.suffix.lower() in _SUFFIXES for p in path.iterdir())


def read_folder(path: Path) -> Source:
    """Read every exercise of a folder, by name."""
    findings: list[Finding] = []
    exercises: list[Exercise] = []
    for file in sorted(p for p in path.iterdir() if p.suffix.lower() in _SUFFIXES):
        text, found = read_text(file)
        findings.extend(found)
        exercises.extend(_one(text, file, findings))
    if not exercises and not findings:
        raise BankError("holds no question", path=path)
    return source_of(exercises, findings)


def read(path: Path) -> Source:
    """Read an exercise; an `.Rmd` that is none is read as Markdown."""
    text, findings = read_text(path)
    if not any(key == "extype" for key, _ in (_META_RNW if path.suffix.lower() == ".rnw" else _META).findall(text)):
        if path.suffix.lower() == ".rmd":
            return markdown.read(path)
        raise BankError("is no exercise of R/exams", path=path, hint=r"an exercise has \extype{…} and \exsolution{…}")
    return source_of(list(_one(text, path, findings)), findings)


def _one(text: str, path: Path, findings: list[Finding]) -> Iterator[Exercise]:
    text = text.replace("\r\n", "\n")
    latex = path.suffix.lower() == ".rnw"
    meta = dict((_META_RNW if latex else _META).findall(text))
    name = meta.get("exname") or path.stem
    try:
        yield _exercise(_CHUNK_RNW.sub("", text) if latex else _CHUNK.sub("", text), meta, name, latex=latex)
    except ValueError as error:
        hint = "make a fixed version of it in R first, for example with exams2moodle, and convert that"
        findings.append(Finding(None, str(error), hint, line=1, question=name, path=path))


def _sections(text: str) -> dict[str, str]:
    heads = list(_HEADING.finditer(text))
    found: dict[str, str] = {}
    current = ""
    for i, head in enumerate(heads):
        title = (head[1] or head[4]).strip().casefold()
        body = text[head.end() : heads[i + 1].start() if i + 1 < len(heads) else len(text)].strip()
        key = f"{current} list" if title == "answerlist" else title
        current = current if title == "answerlist" else title
        found.setdefault(key, body)
    return found


def _latex_sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for title in ("question", "solution"):
        start, end = text.find(rf"\begin{{{title}}}"), text.find(rf"\end{{{title}}}")
        if start < 0 or end < start:
            continue
        body = text[start + len(title) + 8 : end]
        head, opened, listed = body.partition(r"\begin{answerlist}")
        inside, _, after = listed.partition(r"\end{answerlist}")
        found[title] = _latex_text(f"{head}{after}")
        if opened:
            items = [_latex_text(item) for item in inside.split(r"\item")[1:]]
            found[f"{title} list"] = "\n".join(f"* {item}" for item in items)
    return found


def _latex_text(text: str) -> str:
    text = re.sub(r"(?<!\\)%[^\n]*", "", text)
    text = re.sub(r"\\(?:textbf|emph|textit|texttt|code|verb\|)\{([^{}]*)\}", r"\1", text)
    return re.sub(r"\\([%&_#$])", r"\1", text).strip()


def _list(text: str) -> list[str]:
    return [" ".join(item.split()) for item in _ITEM.split(text)[1:]]


def _exercise(text: str, meta: dict[str, str], name: str, *, latex: bool) -> Exercise:
    sections = _latex_sections(text) if latex else _sections(text)
    exercise = Exercise(sections.get("question", ""), 1, name, meta.get("exsection", "").split("/")[-1])
    options = _list(sections.get("question list", ""))
    if not exercise.text:
        raise ValueError("has no section 'Question'")
    if _COMPUTED.search(f"{exercise.text}\n{sections.get('question list', '')}"):
        raise ValueError("is a question that R makes when it is knitted, with other numbers each time")
    if _IMAGE.search(exercise.text):
        exercise.lost.add("images and media")
    solution = sections.get("solution", "")
    if solution and not _COMPUTED.search(solution):
        exercise.explanation = solution
    kind, right = meta.get("extype", "").strip(), meta.get("exsolution", "").strip()
    if kind == "essay" or (kind == "string" and meta.get("exstringtype", "").startswith(("essay", "file"))):
        return exercise
    if _COMPUTED.search(right):
        raise ValueError("has a solution that R works out when it is knitted")
    if kind in {"schoice", "mchoice"}:
        exercise.options, exercise.several = options, kind == "mchoice"
        exercise.right = _bits(right, len(options))
    elif kind == "num":
        _number(exercise, "answer", right, meta.get("extol", ""))
    elif kind == "string":
        exercise.values = {"answer": [right]}
    elif kind == "cloze":
        _cloze(exercise, options, meta, right)
    else:
        raise ValueError(f"is of the type '{kind}', which is not read")
    return exercise


def _bits(text: str, options: int) -> list[int]:
    if not re.fullmatch(r"[01]+", text) or len(text) != options:
        raise ValueError(f"has {options} options and the solution '{text[:40]}', which should be as many 0 and 1")
    return [i for i, bit in enumerate(text) if bit == "1"]


def _number(exercise: Exercise, part: str, value: str, tolerance: str) -> None:
    if parse_number(value) is None:
        raise ValueError(f"has the solution '{value[:40]}', which is no number")
    exercise.values[part] = [value]
    number = parse_number(tolerance) if tolerance else None
    if number is not None and number.value > 0:
        known = exercise.tolerance if isinstance(exercise.tolerance, dict) else {}
        exercise.tolerance = tolerance if part == "answer" else {**known, part: tolerance}


def _cloze(exercise: Exercise, parts: list[str], meta: dict[str, str], right: str) -> None:
    kinds, solutions = meta.get("exclozetype", "").split("|"), right.split("|")
    tolerances = meta.get("extol", "").split("|")
    if len(kinds) != len(solutions) or any(kind.strip() not in {"num", "string"} for kind in kinds):
        raise ValueError("is a cloze with parts other than numbers and texts, which are not read")
    for i, (kind, solution) in enumerate(zip(kinds, solutions, strict=True), start=1):
        tolerance = tolerances[i - 1] if len(tolerances) == len(kinds) else tolerances[0]
        if kind.strip() == "num":
            _number(exercise, f"part_{i}", solution.strip(), tolerance.strip())
        else:
            exercise.values[f"part_{i}"] = [solution.strip()]
    listed = parts if len(parts) == len(kinds) else []
    exercise.text += "".join(f"\n{i}. {part}" for i, part in enumerate(listed, start=1))
