"""The formats of reports, and what programs may make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dsqa.errors import ReportError

__all__ = ["FORMATS", "RENDERERS", "Renderer", "check_formats"]

FORMATS = ("html", "pdf", "docx")
"""Formats a report can be rendered to."""

Renderer = Literal["auto", "quarto", "pandoc"]
RENDERERS: tuple[Renderer, ...] = ("auto", "quarto", "pandoc")
"""``auto``: Quarto where there is one that works, else the bundled pandoc and Typst."""


def check_formats(formats: Sequence[str]) -> None:
    """Check that formats are among `FORMATS`.

    Raises
    ------
    ReportError
        One is not.
    """
    for name in formats:
        if name not in FORMATS:
            raise ReportError(f"'{name}' is not a format of reports", hint=f"formats are: {', '.join(FORMATS)}")
