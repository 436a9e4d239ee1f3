"""What the bank is made of: questions by category and level."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dsqa.bank import Bank
from dsqa.bank.composition import LEVELS as BANK_LEVELS
from dsqa.bank.composition import composition_of
from dsqa.figures.common import Caption, clean_left, counted, shorten
from dsqa.figures.style import EDGE, HATCHES, LEVELS, SMALL, WIDTHS_MM, Width, ink_on, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables

__all__ = ["bank_composition_caption", "bank_composition_data", "bank_composition_figure", "bank_of"]

MAX_CATEGORIES = 40
"""Categories with a bar of their own; beyond it the smallest share one."""

_ROW_MM = 5.0
_DIGIT_MM = 1.8


def bank_of(tables: StudyTables) -> Bank:
    """Return the study's bank.

    Raises
    ------
    NotApplicableError
        It is not known, or empty.
    """
    if tables.bank is None or not len(tables.bank):
        raise NotApplicableError("the questions themselves are not at hand, only what came of them")
    return tables.bank


def bank_composition_data(bank: Bank) -> pd.DataFrame:
    """Return what `bank_composition_figure` draws: category, level and questions, a row per pair, largest first."""
    counts = composition_of(bank).by_category
    order = sorted(counts, key=lambda category: -sum(counts[category].values()))
    rows = [(category, level, counts[category][level]) for category in order for level in BANK_LEVELS]
    return pd.DataFrame(rows, columns=["category", "level", "questions"])


@styled
def bank_composition_figure(bank: Bank, *, width: Width = "double") -> Figure:
    """Draw the number of questions per category, each bar divided by level.

    Parameters
    ----------
    bank
        The questions, each counted once however often it was asked.
    width
        ``single`` (89 mm) or ``double`` (183 mm).
    """
    bars = _bars(bank)
    figure = new_figure(width, _ROW_MM * len(bars) + 22)
    axes = figure.subplots()
    most = max(sum(levels.values()) for levels in bars.values())
    per_question = (WIDTHS_MM[width] - 55) / most
    for row, levels in enumerate(bars.values()):
        start = 0
        for hatch, (level, number) in zip(HATCHES, levels.items(), strict=False):
            if not number:
                continue
            colour = LEVELS[level][0]
            axes.barh(row, number, left=start, height=0.72, color=colour, edgecolor=EDGE, linewidth=0.5, hatch=hatch)
            if number * per_question >= _DIGIT_MM * (len(str(number)) + 1):
                # A plain ground, so that no hatching runs through the digits.
                ground = {"facecolor": colour, "edgecolor": "none", "pad": 0.8}
                middle = start + number / 2
                axes.text(
                    middle, row, f"{number}", size=SMALL, color=ink_on(colour), ha="center", va="center", bbox=ground
                )
            start += number
        axes.text(start, row, f" {start}", size=SMALL, va="center", fontweight="bold")
    axes.set_yticks(range(len(bars)), [shorten(name, 34) for name in bars])
    axes.set(ylim=(len(bars) - 0.4, -0.6), xlim=(0, most * 1.06), xlabel="Questions in the bank")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.grid(axis="x")
    clean_left(axes)
    handles = [
        Patch(facecolor=LEVELS[level][0], edgecolor=EDGE, linewidth=0.5, hatch=hatch, label=level)
        for hatch, level in zip(HATCHES, BANK_LEVELS, strict=False)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3, title="Level", alignment="left")
    return figure


def bank_composition_caption(bank: Bank) -> Caption:
    """Return the caption of `bank_composition_figure` for the same bank."""
    made = composition_of(bank)
    levels = ", ".join(f"{level} {number}" for level, number in made.levels.items())
    files = sum(name != "(none)" for name in made.by_file)
    text = (
        f"Questions of the bank by category and level, each counted once however often it was asked. "
        f"N = {counted(made.total, 'question')} in {_categories(len(made.by_category))} on "
        f"{counted(files, 'data file')}: {levels}."
    )
    if len(made.by_category) > MAX_CATEGORIES:
        text += f" The smallest {_categories(len(made.by_category) - MAX_CATEGORIES + 1)} share the last bar."
    data = bank_composition_data(bank).groupby("category", sort=False)["questions"].sum()
    largest = "; ".join(f"{name} {number}" for name, number in data.head(5).items())
    return Caption(
        "Composition of the bank",
        text,
        f"Stacked bars of {counted(made.total, 'question')} by category and level. Largest categories: {largest}.",
    )


def _categories(number: int) -> str:
    return f"{number} categor{'y' if number == 1 else 'ies'}"


def _bars(bank: Bank) -> dict[str, dict[str, int]]:
    data = bank_composition_data(bank)
    bars = {
        str(category): {
            str(level): int(number) for level, number in zip(rows["level"], rows["questions"], strict=True)
        }
        for category, rows in data.groupby("category", sort=False)
    }
    if len(bars) <= MAX_CATEGORIES:
        return bars
    names = list(bars)
    rest = names[MAX_CATEGORIES - 1 :]
    pooled = {level: sum(bars[name][level] for name in rest) for level in BANK_LEVELS}
    return {name: bars[name] for name in names[: MAX_CATEGORIES - 1]} | {f"{len(rest)} other categories": pooled}
