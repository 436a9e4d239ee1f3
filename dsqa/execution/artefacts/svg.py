"""SVG, reduced to what draws: no scripts, no links out, no style sheets, no foreign content."""

from __future__ import annotations

import base64
import binascii
import re
from xml.etree import ElementTree as ET

from dsqa.execution.artefacts.png import checked_png

__all__ = ["cleaned_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_ELEMENTS = {
    "svg", "g", "defs", "path", "use", "clipPath", "rect", "image", "circle", "ellipse", "line", "polyline",
    "polygon", "text", "tspan", "linearGradient", "radialGradient", "stop", "pattern", "symbol", "marker", "mask",
    "title", "desc",
}  # fmt: skip
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>")
_EMBEDDED = "data:image/png;base64,"
# `url(#id)` points into the file itself; anything else could load something.
_OUTSIDE = re.compile(r"url\s*\(\s*['\"]?(?!#)|@import|expression|javascript:|\\", re.IGNORECASE)
_MAX_DEPTH = 200


def cleaned_svg(content: bytes) -> bytes | None:
    """Return the drawing alone, or None if this is no SVG.

    Parameters
    ----------
    content
        Untrusted bytes. Entities are refused before anything is parsed, so none can grow.
    """
    try:
        text = _DOCTYPE.sub("", content.decode("utf-8"), count=1)
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            return None
        root = ET.fromstring(text)  # noqa: S314
    except (UnicodeDecodeError, ET.ParseError, ValueError, RecursionError):
        return None
    if root.tag != f"{{{_SVG}}}svg" or not _clean(root):
        return None
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _clean(root: ET.Element) -> bool:
    """Remove what does not draw; return False where it is nested beyond reason."""
    level = [root]
    for _ in range(_MAX_DEPTH):
        below: list[ET.Element] = []
        for element in level:
            _clean_attributes(element)
            for child in list(element):
                name = child.tag.removeprefix(f"{{{_SVG}}}") if isinstance(child.tag, str) else ""
                if name == "style":
                    # Matplotlib's one rule, which sets how lines join, moved to where it works without a sheet.
                    root.set("style", _joined(root.get("style", ""), "stroke-linejoin: round; stroke-linecap: butt"))
                if name not in _ELEMENTS or not str(child.tag).startswith("{"):
                    element.remove(child)
                else:
                    below.append(child)
        if not below:
            return True
        level = below
    return False


def _joined(style: str, more: str) -> str:
    return style if more in style else "; ".join(part for part in (style, more) if part)


def _clean_attributes(element: ET.Element) -> None:
    for name, value in list(element.attrib.items()):
        local = name.rpartition("}")[2].lower()
        foreign = name.startswith("{") and not name.startswith(f"{{{_XLINK}}}")
        if local == "href":
            keep = _is_inside(value)
        else:
            keep = not (foreign or local.startswith("on") or _OUTSIDE.search(value))
        if not keep:
            del element.attrib[name]


def _is_inside(link: str) -> bool:
    if link.startswith("#"):
        return True
    if not link.startswith(_EMBEDDED):
        return False

    try:
        return checked_png(base64.b64decode(link[len(_EMBEDDED) :].encode("ascii"))) is not None
    except (binascii.Error, ValueError):
        return False
