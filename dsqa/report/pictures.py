"""Figures in a report: drawn by `dsqa.figures`, saved with their data, placed as Markdown."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure

from dsqa import figures
from dsqa.figures.answers import PER_PAGE
from dsqa.report.markdown import Markdown, escape
from dsqa.report.markdown import figure as placed
from dsqa.report.page import Page

__all__ = ["accuracy_figure", "answer_figures", "instability_figure", "similarity_figure", "tokens_figure"]

_PAGE_MM = 183.0
_MM_PER_INCH = 25.4


def instability_figure(page: Page) -> Markdown:
    """Place the figure: instability by category and level."""
    return _place(
        page,
        "instability",
        figures.instability_figure(page.cells),
        figures.instability_data(page.cells),
        figures.instability_caption(page.cells),
    )


def accuracy_figure(page: Page) -> Markdown:
    """Place the figure: accuracy against instability, a mark per cell."""
    return _place(
        page,
        "accuracy-instability",
        figures.accuracy_instability_figure(page.cells),
        figures.accuracy_instability_data(page.cells),
        figures.accuracy_instability_caption(page.cells),
    )


def tokens_figure(page: Page) -> Markdown:
    """Place the figure: tokens of the response by temperature."""
    return _place(
        page,
        "tokens-by-temperature",
        figures.tokens_by_temperature_figure(page.outcomes),
        figures.tokens_by_temperature_data(page.outcomes),
        figures.tokens_by_temperature_caption(page.outcomes),
    )


def similarity_figure(page: Page) -> Markdown:
    """Place the figure: similarity of the responses' texts by temperature."""
    return _place(
        page,
        "similarity-by-temperature",
        figures.similarity_by_temperature_figure(page.outcomes),
        figures.similarity_by_temperature_data(page.outcomes),
        figures.similarity_by_temperature_caption(page.outcomes),
    )


def answer_figures(page: Page) -> Markdown:
    """Return how often each answer was given, question by question, on as many figures as it takes."""
    # Cut here and not by the figure, whose every page would count the answers of the whole study again.
    ids = [question.id for question in page.questions]
    chunks = [ids[start : start + PER_PAGE] for start in range(0, len(ids), PER_PAGE)]
    placed_pages = []
    for number, chunk in enumerate(chunks, start=1):
        outcomes = page.outcomes[page.outcomes["question_id"].isin(chunk)]
        placed_pages.append(
            _place(
                page,
                "answers" if len(chunks) == 1 else f"answers-{number}",
                figures.answers_figure(outcomes),
                figures.answers_data(outcomes),
                figures.answers_caption(outcomes),
            )
        )
    return Markdown("\n\n".join(placed_pages))


def _place(page: Page, name: str, drawn: Figure, data: pd.DataFrame, caption: figures.Caption) -> Markdown:
    # The share of the page's width that it was drawn for: the same size of letters in every figure.
    share = min(100, round(100 * drawn.get_size_inches()[0] * _MM_PER_INCH / _PAGE_MM))
    figures.save_figure(drawn, data, caption, page.folder.figures_dir, name, ("svg", "png"))
    pyplot.close(drawn)
    # Relative to the kernel's working folder, which is where the executed notebook goes.
    path = os.path.relpath(page.folder.figures_dir / f"{name}.svg", Path.cwd())
    text = f"**{escape(caption.title)}.** {escape(caption.text)}"
    return placed(Path(path).as_posix(), label=f"fig-{name}", caption=text, alt=caption.alt, width=f"{share}%")
