"""Tables and lists of several lines, as Markdown and pandas write them, to a list in one line."""

from __future__ import annotations

import re

__all__ = ["flattened"]

_LONGEST = 20_000
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s+(\S.*)")
_PANDAS_FOOT = re.compile(
    r"(?:Name: .*, )?(?:Length: \d+, )?dtype: \w+(?:\[\w+\])?|Name: .*|\[\d+ rows x \d+ columns\]"
)
_COLUMNS = re.compile(r"(\S(?:.*?\S)?)(?:\s{2,}|\t)(\S+)")


def flattened(text: str) -> str:
    """Return a table of two columns as ``{a: 1, b: 2}``, a wider one as ``[[1, 2], [3, 4]]``, a list as ``[1, 2]``.

    Read are Markdown tables, bulleted or numbered lists, and a pandas Series as it is printed. Any other text comes
    back as it is.
    """
    if "\n" not in text or len(text) > _LONGEST:
        return text
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if len(lines) > 1 and all(line.startswith("|") for line in lines):
        return _markdown(lines) or text
    bullets = [_BULLET.fullmatch(line) for line in lines]
    if len(lines) > 1 and all(bullets):
        items = [match[1].rstrip(",;") for match in bullets if match is not None]
        keyed = all(re.match(r"[^:=]{1,80}[:=]\s", item) for item in items)
        return ("{" if keyed else "[") + ", ".join(items) + ("}" if keyed else "]")
    return _series(lines) or text


def _markdown(lines: list[str]) -> str:
    rules = [i for i, line in enumerate(lines) if _RULE.fullmatch(line)]
    # What stands above the rule names the columns.
    body = lines[rules[0] + 1 :] if rules else lines
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body if not _RULE.fullmatch(line)]
    return _rows(rows)


def _series(lines: list[str]) -> str:
    printed = bool(_PANDAS_FOOT.fullmatch(lines[-1]))
    body = lines[:-1] if printed else lines
    if printed and body and not _COLUMNS.fullmatch(body[0]):
        body = body[1:]  # the index's name
    rows = [_COLUMNS.fullmatch(line) for line in body]
    if len(rows) < 2 or not all(rows):
        return ""
    return _rows([[row[1], row[2]] for row in rows if row is not None])


def _rows(rows: list[list[str]]) -> str:
    width = len(rows[0]) if rows else 0
    if width == 0 or any(len(row) != width for row in rows):
        return ""
    if width == 1:
        return "[" + ", ".join(row[0] for row in rows) + "]"
    if width == 2:
        return "{" + ", ".join(f"{key}: {value}" for key, value in rows) + "}"
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
