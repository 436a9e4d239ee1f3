"""Split a response into prose and blocks, as Markdown and habit mark them. Linear in the text's length."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Block", "Piece", "split_blocks"]

# Quote marks, a list bullet and any indentation may stand before a fence.
_OPEN = re.compile(
    r"^(?P<lead>[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$"
)
_PRE_OPEN = re.compile(r"<pre\b[^>]{0,200}>[ \t]*(?:<code\b(?P<attributes>[^>]{0,200})>)?", re.IGNORECASE)
_PRE_CLOSE = re.compile(r"(?:</code>)?[ \t]*</pre>", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z][\w+#.-]{0,24}")
_CLASS = re.compile(r"(?:language|lang|highlight)-([\w+#]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A marked block of a response.

    Parameters
    ----------
    tag
        Its language tag, lower case; "" where it has none.
    text
        What stands in it, its own indentation removed.
    first_line
        1-based line of the response where its content begins.
    closed
        False if the response ends before the block does.
    mark
        ``fence``, ``html`` or ``indent``.
    """

    tag: str
    text: str
    first_line: int
    closed: bool
    mark: str


Piece = str | Block


def split_blocks(text: str) -> list[Piece]:
    """Return prose and blocks in order."""
    lines = text.splitlines()
    pieces: list[Piece] = []
    prose: list[str] = []

    def flush() -> None:
        if prose:
            pieces.append("\n".join(prose))
            prose.clear()

    index = 0
    while index < len(lines):
        line = lines[index]
        fence = _OPEN.match(line)
        html = None if fence else _PRE_OPEN.search(line) if "<pre" in line.lower() else None
        if fence is not None:
            block, index = _fenced(lines, index, fence)
        elif html is not None:
            block, index = _preformatted(lines, index, html, prose)
        else:
            prose.append(line)
            index += 1
            continue
        flush()
        pieces.append(block)
    flush()
    return pieces


def _fenced(lines: list[str], start: int, fence: re.Match[str]) -> tuple[Block, int]:
    mark, lead = fence["fence"], fence["lead"]
    body: list[str] = []
    index = start + 1
    closed = False
    quoted = ">" in lead
    while index < len(lines):
        line = lines[index]
        bare = line.strip()
        if quoted:
            bare = bare.lstrip("> \t")
        if bare.startswith(mark) and not bare.strip(mark[0]):
            closed = True
            index += 1
            break
        body.append(re.sub(r"^[ \t]*>[ \t]?", "", line) if quoted else line)
        index += 1
    width = len(lead) if not quoted else 0
    text = _unindent(body, width)
    return Block(_tag(fence["info"]), text, start + 2, closed, "fence"), index


def _preformatted(lines: list[str], start: int, opening: re.Match[str], prose: list[str]) -> tuple[Block, int]:
    before = lines[start][: opening.start()]
    if before.strip():
        prose.append(before)
    found = _CLASS.search(opening["attributes"] or "") or _CLASS.search(opening[0])
    body: list[str] = []
    rest = lines[start][opening.end() :]
    index = start
    while True:
        end = _PRE_CLOSE.search(rest) if "</pre" in rest.lower() else None
        if end is not None:
            body.append(rest[: end.start()])
            break
        body.append(rest)
        index += 1
        if index >= len(lines):
            break
        rest = lines[index]
    text = "\n".join(body).strip("\n")
    return Block(found[1].lower() if found else "", text, start + 1, end is not None, "html"), index + 1


def _tag(info: str) -> str:
    """Return the language of an info string: ``python``, ``{.python .numberLines}``, ``Python title="x"``."""
    words = info.strip().strip("{}").replace(",", " ").split()
    tag = words[0].lstrip(".").lower() if words else ""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _unindent(body: list[str], width: int) -> str:
    """Take off the fence's own indentation, or, where all of the body has more, all that it shares."""
    filled = [line for line in body if line.strip()]
    if not filled:
        return "\n".join(body)
    # A fence indented in a list: its body usually is too, but not always by as much.
    shared = min(len(line) - len(line.lstrip(" \t")) for line in filled)
    cut = shared if shared else 0
    if not cut and width:
        return "\n".join(line[min(width, len(line) - len(line.lstrip(" \t"))) :] for line in body)
    return "\n".join(line[cut:] for line in body)
