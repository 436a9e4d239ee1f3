"""What the model is shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dsqa.study.sections.base import Section

__all__ = ["PromptConfig"]


class PromptConfig(Section):
    """The prompt: a shipped template's name or a file, a system message, rows of data shown."""

    template: str = "question-v1"
    system: str | None = None
    preview_rows: Annotated[int, Field(ge=0, le=50)] = 5
