"""Split a response into prose and blocks, as Markdown and habit mark them. Linear in the text's length."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dsqa.execution.languages import language_of
from dsqa.execution.source import clean, code_lines, looks_like_code, parse

__all__ = ["Block", "Piece", "split_blocks"]

# Quote marks, a list bullet and any indentation may stand before a fence.
_OPEN = re.compile(
    r"^(?P<lead>[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$"
)
_LATE = re.compile(r"(?P<fence>`{3,})(?P<info>[A-Za-z][\w+#.-]{0,24})[ \t]*")
_ONE_LINE = re.compile(
    r"^[ \t]*(?P<fence>`{3,})(?P<info>python3?|py)[ \t]+(?P<code>[^`\n]+)(?P=fence)[ \t]*$", re.IGNORECASE
)
_GLUED = re.compile(r"^python3?(?=(?:import|from)\s)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"^[\w-]+=\S")
_UNSEEN = "\u200b\u200e\u200f\u2060\ufeff\0"
_MOST_TRIES = 12
_LONGEST_TRIED = 50_000
# Marks that some models were trained to put on lines of their own.
_TAGS = {"[python]": "[/python]", "<python>": "</python>", "<code>": "</code>", "<tool_code>": "</tool_code>"}
_DOCUMENTS = {"markdown", "md"}
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
    lines = text.split("\n")
    tries = [_MOST_TRIES]
    pieces: list[Piece] = []
    prose: list[str] = []

    def flush() -> None:
        if prose:
            pieces.append("\n".join(prose))
            prose.clear()

    bare = _Bare(lines)
    wrappers: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        fence = _OPEN.match(line) or _late_open(line)
        html = None if fence else _PRE_OPEN.search(line) if "<pre" in line.lower() else None
        short = _ONE_LINE.match(line)
        closer = _TAGS.get(line.strip().lower())
        if short is not None:
            block, index = Block(_tag(short["info"]), short["code"].strip(), index + 1, True, "fence"), index + 1
        elif fence is not None and wrappers and line.strip() == wrappers[-1]:
            wrappers.pop()
            index += 1
            continue
        elif fence is not None and _tag(fence["info"]) in _DOCUMENTS:
            # A whole answer wrapped as a document: what is in it counts as if it were not.
            wrappers.append(fence["fence"])
            index += 1
            continue
        elif fence is not None:
            if not line.startswith(fence[0]):
                prose.append(line.removesuffix(fence[0]))
            block, rest, index = _fenced(lines, index, fence, bare, tries)
            if rest:
                flush()
                pieces.append(block)
                prose.append(rest)
                continue
        elif html is not None:
            block, index = _preformatted(lines, index, html, prose)
        elif closer is not None:
            block, index = _tagged(lines, index, closer)
        else:
            prose.append(line)
            index += 1
            continue
        flush()
        pieces.append(block)
    flush()
    return pieces


def _late_open(line: str) -> re.Match[str] | None:
    """Match the fence in `Here it is: ```python`, which has the code on the lines below."""
    before, mark, _ = line.partition("```")
    if not mark or not before.strip() or "`" in before:
        return None
    return _LATE.fullmatch(line[len(before) :])


class _Bare:
    """Where fences stand alone on their line, found once for the whole text."""

    def __init__(self, lines: list[str]) -> None:
        self.lengths: dict[str, list[int]] = {"`": [], "~": []}
        self.following: list[int] = []
        longest, following = {"`": 0, "~": 0}, len(lines)
        for index in range(len(lines) - 1, -1, -1):
            text = lines[index].strip().lstrip("> \t")
            mark = text[:1]
            if mark in longest and len(text) >= 3 and not text.strip(mark):
                longest[mark] = max(longest[mark], len(text))
                following = index
            for name, known in self.lengths.items():
                known.append(longest[name])
            self.following.append(following)
        self.following.reverse()
        for known in self.lengths.values():
            known.reverse()

    def closes(self, mark: str, start: int) -> bool:
        """Tell whether a line from `start` on closes a block that `mark` opened."""
        known = self.lengths[mark[0]]
        return start < len(known) and known[start] >= len(mark)

    def next(self, start: int) -> int:
        """Return the first line from `start` on that is a fence of any kind, alone."""
        return self.following[start] if start < len(self.following) else start


