"""Figures in a report: drawn by `dsqa.figures`, saved with their data, placed as Markdown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dsqa import figures
from dsqa.report.markdown import Markdown, escape
from dsqa.report.markdown import figure as placed
from dsqa.report.page import Page

__all__ = ["answer_figures", "place_figure"]

MOST_PAGES = 8
"""A figure of more pages is cut after these: with hundreds of questions nobody looks through them on a page."""

_PAGE_MM = 183.0
_MM_PER_INCH = 25.4


def place_figure(page: Page, name: str, *, label: str | None = None, **options: Any) -> Markdown:
    """Draw a figure of the study, save it with its data in the study's folder, and place it on the page.

    Parameters
    ----------
    page
        The study.
    name
        One of `dsqa.figures.FIGURES`. One of several pages is several figures, ``fig-name``, ``fig-name-2``, …, at
        most `MOST_PAGES`.
    label
        Its identifier is ``fig-`` and this, and its files have this name: for a figure placed twice with different
        options. By default the figure's name.
    options
        As `dsqa.figures.FigureKind.options` lists them for the figure, such as ``question=``.

    Returns
    -------
    Markdown
        The figure, or a sentence that says why this study has none.

    Raises
    ------
    ReportError
        There is no such figure, or it has no such option.
    """
    base = name if label is None else label
    parts: list[str] = []
    try:
        # One after the other: a figure takes megabytes while it is open.
        for number, drawn in enumerate(figures.draw_figure(name, page.tables, **options), start=1):
            if number > MOST_PAGES:
                parts.append(
                    f"*Only the first {MOST_PAGES} figures of this kind are here; `dsqa figures` with "
                    f"`--only {name}` draws all of them.*\n"
                )
                break
            parts.append(_place(page, drawn, base if number == 1 else f"{base}-{number}"))
    except figures.NotApplicableError as error:
        said = f"{error.message} ({error.hint})" if error.hint else error.message
        return Markdown(f"*No figure here: {escape(said)}.*\n")
    return Markdown("\n\n".join(parts))


def answer_figures(page: Page) -> Markdown:
    """Return how often each answer was given, question by question, on as many figures as it takes."""
    return place_figure(page, "answers")


def _place(page: Page, drawn: figures.Drawn, name: str) -> Markdown:
    # The share of the page's width that it was drawn for: the same size of letters in every figure.
    share = min(100, round(100 * drawn.figure.get_size_inches()[0] * _MM_PER_INCH / _PAGE_MM))
    caption = drawn.caption
    figures.save_figure(drawn.figure, drawn.data, caption, page.folder.figures_dir, name, ("svg", "png"))
    # Relative to the kernel's working folder, which is where the executed notebook goes.
    path = os.path.relpath(page.folder.figures_dir / f"{name}.svg", Path.cwd())
    text = f"**{escape(caption.title)}.** {escape(caption.text)}"
    return placed(Path(path).as_posix(), label=f"fig-{name}", caption=text, alt=caption.alt, width=f"{share}%")
