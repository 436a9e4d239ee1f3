"""Texts of a question's fields brought to one form when a question is made: numbers as text, per-part settings."""

from __future__ import annotations

import re
from typing import Any

__all__ = [
    "accepted_by_part",
    "answers_as_text",
    "as_text",
    "check_rounding",
    "check_tolerance",
    "check_unit",
    "options_by_letter",
    "per_part",
    "stripped",
    "traps_by_part",
]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER = re.compile(r"[A-Za-z0-9]{1,8}")
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
_TOLERANCE = re.compile(rf"({_NUMBER})\s*(%)?")
_ROUNDING = re.compile(r"(\d{1,2})\s*(significant|sig|digits?|decimals?|dp|places?|decimal places)?.*", re.IGNORECASE)
_PERCENT = frozenset({"percent", "per cent", "percentage", "%", "pct"})
_PROPORTION = frozenset({"proportion", "fraction", "probability", "share"})


def as_text(value: Any) -> Any:
    """Return a number as text, since JSON, YAML and spreadsheets give either; leave anything else."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def stripped(value: Any) -> Any:
    """Return a text without blanks at its ends, and a number as text."""
    text = as_text(value)
    return text.strip() if isinstance(text, str) else text


def answers_as_text(value: Any) -> Any:
    """Return ``[name, value]`` pairs as tuples of texts, numbers and truth values written out."""
    if not isinstance(value, list | tuple):
        return value
    if len(value) == 1 and isinstance(value[0], list | tuple) and all(isinstance(p, list | tuple) for p in value[0]):
        value = value[0] or value
    return tuple(
        tuple(str(part) if isinstance(part, int | float) else part for part in pair)
        if isinstance(pair, list | tuple)
        else pair
        for pair in value
    )


def per_part(value: Any) -> Any:
    """Return a setting, or a mapping of settings by part name, with numbers as text."""
    return {name: as_text(one) for name, one in value.items()} if isinstance(value, dict) else as_text(value)


def traps_by_part(value: Any) -> Any:
    """Return ``{convention: {name: value}}`` with values as text."""
    if not isinstance(value, dict):
        return value
    return {
        convention: {name: as_text(one) for name, one in values.items()} if isinstance(values, dict) else values
        for convention, values in value.items()
    }


_LETTERED = re.compile(r"\(?([A-Za-z])[).:]\s+(\S.*)", re.DOTALL)


def _are_lists(left: Any, right: Any) -> bool:
    return isinstance(left, list) and isinstance(right, list) and len(left) == len(right) > 1


def options_by_letter(value: Any) -> Any:
    """Return ``{letter: text}`` in order; a list of texts is lettered from A on, a list of pairs is taken as such.

    Raises
    ------
    ValueError
        There is one option, a letter stands twice, or a letter is no short word.
    """
    if value is None:
        return {}
    if isinstance(value, list | tuple):
        if value and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value):
            pairs = [(str(as_text(letter)), as_text(text)) for letter, text in value]
        elif len(value) <= len(_LETTERS):
            pairs = [(letter, as_text(text)) for letter, text in zip(_LETTERS, value, strict=False)]
            marked = [_LETTERED.fullmatch(text) for _, text in pairs if isinstance(text, str)]
            if [m[1].upper() for m in marked if m] == [letter for letter, _ in pairs]:
                pairs = [(m[1].upper(), m[2]) for m in marked if m]
        else:
            raise ValueError(f"has {len(value)} options without letters, more than {len(_LETTERS)}")
    elif isinstance(value, dict) and set(value) == {"label", "text"} and _are_lists(value["label"], value["text"]):
        # As ARC and OpenBookQA have them.
        both = zip(value["label"], value["text"], strict=True)
        pairs = [(str(as_text(letter)), as_text(text)) for letter, text in both]
    elif isinstance(value, dict):
        pairs = [(str(as_text(letter)).strip(), as_text(text)) for letter, text in value.items()]
    else:
        raise ValueError(f"are a {type(value).__name__}, not options: write a list of texts, or {{A: …, B: …}}")
    if any(not isinstance(text, str) for _, text in pairs):
        raise ValueError("has an option that is no text")
    folded = [letter.casefold() for letter, _ in pairs]
    if len(set(folded)) < len(folded):
        raise ValueError("has two options of one letter")
    wrong = next((letter for letter, _ in pairs if not _LETTER.fullmatch(letter)), None)
    if wrong is not None:
        raise ValueError(f"'{wrong[:40]}' is no letter of an option: write A, B, C …")
    if len(pairs) == 1:
        raise ValueError("has a single option, which is no choice")
    return {letter: text.strip() if isinstance(text, str) else text for letter, text in pairs}


def accepted_by_part(value: Any) -> Any:
    """Return ``{name: (value, …)}`` with values as text; a lone value is a list of one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value
    return {
        name: tuple(as_text(one) for one in values) if isinstance(values, list | tuple) else (as_text(values),)
        for name, values in value.items()
    }


def check_tolerance(value: str) -> str:
    """Return a tolerance as ``0.01`` or ``1%``.

    Raises
    ------
    ValueError
        It is neither.
    """
    match = _TOLERANCE.fullmatch(value.strip())
    if match is None:
        raise ValueError(
            f"'{value}' is no tolerance: write a number (0.01) or a per cent of the truth (1%), not below 0"
        )
    return match[1] + (match[2] or "")


def check_rounding(value: str) -> str:
    """Return a rounding rule as ``2`` (decimals) or ``3 significant``.

    Raises
    ------
    ValueError
        It is neither, or more than 15.
    """
    text = value.strip()
    match = _ROUNDING.fullmatch(text) if len(text) < 60 else None
    if text.casefold() in {"integer", "whole", "whole number"}:
        return "0"
    significant = match is not None and (match[2] or "").casefold().startswith("sig")
    if match is None or (match[2] is None and match[1] != text) or int(match[1]) > 15 - (not significant):
        raise ValueError(f"'{value}' is no rounding rule: write the number of decimals (2) or '3 significant'")
    if significant and int(match[1]) == 0:
        raise ValueError("0 significant digits say nothing: write at least 1")
    return f"{int(match[1])} significant" if significant else str(int(match[1]))


def check_unit(value: str) -> str:
    """Return ``percent`` or ``proportion``.

    Raises
    ------
    ValueError
        It is neither, however spelt.
    """
    word = value.strip().casefold()
    if word in _PERCENT:
        return "percent"
    if word in _PROPORTION:
        return "proportion"
    raise ValueError(f"'{value}' is no unit: write 'percent' or 'proportion'")
