"""The marks on one axes: lines, points, bars, histograms, areas, images and whatever else is there."""

from __future__ import annotations

import itertools
import math
from typing import Any

from .values import clipped, colours, number, numbers

__all__ = ["describe_marks"]

_MAX_MARKS = 60
_MAX_VALUES = 200
_MAX_CELLS = 900


def describe_marks(axes: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the first marks on the axes in drawing order, and how many there are.

    Bars drawn together are one mark. Bars whose sides touch are a histogram.
    """
    grouped: dict[int, dict[str, Any] | None] = {}
    for container in axes.containers:
        _group(container, axes, grouped)
    marks: list[dict[str, Any]] = []
    total = 0
    for artist in axes.get_children():
        if id(artist) in grouped:
            mark = grouped[id(artist)]
        elif _is_frame(artist, axes):
            continue
        else:
            mark = _one(artist, axes)
        if mark is None:
            continue
        total += 1
        if len(marks) < _MAX_MARKS:
            marks.append(mark)
    return marks, total


def _is_frame(artist: Any, axes: Any) -> bool:
    """Tell what belongs to the axes from what was drawn on them."""
    from matplotlib.axis import Axis  # noqa: PLC0415
    from matplotlib.legend import Legend  # noqa: PLC0415
    from matplotlib.spines import Spine  # noqa: PLC0415
    from matplotlib.text import Text  # noqa: PLC0415

    return isinstance(artist, Axis | Spine | Text | Legend) or artist is axes.patch or not artist.get_visible()


def _group(container: Any, axes: Any, grouped: dict[int, dict[str, Any] | None]) -> None:
    """Describe artists that were made by one call, at the place of their first."""
    name = type(container).__name__
    if name == "BarContainer":
        patches = [patch for patch in container.patches if patch.get_visible()]
        if patches:
            grouped.update({id(patch): None for patch in patches})
            grouped[id(patches[0])] = _bars(patches, container)
    elif name == "ErrorbarContainer":
        line, caps, bars = container.lines
        parts = [part for part in (line, *caps, *bars) if part is not None]
        grouped.update({id(part): None for part in parts})
        if parts:
            mark: dict[str, Any] = {"kind": "error bars", "label": _label(container)}
            if line is not None:
                mark.update(_xy(line.get_xdata(orig=False), line.get_ydata(orig=False), axes))
            else:
                mark["n"] = len(bars[0].get_segments())
            grouped[id(parts[0])] = mark


def _bars(patches: list[Any], container: Any) -> dict[str, Any]:
    upright = getattr(container, "orientation", None) != "horizontal"
    first = "get_x" if upright else "get_y"
    width, height = ("get_width", "get_height") if upright else ("get_height", "get_width")
    starts = [float(getattr(patch, first)()) for patch in patches]
    ends = [start + float(getattr(patch, width)()) for start, patch in zip(starts, patches, strict=True)]
    heights = [getattr(patch, height)() for patch in patches]
    mark: dict[str, Any] = {"label": _label(container), "n": len(patches), "upright": upright}
    mark["colours"] = colours([patch.get_facecolor() for patch in patches])
    size = max(map(abs, (*starts, *ends)), default=0) or 1
    touching = len(patches) > 1 and all(
        abs(end - start) <= 1e-6 * size for end, start in zip(ends, starts[1:], strict=False)
    )
    if touching:
        counts = numbers(heights, _MAX_VALUES)
        return {"kind": "histogram", **mark, "edges": numbers([*starts, ends[-1]], _MAX_VALUES + 1), "counts": counts}
    base = [getattr(patch, "get_y" if upright else "get_x")() for patch in patches]
    middle = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
    places = {"at": numbers(middle, _MAX_VALUES), "heights": numbers(heights, _MAX_VALUES)}
    return {"kind": "bars", **mark, **places, **({"base": numbers(base, _MAX_VALUES)} if any(base) else {})}


def _one(artist: Any, axes: Any) -> dict[str, Any] | None:
    from matplotlib import collections, image, lines, patches  # noqa: PLC0415

    if isinstance(artist, lines.Line2D):
        return _line(artist, axes)
    if isinstance(artist, collections.PathCollection) and not hasattr(artist, "levels"):
        return _points(artist, axes)
    if isinstance(artist, collections.Collection):
        return _collection(artist)
    if isinstance(artist, image.AxesImage):
        return {"kind": "image", "extent": numbers(artist.get_extent()), **_array(artist)}
    if isinstance(artist, patches.StepPatch):
        data: Any = artist.get_data()
        edges, counts = numbers(data.edges, _MAX_VALUES + 1), numbers(data.values, _MAX_VALUES)
        return {"kind": "histogram", **_patch(artist), "n": len(data.values), "edges": edges, "counts": counts}
    if isinstance(artist, patches.Patch):
        return _shape(artist)
    return {"kind": "other", "type": type(artist).__name__, "label": _label(artist)}


def _label(artist: Any) -> str:
    label = str(artist.get_label() or "")
    # Matplotlib's own names for what has none.
    return "" if label.startswith("_") or label == "None" else clipped(label)


def _dates(values: Any, axis: Any) -> Any:
    get = getattr(axis, "get_converter", None)
    converter = type(get() if get is not None else axis.converter).__name__
    if "Date" not in converter:
        return values
    from matplotlib import dates  # noqa: PLC0415

    num2date: Any = dates.num2date
    return [num2date(value).replace(tzinfo=None) for value in values if math.isfinite(value)]


def _xy(x: Any, y: Any, axes: Any) -> dict[str, Any]:
    xs, ys = numbers(_dates(x[:_MAX_VALUES], axes.xaxis)), numbers(_dates(y[:_MAX_VALUES], axes.yaxis))
    return {"n": len(x), "x": xs, "y": ys, "x_range": _range(x), "y_range": _range(y)}


def _range(values: Any) -> list[Any]:
    import numpy as np  # noqa: PLC0415

    plain: Any = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    plain = plain[np.isfinite(plain)]
    return [number(plain.min()), number(plain.max())] if plain.size else [None, None]


def _line(line: Any, axes: Any) -> dict[str, Any]:
    x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
    marker = str(line.get_marker())
    return {
        "kind": "line",
        "label": _label(line),
        "colours": colours([line.get_color()]),
        "style": str(line.get_linestyle()),
        "marker": "" if marker in {"None", ""} else marker,
        **_xy(x, y, axes),
    }


def _points(collection: Any, axes: Any) -> dict[str, Any]:
    offsets = collection.get_offsets()
    sizes = collection.get_sizes()
    mark = {"kind": "points", "label": _label(collection), "colours": colours(collection.get_facecolor())}
    mark |= {"sizes": _range(sizes) if len(sizes) else [], **_xy(offsets[:, 0], offsets[:, 1], axes)}
    return mark | (_scale(collection) if collection.get_array() is not None else {})


def _collection(collection: Any) -> dict[str, Any]:
    from matplotlib.collections import LineCollection, PolyCollection, QuadMesh  # noqa: PLC0415

    mark: dict[str, Any] = {"label": _label(collection), "colours": colours(collection.get_facecolor())}
    if hasattr(collection, "levels"):
        return {"kind": "contours", **mark, "levels": numbers(collection.levels)}
    if isinstance(collection, QuadMesh):
        return {"kind": "grid", "label": mark["label"], **_array(collection)}
    if isinstance(collection, LineCollection):
        segments = collection.get_segments()
        first = [[numbers(point) for point in segment[:_MAX_VALUES]] for segment in segments[:20]]
        return {"kind": "segments", **mark, "colours": colours(collection.get_color()), "n": len(segments),
                "segments": first}  # fmt: skip
    if isinstance(collection, PolyCollection):
        corners: list[Any] = [path.vertices for path in collection.get_paths()[:20]]
        boxes = [[_range(points[:, 0]), _range(points[:, 1])] for points in corners]
        return {"kind": "areas", **mark, "n": len(collection.get_paths()), "boxes": boxes}
    return {"kind": "other", **mark, "type": type(collection).__name__, "n": len(collection.get_paths())}


def _scale(mappable: Any) -> dict[str, Any]:
    low, high = mappable.get_clim()
    return {"colour_map": str(mappable.get_cmap().name), "colour_limits": [number(low), number(high)]}


def _array(mappable: Any) -> dict[str, Any]:
    array = mappable.get_array()
    if array is None:
        return {"shape": []}
    facts: dict[str, Any] = {"shape": list(array.shape), "range": _range(array.ravel()), **_scale(mappable)}
    if array.ndim == 2 and array.size <= _MAX_CELLS:
        facts["values"] = [numbers(row.filled(float("nan")) if hasattr(row, "filled") else row) for row in array]
    return facts


def _patch(patch: Any) -> dict[str, Any]:
    return {"label": _label(patch), "colours": colours([patch.get_facecolor()])}


def _shape(patch: Any) -> dict[str, Any]:
    from matplotlib import patches  # noqa: PLC0415

    if isinstance(patch, patches.Wedge):
        share = (patch.theta2 - patch.theta1) / 360
        return {"kind": "wedge", **_patch(patch), "share": number(share)}
    if isinstance(patch, patches.Rectangle):
        corner = numbers([patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height()])
        return {"kind": "rectangle", **_patch(patch), "box": corner}
    if isinstance(patch, patches.Polygon):
        return _polygon(patch)
    points = patch.get_path().transformed(patch.get_patch_transform()).vertices
    box = [_range(points[:, 0]), _range(points[:, 1])]
    return {"kind": "shape", "type": type(patch).__name__, **_patch(patch), "box": box}


def _polygon(patch: Any) -> dict[str, Any]:
    """Return a polygon; one that only goes up, down and along is what `hist(histtype="step")` draws."""
    points = [(float(x), float(y)) for x, y in patch.get_xy()]
    steps = list(itertools.pairwise(points))
    # `hist` goes there along the counts and, for a filled one, back along the base.
    there = [(a, b) for a, b in steps if b[0] > a[0]]
    straight = all(a[0] == b[0] or a[1] == b[1] for a, b in steps)
    joined = all(first[1][0] == second[0][0] for first, second in itertools.pairwise(there))
    if straight and joined and len(there) > 1:
        edges, counts = [a[0] for a, _ in there] + [there[-1][1][0]], [a[1] for a, _ in there]
        return {"kind": "histogram", **_patch(patch), "n": len(counts), "edges": numbers(edges, _MAX_VALUES + 1),
                "counts": numbers(counts, _MAX_VALUES)}  # fmt: skip
    corners = [[number(x), number(y)] for x, y in points[:_MAX_VALUES]]
    return {"kind": "polygon", **_patch(patch), "n": len(points), "points": corners}
