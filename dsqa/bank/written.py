"""What people write where a question's answer is asked for: nothing, a worked solution, decimals in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal

from dsqa.values import parse_number

__all__ = ["decimals_said", "final_answer", "is_open", "option_columns", "with_decimals"]

_OPEN = frozenset(
    {
        "-", "--", "–", "—", "open", "open question", "open ended", "open-ended", "n/a", "n.a.", "free text", "essay",
        "not marked", "unmarked", "ungraded", "manual", "manually", "none given", "no answer", "discussion",
    }
)  # fmt: skip
_WORDS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_NUMBER = rf"(\d{{1,2}}|{'|'.join(_WORDS)})"
_DECIMALS = re.compile(
    rf"\b{_NUMBER}[- ]?(?:decimals?(?:[- ](?:places?|digits?))?|d\.?p\.?|dec\.|digits? after the (?:decimal )?point"
    rf"|Dezimal(?:stelle|en)\w*|Nachkommastelle\w*)(?!\w)",
    re.IGNORECASE,
)
_AFTER_HASHES = re.compile(r"(?:^|\n)[ \t]*####[ \t]*([^\n]{1,200}?)[ \t]*\s*$")
_BOXED = re.compile(r"\\boxed\{([^{}\n]{1,200})\}[\s.$]*$")
_OPTION = re.compile(
    r"(?:(option|choice|opt|answer|antwort|distractor)[\s_\-.]*)?\(?([A-J]|\d{1,2})\)?", re.IGNORECASE
)
_NUMBERED = frozenset({"option", "choice", "opt"})
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_open(text: str) -> bool:
    """Return whether an answer's text says that there is none: ``-``, ``open``, ``n/a``, ``(essay)``."""
    return text.strip().strip("()[]<>*_").strip().casefold() in _OPEN


def final_answer(text: str) -> str | None:
    r"""Return the final value of a worked solution that ends in ``#### 72`` or ``\boxed{72}``, or None."""
    found = _AFTER_HASHES.search(text[-2_000:]) or (_BOXED.search(text[-2_000:]) if "\n" in text.strip() else None)
    return found[1].strip() if found else None


def decimals_said(*texts: str) -> int | None:
    """Return the one number of decimals that texts ask for ("2 decimals", "three decimal places"), or None."""
    said = {_count(m[1]) for text in texts for m in _DECIMALS.finditer(text)}
    return said.pop() if len(said) == 1 else None


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.casefold()]


def with_decimals(text: str, decimals: int, *, rounded: bool = False) -> str | None:
    """Return a plain decimal number with so many decimals: zeros added, or, with `rounded`, digits taken off.

    None where the text is no such number, has as many already, or has more and must not be rounded.
    """
    bare = text.strip()
    number = parse_number(bare)
    if number is None or not number.finite or number.fraction or not re.fullmatch(r"[+\-−]?[\d.]+", bare):
        return None
    has = len(bare.partition(".")[2])
    if has == decimals or (has > decimals and not rounded):
        return None
    if has > decimals:
        exact = Decimal(bare.replace("−", "-"))
        return f"{exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN):f}"
    return f"{bare}{'' if has else '.'}{'0' * (decimals - has)}"


def option_columns(names: Iterable[str]) -> Mapping[str, str]:
    """Return, by letter, the columns that hold one option each: ``A``, ``B`` …; ``Option 1`` …; ``choice_a`` …."""
    found: dict[str, str] = {}
    for name in names:
        match = _OPTION.fullmatch(name.strip())
        if match is None:
            continue
        letter = match[2].upper()
        if letter.isdecimal():
            if (match[1] or "").casefold() not in _NUMBERED or not 0 < int(letter) <= len(_LETTERS):
                continue
            letter = _LETTERS[int(letter) - 1]
        found.setdefault(letter, name)
    return dict(sorted(found.items())) if {"A", "B"} <= found.keys() else {}
