"""What a question's words ask of a number: its unit, and how many decimals."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Unit", "decimals_in", "unit_in"]

Unit = Literal["percent", "proportion"] | None

# A per cent sign after a number is that number's ('at the 5% level', 'the top 10%'), and says nothing of the answer.
_OF_A_NUMBER = re.compile(
    r"(?:\d[\d.,]*|\b(?:one|two|five|ten|twenty|twenty-five|fifty|seventy-five|eighty|ninety|ninety-five|hundred))"
    r"[\s-]?(?:%|per\s?cent(?!age)\b|pct\b)|%[-+ 0]?\d*(?:\.\d+)?[dfge]\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"@[^\s@\[\]]+\[([^\[\]\n]{0,200})\]")
_HUNDRED = r"\b0(?:\.0+)?\s?%?\s?(?:and|to|-|–|,|\.\.)\s?100(?:\.0+)?\b"
_ONE = r"(?<![-−.\d])\b0(?:\.0+)?\s?(?:and|to|-|–|,|\.\.)\s?1(?:\.0+)?\b(?![.\d]|\s?%)"
_PERCENT = re.compile(r"\bpercent(?!il)|\bper cent\b|%|\bpct\b|\bprozent|\bpourcent|\bporcent", re.IGNORECASE)
_IN_HUNDRED = re.compile(_HUNDRED)
_PROPORTION = re.compile(rf"{_ONE}|\bproportion|\bprobabilit|\bfraction\b", re.IGNORECASE)
_WORDS = {
    "no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "a single": 1, "eine": 1, "zwei": 2, "drei": 3, "vier": 4, "deux": 2, "trois": 3, "dos": 2, "tres": 3, "due": 2,
}  # fmt: skip
_DECIMALS = re.compile(
    rf"\b(\d{{1,2}}|{'|'.join(_WORDS)})(?:\s?\(\d{{1,2}}\))?[\s-]?(?:decimal(?!\s(?:number|value|point\s))"
    r"(?:s|[\s-]places?|[\s-]digits?|[\s-]points?)?\b"
    r"|d\.?p\b\.?|digits?\s(?:after|behind|to\sthe\sright\sof)\s(?:the\s)?(?:decimal|point|comma)"
    r"|(?:figures|places|digits)\safter\s(?:the\s)?(?:decimal|point|comma)"
    r"|nachkommastellen?|dezimalstellen?|kommastellen?|décimales?|decimales|cifre\sdecimali)",
    re.IGNORECASE,
)
_NEAREST = re.compile(
    r"\b(?:nearest|to|to\sthe)\s(?:(tenth)|(hundredth|cent\b|penny)|(thousandth)|(ten[- ]thousandth)|0?(\.0*1)\b)",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"\b(?:[Xx#]+|0)\.([Xx#]{1,8}|0{2,8})(?![\dXx#])|%\.(\d)f|:\.(\d)f\}")


def unit_in(told: str, form: str, *, one_part: bool) -> Unit:
    """Return the unit that words ask for, or None where they ask for neither or both.

    Parameters
    ----------
    told
        What is said of the part: its name, the sentences that speak of it, for a one-part question all of it.
    form
        The answer format, which outweighs the rest where that speaks of both.
    one_part
        Whether the question has one part only.
    """
    percent, proportion = _percent(told), bool(_PROPORTION.search(told))
    if percent == proportion:
        percent, proportion = _percent(form), bool(_PROPORTION.search(form))
        if not one_part or percent == proportion:
            return None
    return "percent" if percent else "proportion"


def _percent(text: str) -> bool:
    if _IN_HUNDRED.search(text):
        return True
    if any("%" in inside for inside in _PLACEHOLDER.findall(text)):
        return True  # '@share[12.5%]' shows how the answer is to be written
    return bool(_PERCENT.search(_OF_A_NUMBER.sub(" ", text)))


def decimals_in(*texts: str) -> int | None:
    """Return how many decimals the first of the texts that says so asks for; None where it says two things."""
    for text in texts:
        found = {_number(match[1]) for match in _DECIMALS.finditer(text)}
        for match in _NEAREST.finditer(text):
            found.add(
                next(n for n, group in enumerate(match.groups(), start=1) if group)
                if not match[5]
                else len(match[5]) - 1
            )
        for match in _SHOWN.finditer(text):
            found.add(len(match[1]) if match[1] else int(match[2] or match[3]))
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.casefold()]
