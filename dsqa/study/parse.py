"""Read a `study.yaml`, with errors that name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from dsqa.errors import StudyError
from dsqa.foreign_yaml import YamlError, read_yaml
from dsqa.study.config import StudyConfig
from dsqa.study.plain import closest, in_plain_words
from dsqa.study.sections import (
    ArtefactConfig,
    BudgetConfig,
    EndpointConfig,
    ExecutionConfig,
    ModelConfig,
    PromptConfig,
    SamplingConfig,
    StopConfig,
)

__all__ = ["load_study", "parse_study"]


def load_study(path: Path) -> StudyConfig:
    """Read and validate a `study.yaml`.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    StudyError
        The file is missing, is not YAML, or a field is wrong; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StudyError("no such study file", path=path, hint="'dsqa init DIR' writes one to start from") from None
    except IsADirectoryError:
        raise StudyError("is a folder, not a study file", path=path, hint="name the study.yaml in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot be read: {error}", path=path) from None
    return parse_study(text, path)


def parse_study(text: str, path: Path | None = None) -> StudyConfig:
    """Validate the text of a `study.yaml`; see `load_study`."""
    try:
        root, data = read_yaml(text)
    except YamlError as error:
        hint = "look at this line and the one before it: quotes, brackets, indentation" if error.line else None
        raise StudyError(error.message, path=path, line=error.line, hint=hint) from None
    _refuse_repeats(root, path)
    if not isinstance(data, dict):
        raise StudyError("holds no settings", path=path, hint="'dsqa init DIR' writes a study to start from")
    try:
        return StudyConfig.model_validate(data)
    except ValidationError as invalid:
        # A misspelt name is why another one is missing: it comes first.
        first = min(invalid.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
        loc = tuple(part for part in first["loc"] if not _is_union_tag(part))
        more = f"; {invalid.error_count() - 1} more after this" if invalid.error_count() > 1 else ""
        message = in_plain_words(first)
        hint = None
        if first["type"] == "extra_forbidden":
            message = "is not a setting of a study"
            known = _settings_at(loc[:-1])
            meant = closest(str(loc[-1]), known)
            hint = f"{f'did you mean {meant}? ' if meant else ''}settings here are: {', '.join(known)}"
        raise StudyError(
            message + more,
            path=path,
            line=_line_of(root, loc),
            field=".".join(str(part) for part in loc) or None,
            hint=hint,
        ) from None


def _refuse_repeats(node: yaml.Node | None, path: Path | None) -> None:
    """YAML lets the last of two equal names win; the first, which someone wrote for a reason, would be lost."""
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in first:
                raise StudyError(
                    f"was set on line {first[key.value]} already",
                    path=path,
                    line=line,
                    field=key.value,
                    hint="keep one",
                )
            first[key.value] = line
            _refuse_repeats(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeats(item, path)


def _is_union_tag(part: Any) -> bool:
    return isinstance(part, str) and (part.startswith(("function-", "constrained-")) or part in {"none", "float"})


_SECTIONS: dict[str, type[BaseModel]] = {
    "endpoints": EndpointConfig,
    "models": ModelConfig,
    "prompt": PromptConfig,
    "sampling": SamplingConfig,
    "execution": ExecutionConfig,
    "stop": StopConfig,
    "budget": BudgetConfig,
}


def _settings_at(loc: tuple[Any, ...]) -> list[str]:
    if loc == ("execution", "artefacts"):
        return list(ArtefactConfig.model_fields)
    section = _SECTIONS.get(str(loc[0]), StudyConfig) if loc else StudyConfig
    return list(section.model_fields)


def _line_of(node: yaml.Node | None, loc: tuple[Any, ...]) -> int | None:
    """Return the 1-based line where the setting at `loc` (or its nearest parent) is written."""
    line = node.start_mark.line + 1 if node is not None else None
    for part in loc:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    found, line = value, key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
