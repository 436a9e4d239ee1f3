"""Where requests go, and which models are asked there."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from dsqa.study.sections.base import Section

__all__ = ["EndpointConfig", "ModelConfig", "check_address"]


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


class EndpointConfig(Section):
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


class ModelConfig(Section):
    """A model, the endpoint that serves it, and request parameters of its own."""

    name: Annotated[str, Field(min_length=1)]
    endpoint: str = "default"
    request: dict[str, Any] = Field(default_factory=dict)
