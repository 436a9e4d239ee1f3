"""Every figure that a study's tables alone can give, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
from matplotlib.figure import Figure

from dsqa.errors import ReportError
from dsqa.figures.accuracy import (
    accuracy_instability_caption,
    accuracy_instability_data,
    accuracy_instability_figure,
)
from dsqa.figures.answers import answers_caption, answers_data, answers_figure, answers_pages
from dsqa.figures.by_temperature import (
    similarity_by_temperature_caption,
    similarity_by_temperature_data,
    similarity_by_temperature_figure,
    tokens_by_temperature_caption,
    tokens_by_temperature_data,
    tokens_by_temperature_figure,
)
from dsqa.figures.common import Caption
from dsqa.figures.instability import instability_caption, instability_data, instability_figure
from dsqa.figures.question_map import (
    question_map_caption,
    question_map_data,
    question_map_figure,
    question_map_pages,
)
from dsqa.figures.save import FORMATS, save_figure

__all__ = ["FIGURES", "FigureKind", "save_figures"]


@dataclass(frozen=True)
class FigureKind:
    """A figure: which table it is drawn from, and the functions that make it.

    Parameters
    ----------
    name
        As in file names.
    source
        ``cells`` or ``outcomes``: the table that the functions take.
    figure, data, caption
        Take the table; where there are pages, also ``page``.
    pages
        Takes the table and counts the pages; None where there is always one.
    """

    name: str
    source: Literal["cells", "outcomes"]
    figure: Callable[..., Figure]
    data: Callable[..., pd.DataFrame]
    caption: Callable[..., Caption]
    pages: Callable[[pd.DataFrame], int] | None = None


_ALL = (
    FigureKind(
        "question-map", "cells", question_map_figure, question_map_data, question_map_caption, question_map_pages
    ),
    FigureKind("instability", "cells", instability_figure, instability_data, instability_caption),
    FigureKind(
        "accuracy-instability",
        "cells",
        accuracy_instability_figure,
        accuracy_instability_data,
        accuracy_instability_caption,
    ),
    FigureKind("answers", "outcomes", answers_figure, answers_data, answers_caption, answers_pages),
    FigureKind(
        "tokens-by-temperature",
        "outcomes",
        tokens_by_temperature_figure,
        tokens_by_temperature_data,
        tokens_by_temperature_caption,
    ),
    FigureKind(
        "similarity-by-temperature",
        "outcomes",
        similarity_by_temperature_figure,
        similarity_by_temperature_data,
        similarity_by_temperature_caption,
    ),
)

FIGURES: dict[str, FigureKind] = {kind.name: kind for kind in _ALL}
"""The figures by name, in the order a report shows them."""


def save_figures(
    outcomes: pd.DataFrame,
    cells: pd.DataFrame,
    out_dir: Path,
    *,
    only: Iterable[str] | None = None,
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Draw and write the figures of a study; see `save_figure` for the files.

    Parameters
    ----------
    outcomes, cells
        The outcome table, and the cells table made from it.
    out_dir
        Made if it is not there.
    only
        Names from `FIGURES`; all by default. A figure of several pages is written as ``name-1``, ``name-2``, ….
    formats
        Any of ``svg``, ``pdf`` and ``png``.

    Raises
    ------
    ReportError
        There is no such figure, or a file cannot be written.
    """
    names = list(FIGURES) if only is None else list(only)
    for name in names:
        if name not in FIGURES:
            raise ReportError(f"there is no figure '{name}'", hint=f"figures are: {', '.join(FIGURES)}")
    paths: list[Path] = []
    for kind in (FIGURES[name] for name in names):
        table = cells if kind.source == "cells" else outcomes
        pages = 1 if kind.pages is None else kind.pages(table)
        for page in range(1, pages + 1):
            which = {} if kind.pages is None else {"page": page}
            paths += save_figure(
                kind.figure(table, **which),
                kind.data(table, **which),
                kind.caption(table, **which),
                out_dir,
                kind.name if pages == 1 else f"{kind.name}-{page}",
                formats,
            )
    return paths
