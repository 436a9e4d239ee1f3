"""Whether a "wrong" answer holds what the right one holds: then it is the marking that wants a look."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from dsqa.values import canonical_string

__all__ = ["holds_the_truth"]

_NUMBER = re.compile(r"(?<![\w.,])[-−–+]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?(?![\w]*\d)")
_WORDS = re.compile(r"[^\W_]+")
_PERCENT = Decimal(100)


def holds_the_truth(truths: Iterable[str], answer: str) -> bool:
    """Tell whether a wrong answer holds every right value: its numbers, or its words.

    Parameters
    ----------
    truths
        The right value of each part of the question.
    answer
        An answer that was marked as wrong, as it was read.

    Notes
    -----
    A number also counts written as a percentage or as a proportion (45 for 0.45); a value without a number counts if
    its words begin the answer, or the answer's words begin it, one of them at least. Not a mark: a reason to look.

    Examples
    --------
    >>> holds_the_truth(["285.7 kEUR"], "285.7"), holds_the_truth(["b"], "b) side-by-side boxplots")
    (True, True)
    >>> holds_the_truth(["0.45"], "45%"), holds_the_truth(["3.1"], "3.14"), holds_the_truth(["yes"], "no")
    (True, False, False)
    """
    values = list(truths)
    return bool(values) and all(_holds(truth, answer) for truth in values)


def _holds(truth: str, answer: str) -> bool:
    wanted = _numbers(truth)
    if wanted:
        given = _numbers(answer)
        given |= {n * _PERCENT for n in given} | {n / _PERCENT for n in given}
        return wanted <= given
    right, said = (_WORDS.findall(canonical_string(text)) for text in (truth, answer))
    return bool(right and said) and (said[: len(right)] == right or right[: len(said)] == said)


def _numbers(text: str) -> set[Decimal]:
    found = set()
    for match in _NUMBER.finditer(text[:2000]):
        try:
            found.add(Decimal(match[0].replace(",", "").translate({0x2212: "-", 0x2013: "-"})).normalize())
        except InvalidOperation:
            continue
    return found
