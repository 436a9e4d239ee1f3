"""A bank as Markdown: what `markdown` reads, each field in its natural place wherever it comes back from there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dsqa.bank.cells import cell_of, is_default
from dsqa.bank.columns import LABELS
from dsqa.bank.complete import complete
from dsqa.bank.formats.markdown import FIELDS_FENCE, row_of, sections_of
from dsqa.bank.formats.yamlfile import dump
from dsqa.bank.model import Question

__all__ = ["write"]

_FIRST = ("common_answers", "format", "file_name", "level", "concepts", "category")


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write one section per question; what its natural form would lose is written as YAML."""
    sections = [_written(question, position) for position, question in enumerate(questions, start=1)]
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8", newline="\n")


def _written(question: Question, position: int) -> str:
    """Return a question's section: each field in its natural place if it reads back as it is, else as YAML."""
    fields = [name for name in Question.model_fields if not is_default(question, name)]
    extras = dict(question.model_extra or {})
    in_yaml: set[str] = {name for name, value in extras.items() if not isinstance(value, str) or name == "title"}
    for _ in range(len(fields) + len(extras) + 1):
        text = _section_text(question, fields, extras, in_yaml, position)
        differing = _differing(question, text) - in_yaml
        if not differing:
            return text
        in_yaml |= differing
    return _section_text(question, fields, extras, {*fields, *extras}, position)


def _differing(question: Question, text: str) -> set[str]:
    """Return the fields that do not come back from a section's text; all of them if it is read as another thing."""
    everything = {*Question.model_fields, *(question.model_extra or {})}
    sections = [section for section in sections_of(text) if section.level <= 2]
    if len(sections) != 1:
        return everything
    row, _ = row_of(sections[0])
    try:
        back = Question.model_validate(complete(row, 0).fields)
    except ValueError:
        return everything
    want, got = question.to_dict(), back.to_dict()
    return {name for name in {*want, *got} if want.get(name) != got.get(name)}


def _section_text(
    question: Question, fields: list[str], extras: dict[str, Any], in_yaml: set[str], position: int
) -> str:
    heading = f"Question {position}" if "id" in in_yaml else question.id
    parts = [f"## {heading}"]
    if "question" not in in_yaml:
        parts.append(question.question)
    labelled = [name for name in fields if name not in {"id", "question", "reference_code", *in_yaml}]
    labelled.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    if question.asked == question.question:  # its options stand in it, and are read out of it
        labelled = [name for name in labelled if name != "options"]
    lines = [f"- **{_label(name)}:** {_on_lines(name, cell_of(question, name))}" for name in labelled]
    if lines:
        parts.append("\n".join(lines))
    whole = question.to_dict()
    rest = {name: whole[name] for name in whole if name in in_yaml} | extras
    if rest:
        parts.append(_fenced(dump(rest), FIELDS_FENCE))
    if question.reference_code is not None and "reference_code" not in in_yaml:
        parts.append(_fenced(question.reference_code, "python"))
    return "\n\n".join(parts)


def _on_lines(name: str, cell: str) -> str:
    """Return a field's text with its further lines set in, as a list of options has them."""
    return cell.replace("\n", "\n  ") if name == "options" else cell


def _label(name: str) -> str:
    return LABELS.get(name, name).replace("_", " ").capitalize()


def _fenced(text: str, info: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text.rstrip(chr(10)) if info == FIELDS_FENCE else text}\n{fence}"
