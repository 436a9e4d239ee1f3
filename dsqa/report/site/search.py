"""The words of every page, by section, for the search that runs in the reader's browser."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

from dsqa.report.site.front import PageTitle

__all__ = ["page_sections", "search_index"]

_VOID = frozenset({"img", "meta", "link", "br", "col", "hr", "input", "source", "wbr", "embed", "area"})
# Pictures, formulas and folded code are no words to look for.
_SILENT = frozenset({"script", "style", "svg", "math", "nav", "header", "button", "template", "search"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})


def search_index(report_dir: Path, pages: Sequence[PageTitle]) -> str:
    """Return the index as a script, so that a page opened from a folder can load it without a request.

    Parameters
    ----------
    report_dir
        Where the rendered pages lie.
    pages
        Those to be found.
    """
    rows = []
    for page in pages:
        for identifier, heading, text in page_sections((report_dir / page.href).read_text(encoding="utf-8")):
            href = f"{page.href}#{identifier}" if identifier else page.href
            rows.append({"href": href, "page": page.title, "section": heading, "text": text})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)
    # Two characters that end a line in older JavaScript and not in JSON.
    lines = lines.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"window.dsqaSearch = [\n{lines}\n];\n"


def page_sections(html: str) -> list[tuple[str, str, str]]:
    """Return a page's sections in order: identifier (may be empty), heading, text on one line."""
    parser = _Reader()
    parser.feed(html)
    parser.close()
    found = []
    for identifier, heading, text in parser.sections:
        line = _one_line(text)
        if line or heading:
            found.append((identifier, _one_line(heading), line))
    return found


def _one_line(parts: list[str]) -> str:
    return re.sub(r"\s+", " ", "".join(parts)).strip()


class _Reader(HTMLParser):
    """Text of `<main>`, cut at headings."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[tuple[str, list[str], list[str]]] = [("", [], [])]
        self._open: list[str] = []
        self._silent = 0
        self._in_heading = False
        self._wrapper_id = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self._put(" ")
            return
        values = {key: value or "" for key, value in attrs}
        silent = tag in _SILENT or (tag == "details" and "code-fold" in values.get("class", ""))
        if silent or self._silent:
            self._silent += 1
        self._open.append(tag)
        if self._silent or "main" not in self._open:
            return
        if tag in _HEADINGS:
            identifier = values.get("id") or self._wrapper_id
            self.sections.append((identifier, [], []))
            self._in_heading = True
        # pandoc may give the identifier to the section around the heading.
        self._wrapper_id = values.get("id", "") if tag in {"section", "div"} else ""
        self._put(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            if self._silent:
                self._silent -= 1
            if closed in _HEADINGS:
                self._in_heading = False
            if closed == tag:
                break
        self._put(" ")

    def handle_data(self, data: str) -> None:
        self._put(data)

    def _put(self, text: str) -> None:
        if self._silent or "main" not in self._open:
            return
        _, heading, body = self.sections[-1]
        (heading if self._in_heading else body).append(text)
