"""Why an answer is wrong: the convention under which it would be right.

A question's own `traps` come first, since its author knows them: what the answer is with another divisor, reference
level, treatment of missing values. After them come conventions that can be told from the numbers alone; each
is tried only where the question's words make it likely, and must hold to the digits that truth and answer have:

======================================  ===========================================  ==========================
convention                              the answer is                                tried where
======================================  ===========================================  ==========================
per cent for a proportion               100 × the truth                              anywhere
proportion for a per cent               the truth ÷ 100                              anywhere
sign                                    − the truth                                  anywhere
fewer decimals than asked               the truth, rounded further                   anywhere
cut off, not rounded                    the truth, its further digits left out       anywhere
variance for a standard deviation …     the truth squared, its root                  sd or variance is spoken of
natural logarithm for base 10 …         the truth × ln 10, ÷ ln 10, × ln 2, ÷ ln 2   a logarithm is spoken of
two-sided p for one-sided …             2 × the truth, the truth ÷ 2                 a p-value is spoken of
the other tail, the complement          1 − the truth                                a p-value or proportion
divisor n for n − 1 …                   the truth × √((n − 1)/n), or its inverse     the question gives `n`
decimal comma                           the truth, a comma for the point             anywhere
order of the items                      the same items                               a vector
======================================  ===========================================  ==========================

A named convention changes nothing else: the answer stays wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

from dsqa.bank import Question
from dsqa.metrics.answers.asked import Unit
from dsqa.metrics.answers.question import Rule, about, memo_of
from dsqa.metrics.answers.rounding import single_number
from dsqa.values import EXACT, Number, Value, parse_number, parse_truth, split_items, with_decimal_point

__all__ = ["convention_of"]

Compare = Callable[[Value, str, Rule], tuple[bool, str, str]]

_TOPICS = {
    "spread": re.compile(r"standard deviation|\bs\.?d\.?\b|\bstd|varian|\bvar\b|σ", re.IGNORECASE),
    "deviation": re.compile(r"deviation|\bs\.?d\.?\b|\bstd", re.IGNORECASE),
    "variance": re.compile(r"varian|\bvar\b", re.IGNORECASE),
    "logarithm": re.compile(r"\blog|\bln\b|logarithm|entropy", re.IGNORECASE),
    "p-value": re.compile(r"p[-_ ]?values?\b|\bp\b|signific", re.IGNORECASE),
}
_MOST_ITEMS = 200
_LONGEST = 5000


def convention_of(question: Question, name: str, truth: Value, answer: str, rule: Rule, compare: Compare) -> str:
    """Return the convention under which a wrong answer would be right, or "".

    Parameters
    ----------
    question, name
        The question and its part.
    truth, answer, rule
        What did not match, and how they were compared.
    compare
        The comparison itself.
    """
    if len(answer) > _LONGEST:
        return ""
    given = single_number(answer)
    near = None if given is None or not given.finite or rule.tolerance else float(given.value)
    for convention, trap in _traps(question, name):
        if (near is None or _near(near, trap)) and compare(trap, answer, rule)[0]:
            return convention
    if truth.kind == "number" and truth.number is not None:
        if not rule.decimal_comma and "," in answer:
            pointed = with_decimal_point(answer, declared=True)
            if pointed != answer and compare(truth, pointed, rule)[0]:
                return "decimal comma"
        return "" if given is None else _of_number(_words(question, name), question.n, truth.number, given, rule)
    if truth.kind in {"vector", "mapping"}:
        return _of_items(question, name, truth, answer, rule, compare)
    return ""


def _traps(question: Question, name: str) -> list[tuple[str, Value]]:
    memo = memo_of(question)
    if ("traps", name) not in memo:
        memo["traps", name] = [
            (convention, parse_truth(values[name])) for convention, values in question.traps.items() if name in values
        ]
    traps: list[tuple[str, Value]] = memo["traps", name]
    return traps


def _near(given: float, trap: Value) -> bool:
    """Whether a number may match a trap at all, in whatever unit: a glance that spares the comparison."""
    number = trap.number
    if number is None or not number.finite:
        return True
    value = float(number.value)
    margin = abs(value) * 0.5 + 10.0 ** max(number.exponent, -300)
    return any(abs(scaled - value) <= margin for scaled in (given, given * 100, given / 100))


def _words(question: Question, name: str) -> frozenset[str]:
    """Return what the question's words speak of, as far as conventions go by it."""
    memo = memo_of(question)
    if ("topics", name) not in memo:
        text = f"{name.replace('_', ' ')}\n{about(question, name)}\n{question.asked}"
        memo["topics", name] = frozenset(topic for topic, pattern in _TOPICS.items() if pattern.search(text))
    topics: frozenset[str] = memo["topics", name]
    return topics


def _of_number(topics: frozenset[str], n: int | None, truth: Number, given: Number, rule: Rule) -> str:
    if not (truth.finite and given.finite) or truth.bound or given.bound:
        return ""
    glance = float(given.value)
    for convention, value, exact, about_value in _candidates(topics, n, truth.value, rule.unit):
        if abs(glance - about_value) <= 0.06 * abs(about_value) and _meets(value, given, truth, exact):
            return convention
    if not given.percent or truth.percent:
        return _digits(truth, given)
    return ""


