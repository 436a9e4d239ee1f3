"""A large JSON document, read piece by piece: the members of its objects, the elements of its long lists."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from json.decoder import JSONDecodeError
from typing import IO, Any

__all__ = ["Place", "json_members"]

Place = tuple[str, ...]
"""Names of members from the document's top down to a value."""

_CHUNK = 1 << 20
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and the infinities are written by some tools


def json_members(stream: IO[bytes], elements: Collection[Place]) -> Iterator[tuple[Place, Any]]:
    """Yield the values in a JSON object, or a list, with their places, never holding more than one of them.

    Parameters
    ----------
    stream
        UTF-8 text.
    elements
        Places of the lists and objects that are yielded piece by piece: each element of such a list with the list's
        place, each member of such an object with its own. Every other value comes whole. ``()`` is the place of a
        list that is the whole document.

    Raises
    ------
    ValueError
        It is no JSON object, or ends in the middle.
    """
    text = _Text(stream)
    begins = text.peek()
    if begins == "[" and () in elements:
        yield from _value(text, (), frozenset(elements))
    elif begins == "{":
        yield from _members(text, (), frozenset(elements))
    else:
        raise ValueError("holds no {…} object")
    if text.peek():
        raise ValueError(f"something follows the end of it, at character {text.place:,}")


def _members(text: _Text, place: Place, elements: frozenset[Place]) -> Iterator[tuple[Place, Any]]:
    text.expect("{")
    first = True
    while text.peek() != "}":
        if not first:
            text.expect(",")
        first = False
        name = text.value()
        if not isinstance(name, str):
            raise ValueError(f"not valid JSON: a member has no name, at character {text.place:,}")
        text.expect(":")
        yield from _value(text, (*place, name), elements)
    text.expect("}")


def _value(text: _Text, place: Place, elements: frozenset[Place]) -> Iterator[tuple[Place, Any]]:
    begins = text.peek()
    if begins == "[" and place in elements:
        text.expect("[")
        first = True
        while text.peek() != "]":
            if not first:
                text.expect(",")
            first = False
            yield place, text.value()
        text.expect("]")
    elif begins == "{" and any(wanted[: len(place)] == place for wanted in elements):
        yield from _members(text, place, elements)
    else:
        yield place, text.value()


class _Text:
    """The part of the text that is being looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        self._text, self._at, self._before, self._ended = "", 0, 0, False

    @property
    def place(self) -> int:
        return self._before + self._at

    def peek(self) -> str:
        """Return the next character that is no space; "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n":
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def expect(self, character: str) -> None:
        found = self.peek()
        if found != character:
            raise ValueError(
                f"not valid JSON: {character} expected at character {self.place:,}"
                if found
                else "the file ends in the middle"
            )
        self._at += 1

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except JSONDecodeError as error:
                # A text that is cut off is found wanting near its end, or at the beginning of a string.
                cut = error.pos >= len(self._text) - 16 or error.msg.startswith("Unterminated string")
                if cut and self._more():
                    continue
                if cut:
                    raise ValueError("the file ends in the middle") from None
                raise ValueError(f"not valid JSON: {error.msg} at character {self._before + error.pos:,}") from None
            except ValueError:
                raise ValueError(f"holds a number of thousands of digits at character {self.place:,}") from None
            # A number may go on: -0 is the beginning of -0.5, and of -0e7.
            open_end = end == len(self._text) or (
                isinstance(value, int | float) and not self._text[end : end + 24].strip("0123456789+-.eE")
            )
            if open_end and len(self._text) - end < 24 and self._more():
                continue
            self._at = end
            return value

    def _more(self) -> bool:
        """Read on, at least as much again as is still held, so that a long value is not decoded again and again."""
        if self._ended:
            return False
        try:
            read = self._stream.read(max(_CHUNK, len(self._text) - self._at))
        except UnicodeDecodeError as error:
            raise ValueError(f"is not UTF-8 text (byte 0x{error.object[error.start]:02x})") from None
        self._ended = not read
        self._before += self._at
        self._text, self._at = self._text[self._at :] + read, 0
        return bool(read)
