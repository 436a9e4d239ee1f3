"""Names beside points, placed so that they hide nothing."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from dsqa.figures.style import INK, SMALL

__all__ = ["Dot", "place_labels"]


@dataclass(frozen=True)
class Dot:
    """A mark on the axes: its place in data units, its radius in points, its name (or "")."""

    x: float
    y: float
    radius: float
    name: str


# The corners first: right, left, above and below are where the intervals run.
_SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))


def place_labels(axes: Axes, dots: list[Dot]) -> int:
    """Write each dot's name on the first side where it covers no dot and no earlier name.

    A name that fits nowhere is left out rather than printed over another.

    Parameters
    ----------
    axes
        With its limits and the figure's layout settled.
    dots
        In order of precedence.

    Returns
    -------
    int
        How many names were written.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 (axes that are drawn on belong to a figure)
    canvas = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    point = figure.dpi / 72
    frame = axes.get_window_extent(renderer)
    centres = [axes.transData.transform((dot.x, dot.y)) for dot in dots]
    taken = [
        Bbox.from_bounds(cx - r, cy - r, 2 * r, 2 * r)
        for (cx, cy), r in zip(centres, (dot.radius * point for dot in dots), strict=True)
    ]
    written = 0
    for dot in (dot for dot in dots if dot.name):
        for right, up in _SIDES:
            gap = (dot.radius + 2) * (0.8 if right and up else 1)
            text = axes.annotate(
                dot.name,
                (dot.x, dot.y),
                xytext=(right * gap, up * gap),
                textcoords="offset points",
                ha={1: "left", -1: "right", 0: "center"}[right],
                va={1: "bottom", -1: "top", 0: "center"}[up],
                size=SMALL,
                color=INK,
                zorder=4,
                annotation_clip=False,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.4},
            )
            text.set_in_layout(False)
            box = text.get_window_extent(renderer)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                written += 1
                break
            text.remove()
    return written
