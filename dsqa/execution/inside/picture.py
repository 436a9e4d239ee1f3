"""A figure as PNG, as SVG and as a description of what was drawn."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .drawn import describe

__all__ = ["Picture", "draw"]

# No side longer than this, whatever size and resolution the code asked for.
_MAX_PIXELS = 2400
# An SVG with more points than this has them as an image in it.
_MANY_POINTS = 3000
_MANY_ARTISTS = 20_000
# Drawing as many a second time would take seconds.
_TOO_MANY_POINTS = 200_000
_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True, ensure_ascii=True).encode
_STYLE = {"svg.hashsalt": "dsqa", "svg.fonttype": "path", "svg.image_inline": True, "savefig.transparent": False,
          "svg.id": None, "axes.unicode_minus": True}  # fmt: skip


@dataclass
class Picture:
    """What was made of one figure; `notes` say what could not be made."""

    parts: list[tuple[str, bytes]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def draw(figure: Any, savefig: Callable[..., Any], *, shown: bool, saved: list[str]) -> Picture | None:
    """Draw a figure; None where there is nothing on it.

    Nothing that the figure's artists raise gets out: the snippet may have put anything on it.
    """
    picture = Picture()
    try:
        if not (figure.axes or figure.texts or figure.images or figure.lines or figure.patches or figure.subfigs):
            return None
        with warnings.catch_warnings(), _style():
            warnings.simplefilter("ignore")
            png = _save(figure, savefig, "png", picture)
            svg = _save_svg(figure, savefig, picture) if png else b""
            drawn = _describe(figure, picture, shown, saved)
    except BaseException as error:
        picture.notes.append(f"could not be drawn: {type(error).__name__}")
        return picture
    facts = {"shown": shown, "saved_as": saved, "axes": len(drawn.get("axes", [])), "title": _title(drawn)}
    picture.facts.update(facts)
    picture.parts = [("png", png)] * bool(png) + [("svg", svg)] * bool(svg) + [("json", _encode(drawn).encode())]
    return picture


@contextlib.contextmanager
def _style() -> Iterator[None]:
    matplotlib = sys.modules["matplotlib"]
    known = {key: value for key, value in _STYLE.items() if key in matplotlib.rcParams}
    with matplotlib.rc_context(known):
        yield


def _save(figure: Any, savefig: Callable[..., Any], media: str, picture: Picture) -> bytes:
    width, height = (float(side) for side in figure.get_size_inches())
    dpi = min(float(figure.dpi), _MAX_PIXELS / max(width, height, 0.01))
    metadata = {"Software": None} if media == "png" else {"Date": None, "Creator": None, "Format": None, "Type": None}
    problem = ""
    # Cut to what is drawn, as a notebook does; artists far outside would make that a huge picture.
    for bbox in ("tight", None) if _is_compact(figure, width, height) else (None,):
        buffer = io.BytesIO()
        try:
            savefig(figure, buffer, format=media, dpi=dpi, bbox_inches=bbox, metadata=metadata)
        except BaseException as error:
            problem = f"{media} could not be drawn: {type(error).__name__}: {str(error)[:120]}"
            continue
        return buffer.getvalue()
    picture.notes.append(problem)
    return b""


def _is_compact(figure: Any, width: float, height: float) -> bool:
    try:
        box = figure.get_tightbbox(figure.canvas.get_renderer())
        return bool(0 < box.width <= 2 * width and 0 < box.height <= 2 * height)
    except Exception:
        return False


def _save_svg(figure: Any, savefig: Callable[..., Any], picture: Picture) -> bytes:
    artists = figure.findobj()
    if len(artists) > _MANY_ARTISTS:
        picture.notes.append(f"svg left out: {len(artists):,} artists")
        return b""
    points = [(_points(artist), artist) for artist in artists]
    total = sum(count for count, _ in points)
    if total > _TOO_MANY_POINTS:
        picture.notes.append(f"svg left out: {total:,} points")
        return b""
    dense = [artist for count, artist in points if count > _MANY_POINTS and not artist.get_rasterized()]
    for artist in dense:
        artist.set_rasterized(True)
    try:
        return _save(figure, savefig, "svg", picture)
    finally:
        for artist in dense:
            artist.set_rasterized(False)


def _points(artist: Any) -> int:
    """Return how many points an artist puts into a vector file, roughly."""
    if hasattr(artist, "get_xdata"):
        return len(artist.get_xdata(orig=False))
    if hasattr(artist, "get_offsets") and hasattr(artist, "get_paths"):
        array = artist.get_array()
        vertices = sum(len(path.vertices) for path in artist.get_paths()[:_MANY_POINTS])
        return max(len(artist.get_offsets()), vertices, 0 if array is None else int(array.size))
    return 0


def _describe(figure: Any, picture: Picture, shown: bool, saved: list[str]) -> dict[str, Any]:
    try:
        return describe(figure, shown=shown, saved=saved)
    except BaseException as error:
        picture.notes.append(f"could not be described: {type(error).__name__}: {str(error)[:120]}")
        return {"axes": []}


def _title(drawn: dict[str, Any]) -> str:
    titles = [drawn.get("title"), *(axes.get("title") for axes in drawn.get("axes", []))]
    return next((title for title in titles if title), "")[:200]
