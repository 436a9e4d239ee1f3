"""What of a response may hold its answer: reasoning and code taken out."""

from __future__ import annotations

import re

__all__ = ["strip_reasoning", "without_code"]

_TAG = re.compile(r"<\s*(/?)\s*(?:think|thinking)\s*>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\n`]*)$")
_ANSWER_LINE = re.compile(r"^\s*[@＠][^\n\[]{1,100}\[")


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its ``<think>`` blocks, and whether one was left open.

    A block ends at the first closing tag. A closing tag without an opening one ends a block that began with
    the response, since some chat templates put the opening tag into the prompt. A block that is never closed
    leaves nothing: the model was still thinking, so whatever stands before it is not its answer either.
    """
    if "<" not in text:
        return text, False
    kept: list[str] = []
    start, inside = 0, False
    for tag in _TAG.finditer(text):
        closing = bool(tag.group(1))
        if closing and not inside:
            kept.clear()
        elif not closing and not inside:
            kept.append(text[start : tag.start()])
            inside = True
            continue
        elif not closing:
            continue
        start, inside = tag.end(), False
    if inside:
        return "", True
    kept.append(text[start:])
    return "".join(kept), False


def without_code(text: str) -> str:
    """Return the text without fenced blocks, save those in which every line is an ``@name[value]`` line.

    Models often set their final answer in a fence of its own; that is text, not code. A fence that is never
    closed runs to the end.
    """
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
                if _only_answers(block):
                    kept.extend(block)
                block, fence = [], ""
            else:
                block.append(line)
        elif mark:
            fence = mark.group(1)
        else:
            kept.append(line)
    return "\n".join(kept)


def _only_answers(lines: list[str]) -> bool:
    written = [line for line in lines if line.strip()]
    return bool(written) and all(_ANSWER_LINE.match(line) for line in written)
