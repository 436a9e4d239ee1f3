"""How requests are sent."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dsqa.study.sections.base import Section

__all__ = ["SamplingConfig"]


class SamplingConfig(Section):
    """How requests are sent; none of it changes what is asked."""

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    timeout: Annotated[float, Field(gt=0)] = 300.0
    retries: Annotated[int, Field(ge=0, le=50)] = 6
