"""The pictures that a notebook shows: which files, and the lighter of two forms of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

from dsqa.report.site.texts import map_markdown

__all__ = ["MOST_SVG_BYTES", "lighter_pictures", "pictures_of", "replace_pictures"]

_PICTURE = re.compile(r"(?<=!\[\]\()(?P<path>[^)\s]+)(?=\))")
MOST_SVG_BYTES = 300_000
"""A vector picture above this is shown as its PNG in HTML: a point a run, it would outweigh the rest of the page."""


def pictures_of(notebook: NotebookNode, base: Path) -> list[Path]:
    """Return the picture files that a notebook's Markdown shows, those that exist, with their other forms and data.

    Parameters
    ----------
    notebook
        With outputs.
    base
        Its folder.
    """
    found: list[Path] = []

    def look(text: str) -> str:
        for match in _PICTURE.finditer(text):
            path = (base / unquote(match["path"])).resolve()
            found.extend(p for p in (path, path.with_suffix(".png")) if p.is_file())
        return text

    map_markdown(notebook, look)
    return list(dict.fromkeys(found))


def replace_pictures(notebook: NotebookNode, change: Callable[[str], str]) -> None:
    """Replace the path of every picture that a notebook's Markdown shows by what `change` makes of it."""
    map_markdown(notebook, lambda text: _PICTURE.sub(lambda match: change(match["path"]), text))


def lighter_pictures(notebook: NotebookNode, base: Path) -> None:
    """Let a notebook show the PNG of each picture whose SVG is large and whose PNG is smaller."""

    def lighter(shown: str) -> str:
        path = base / unquote(shown)
        other = path.with_suffix(".png")
        if path.suffix != ".svg" or not path.is_file() or not other.is_file():
            return shown
        heavy = path.stat().st_size
        smaller = heavy > MOST_SVG_BYTES and other.stat().st_size < heavy
        return shown.removesuffix("svg") + "png" if smaller else shown

    replace_pictures(notebook, lighter)
