"""Where requests go, and which models are asked there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from dsqa.study.sections.base import Section
from dsqa.study.sections.sampling import EndpointLimits

__all__ = ["SEED_PER_RUN", "EndpointConfig", "ModelConfig", "check_address", "check_parameters"]

SEED_PER_RUN = "per-run"
"""As `seed` in a request: each run is sent a seed of its own, made from the study's seed and the run's number."""

_SECRET_NAME = re.compile(
    r"(^|[-_])(api[-_]?key|key|token|secret|sig|signature|password|authorization|cookie)$", re.I
)
_LIKE_A_KEY = re.compile(r"[A-Za-z0-9]{20,}")
_OWN_HEADERS = {
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "host",
}
_BOUNDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_NOT_IN_RESPONSES = (
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "prediction",
    "modalities",
)
HOTTEST = 2
_ONLY_IN_RESPONSES = ("max_output_tokens", "reasoning", "text", "truncation", "include", "instructions")


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
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET_NAME.search(name):
            raise ValueError(f"may hold no {name}; keys are read from the variable that api_key_env names")
    try:
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("is no http(s) address, such as http://127.0.0.1:8000/v1")
    return url


def check_parameters(api: str, request: Mapping[str, Any]) -> None:
    """Make sure that an API has the parameters a study asks for, and that those dsqa counts on have a value it can.

    Raises
    ------
    ValueError
        It has no such parameter, or another name for it, or the value is none; the message says which.
    """
    for name, value in request.items():
        if name in _BOUNDS and value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"'{name}' must be a whole number, 1 or more")
        if name == "seed" and value not in (None, SEED_PER_RUN) and type(value) is not int:
            raise ValueError(f"'seed' must be a whole number, or {SEED_PER_RUN}")
        if api == "responses" and name in _NOT_IN_RESPONSES:
            raise ValueError(f"'{name}' is no parameter of the Responses API; leave it out, or use  api: chat")
        if api == "chat" and name in _ONLY_IN_RESPONSES:
            raise ValueError(
                f"'{name}' is a parameter of the Responses API only; use  api: responses  for the endpoint"
            )


class EndpointConfig(EndpointLimits):
    """Where requests go. A key is only ever named here (`api_key_env`), never written.

    Parameters
    ----------
    kind
        openai: anything that speaks OpenAI's protocol; embedded: the small model that dsqa runs itself; replay: the
        recorded runs of a study, no key and no network.
    base_url
        Up to and including ``/v1`` or the like; a query string is kept. By default the one in ``OPENAI_BASE_URL``,
        else OpenAI's own.
    api
        chat (chat completions) or responses (OpenAI's Responses API).
    api_key_env
        The environment variable that holds the key.
    auth
        How the key is sent: ``Authorization: Bearer …``, ``api-key: …`` (Azure), or not at all.
    api_version
        Azure's ``?api-version=…``.
    headers
        More headers to send; none that hold secrets.
    stream
        Let answers come in pieces, so that a slow server is told from a dead one: the time-out is then for silence
        and not for the whole answer. ``auto``: the embedded model's only. Chat completions only.
    records
        replay only: a study's folder, or a records.jsonl (.gz).
    model
        embedded only: which of the models that dsqa can fetch; by default smollm2-135m.
    weights, slots, context, threads
        embedded only: a GGUF file of your own, requests at once, tokens that each of them may have, threads.
    """

    kind: Literal["openai", "embedded", "replay"] = "openai"
    base_url: str | None = None
    api: Literal["chat", "responses"] = "chat"
    api_key_env: str | None = "OPENAI_API_KEY"
    auth: Literal["bearer", "api-key", "none"] = "bearer"
    api_version: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    stream: Literal["auto", "always", "never"] = "auto"
    records: str | None = None
    model: Literal["smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"] | None = None
    weights: str | None = None
    slots: Annotated[int, Field(ge=1, le=64)] = 8
    context: Annotated[int, Field(ge=512)] = 2048
    threads: Annotated[int, Field(ge=1)] | None = None

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        return None if value is None else check_address(value)

    @field_validator("api_key_env")
    @classmethod
    def _is_a_variable(cls, value: str | None) -> str | None:
        # A key pasted here would be copied into study.json; Azure's keys are letters and digits only.
        if value is not None and (not re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII) or _LIKE_A_KEY.fullmatch(value)):
            raise ValueError(
                "must be the name of an environment variable, such as OPENAI_API_KEY, never the key itself "
                "(null: no key)"
            )
        return value

    @field_validator("api_version", mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        # 2024-10-21 without quotes is a date to YAML.
        return value if value is None or isinstance(value, str) else str(value)

    @field_validator("headers")
    @classmethod
    def _hold_no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if _SECRET_NAME.search(name):
                raise ValueError(f"'{name}' would be recorded; name an environment variable in api_key_env")
            if name.lower() in _OWN_HEADERS:
                raise ValueError(f"'{name}' is set by dsqa itself; leave it out")
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not text.isprintable() or not text.isascii():
                raise ValueError(f"'{name}' is no header: plain characters on one line only")
        return value

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "replay" and self.records is None:
            raise ValueError("kind: replay needs  records:  a study's folder, or its records.jsonl")
        if self.kind != "replay" and self.records is not None:
            raise ValueError("'records' goes with  kind: replay")
        if self.kind != "openai":
            for name in ("base_url", "api_version"):
                if getattr(self, name) is not None:
                    raise ValueError(f"'{name}' has no meaning with  kind: {self.kind}")
        return self


def _of_its_own(value: Any) -> Any:
    if value == "study":
        return value
    # null is a temperature too: none is sent.
    listed = tuple(value) if isinstance(value, list | tuple) else (value,)
    for heat in listed:
        if heat is not None and (
            isinstance(heat, bool) or not isinstance(heat, int | float) or not 0 <= heat <= HOTTEST
        ):
            raise ValueError("must be numbers from 0 to 2, or null to send none")
    if not listed:
        raise ValueError("names none; leave it out to ask at the study's temperatures, or write [null] to send none")
    return listed


def _printable(name: str) -> str:
    if any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in name):
        raise ValueError("holds a control character; copy the name again")
    return name


class ModelConfig(Section):
    """A model, the endpoint that serves it, request parameters and, where they differ, temperatures of its own."""

    name: Annotated[str, Field(min_length=1), AfterValidator(_printable)]
    endpoint: str = "default"
    request: dict[str, Any] = Field(default_factory=dict)
    temperatures: Annotated[tuple[float | None, ...] | Literal["study"], BeforeValidator(_of_its_own)] = "study"
