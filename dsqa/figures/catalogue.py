"""Every figure that a study can give, by name, and how each is drawn and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dsqa.errors import ReportError, StatisticsError
from dsqa.figures import (
    accuracy,
    answers,
    bank_composition,
    by_question,
    by_temperature,
    correlation,
    cost,
    cumulative,
    gallery,
    instability,
    instability_groups,
    question_map,
    runs_needed,
    verbosity,
)
from dsqa.figures.common import Caption
from dsqa.figures.save import FORMATS, save_figure
from dsqa.figures.tables import NotApplicableError, StudyTables

__all__ = ["FIGURES", "Drawn", "FigureKind", "Saved", "draw_figure", "save_figures"]


@dataclass(frozen=True)
class FigureKind:
    """A figure: where its numbers come from, and the functions that make it of them.

    Parameters
    ----------
    name
        As in file names.
    source
        Takes the study's tables and the `options`, and returns the one thing that the other functions take: a table,
        or estimates made of it. Called once however many pages there are. It raises `NotApplicableError` where the
        study has nothing to show.
    figure, data, caption
        Take what `source` returned; where there are pages, also ``page``.
    pages
        Takes what `source` returned and counts the pages; None where there is always one.
    options
        Names of the keywords that `source` takes.
    """

    name: str
    source: Callable[..., Any]
    figure: Callable[..., Figure]
    data: Callable[..., pd.DataFrame]
    caption: Callable[..., Caption]
    pages: Callable[[Any], int] | None = None
    options: tuple[str, ...] = ()


def _outcomes(tables: StudyTables) -> pd.DataFrame:
    return tables.outcomes


def _cells(tables: StudyTables) -> pd.DataFrame:
    return tables.cells


_ALL = (
    FigureKind(
        "bank-composition",
        bank_composition.bank_of,
        bank_composition.bank_composition_figure,
        bank_composition.bank_composition_data,
        bank_composition.bank_composition_caption,
    ),
    FigureKind(
        "question-map",
        _cells,
        question_map.question_map_figure,
        question_map.question_map_data,
        question_map.question_map_caption,
        question_map.question_map_pages,
    ),
    FigureKind(
        "instability",
        _cells,
        instability.instability_figure,
        instability.instability_data,
        instability.instability_caption,
    ),
    FigureKind(
        "instability-by-category",
        instability_groups.instability_groups_of,
        instability_groups.instability_groups_figure,
        instability_groups.instability_groups_data,
        instability_groups.instability_groups_caption,
    ),
    FigureKind(
        "accuracy-instability",
        _cells,
        accuracy.accuracy_instability_figure,
        accuracy.accuracy_instability_data,
        accuracy.accuracy_instability_caption,
    ),
    FigureKind(
        "answers",
        answers.answers_of,
        answers.answers_figure,
        answers.answers_data,
        answers.answers_caption,
        answers.answers_pages,
    ),
    FigureKind(
        "correlation-heatmap",
        correlation.correlations_of,
        correlation.correlation_heatmap_figure,
        correlation.correlation_heatmap_data,
        correlation.correlation_heatmap_caption,
        options=("kind", "metrics"),
    ),
    FigureKind(
        "verbosity-fit",
        verbosity.verbosity_of,
        verbosity.verbosity_fit_figure,
        verbosity.verbosity_fit_data,
        verbosity.verbosity_fit_caption,
    ),
    FigureKind(
        "verbosity-residuals",
        verbosity.verbosity_of,
        verbosity.verbosity_residuals_figure,
        verbosity.verbosity_residuals_data,
        verbosity.verbosity_residuals_caption,
    ),
    FigureKind(
        "tokens-by-temperature",
        _outcomes,
        by_temperature.tokens_by_temperature_figure,
        by_temperature.tokens_by_temperature_data,
        by_temperature.tokens_by_temperature_caption,
    ),
    FigureKind(
        "similarity-by-temperature",
        _outcomes,
        by_temperature.similarity_by_temperature_figure,
        by_temperature.similarity_by_temperature_data,
        by_temperature.similarity_by_temperature_caption,
    ),
    FigureKind(
        "question-by-model",
        by_question.question_by_model_of,
        by_question.question_figure,
        by_question.question_data,
        by_question.question_caption,
        options=("question",),
    ),
    FigureKind(
        "question-by-temperature",
        by_question.question_by_temperature_of,
        by_question.question_figure,
        by_question.question_data,
        by_question.question_caption,
        options=("question",),
    ),
    FigureKind(
        "gallery",
        gallery.gallery_of,
        gallery.gallery_figure,
        gallery.gallery_data,
        gallery.gallery_caption,
        options=("question", "condition"),
    ),
    FigureKind(
        "runs-needed",
        runs_needed.runs_needed_of,
        runs_needed.runs_needed_figure,
        runs_needed.runs_needed_data,
        runs_needed.runs_needed_caption,
        options=("target", "runs", "simulations"),
    ),
    FigureKind(
        "cumulative-mean",
        cumulative.cumulative_of,
        cumulative.cumulative_mean_figure,
        cumulative.cumulative_mean_data,
        cumulative.cumulative_mean_caption,
        options=("question", "metric"),
    ),
    FigureKind(
        "cost-reliability",
        cost.cost_reliability_of,
        cost.cost_reliability_figure,
        cost.cost_reliability_data,
        cost.cost_reliability_caption,
        options=("per",),
    ),
)

FIGURES: dict[str, FigureKind] = {kind.name: kind for kind in _ALL}
"""The figures by name, in the order of the paper and then of a report."""


@dataclass(frozen=True)
class Drawn:
    """A figure with what belongs to it.

    Parameters
    ----------
    name
        The kind's name; from the second page on with the page's number: ``answers-2``.
    figure, data, caption
        As the kind's functions return them.
    """

    name: str
    figure: Figure
    data: pd.DataFrame
    caption: Caption


@dataclass(frozen=True)
class Saved:
    """What `save_figures` did.

    Parameters
    ----------
    paths
        The files.
    skipped
        Figure → why this study has none.
    """

    paths: tuple[Path, ...]
    skipped: dict[str, str] = field(default_factory=dict)


def figure_kind(name: str) -> FigureKind:
    """Return the figure of that name.

    Raises
    ------
    ReportError
        There is none.
    """
    if name not in FIGURES:
        raise ReportError(f"there is no figure '{name}'", hint=f"figures are: {', '.join(FIGURES)}")
    return FIGURES[name]


def draw_figure(name: str, tables: StudyTables, **options: Any) -> Iterator[Drawn]:
    """Draw a figure of a study, page by page.

    Parameters
    ----------
    name
        One of `FIGURES`.
    tables
        The study.
    options
        See `FigureKind.options`.

    Raises
    ------
    NotApplicableError
        The study has nothing to show there.
    ReportError
        There is no such figure or option, or a page cannot be drawn.
    """
    kind = figure_kind(name)
    unknown = [option for option in options if option not in kind.options]
    if unknown:
        takes = f"it takes: {', '.join(kind.options)}" if kind.options else "it takes none"
        raise ReportError(f"the figure '{name}' has no option '{unknown[0]}'", hint=takes)
    if tables.outcomes.empty:
        raise NotApplicableError("no run is marked yet")
    try:
        shown = kind.source(tables, **options)
    except StatisticsError as error:
        raise NotApplicableError(error.message, hint=error.hint) from None
    pages = 1 if kind.pages is None else kind.pages(shown)
    for page in range(1, pages + 1):
        which = {} if kind.pages is None else {"page": page}
        yield Drawn(
            name if pages == 1 else f"{name}-{page}",
            kind.figure(shown, **which),
            kind.data(shown, **which),
            kind.caption(shown, **which),
        )


def save_figures(
    tables: StudyTables,
    out_dir: Path,
    *,
    only: Iterable[str] | None = None,
    formats: Sequence[str] = FORMATS,
    **options: Any,
) -> Saved:
    """Draw and write the figures of a study; see `save_figure` for the files.

    Parameters
    ----------
    tables
        The study.
    out_dir
        Made if it is not there.
    only
        Names from `FIGURES`; all that apply to the study by default. A figure of several pages is written as
        ``name-1``, ``name-2``, ….
    formats
        Any of ``svg``, ``pdf`` and ``png``.
    options
        Each for the figures that have it.

    Raises
    ------
    NotApplicableError
        A figure named in `only` has nothing to show for this study.
    ReportError
        There is no such figure, or a file cannot be written.
    """
    kinds = list(FIGURES.values()) if only is None else [figure_kind(name) for name in only]
    paths: list[Path] = []
    skipped: dict[str, str] = {}
    for kind in kinds:
        mine = {name: value for name, value in options.items() if name in kind.options}
        try:
            for drawn in draw_figure(kind.name, tables, **mine):
                paths += save_figure(drawn.figure, drawn.data, drawn.caption, out_dir, drawn.name, formats)
        except NotApplicableError as error:
            if only is not None:
                raise NotApplicableError(
                    f"the figure '{kind.name}' does not apply: {error.message}", hint=error.hint
                ) from None
            skipped[kind.name] = error.message
    return Saved(tuple(paths), skipped)
