"""Markdown and Quarto: one heading per question, its text, labelled lines, and Python that works the answer out.

::

    ## mean_price

    What is the mean price?

    - **Answer:** 34.65
    - **Data:** cars.csv
    - **Level:** easy

    ```python
    import pandas as pd
    print(pd.read_csv("cars.csv").price.mean())
    ```

The heading is the question's id (``## The mean price {#mean_price}`` gives ``mean_price``). Labelled lines are a
list, or bold, or a definition list, or plain lines of which one is the answer; the labels are the names of columns.
A deeper heading with such a name holds a field of several lines. A fence of ``yaml question`` holds fields as YAML.
All else is the question's text, as it is; a Python fence in it, before the labels, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dsqa.bank.columns import field_named
from dsqa.bank.findings import Finding
from dsqa.bank.formats.text import read_text
from dsqa.bank.formats.yamlfile import mapping_of
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["FIELDS_FENCE", "Section", "read", "row_of", "sections_of"]

_HINT = "each question is a heading, its text, and a line '- **Answer:** …'"
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_ATTRIBUTES = re.compile(r"^(.*?)[ \t]*\{([^{}]*)\}$")
_ID = re.compile(r"#([^\s{}]+)")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_BULLETED = re.compile(r"[ \t]{0,3}[-*+][ \t]+(.*)$")
_BOLD = re.compile(r"(?:\*\*|__)([^*_:]{1,40}(?:_[^*_:]{1,40})*):?(?:\*\*|__)[ \t]*:?[ \t]*(.*)$")
_PLAIN = re.compile(r"([A-Za-z][\w -]{0,40}):(?:[ \t]+(.*))?$")
_DEFINITION = re.compile(r":[ \t]+(.*)$")
FIELDS_FENCE = "yaml question"
"""What a fence is called that holds a question's fields."""
_CODE_BLOCK = re.compile(r"\{?\.?(?:python|py|python3)\b.*", re.IGNORECASE)
_NOT_LABELS = {"question"}


@dataclass
class Section:
    """The lines under a heading, up to the next of its level or above."""

    level: int
    title: str
    line: int
    body: list[tuple[int, str]] = field(default_factory=list)


def read(path: Path) -> Source:
    """Read every section of the level at which questions are asked.

    Raises
    ------
    BankError
        No section has a labelled answer.
    """
    text, findings = read_text(path)
    sections = sections_of(text)
    answered = Counter(s.level for s in sections if _is_question(s))
    if not answered:
        raise BankError("holds no question", path=path, hint=_HINT)
    level = max(answered, key=lambda n: (answered[n], n))
    rows = []
    for section in sections:
        if section.level == level:
            row, found = row_of(section)
            findings.extend(found)
            rows.append(row)
        elif section.level < level and _is_question(section):
            message = f"'{section.title}' has labels, but questions stand under headings '{'#' * level}'"
            findings.append(Finding(None, message, "give all questions one level of heading", line=section.line))
    return Source(tuple(rows), tuple(findings))


