"""SVG, written anew from what draws: elements, attributes and values by list, each in one pass over the text.

Nothing that could load, run or multiply is on the lists: no scripts, style sheets or links out; a reference leads
into the file itself, and what it leads to refers to nothing further, so drawing takes no longer than the file is
long times what its references repeat, which is bounded.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from xml.parsers import expat

from .png import pixels_of

__all__ = ["cleaned_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_ELEMENTS = {
    "svg", "g", "defs", "path", "use", "clipPath", "rect", "image", "circle", "ellipse", "line", "polyline",
    "polygon", "text", "tspan", "linearGradient", "radialGradient", "stop", "pattern", "symbol", "title", "desc",
}  # fmt: skip
_TEXTS = {"text", "tspan", "title", "desc"}
_SHAPES = {
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "dx", "dy", "width", "height", "d",
    "points", "transform", "viewBox", "version", "rotate", "offset", "preserveAspectRatio", "patternUnits",
    "patternContentUnits", "patternTransform", "clipPathUnits", "gradientUnits", "gradientTransform", "spreadMethod",
}  # fmt: skip
_STYLES = {
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap",
    "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "opacity", "clip-path",
    "clip-rule", "color", "display", "visibility", "overflow", "font", "font-family", "font-size", "font-style",
    "font-weight", "font-variant", "font-stretch", "text-anchor", "text-decoration", "dominant-baseline",
    "alignment-baseline", "baseline-shift", "letter-spacing", "word-spacing", "writing-mode", "stop-color",
    "stop-opacity", "paint-order", "vector-effect", "shape-rendering", "image-rendering", "text-rendering",
}  # fmt: skip
_REFERRING = {"fill", "stroke", "clip-path"}
_SHAPE = re.compile(r"[A-Za-z0-9\s.,+()%-]*")
_STYLE = re.compile(r"[A-Za-z0-9\s.,+#%'\"-]*|(?:rgb|rgba|hsl|hsla)\([0-9\s.,%/+-]*\)")
_REFERENCE = re.compile(r"\s*url\(\s*['\"]?#([^\s'\"()<>&\\#;]{1,200})['\"]?\s*\)\s*")
_NAME = re.compile(r"[^\s'\"()<>&\\#;]{1,200}")
_EMBEDDED = "data:image/png;base64,"
# Matplotlib's one rule, which sets how lines join, moved to where it works without a sheet.
_JOINS = "stroke-linejoin: round; stroke-linecap: butt"
_MAX_DEPTH = 100
_MAX_ELEMENTS = 200_000
_MAX_PIXELS = 40_000_000
# What all references together repeat, in characters.
_MAX_REPEATED = 16 << 20


class _RefusedError(Exception):
    """No SVG, or none that is kept."""


@dataclass
class _Open:
    name: str
    identity: str | None
    start: int
    refers: bool = False


@dataclass
class _Cleaner:
    """What has been written so far."""

    out: list[str] = field(default_factory=list)
    length: int = 0
    open: list[_Open] = field(default_factory=list)
    skipped: int = 0
    elements: int = 0
    pixels: int = 0
    root: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    referring: set[str] = field(default_factory=set)
    references: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        if not self.open and self.elements == 0 and (space, name) != (_SVG, "svg"):
            raise _RefusedError
        self.elements += 1
        if self.elements > _MAX_ELEMENTS or len(self.open) >= _MAX_DEPTH:
            raise _RefusedError
        if self.skipped or space != _SVG or name not in _ELEMENTS:
            self.skipped += 1
            if self.skipped > _MAX_DEPTH:
                raise _RefusedError
            if self.skipped == 1 and name == "style" and _JOINS not in self.root.get("style", ""):
                self.root["style"] = "; ".join(part for part in (self.root.get("style", ""), _JOINS) if part)
            return
        kept, targets = self._attributes(name, attributes)
        self.references += targets
        if targets:
            for outer in self.open:
                outer.refers = True
        self.open.append(_Open(name, kept.get("id"), self.length, bool(targets)))
        if len(self.open) == 1:
            self.root = kept
        else:
            self._write(f"<{name}{_written(kept)}>")

    def end(self, _tag: str) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        element = self.open.pop()
        if self.open:
            self._write(f"</{element.name}>")
        if element.identity is not None:
            size = self.length - element.start
            self.sizes[element.identity] = max(size, self.sizes.get(element.identity, 0))
            if element.refers:
                self.referring.add(element.identity)

    def text(self, data: str) -> None:
        if not self.skipped and self.open and (self.open[-1].name in _TEXTS or data.isspace()):
            self._write(_escaped(data))

    def finish(self) -> bytes:
        repeated = 0
        for target in self.references:
            repeated += self.sizes.get(target, 0)
            if target in self.referring or repeated > _MAX_REPEATED:
                raise _RefusedError
        head = "<?xml version='1.0' encoding='utf-8'?>\n"
        root = f'<svg xmlns="{_SVG}" xmlns:xlink="{_XLINK}"{_written(self.root)}>'
        return "".join([head, root, *self.out, "</svg>"]).encode()

    def _write(self, text: str) -> None:
        self.out.append(text)
        self.length += len(text)

    def _attributes(self, element: str, attributes: dict[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return what is kept of an element's attributes, and what they refer to."""
        kept: dict[str, str] = {}
        targets: list[str] = []
        for full, value in attributes.items():
            space, _, name = full.rpartition(" ")
            if name == "href" and space in {"", _XLINK}:
                if element == "use" and value.startswith("#") and _NAME.fullmatch(value[1:]):
                    kept["xlink:href"] = value
                    targets.append(value[1:])
                elif element == "image" and self._is_picture(value):
                    kept["xlink:href"] = value
            elif space:
                continue
            elif name == "style":
                style = "; ".join(_declarations(value, targets))
                if style:
                    kept["style"] = style
            elif (
                (name == "id" and _NAME.fullmatch(value))
                or (name in _SHAPES and _SHAPE.fullmatch(value))
                or (name in _STYLES and _is_plain(name, value, targets))
            ):
                kept[name] = value
        return kept, targets

    def _is_picture(self, link: str) -> bool:
        if not link.startswith(_EMBEDDED):
            return False
        try:
            pixels = pixels_of(base64.b64decode(link[len(_EMBEDDED) :].encode("ascii")))
        except (binascii.Error, ValueError):
            return False
        self.pixels += pixels
        return pixels > 0 and self.pixels <= _MAX_PIXELS


