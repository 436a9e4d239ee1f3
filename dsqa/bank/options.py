"""Options of a choice: read out of a question's text, written below it, and named in a ground truth."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["letters_of", "options_in", "options_text"]

_MOST = 26
_LONGEST = 2_000
_ON_LINE = re.compile(r"[ \t]{0,8}(?:[-*+•][ \t]+)?(?:[*_]{2})?[(\[]?([A-Za-z])[).:\]](?:[*_]{2})?[ \t]+(\S.*)")
_IN_LINE = re.compile(r"(?:(?<=\s)|(?<=^)|(?<=[,;:?.]))(?:\(([A-Za-z])\)|([A-Za-z])\))\s?")
_BEFORE_NEXT = re.compile(r"[\s,;]*(?:\b(?:or|and|oder|und)\b)?[\s,;]*$", re.IGNORECASE)
_MARK = re.compile(r"[(\[]?([A-Za-z0-9]{1,8})[)\].:]?")
_MARKED = re.compile(r"(?:[(\[]([A-Za-z0-9]{1,8})[)\]]|([A-Za-z0-9]{1,8})[).:])\s+(\S.*)", re.DOTALL)
_BETWEEN = re.compile(r"\s*(?:[,;/+&\n]|\band\b)\s*")


def options_in(text: str) -> dict[str, str]:
    """Return the options that a question's text lists, by letter, or none.

    They stand on lines of their own (``a) mean``, ``(B) median``, ``- C. mode``) or within a line
    (``(a) mean, (b) median or (c) mode``), lettered from A on without a gap. Numbered lines are steps or parts more
    often than options, and are not read as such.
    """
    return _on_lines(text) or _within_a_line(text)


def _on_lines(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    going_on = False
    for line in text.splitlines():
        match = _ON_LINE.fullmatch(line.rstrip()) if len(line) <= _LONGEST else None
        if match and _is_next(match[1], found):
            found[match[1]] = match[2].strip()
            going_on = True
        elif match and match[1] in {"a", "A"} and found:
            return {}  # a second list: which of them is meant is not known
        elif not line.strip():
            going_on = False
        elif going_on and line[:1].isspace():
            letter = list(found)[-1]
            found[letter] = f"{found[letter]} {line.strip()}"
        else:
            going_on = False
    return found if len(found) > 1 else {}


def _is_next(letter: str, found: Mapping[str, str]) -> bool:
    if len(found) >= _MOST:
        return False
    last = list(found)[-1] if found else None
    return letter in {"a", "A"} if last is None else ord(letter) == ord(last) + 1


def _within_a_line(text: str) -> dict[str, str]:
    for line in text.splitlines():
        if len(line) > _LONGEST:
            continue
        marks: list[tuple[str, int, int]] = []
        for match in _IN_LINE.finditer(line):
            letter = match[1] or match[2]
            if _is_next(letter, dict.fromkeys((m[0] for m in marks), "")):
                marks.append((letter, match.start(), match.end()))
        if len(marks) < 2:
            continue
        ends = [start for _, start, _ in marks[1:]] + [len(line)]
        texts = [line[start:end] for (_, _, start), end in zip(marks, ends, strict=True)]
        texts = [_BEFORE_NEXT.sub("", t) for t in texts[:-1]] + [texts[-1].strip().rstrip(".?!;")]
        if all(t.strip() for t in texts):
            return {letter: t.strip() for (letter, _, _), t in zip(marks, texts, strict=True)}
    return {}


def options_text(options: Mapping[str, str]) -> str:
    """Return options as they are sent: one on a line, ``A) mean``."""
    return "\n".join(f"{letter}) {text}" for letter, text in options.items())


def letters_of(text: str, options: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the letters that a ground truth names, in the options' order, or None where it names none.

    An option is named by its letter (``b``, ``(B)``, ``B.``), by letter and text (``b) the median``) or by its
    text; several options are separated by commas, semicolons, line ends or "and", or, capital letters, by nothing
    (``AC``). A letter goes before an equal text.
    """
    bare = text.strip()
    one = _one(bare, options)
    if one is not None:
        return (one,)
    parts = [part for part in _BETWEEN.split(bare.strip("[]{}")) if part.strip()]
    named = [_one(part.strip().strip("'\""), options) for part in parts]
    if len(parts) < 2 and bare.isupper() and bare.isalpha():
        named = [letter if letter in options else None for letter in bare]
    if len(named) < 2 or None in named or len(set(named)) < len(named):
        return None
    return tuple(letter for letter in options if letter in named)


def _one(text: str, options: Mapping[str, str]) -> str | None:
    by_letter = {letter.casefold(): letter for letter in options}
    mark = _MARK.fullmatch(text)
    if mark and mark[1].casefold() in by_letter:
        return by_letter[mark[1].casefold()]
    marked = _MARKED.fullmatch(text)
    if marked:
        letter = by_letter.get((marked[1] or marked[2]).casefold())
        if letter is not None and _plain(marked[3]) == _plain(options[letter]):
            return letter
    same = [letter for letter, option in options.items() if _plain(option) == _plain(text)]
    return same[0] if len(same) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()
