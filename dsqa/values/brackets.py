"""Matching brackets in one pass, however many there are."""

from __future__ import annotations

import re

__all__ = ["closing_positions"]

_MARKS = {("[", "]"): re.compile(r"[\[\]]"), ("{", "}"): re.compile(r"[{}]")}


def closing_positions(text: str, opened: set[int], pair: tuple[str, str] = ("[", "]")) -> dict[int, int]:
    """Return, for each opening bracket at a position in `opened`, where its partner stands, if it has one.

    Time is linear in the text: one pass with a stack, not one search per bracket.
    """
    closing: dict[int, int] = {}
    stack: list[int] = []
    left = pair[0]
    if not opened:
        return closing
    first = min(opened)
    for mark in _MARKS[pair].finditer(text, first):
        if mark[0] == left:
            stack.append(mark.start())
        elif stack:
            start = stack.pop()
            if start in opened:
                closing[start] = mark.start()
    return closing
