"""Figures for reports and papers: a table in, a matplotlib figure out.

Each figure has three functions: ``…_figure`` draws it, ``…_data`` gives the rows it shows, ``…_caption`` what is
written under it. `FIGURES` holds those that a study's tables alone can give.
"""

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
from dsqa.figures.catalogue import FIGURES, FigureKind, save_figures
from dsqa.figures.common import Caption
from dsqa.figures.correlation import correlation_caption, correlation_data, correlation_figure
from dsqa.figures.instability import instability_caption, instability_data, instability_figure
from dsqa.figures.question_map import (
    question_map_caption,
    question_map_data,
    question_map_figure,
    question_map_pages,
)
from dsqa.figures.save import FORMATS, render, save_figure
from dsqa.figures.style import style
from dsqa.figures.verbosity import LogLogFit, verbosity_caption, verbosity_data, verbosity_figure

__all__ = [
    "FIGURES",
    "FORMATS",
    "Caption",
    "FigureKind",
    "LogLogFit",
    "accuracy_instability_caption",
    "accuracy_instability_data",
    "accuracy_instability_figure",
    "answers_caption",
    "answers_data",
    "answers_figure",
    "answers_pages",
    "correlation_caption",
    "correlation_data",
    "correlation_figure",
    "instability_caption",
    "instability_data",
    "instability_figure",
    "question_map_caption",
    "question_map_data",
    "question_map_figure",
    "question_map_pages",
    "render",
    "save_figure",
    "save_figures",
    "similarity_by_temperature_caption",
    "similarity_by_temperature_data",
    "similarity_by_temperature_figure",
    "style",
    "tokens_by_temperature_caption",
    "tokens_by_temperature_data",
    "tokens_by_temperature_figure",
    "verbosity_caption",
    "verbosity_data",
    "verbosity_figure",
]
