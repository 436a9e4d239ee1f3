"""How generated code is run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dsqa.study.sections.artefacts import ArtefactConfig
from dsqa.study.sections.base import Section

__all__ = ["ExecutionConfig"]


class ExecutionConfig(Section):
    """Limits for generated code, per snippet."""

    cpu_seconds: Annotated[float, Field(gt=0)] = 10.0
    wall_seconds: Annotated[float, Field(gt=0)] = 30.0
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    disk_mb: Annotated[int, Field(ge=1)] = 64
    output_kb: Annotated[int, Field(ge=1)] = 256
    workers: Annotated[int, Field(ge=1)] | None = None
    artefacts: ArtefactConfig = ArtefactConfig()
