"""Figures in a report: drawn by `dsqa.figures`, saved with their data, placed as Markdown."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from matplotlib import pyplot

from dsqa import figures
from dsqa.figures.answers import PER_PAGE
from dsqa.report.markdown import Markdown, escape
from dsqa.report.markdown import figure as placed
from dsqa.report.page import Page

__all__ = ["answer_figures", "place_figure"]

_PAGE_MM = 183.0
_MM_PER_INCH = 25.4


def place_figure(page: Page, name: str) -> Markdown:
    """Draw a figure of the study, save it with its data in the study's folder, and place it on the page.

    Parameters
    ----------
    page
        The study.
    name
        One of `dsqa.figures.FIGURES`.

    Raises
    ------
    KeyError
        There is no such figure.
    """
    kind = figures.FIGURES[name]
    return _place(page, kind, page.cells if kind.source == "cells" else page.outcomes, name)


def answer_figures(page: Page) -> Markdown:
    """Return how often each answer was given, question by question, on as many figures as it takes."""
    # Cut here and not by the figure, whose every page would count the answers of the whole study again.
    ids = [question.id for question in page.questions]
    chunks = [ids[start : start + PER_PAGE] for start in range(0, len(ids), PER_PAGE)]
    kind = figures.FIGURES["answers"]
    placed_pages = []
    for number, chunk in enumerate(chunks, start=1):
        outcomes = page.outcomes[page.outcomes["question_id"].isin(chunk)]
        placed_pages.append(_place(page, kind, outcomes, "answers" if len(chunks) == 1 else f"answers-{number}"))
    return Markdown("\n\n".join(placed_pages))


def _place(page: Page, kind: figures.FigureKind, table: pd.DataFrame, name: str) -> Markdown:
    drawn, caption = kind.figure(table), kind.caption(table)
    # The share of the page's width that it was drawn for: the same size of letters in every figure.
    share = min(100, round(100 * drawn.get_size_inches()[0] * _MM_PER_INCH / _PAGE_MM))
    figures.save_figure(drawn, kind.data(table), caption, page.folder.figures_dir, name, ("svg", "png"))
    pyplot.close(drawn)
    # Relative to the kernel's working folder, which is where the executed notebook goes.
    path = os.path.relpath(page.folder.figures_dir / f"{name}.svg", Path.cwd())
    text = f"**{escape(caption.title)}.** {escape(caption.text)}"
    return placed(Path(path).as_posix(), label=f"fig-{name}", caption=text, alt=caption.alt, width=f"{share}%")
