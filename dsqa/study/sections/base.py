"""What every section of a `study.yaml` has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A part of a study's settings: frozen, and without room for misspelt names."""

    model_config = ConfigDict(frozen=True, extra="forbid")
