"""Numbers written out in words: ``thirty-two``, ``one hundred and five``, ``two and a half``, ``three quarters``."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["in_words"]

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_SMALL = {word: number for number, word in enumerate(_UNITS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
    "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
}  # fmt: skip
_MOST = 16
_LONGEST = 150
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)


def in_words(text: str) -> tuple[Fraction, int] | None:
    """Return the number that a text begins with in words, and where it ends; None where there is none.

    ``a hundred`` and ``half`` are numbers too; ``a`` alone is not.
    """
    words: list[tuple[str, int]] = []
    position = 0
    while len(words) < _MOST and position < min(len(text), _LONGEST):
        match = _WORD.match(text, position)
        if match is None:
            break
        word = match[0].casefold()
        if not (word in _SMALL or word in _LARGE or word in _PARTS or word in {"hundred", "and", "a", "an", "point"}):
            break
        words.append((word, match.end()))
        position = match.end()
        gap = re.match(r"\s{1,2}|-", text[position : position + 3])
        if gap is None:
            break
        position += gap.end()
    for count in range(len(words), 0, -1):
        value = _value([word for word, _ in words[:count]])
        if value is not None:
            return value, words[count - 1][1]
    return None


def _value(words: list[str]) -> Fraction | None:
    """Return the value of words that are a number as a whole."""
    if words[-1] in _PARTS:
        *before, last = words
        part = Fraction(1, _PARTS[last])
        if not before or before in (["a"], ["one"]):
            return part if not last.endswith("s") else None
        if before[-2:] in (["and", "a"], ["and", "one"]):  # 'two and a half'
            whole = _whole(before[:-2])
            return None if whole is None else whole + part
        top = _whole(before)
        return None if top is None or top > 20 else top * part
    if "point" in words:
        at = words.index("point")
        whole, digits = _whole(words[:at]) if at else Fraction(0), words[at + 1 :]
        if whole is None or not digits or any(_SMALL.get(digit, 10) > 9 for digit in digits):
            return None
        return whole + Fraction(int("".join(str(_SMALL[digit]) for digit in digits)), 10 ** len(digits))
    return _whole(words)


def _whole(words: list[str]) -> Fraction | None:
    total, group, last = 0, 0, ""
    largest = 10**15
    for i, word in enumerate(words):
        if word in {"a", "an"}:
            if i or len(words) < 2 or words[1] not in {"hundred", *_LARGE}:
                return None
            group = 1
        elif word == "and":
            if last not in {"hundred", *_LARGE} or i == len(words) - 1:
                return None
        elif word in _SMALL:
            small = _SMALL[word]
            if last in _SMALL and not (last in _TENS and 0 < small < 10):
                return None  # 'five six' is two numbers
            if small == 0 and len(words) > 1:
                return None
            group += small
        elif word == "hundred":
            if not 0 < group < 100 or "hundred" in words[max(0, i - 2) : i]:
                return None
            group *= 100
        elif word in _LARGE:
            if not group or _LARGE[word] >= largest:
                return None
            largest = _LARGE[word]
            total, group = total + group * largest, 0
        else:
            return None
        last = word
    return Fraction(total + group) if words else None