def _declarations(style: str, targets: list[str]) -> list[str]:
    found = []
    for part in style.split(";"):
        name, _, value = part.partition(":")
        name, value = name.strip().lower(), value.strip()
        if name in _STYLES and _is_plain(name, value, targets):
            found.append(f"{name}: {value}")
    return found


def _is_plain(name: str, value: str, targets: list[str]) -> bool:
    """Return whether a value only says how to draw; a reference into the file is noted in `targets`."""
    if _STYLE.fullmatch(value.strip()):
        return True
    reference = _REFERENCE.fullmatch(value) if name in _REFERRING else None
    if reference is None:
        return False
    targets.append(reference[1])
    return True


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _written(attributes: dict[str, str]) -> str:
    parts = []
    for name, value in attributes.items():
        text = _escaped(value).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
        parts.append(f' {name}="{text}"')
    return "".join(parts)


def cleaned_svg(content: bytes) -> bytes | None:
    """Return the drawing alone, or None if this is no SVG, or one that would take too long to draw.

    Parameters
    ----------
    content
        Untrusted bytes, in UTF-8. Entities are refused when the first is declared, so none can grow.
    """
    cleaner = _Cleaner()

    def refuse(*_: object) -> None:
        raise _RefusedError

    def doctype(_name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if has_subset:
            raise _RefusedError

    try:
        content.decode("utf-8")
        parser = expat.ParserCreate("utf-8", " ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = doctype
        parser.EntityDeclHandler = refuse
        parser.StartElementHandler, parser.EndElementHandler = cleaner.start, cleaner.end
        parser.CharacterDataHandler = cleaner.text
        parser.Parse(content, True)
        return cleaner.finish()
    except (UnicodeDecodeError, expat.ExpatError, _RefusedError, ValueError):
        return None
