"""A study's settings as a whole; their sections are in `dsqa.study.sections`, reading them is `dsqa.study.parse`."""

from __future__ import annotations

import json
import os
import re
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from dsqa.study.sections import (
    BudgetConfig,
    EndpointConfig,
    ExecutionConfig,
    ModelConfig,
    PromptConfig,
    SamplingConfig,
    StopConfig,
    check_parameters,
)
from dsqa.study.sections.base import Section

__all__ = ["StudyConfig"]

_SET_BY_DSQA = ("messages", "model", "temperature", "stream", "n")
_INSTEAD = {"temperature": "use 'temperatures'", "n": "use 'choices_per_request' in 'sampling'"}
_SECRETS = ("api_key", "apikey", "authorization", "password", "secret", "extra_headers", "headers")


def _model_from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float | dict) else value


def _is_a_name(value: Any) -> str:
    text = str(value) if isinstance(value, int | float) else value
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text):
        raise ValueError("must be fit for a folder: letters, digits, '.', '_' and '-', no spaces, at most 64")
    return text


class StudyConfig(Section):
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
    stop: StopConfig | None = None
    budget: BudgetConfig = BudgetConfig()
    prices: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for model in self.models:
            if model.endpoint not in self.endpoints:
                known = ", ".join(sorted(self.endpoints))
                raise ValueError(
                    f"models: '{model.name}' names the endpoint '{model.endpoint}'; endpoints has: {known}"
                )
        if self.stop is not None and "min_runs" in self.stop.model_fields_set and self.stop.min_runs > self.most_runs:
            raise ValueError(
                f"stop: the first look is after min_runs ({self.stop.min_runs}), and 'runs' is {self.most_runs}, so "
                "that no cell could stop early; raise 'runs' (the most that a cell may have) or lower min_runs"
            )
        for where, request in [("request", self.request), *[(f"models: {m.name}", m.request) for m in self.models]]:
            self._check_request(where, request)
        for model in self.models:
            try:
                check_parameters(self.endpoints[model.endpoint].api, {**self.request, **model.request})
            except ValueError as error:
                raise ValueError(f"request of '{model.name}': {error}") from None
        return self

    @property
    def most_runs(self) -> int:
        """The runs that a cell may have: `runs`, or where the study stops by itself, its `max_runs`."""
        return self.runs if self.stop is None else self.stop.max_runs or self.runs

    def _check_request(self, where: str, request: dict[str, Any]) -> None:
        for name in request:
            if name in _SET_BY_DSQA:
                remedy = _INSTEAD.get(name, "leave it out")
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
