"""How every figure looks: sizes, fonts, colours, markers; set for a while, never for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Literal, ParamSpec

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.typing import ColorType

__all__ = [
    "EDGE",
    "GREY",
    "HATCHES",
    "HEAT",
    "INK",
    "LEVELS",
    "MARKERS",
    "MM",
    "PALETTE",
    "SMALL",
    "VERDICTS",
    "WIDTHS_MM",
    "Mark",
    "Width",
    "ink_on",
    "luminance",
    "new_figure",
    "style",
    "styled",
]


MM = 1 / 25.4
"""Inches in a millimetre."""

Width = Literal["single", "double"]
WIDTHS_MM: dict[Width, float] = {"single": 89.0, "double": 183.0}
"""A journal's column and page width, in mm."""

SMALL = 7.0
"""The smallest font, in points."""

# Dark to light in steps of at least 16 L*, so grey print keeps them apart; blue against orange, so that
# red-green blindness does too. Tests hold both to numbers.
PALETTE = ("#12355B", "#B5460F", "#4FA3D1", "#F2C14E")
HATCHES = ("", "////", "\\\\\\\\", "xxxx")  # no dots: as outlines they weigh 200 kB a figure
MARKERS = ("o", "s", "^", "D")
INK = "#1A1A1A"
GREY = "#6E6E6E"
EDGE = "#1A1A1A"
HEAT = LinearSegmentedColormap.from_list("dsqa", ["#FFFFFF", PALETTE[2], PALETTE[0]])
"""White to navy: lightness falls all the way, so grey print keeps the order."""

Mark = tuple[str, str]
"""A colour and a marker."""

LEVELS: dict[str, Mark] = {
    "easy": (PALETTE[2], "o"),
    "medium": (PALETTE[1], "s"),
    "hard": (PALETTE[0], "^"),
}
VERDICTS: dict[str, Mark] = {
    "stable and right": (PALETTE[2], "o"),
    "stable and wrong": (PALETTE[0], "X"),
    "unstable": (PALETTE[3], "D"),
    "not read": ("#FFFFFF", "s"),
    "no answers": ("#FFFFFF", "p"),
    "not known": ("#FFFFFF", "v"),
}
"""The verdicts of dsqa.stats, from the most to the least favourable."""

_SETTINGS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],  # ships with matplotlib: nothing to download, the same everywhere
    "font.size": 8,
    "text.parse_math": False,  # a $ in a question's id or an answer is a dollar
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.4,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#DEDEDE",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "hatch.linewidth": 0.5,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "svg.fonttype": "path",  # text as outlines: looks the same where DejaVu is missing
    "svg.hashsalt": "dsqa",
    "pdf.fonttype": 42,
}

P = ParamSpec("P")


def luminance(colour: ColorType) -> float:
    """Return the relative luminance of a colour, 0 (black) to 1 (white), by WCAG 2.2."""
    channels = np.asarray(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def ink_on(background: ColorType) -> str:
    """Return the text colour, dark or white, that stands out more from `background` (WCAG 2.2 contrast)."""
    ground, dark = luminance(background) + 0.05, luminance(INK) + 0.05
    return INK if ground / dark >= 1.05 / ground else "#FFFFFF"


@contextmanager
def style() -> Iterator[None]:
    """Apply dsqa's look inside a ``with`` block, whatever the caller's own settings are.

    Matplotlib's defaults come first, so that a user's ``matplotlibrc`` or seaborn theme changes nothing;
    the caller's settings are back afterwards.
    """
    with mpl.style.context(["default", _SETTINGS]):
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a drawing function run under `style` and return a figure whose layout is settled."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with style():
            figure = draw(*args, **kwargs)
            # Ticks are made when first drawn, from the settings of that moment.
            figure.draw_without_rendering()
            # Frozen, so that what is rendered does not depend on how often it was rendered before.
            figure.set_layout_engine("none")
            return figure

    return wrapper


def new_figure(width: Width, height_mm: float) -> Figure:
    """Return an empty figure of a column's width; pyplot does not know of it, so nothing needs closing."""
    return Figure(figsize=(WIDTHS_MM[width] * MM, height_mm * MM), layout="constrained")