@lru_cache(maxsize=4096)
def _candidates(
    topics: frozenset[str], n: int | None, truth: Decimal, unit: Unit
) -> tuple[tuple[str, Decimal, bool, float], ...]:
    """Return conventions, what the truth is under each, whether that is exact for an exact truth; and as a float."""
    return tuple((said, value, exact, float(value)) for said, value, exact in _conventions(topics, n, truth, unit))


def _conventions(
    topics: frozenset[str], n: int | None, t: Decimal, unit: Unit
) -> Iterator[tuple[str, Decimal, bool]]:
    if t == 0:
        return
    yield "the other sign", -t, True
    yield "per cent for a proportion (100 ×)", EXACT.scaleb(t, 2), True
    yield "proportion for a per cent (÷ 100)", EXACT.scaleb(t, -2), True
    if "spread" in topics and t > 0 and t != 1:
        variance, deviation = "variance" in topics, "deviation" in topics
        if deviation or not variance:
            yield "variance for the standard deviation", EXACT.multiply(t, t), False
        if variance:
            yield "standard deviation for the variance", EXACT.sqrt(t), False
        if n is not None and n > 1:
            ratio = EXACT.divide(Decimal(n - 1), Decimal(n))
            inverse = EXACT.divide(Decimal(n), Decimal(n - 1))
            for convention, factor in (("divisor n for n − 1", ratio), ("divisor n − 1 for n", inverse)):
                by = factor if variance and not deviation else EXACT.sqrt(factor)
                yield convention, EXACT.multiply(t, by), False
    if "logarithm" in topics:
        ten, two = Decimal(math.log(10)), Decimal(math.log(2))
        yield "natural logarithm for base 10", EXACT.multiply(t, ten), False
        yield "base 10 for the natural logarithm", EXACT.divide(t, ten), False
        yield "base 2 for the natural logarithm", EXACT.divide(t, two), False
        yield "natural logarithm for base 2", EXACT.multiply(t, two), False
    probable = "p-value" in topics and 0 < t < 1
    if probable:
        yield "two-sided p-value for a one-sided one (2 ×)", EXACT.multiply(t, Decimal(2)), False
        yield "one-sided p-value for a two-sided one (÷ 2)", EXACT.divide(t, Decimal(2)), False
    if 0 < t < 1 and (probable or unit == "proportion"):
        yield "the other tail, or the complement (1 −)", EXACT.subtract(Decimal(1), t), True
    elif unit == "percent" and 0 < t < 100:
        yield "the complement (100 −)", EXACT.subtract(Decimal(100), t), True


def _meets(value: Decimal, given: Number, truth: Number, exact: bool) -> bool:
    """Whether an answer is the value, as far as the digits of truth and answer tell.

    The truth is known to half its last digit, and so, in proportion, is what is made from it; but never is more than
    half a per cent let pass, so that a truth of one digit does not explain whatever is near.
    """
    difference = abs(EXACT.subtract(given.value, value))
    if exact and not difference and not truth.fraction:
        return True  # 0.2 for 20%
    half = EXACT.scaleb(Decimal(5), given.exponent - 1) if not given.whole else Decimal(0)
    if given.fraction:
        half = Decimal(0)
    slack = Decimal(0)
    if not (exact and truth.whole):
        known = EXACT.divide(EXACT.scaleb(Decimal(5), truth.exponent - 1), abs(truth.value))
        slack = EXACT.multiply(min(known * 2, Decimal("0.005")), abs(value))
    # A rounded answer must still show two digits of the value, or it could be anything.
    return difference <= half + slack and half <= abs(value) / 20


def _digits(truth: Number, given: Number) -> str:
    """Tell a truth that was rounded further than asked, or cut, from another number."""
    if truth.whole or truth.fraction or given.fraction:
        return ""
    digits = len(given.value.as_tuple().digits)
    try:
        if given.exponent > truth.exponent and given.value != 0 and digits >= 1:
            unit = Decimal(1).scaleb(given.exponent)
            for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN):
                if truth.value.quantize(unit, rounding=mode, context=EXACT) == given.value:
                    return "fewer decimals than asked"
            if truth.value.quantize(unit, rounding=ROUND_DOWN, context=EXACT) == given.value:
                return "cut off, not rounded"
    except InvalidOperation:
        return ""
    return ""


def _of_items(question: Question, name: str, truth: Value, answer: str, rule: Rule, compare: Compare) -> str:
    """Return the one convention that explains every item that does not match."""
    items, keyed, _ = split_items(answer)
    if len(items) != len(truth.items) or len(items) > _MOST_ITEMS:
        return ""
    if truth.kind == "vector" and rule.ordered and not truth.unordered:
        if compare(truth, answer, replace(rule, ordered=False))[0]:
            return "the order of the items"
    elif truth.kind == "vector" or not keyed:
        return ""
    given = dict(items) if keyed else {}
    words = _words(question, name)
    common = ""
    for (key, text), (_, said) in zip(truth.items, items, strict=True):
        expected = parse_truth(text)
        value = given.get(key, "") if truth.kind == "mapping" else said
        if compare(expected, value, rule)[0]:
            continue
        number = parse_number(value)
        if number is None or expected.number is None:
            return ""
        convention = _of_number(words, question.n, expected.number, number, rule)
        if not convention or (common and convention != common):
            return ""
        common = convention
    return common
