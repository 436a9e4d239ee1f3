"""How much of what generated code shows and writes is kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dsqa.study.sections.base import Section

__all__ = ["ArtefactConfig"]


class ArtefactConfig(Section):
    """Caps on what is kept of one run: figures, tables, files written."""

    figures: Annotated[int, Field(ge=0, le=1000)] = 20
    files: Annotated[int, Field(ge=0, le=1000)] = 20
    file_kb: Annotated[int, Field(ge=1)] = 1024
    total_mb: Annotated[int, Field(ge=1, le=256)] = 8
    cpu_seconds: Annotated[float, Field(gt=0)] = 10.0