def _fenced(
    lines: list[str], start: int, fence: re.Match[str], bare: _Bare, tries: list[int]
) -> tuple[Block, str, int]:
    """Return the block that begins at `start`, what stands behind its end, and the line after it."""
    mark = fence["fence"]
    lead = fence["lead"] if fence.re is _OPEN else ""
    tag, first = _tag_and_code(fence["info"])
    index = start + 1
    closed, rest = False, ""
    quoted = ">" in lead
    # Closed by a fence of another kind or length where there is none of its own.
    other = None if bare.closes(mark, index) else bare.next(index)
    while index < len(lines):
        text = _bare_of(lines[index], quoted)
        if index == other:
            closed = True
        elif text.startswith(mark):
            after = text.lstrip(mark[0]).strip(_UNSEEN + " \t")
            if language_of(_tag(after))[0] and text[: len(text.rstrip()) - len(after)].strip() == mark:
                break  # the next block begins, this one was never closed
            closed, rest = True, after
        if closed:
            break
        index += 1
    body = [re.sub(r"^[ \t]*>[ \t]?", "", line) if quoted else line for line in lines[start + 1 : index]]
    width = 0 if quoted else len(lead)
    index += closed
    code = _unindent(body, width)
    if first:
        code = f"{first}\n{code}" if code else first
    found = Block(tag, code, start + (1 if first else 2), closed, "fence")
    if language_of(tag)[0] not in {"python", ""} or len(code) > _LONGEST_TRIED or tries[0] <= 0 or _parses(code, tag):
        return found, rest, index
    # What does not parse was perhaps cut at the wrong place.
    return _cut_elsewhere(found, lines, (start, index), mark, width, tries) or (found, rest, index)


def _parses(code: str, tag: str) -> bool:
    if not tag and not any(looks_like_code(line) for line in code.split("\n", 40)[:40]):
        return True  # output, most likely: nothing to mend
    return parse(clean(code)[0]) is not None


def _cut_elsewhere(
    found: Block, lines: list[str], span: tuple[int, int], mark: str, width: int, tries: list[int]
) -> tuple[Block, str, int] | None:
    """Return the block ended where it parses: at a later fence, within a line, before the prose that follows."""
    start, index = span
    first = found.text.split("\n", 1)[0] + "\n" if found.first_line == start + 1 else ""
    for line in range(start + 1, min(index, start + 400)):
        # 'print(n)```'
        text = lines[line].rstrip()
        if (
            text.endswith(mark)
            and text.strip(mark[0]).strip()
            and not text.lstrip().startswith(mark)
            and tries[0] > 0
        ):
            tries[0] -= 1
            code = first + _unindent([*lines[start + 1 : line], text.rstrip(mark[0])], width)
            if parse(clean(code)[0]) is not None:
                return replace(found, text=code, closed=True), "", line + 1
    if found.closed or index < len(lines):
        # A fence in a string of the code: the block's own end is a later one.
        for line in range(index, min(len(lines), index + 2_000)):
            if not lines[line].strip().startswith(mark):
                continue
            tries[0] -= 1
            code = first + _unindent(lines[start + 1 : line], width)
            if tries[0] < 0 or len(code) > _LONGEST_TRIED:
                break
            if parse(clean(code)[0]) is not None and not language_of(_tag(lines[line].strip().lstrip(mark[0])))[0]:
                return (
                    replace(found, text=code, closed=True),
                    lines[line].strip().lstrip(mark[0]).strip(_UNSEEN + " "),
                    line + 1,
                )
    if found.closed:
        return None
    tries[0] -= 1
    count = code_lines(found.text)
    if count is None:
        return None
    whole = found.text.split("\n")
    return replace(found, text="\n".join(whole[:count])), "\n".join(whole[count:]).strip(), index


def _bare_of(line: str, quoted: bool) -> str:
    text = line.strip(_UNSEEN + " \t\r")
    return text.lstrip("> \t") if quoted else text


def _tag_and_code(info: str) -> tuple[str, str]:
    """Return a fence's language tag, and the code that stands on the fence's own line."""
    glued = _GLUED.match(info)
    if glued:
        return "python", info[glued.end() :].strip()
    tag = _tag(info)
    named = language_of(tag)[0]
    rest = info.strip().split(None, 1)[1:] if named else [info.strip()]
    code = rest[0] if rest else ""
    if (
        named in {"python", ""}
        and " " in info.strip()
        and looks_like_code(code)
        and code[0] not in "{[("
        and not _ATTRIBUTE.match(code)
    ):
        return tag if named else "", code
    return tag, ""


def _tagged(lines: list[str], start: int, closer: str) -> tuple[Block, int]:
    index = start + 1
    while index < len(lines) and lines[index].strip().lower() != closer:
        index += 1
    tag = "" if closer == "</code>" else "python"
    text = _unindent(lines[start + 1 : index], 0)
    return Block(tag, text, start + 2, index < len(lines), "html"), index + 1


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
