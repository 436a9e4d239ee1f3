"""Read back what a rendered report says."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

_VOID = {"img", "meta", "link", "br", "col", "hr", "input", "source"}


class Document(HTMLParser):
    """Tags with their attributes, headings, and the rows of each captioned table."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.styles: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self._stack: list[str] = []
        self._figure: str | None = None
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.tags.append((tag, values))
        if tag not in _VOID:
            self._stack.append(tag)
        if tag == "figure":
            self._figure = values.get("id", "")
        elif tag == "tr" and self._figure:
            self.tables.setdefault(self._figure, []).append([])
        elif tag in {"td", "th"} and self._figure:
            self.tables[self._figure][-1].append("")
        elif tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._stack, f"</{tag}> closes nothing"
        opened = self._stack.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        if tag == "figure":
            self._figure = None

    def handle_data(self, data: str) -> None:
        if "style" in self._stack:
            self.styles.append(data)
            return
        self.text += data
        if self._figure and self.tables.get(self._figure) and {"td", "th"} & set(self._stack):
            self.tables[self._figure][-1][-1] += data.replace("\n", " ")
        if self._stack and self._stack[-1][0] == "h" and self._stack[-1][1:].isdigit():
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every such tag."""
        return [values for name, values in self.tags if name == tag]
