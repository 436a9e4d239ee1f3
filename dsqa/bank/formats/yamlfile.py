"""YAML: a list of questions, or `questions:` with one under it; values as they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from dsqa.bank.cells import is_default
from dsqa.bank.columns import LABELS, by_hand, field_named
from dsqa.bank.complete import complete
from dsqa.bank.findings import Finding
from dsqa.bank.formats.text import read_text
from dsqa.bank.model import Question
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["dump", "mapping_of", "read", "write"]

_HINT = "a bank in YAML is a list: '- question: …' with 'answer: …' under it, and so on"
_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"
_DEEPEST = 50
_MOST_NODES = 20_000
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # PyYAML folds the rarer line ends as if they were blanks, except where it writes them as escapes.
    rare = any(mark in text for mark in "\r\x85\u2028\u2029")
    style = '"' if rare else "|" if "\n" in text.strip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def read(path: Path) -> Source:
    """Read a document.

    Raises
    ------
    BankError
        It is no YAML, or no list of questions.
    """
    text, findings = read_text(path)
    root = _compose(text, path)
    if isinstance(root, yaml.MappingNode):
        inside = [v for k, v in root.value if isinstance(k, yaml.ScalarNode) and k.value == "questions"]
        lone = any(isinstance(k, yaml.ScalarNode) and field_named(k.value) == "question" for k, _ in root.value)
        root = inside[0] if inside else yaml.SequenceNode("", [root]) if lone else root
    if not isinstance(root, yaml.SequenceNode):
        raise BankError("is no list of questions", path=path, hint=_HINT)
    rows = []
    for node in root.value:
        line = node.start_mark.line + 1
        if not isinstance(node, yaml.MappingNode):
            findings.append(Finding(None, "is not a question with fields", _HINT, line=line))
            continue
        values, lines, found = mapping_of(node)
        findings.extend(found)
        rows.append(Row(values, line, lines=lines, exact=not by_hand(values)))
    return Source(tuple(rows), tuple(findings))


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write a list of questions, with the answer as a person would write it wherever it comes back from there."""
    rows = [_as_by_hand(question) for question in questions]
    path.write_text("\n".join(dump([row]) for row in rows), encoding="utf-8", newline="\n")


def _as_by_hand(question: Question) -> dict[str, Any]:
    whole = question.to_dict()
    if is_default(question, "category"):
        del whole["category"]
    row: dict[str, Any] = {}
    for name, value in whole.items():
        if name == "common_answers":
            pairs = question.common_answers
            row["answer"] = pairs[0][1] if len(pairs) == 1 else dict(pairs)
        elif value not in (None, []) or name not in Question.model_fields:
            row[LABELS.get(name, name)] = value
    try:
        fields = complete(Row(row, 1), 1).fields
        same = Question.model_validate(fields).to_dict() == question.to_dict()
    except ValueError:
        same = False
    return row if same else question.to_dict()


def dump(value: Any) -> str:
    """Return a value as YAML that reads back as it is."""
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


def _compose(text: str, path: Path) -> Any:
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        hint = "put a text with ': ' or '#' in it into quotes" if "mapping" in str(error.problem) else None
        raise BankError(f"is not valid YAML: {error.problem}", path=path, line=line, hint=hint) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", "") or error or "nested too deeply").split())
        raise BankError(f"is not valid YAML: {reason}", path=path) from None


def mapping_of(node: yaml.MappingNode, shift: int = 0) -> tuple[dict[str, Any], dict[str, int], list[Finding]]:
    """Return the fields of a question's node, the line of each, and what is wrong.

    A value of one of dsqa's own fields keeps its text: ``34.50`` stays ``34.50`` and ``no`` stays ``no``, where YAML
    would make them 34.5 and false.
    """
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    findings = []
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1 + shift
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == _MERGE:
            findings.append(Finding(None, "has a key that is no name", line=line))
            continue
        key = key_node.value
        if key in values:
            findings.append(Finding(key, "stands twice in one question", line=line))
            continue
        try:
            convert = _as_written if field_named(key) is not None else _as_meant
            _check_size(value_node)
            values[key] = convert(value_node, 0)
        except (yaml.YAMLError, ValueError) as error:
            message = str(getattr(error, "problem", None) or error)
            findings.append(Finding(key, f"cannot be read: {message}", line=line))
            values[key] = None
        lines[key] = line
    return values, lines, findings


def _check_size(node: yaml.Node) -> None:
    """Raise ValueError where a value refers to itself, or unfolds by references to more than a question holds."""
    waiting, seen = [node], 0
    while waiting:
        one = waiting.pop()
        seen += 1
        if seen > _MOST_NODES:
            raise ValueError("it refers to itself, or unfolds to too much")
        if isinstance(one, yaml.SequenceNode):
            waiting.extend(one.value)
        elif isinstance(one, yaml.MappingNode):
            waiting.extend(part for pair in one.value for part in pair)


def _as_written(node: yaml.Node, depth: int) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return None if node.tag == _NULL else node.value
    return _container(node, depth, _as_written)


def _as_meant(node: yaml.Node, depth: int) -> Any:
    if isinstance(node, yaml.ScalarNode):
        value = yaml.SafeLoader("").construct_object(node)
        return value if isinstance(value, str | int | float | bool | None) else str(node.value)
    return _container(node, depth, _as_meant)


def _container(node: yaml.Node, depth: int, convert: Callable[[yaml.Node, int], Any]) -> Any:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(node, yaml.SequenceNode):
        return [convert(item, depth + 1) for item in node.value]
    pairs = [(str(convert(key, depth + 1)), convert(value, depth + 1)) for key, value in node.value]
    return dict(pairs)
