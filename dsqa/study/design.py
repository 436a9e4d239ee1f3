"""The design of a study: its conditions and cells, each with a stable id."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from dsqa.study.config import StudyConfig

__all__ = ["Cell", "Condition", "conditions_of", "fingerprint"]


def fingerprint(value: Any, length: int = 16) -> str:
    """Return the first `length` hex digits of the SHA-256 of `value` as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


@dataclass(frozen=True)
class Condition:
    """What a question is asked under: endpoint, model, temperature, system message, other parameters.

    `temperature` None means that none is sent (models that refuse one).
    """

    endpoint: str
    model: str
    temperature: float | None
    system: str | None = None
    request: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "temperature": self.temperature,
            "system": self.system,
            "request": self.request,
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Condition:
        """Rebuild a condition from `to_dict`'s output."""
        return cls(row["endpoint"], row["model"], row["temperature"], row.get("system"), row.get("request") or {})

    @property
    def id(self) -> str:
        """A readable, file-safe name that changes whenever anything in the condition does."""
        model = re.sub(r"[^A-Za-z0-9.-]+", "-", self.model).strip("-")[-48:]
        heat = "default" if self.temperature is None else f"{self.temperature:g}"
        return f"{model}_t{heat}_{fingerprint(self.to_dict(), 8)}"


@dataclass(frozen=True)
class Cell:
    """A question under a condition, with the messages that ask it."""

    question_id: str
    condition: Condition
    messages: tuple[dict[str, str], ...]

    @property
    def prompt_hash(self) -> str:
        """Fingerprint of the messages."""
        return fingerprint(list(self.messages))


def conditions_of(config: StudyConfig) -> tuple[Condition, ...]:
    """Return model × temperature, in the order the study names them."""
    return tuple(
        Condition(
            endpoint=model.endpoint,
            model=model.name,
            temperature=temperature,
            system=config.prompt.system,
            request={**config.request, **model.request},
        )
        for model in config.models
        for temperature in (config.temperatures if model.temperatures == "study" else model.temperatures)
    )
