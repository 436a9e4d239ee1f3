"""Figures for reports and papers: numbers in, a matplotlib figure out.

`FIGURES` holds every figure by name. Each has a source, which takes a study's `StudyTables` and returns what is to be
shown (a table, or estimates made by `dsqa.stats`), and three functions of that: one draws it, one gives the rows it
shows, one what is written under it. `draw_figure` calls them; `save_figures` writes the files.
"""

from dsqa.figures.catalogue import FIGURES, Drawn, FigureKind, Saved, draw_figure, save_figures
from dsqa.figures.common import Caption
from dsqa.figures.save import FORMATS, render, save_figure
from dsqa.figures.style import style
from dsqa.figures.tables import NotApplicableError, StudyTables

__all__ = [
    "FIGURES",
    "FORMATS",
    "Caption",
    "Drawn",
    "FigureKind",
    "NotApplicableError",
    "Saved",
    "StudyTables",
    "draw_figure",
    "render",
    "save_figure",
    "save_figures",
    "style",
]