def sections_of(text: str) -> list[Section]:
    """Return every heading of a document with what stands under it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return list(_sections(lines, _after_front_matter(lines)))


def _after_front_matter(lines: list[str]) -> int:
    if lines and lines[0].rstrip() == "---":
        for i, line in enumerate(lines[1:], start=1):
            if line.rstrip() in {"---", "..."}:
                return i + 1
    return 0


def _sections(lines: list[str], start: int) -> Iterator[Section]:
    """Yield every heading with the lines up to the next heading of its level or above."""
    opened: list[Section] = []
    fence = ""
    for number, line in enumerate(lines[start:], start=start + 1):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.match(line)
        if heading and not _FENCE.match(line):
            level = len(heading[1])
            while opened and opened[-1].level >= level:
                yield opened.pop()
            for section in opened:
                section.body.append((number, line))
            opened.append(Section(level, heading[2], number))
        else:
            for section in opened:
                section.body.append((number, line))
    while opened:
        yield opened.pop()


def _fence_after(line: str, fence: str) -> str:
    """Return the mark of the fence that is open after this line, or ""."""
    mark = _FENCE.match(line)
    if not mark:
        return fence
    if not fence:
        return "" if "`" in mark[2] and mark[1][0] == "`" else mark[1]
    closes = mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2]
    return "" if closes else fence


@dataclass
class _Block:
    """A paragraph, a fence or a heading of a section."""

    kind: str
    lines: list[tuple[int, str]]
    info: str = ""


def _blocks(body: list[tuple[int, str]]) -> list[_Block]:
    blocks: list[_Block] = []
    fence = ""
    current: _Block | None = None
    for number, line in body:
        after = _fence_after(line, fence)
        mark = _FENCE.match(line)
        if after and not fence and mark:
            current = _Block("fence", [(number, line)], mark[2])
            blocks.append(current)
        elif fence and current is not None:
            current.lines.append((number, line))
            if not after:
                current = None
        elif _HEADING.match(line):
            blocks.append(_Block("heading", [(number, line)]))
            current = None
        elif not line.strip():
            if current is not None and current.kind == "text":
                current = None
        elif current is not None and current.kind == "text" and not _begins_labels(line, current):
            current.lines.append((number, line))
        else:
            current = _Block("text", [(number, line)])
            blocks.append(current)
        fence = after
    return blocks


def _begins_labels(line: str, block: _Block) -> bool:
    """Whether a labelled list begins here, with no blank line between it and the text before."""
    return _label_on(line) and not any(_label_on(earlier, loose=True) for _, earlier in block.lines)


def _label_on(line: str, *, loose: bool = False) -> bool:
    bullet = _BULLETED.match(line)
    rest = bullet[1] if bullet else line.strip()
    label = _BOLD.match(rest) or (_PLAIN.match(rest) if bullet or loose else None)
    if loose:
        return bool(label or bullet or _DEFINITION.match(line))
    return label is not None and field_named(label[1]) not in {None, *_NOT_LABELS}


def _labels(block: _Block) -> list[tuple[str, str, int]] | None:
    """Return ``(label, value, line)`` of a block that is labelled lines and nothing else, or None."""
    found: list[tuple[str, str, int]] = []
    marked = unknown = False
    for number, line in block.lines:
        bullet = _BULLETED.match(line)
        rest = bullet[1] if bullet else line.strip()
        bold = _BOLD.match(rest)
        label = bold or _PLAIN.match(rest)
        name = field_named(label[1]) if label else None
        definition = _DEFINITION.match(line)
        if label and name is not None and name not in _NOT_LABELS and not (line[:1].isspace() and found):
            found.append((label[1].strip(), (label[2] or "").strip(), number))
            marked = marked or bool(bullet or bold)
        elif bold and name is None:
            found.append((bold[1].strip(), bold[2].strip(), number))
            unknown = True
        elif definition and found and not found[-1][1]:
            found[-1] = (found[-1][0], definition[1].strip(), found[-1][2])
            marked = True
        elif not bullet and field_named(line) not in {None, *_NOT_LABELS} and _next_defines(block, number):
            found.append((line.strip(), "", number))
        elif found and line[:1].isspace():
            name, value, at = found[-1]
            found[-1] = (name, f"{value}\n{line.strip()}".strip(), at)
        else:
            return None
    answered = any(field_named(name) == "common_answers" for name, _, _ in found)
    # A bold name that is no field's is one's own field beside an answer, and emphasis in the text elsewhere; so is a
    # note to the reader.
    telling = any(field_named(name) != "notes" for name, _, _ in found)
    return found if answered or (marked and telling and not unknown) else None


def _next_defines(block: _Block, number: int) -> bool:
    return any(n == number + 1 and _DEFINITION.match(line) for n, line in block.lines)


def _is_question(section: Section) -> bool:
    """Whether the lines right under this heading, not those under a deeper question, have labels."""
    for block in _blocks(section.body):
        if block.kind == "heading" and field_named(_title(block)[0]) is None:
            return False
        if block.kind == "text" and _labels(block):
            return True
        if block.kind == "fence" and block.info == FIELDS_FENCE:
            return True
        if block.kind == "heading" and field_named(_title(block)[0]) == "common_answers":
            return True
    return False


def _title(block: _Block) -> tuple[str, int]:
    heading = _HEADING.match(block.lines[0][1])
    return (heading[2], len(heading[1])) if heading else ("", 0)


def row_of(section: Section) -> tuple[Row, list[Finding]]:
    """Return the question that a section asks, and what is wrong with it."""
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    findings: list[Finding] = []
    title = section.title
    attributes = _ATTRIBUTES.match(title)
    named = _ID.search(attributes[2]) if attributes else None
    if attributes and named:
        values["id"] = named[1]
        if attributes[1]:
            values["title"] = attributes[1]
    elif title:
        values["id"] = title
    lines["id"] = section.line

    def give(name: str, value: Any, line: int) -> None:
        known = field_named(name) or name
        taken = next((key for key in values if (field_named(key) or key) == known), None)
        if taken is not None and known != "id":
            findings.append(Finding(known, "is given twice", "keep one of them", line=line))
            return
        if taken is not None:
            del values[taken]
        values[name], lines[name] = value, line

    text_from, text_to = section.line + 1, section.line
    labelled = False
    blocks = _blocks(section.body)
    i = 0
    code: list[str] = []
    while i < len(blocks):
        block = blocks[i]
        first, last = block.lines[0][0], block.lines[-1][0]
        labels = _labels(block) if block.kind == "text" else None
        title_of_block = _title(block)[0] if block.kind == "heading" else ""
        i += 1
        if labels:
            labelled = True
            for name, value, line in labels:
                if value:
                    give(name, value, line)
        elif block.kind == "fence" and block.info == FIELDS_FENCE:
            labelled = True
            _give_yaml(block, give, findings)
        elif labelled and block.kind == "fence" and _CODE_BLOCK.fullmatch(block.info):
            code.append(_inside(block))
            lines.setdefault("reference_code", first)
        elif block.kind == "heading" and field_named(title_of_block) not in {None, *_NOT_LABELS}:
            labelled = True
            under = []
            while i < len(blocks) and blocks[i].kind != "heading":
                under.append(blocks[i])
                i += 1
            if under:
                give(title_of_block, _field_text(under, section), first)
        elif labelled and block.kind == "heading":
            findings.append(Finding(None, f"'{title_of_block}' is no field", _HINT, severity="warning", line=first))
        elif labelled:
            message = "text after the labelled lines is not part of the question"
            hint = "put the question's text before them"
            findings.append(Finding("question", message, hint, severity="warning", line=first))
        else:
            text_to = last
    text = "\n".join(line for number, line in section.body if text_from <= number <= text_to)
    if text.strip() and "question" not in values:
        values["question"] = text.strip("\n")
        lines["question"] = text_from
    if code and not any(field_named(key) == "reference_code" for key in values):
        values["reference_code"] = "\n\n".join(code)
    return Row(values, section.line, lines=lines), findings


def _give_yaml(block: _Block, give: Any, findings: list[Finding]) -> None:
    try:
        node = yaml.compose(_inside(block), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "nested too deeply"
        findings.append(Finding(None, f"is not valid YAML: {problem}", line=block.lines[0][0]))
        return
    if not isinstance(node, yaml.MappingNode):
        findings.append(Finding(None, "holds no 'name: value' lines", line=block.lines[0][0]))
        return
    values, lines, found = mapping_of(node, shift=block.lines[0][0])
    findings.extend(found)
    for name, value in values.items():
        give(name, value, lines[name])


def _inside(block: _Block) -> str:
    body = [line for _, line in block.lines[1:]]
    if body and _FENCE.match(body[-1]):
        body.pop()
    return "\n".join(body)


def _field_text(blocks: list[_Block], section: Section) -> str:
    if len(blocks) == 1 and blocks[0].kind == "fence":
        return _inside(blocks[0])
    first, last = blocks[0].lines[0][0], blocks[-1].lines[-1][0]
    return "\n".join(line for number, line in section.body if first <= number <= last)
