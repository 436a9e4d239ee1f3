"""What strangers wrote: JSON read without surprises, text shown without harm."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

__all__ = ["MOST_DIGITS", "read_json", "spreadsheet_text", "visible"]

MOST_DIGITS = 15
"""Of a whole number: more are no count, overflow a column of 64 bits, and are no longer exact as a double."""

_FORMULA = re.compile(r"[=+@\t\r-](?!\d+(\.\d*)?([eE][+-]?\d+)?$)")

_HARMFUL = {"Cc", "Cs"}
# Embeddings, overrides, isolates and marks of the reading order: a line of them reads as another line.
_READING_ORDER = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LINE_ENDS = frozenset("\u2028\u2029")


def read_json(text: str | bytes) -> Any:
    """Return what a JSON text from elsewhere holds, as data that can be written down again.

    NaN and Infinity, which are no JSON, and whole numbers of more than `MOST_DIGITS` digits are kept as the text
    that they were.

    Parameters
    ----------
    text
        In UTF-8 where it is bytes; a byte order mark before it is passed over.

    Raises
    ------
    ValueError
        It is no JSON, or nested too deeply to be read.

    Examples
    --------
    >>> read_json('{"tokens": 12, "absurd": 10000000000000000000000}')
    {'tokens': 12, 'absurd': '10000000000000000000000'}
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=str, parse_int=_whole)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits.removeprefix("-")) <= MOST_DIGITS else digits


def visible(text: str, keep: str = "\n\t") -> str:
    r"""Return text whose control characters, lone surrogates and reading-order marks are written as escapes.

    What a model or an endpoint wrote must neither command a terminal nor reorder what is read there.

    Parameters
    ----------
    text
        Any text.
    keep
        Control characters that stay.

    Examples
    --------
    >>> visible("red \x1b[31m and back \u202e")
    'red \\x1b[31m and back \\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(c, keep) for c in text)


def _shown(character: str, keep: str) -> str:
    if character in keep:
        return character
    harmful = unicodedata.category(character) in _HARMFUL or character in _READING_ORDER or character in _LINE_ENDS
    return ascii(character)[1:-1] if harmful else character


def spreadsheet_text(text: str) -> str:
    """Return text as it may stand in a CSV that someone opens in a spreadsheet, which would run ``=…`` as a formula.

    What begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is no number, gets a ``'`` before it
    [1]_.

    References
    ----------
    .. [1] OWASP, "CSV Injection".

    Examples
    --------
    >>> spreadsheet_text("=1+1"), spreadsheet_text("-3.5"), spreadsheet_text("m-1")
    ("'=1+1", '-3.5', 'm-1')
    """
    return "'" + text if _FORMULA.match(text) else text
