"""What every section of a `study.yaml` has in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

__all__ = ["Section"]


class Section(BaseModel):
    """A part of a study's settings: frozen, and without room for misspelt names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth(cls, value: Any) -> Any:
        # pydantic takes true for 1: `runs: yes` would be one run.
        if isinstance(value, bool) or (isinstance(value, list) and any(isinstance(item, bool) for item in value)):
            raise ValueError("must not be yes, no, true or false")
        return value
