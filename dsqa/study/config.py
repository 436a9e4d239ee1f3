"""`study.yaml`: what a user writes, validated, with errors that name the line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from dsqa.errors import StudyError

__all__ = [
    "EndpointConfig",
    "ExecutionConfig",
    "ModelConfig",
    "PromptConfig",
    "SamplingConfig",
    "StudyConfig",
    "check_address",
    "load_study",
]


_SET_BY_DSQA = ("messages", "model", "temperature", "stream", "n")
_SECRETS = ("api_key", "apikey", "authorization", "password", "secret", "extra_headers", "headers")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def check_address(url: str) -> str:
    """Return the address of an endpoint if it is one that may be recorded.

    Raises
    ------
    ValueError
        It is no http(s) address, or holds credentials: it is copied into study.json and every record.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError("may hold no user or password; keys are read from the variable that api_key_env names")
    try:
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("is no http(s) address, such as http://127.0.0.1:8000/v1")
    return url


class EndpointConfig(_Strict):
    """Where requests go. A key is only ever named here (`api_key_env`), never written."""

    kind: Literal["openai", "embedded"] = "openai"
    base_url: str | None = None
    api_key_env: str | None = "OPENAI_API_KEY"
    # embedded only
    weights: str | None = None
    slots: Annotated[int, Field(ge=1, le=64)] = 8
    context: Annotated[int, Field(ge=512)] = 2048
    threads: Annotated[int, Field(ge=1)] | None = None

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        return None if value is None else check_address(value)


class ModelConfig(_Strict):
    """A model, the endpoint that serves it, and request parameters of its own."""

    name: Annotated[str, Field(min_length=1)]
    endpoint: str = "default"
    request: dict[str, Any] = Field(default_factory=dict)


class PromptConfig(_Strict):
    """The prompt: a shipped template's name or a file, a system message, rows of data shown."""

    template: str = "question-v1"
    system: str | None = None
    preview_rows: Annotated[int, Field(ge=0, le=50)] = 5


class SamplingConfig(_Strict):
    """How requests are sent; none of it changes what is asked."""

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    timeout: Annotated[float, Field(gt=0)] = 300.0
    retries: Annotated[int, Field(ge=0, le=50)] = 6


class ExecutionConfig(_Strict):
    """Limits for generated code, per snippet."""

    cpu_seconds: Annotated[float, Field(gt=0)] = 10.0
    wall_seconds: Annotated[float, Field(gt=0)] = 30.0
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    disk_mb: Annotated[int, Field(ge=1)] = 64
    output_kb: Annotated[int, Field(ge=1)] = 256
    workers: Annotated[int, Field(ge=1)] | None = None


def _model_from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float | dict) else value


def _is_a_name(value: Any) -> str:
    text = str(value) if isinstance(value, int | float) else value
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text):
        raise ValueError("must be fit for a folder: letters, digits, '.', '_' and '-', no spaces, at most 64")
    return text


class StudyConfig(_Strict):
    """A study: bank × conditions × N runs.

    Paths in it are relative to the study file's folder.
    """

    name: Annotated[str, BeforeValidator(_is_a_name)]
    bank: str = "builtin"
    data: str | None = None
    questions: tuple[Annotated[str, BeforeValidator(lambda v: str(v) if isinstance(v, int | float) else v)], ...] = ()
    models: Annotated[
        tuple[Annotated[ModelConfig, BeforeValidator(_model_from_name)], ...],
        BeforeValidator(_one_is_a_list),
        Field(min_length=1),
    ]
    temperatures: Annotated[
        tuple[Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None, ...],
        BeforeValidator(_one_is_a_list),
        Field(min_length=1),
    ] = (1.0,)
    runs: Annotated[int, Field(ge=1)] = 10
    seed: int = 20240611
    endpoints: dict[str, EndpointConfig] = Field(default_factory=lambda: {"default": EndpointConfig()})
    request: dict[str, Any] = Field(default_factory=dict)
    prompt: PromptConfig = PromptConfig()
    sampling: SamplingConfig = SamplingConfig()
    execution: ExecutionConfig = ExecutionConfig()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for model in self.models:
            if model.endpoint not in self.endpoints:
                known = ", ".join(sorted(self.endpoints))
                raise ValueError(
                    f"models: '{model.name}' names the endpoint '{model.endpoint}'; endpoints has: {known}"
                )
        for where, request in [("request", self.request), *[(f"models: {m.name}", m.request) for m in self.models]]:
            self._check_request(where, request)
        return self

    def _check_request(self, where: str, request: dict[str, Any]) -> None:
        for name in request:
            if name in _SET_BY_DSQA:
                remedy = "use 'temperatures'" if name == "temperature" else "leave it out"
                raise ValueError(f"{where}: '{name}' is set by dsqa itself; {remedy}")
            if name.lower().replace("-", "_") in _SECRETS:
                raise ValueError(f"{where}: '{name}' would be recorded; name an environment variable in api_key_env")
        try:
            text = json.dumps(request, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: cannot be sent as JSON: {error}") from None
        keys = [os.environ.get(e.api_key_env or "", "") for e in self.endpoints.values()]
        if any(len(key) >= 8 and key in text for key in keys):
            raise ValueError(f"{where}: holds the key of an endpoint, which would be recorded; leave it out")


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
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise StudyError(
            f"not valid YAML: {error.problem or error.context}",
            path=path,
            line=line,
            hint="look at this line and the one before it: quotes, brackets, indentation",
        ) from None
    except yaml.YAMLError as error:
        raise StudyError(f"not valid YAML: {error}", path=path) from None
    _refuse_repeats(root, path)
    if not isinstance(data, dict):
        raise StudyError("holds no settings", path=path, hint="'dsqa init DIR' writes a study to start from")
    try:
        return StudyConfig.model_validate(data)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        loc = tuple(part for part in first["loc"] if not _is_union_tag(part))
        more = f"; {invalid.error_count() - 1} more after this" if invalid.error_count() > 1 else ""
        message = re.sub(r"^(Value error|Assertion failed), ", "", first["msg"])
        hint = None
        if first["type"] == "extra_forbidden":
            message = "is not a setting of a study"
            hint = f"settings here are: {', '.join(_settings_at(loc[:-1]))}"
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
}


def _settings_at(loc: tuple[Any, ...]) -> list[str]:
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
