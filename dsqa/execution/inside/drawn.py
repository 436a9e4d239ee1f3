"""What a figure shows, as plain data: its axes, and the marks on them.

Data are capped; counts are not, so that what is missing can be seen.
"""

from __future__ import annotations

from typing import Any

from .marks import describe_marks
from .values import clipped, number, numbers

__all__ = ["describe"]

SCHEMA = 1
_MAX_AXES = 40
_MAX_TICKS = 60
_MAX_TEXTS = 100


def describe(figure: Any, *, shown: bool, saved: list[str]) -> dict[str, Any]:
    """Return the figure's title, size and axes; call it after drawing, when the ticks are known."""
    suptitle = getattr(figure, "_suptitle", None)
    width, height = figure.get_size_inches()
    axes = figure.axes
    return {
        "schema": SCHEMA,
        "title": clipped(suptitle.get_text()) if suptitle is not None else "",
        "label": clipped(str(figure.get_label())),
        "size_inches": [number(width), number(height)],
        "dpi": number(figure.dpi),
        "shown": shown,
        "saved_as": saved,
        "texts": [clipped(text.get_text()) for text in figure.texts if text is not suptitle][:_MAX_TEXTS],
        "legends": [_legend(legend) for legend in figure.legends],
        "axes_total": len(axes),
        "axes": [_axes(item) for item in axes[:_MAX_AXES]],
    }


def _axes(axes: Any) -> dict[str, Any]:
    legend = axes.get_legend()
    marks, total = describe_marks(axes)
    titles = [axes.get_title(loc=place) for place in ("center", "left", "right")]
    return {
        "title": clipped(next((title for title in titles if title), "")),
        "kind": str(axes.name),
        "position": numbers(axes.get_position().bounds),
        "visible": bool(axes.get_visible() and axes.axison),
        "colorbar": getattr(axes, "_colorbar", None) is not None or axes.get_label() == "<colorbar>",
        "x": _axis(axes, "x"),
        "y": _axis(axes, "y"),
        **({"z": _axis(axes, "z")} if hasattr(axes, "get_zlim") else {}),
        "legend": _legend(legend) if legend is not None else None,
        "texts": [_text(text) for text in axes.texts[:_MAX_TEXTS]],
        "marks_total": total,
        "marks": marks,
    }


def _axis(axes: Any, name: str) -> dict[str, Any]:
    axis = getattr(axes, f"{name}axis")
    low, high = getattr(axes, f"get_{name}lim")()
    ticks: list[list[Any]] = []
    for position, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False):
        text = label.get_text()
        if min(low, high) <= position <= max(low, high) and len(ticks) < _MAX_TICKS:
            ticks.append([number(position), clipped(text, 80)])
    return {
        "label": clipped(axis.get_label_text()),
        "scale": str(getattr(axes, f"get_{name}scale")()),
        "limits": [number(low), number(high)],
        "values": _unit(axis),
        "ticks": ticks,
    }


def _unit(axis: Any) -> str:
    """Return whether an axis shows numbers, dates or categories."""
    get = getattr(axis, "get_converter", None)
    converter = type(get() if get is not None else axis.converter).__name__
    if "Category" in converter:
        return "categories"
    return "dates" if "Date" in converter or "Period" in converter else "numbers"


def _legend(legend: Any) -> dict[str, Any]:
    title = legend.get_title()
    return {
        "title": clipped(title.get_text()) if title is not None else "",
        "texts": [clipped(text.get_text()) for text in legend.get_texts()[:_MAX_TEXTS]],
    }


def _text(text: Any) -> dict[str, Any]:
    position = getattr(text, "xy", None) or text.get_position()
    return {
        "text": clipped(text.get_text()),
        "at": [number(position[0]), number(position[1])],
        "arrow": getattr(text, "arrow_patch", None) is not None,
    }
