"""What strangers wrote: JSON and YAML read without surprises, text shown without harm."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import yaml

__all__ = ["MOST_DIGITS", "YamlError", "read_json", "read_yaml", "spreadsheet_text", "visible"]

MOST_DIGITS = 15
"""Of a whole number: more are no count, overflow a column of 64 bits, and are no longer exact as a double."""

_FORMULA = re.compile(r"[=+@\t\r-](?!\d+(\.\d*)?([eE][+-]?\d+)?$)")
_MOST_VALUES = 100_000
_DEEPEST = 100
_LONGEST_NUMBER = 400

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


class YamlError(ValueError):
    """A text is no YAML that can be used.

    Parameters
    ----------
    message
        What is wrong.
    line
        Where, from 1; None where that is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_yaml(text: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> tuple[yaml.Node | None, Any]:
    """Return a YAML text as nodes, which know their lines, and as data.

    Parameters
    ----------
    text
        One document.
    loader
        How its scalars are read.

    Raises
    ------
    YamlError
        It is no YAML; or it refers to itself, is nested more than 100 deep, or repeats parts of itself until it
        has more than 100,000 values (which a few lines of aliases can do).

    Examples
    --------
    >>> read_yaml("runs: 3")[1]
    {'runs': 3}
    """
    try:
        node = yaml.compose(text, Loader=loader)
        if node is None:
            return None, None
        _check_yaml(node)
        return node, loader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            f"not valid YAML: {error.problem or error.context}", mark.line + 1 if mark else None
        ) from None
    except yaml.YAMLError as error:
        raise YamlError("not valid YAML: " + " ".join(str(error).split())) from None
    except RecursionError:
        raise YamlError("is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(f"holds a value that is none: {error}") from None


def _check_yaml(root: yaml.Node) -> None:
    left = _MOST_VALUES
    path: list[tuple[yaml.Node, list[yaml.Node]]] = [(root, _below(root))]
    above = {id(root)}
    while path:
        node, rest = path[-1]
        if not rest:
            path.pop()
            above.discard(id(node))
            continue
        below = rest.pop()
        line = below.start_mark.line + 1
        left -= 1
        if id(below) in above:
            raise YamlError("refers to itself", line)
        if left < 0:
            raise YamlError(f"has more than {_MOST_VALUES:,} values, counting what its aliases repeat")
        if len(path) > _DEEPEST:
            raise YamlError("is nested too deeply", line)
        above.add(id(below))
        path.append((below, _below(below)))


def _below(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in reversed(node.value) for part in reversed(pair)]
    if isinstance(node, yaml.SequenceNode):
        return list(reversed(node.value))
    if node.tag.endswith((":int", ":float")) and len(node.value) > _LONGEST_NUMBER:
        raise YamlError(f"holds a number of {len(node.value):,} characters", node.start_mark.line + 1)
    return []


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
