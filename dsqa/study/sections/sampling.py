"""How requests are sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dsqa.study.sections.base import Section

__all__ = ["Concurrency", "EndpointLimits", "SamplingConfig"]


def _auto_or_a_number(value: Any) -> Any:
    if value != "auto" and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024):
        raise ValueError("must be auto, or a whole number from 1 to 1024")
    return value


Concurrency = Annotated[int | Literal["auto"], BeforeValidator(_auto_or_a_number)]
"""Requests in flight at once: a number, or ``auto`` to find out how many the endpoint takes."""


class SamplingConfig(Section):
    """How requests are sent; none of it changes what is asked."""

    concurrency: Concurrency = "auto"
    timeout: Annotated[float, Field(gt=0)] = 300.0
    retries: Annotated[int, Field(ge=0, le=50)] = 6
    choices_per_request: Annotated[int, Field(ge=1, le=128)] = 1


class EndpointLimits(Section):
    """What an endpoint may be asked for in a minute, and at once; the rest of its settings build on it."""

    requests_per_minute: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    tokens_per_minute: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    concurrency: Concurrency | None = None
