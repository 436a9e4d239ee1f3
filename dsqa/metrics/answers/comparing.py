"""Does an answer match the ground truth? One part at a time, with the reason.

Rounding
--------
The paper: "If the output is decimal value … the output will be automatically rounded to the closest value."
Here: where the ground truth has d decimals, the answer is rounded to d decimals and must then equal it. On a
tie both neighbours are accepted, because a program's half-up, half-even and binary rounding differ there.
A ground truth without decimals needs a whole number (``12.0`` matches ``12``): rounding ``11.6`` to ``12``, as
the paper's sentence would have it word for word, would also let ``0.04`` match ``0``. Digits beyond the
twelfth of an answer that shows fifteen or more are taken as floating-point noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

from dsqa.bank import Question
from dsqa.metrics.answers.notation import canonical_string, plain
from dsqa.metrics.answers.numbers import EXACT, Number, parse_number
from dsqa.metrics.answers.question import Unit, order_matters, unit_of
from dsqa.metrics.answers.reading import Reading
from dsqa.metrics.answers.values import (
    Value,
    parse_boolean,
    parse_moment,
    parse_nothing,
    parse_range,
    parse_truth,
    split_items,
)

__all__ = ["AnswerStatus", "Comparison", "Part", "compare_answer"]

AnswerStatus = Literal["matched", "mismatched", "partial", "unparsed"]


@dataclass(frozen=True)
class Part:
    """One part of an answer beside its ground truth.

    Parameters
    ----------
    name, truth
        The part and its ground truth.
    answer
        The value read, or None.
    matched
        Whether they match.
    reason
        Why, in a few words.
    key
        The answer in canonical form; equal answers have equal keys, and whatever matches has the truth's key.
    """

    name: str
    truth: str
    answer: str | None
    matched: bool
    reason: str
    key: str


@dataclass(frozen=True)
class Comparison:
    """An answer compared with the ground truth.

    Parameters
    ----------
    status
        matched: every part matches; partial: some do; mismatched: none does although one was read;
        unparsed: no part could be read.
    parts
        One per part of the ground truth, in its order.
    """

    status: AnswerStatus
    parts: tuple[Part, ...]

    @property
    def matched(self) -> bool:
        """Whether every part matches."""
        return self.status == "matched"

    @property
    def share(self) -> float:
        """Share of the parts that match, in [0, 1]."""
        return sum(part.matched for part in self.parts) / len(self.parts)

    @property
    def key(self) -> str | None:
        """The whole answer in canonical form, ``name=value; …``; None where nothing was read."""
        if self.status == "unparsed":
            return None
        return "; ".join(f"{part.name}={part.key}" for part in self.parts)


def compare_answer(reading: Reading, question: Question) -> Comparison:
    """Compare what was read with the question's ground truth.

    Parameters
    ----------
    reading
        From `read_answer` or `read_output`.
    question
        The question; its `common_answers` are the ground truth. The extra fields ``unit`` (``percent`` or
        ``proportion``) and ``ordered`` (bool) are heeded where a question has them; see `question.unit_of`.
    """
    return compare_values(reading.values, question)


def compare_values(values: Mapping[str, str], question: Question) -> Comparison:
    """Compare values by name, however they were come by, with the question's ground truth."""
    parts = []
    for name, truth_text in question.answers.items():
        answer = values.get(name)
        if answer is None:
            parts.append(Part(name, truth_text, None, matched=False, reason="no answer was read", key="?"))
            continue
        matched, reason, key = _compare(parse_truth(truth_text), answer, unit_of(question, name), question)
        parts.append(Part(name, truth_text, answer, matched, reason, key.replace(";", "\\;")))
    hits = sum(part.matched for part in parts)
    if all(part.answer is None for part in parts):
        return Comparison("unparsed", tuple(parts))
    return Comparison("matched" if hits == len(parts) else "partial" if hits else "mismatched", tuple(parts))


def _compare(truth: Value, answer: str, unit: Unit, question: Question) -> tuple[bool, str, str]:
    """Return whether they match, why, and the answer's key."""
    if truth.kind == "number" and truth.number is not None:
        return _compare_number(truth.number, answer, unit)
    truth_key = _key(truth.text)
    if canonical_string(truth.text) == canonical_string(answer):
        return True, "the same text", truth_key
    if truth.kind == "boolean":
        said = parse_boolean(answer, leading=True)
        if said is None:
            return False, "is no truth value", _key(answer)
        if said == truth.boolean:
            return True, "the same truth value", truth_key
        return False, "the opposite truth value", _key(str(said))
    if truth.kind == "nothing":
        same = parse_nothing(truth.text) == parse_nothing(answer)
        return (
            same,
            "no value, as the truth" if same else "a value, and the truth is none",
            truth_key if same else _key(answer),
        )
    if truth.kind == "blank":
        empty = plain(answer) in {"", "[]", "()", "{}", "set()"} or parse_nothing(answer) == "none"
        return empty, "empty, as the truth" if empty else "not empty", truth_key if empty else _key(answer)
    if truth.kind == "moment":
        same = parse_moment(answer) == parse_moment(truth.text)
        return same, "the same moment" if same else "another moment", truth_key if same else _key(answer)
    if truth.kind == "range":
        same = _same_range(truth.text, answer)
        return same, "the same range" if same else "another range", truth_key if same else _key(answer)
    if truth.kind in {"vector", "mapping"}:
        matched, reason = _compare_items(truth, answer, unit, question)
        return matched, reason, truth_key if matched else _key(answer)
    return False, "another text", _key(answer)


def _compare_number(truth: Number, answer: str, unit: Unit) -> tuple[bool, str, str]:
    given = _single_number(answer)
    if given is None:
        return False, "is not one number", _key(answer)
    if truth.unit and given.unit and truth.unit != given.unit:
        return False, f"in {given.unit}, and the truth in {truth.unit}", f"{_key(answer)} {given.unit}"
    scaled, note = _in_unit_of(truth, given, unit)
    if not truth.finite or not scaled.finite:
        same = truth.value == scaled.value
        return same, "the same infinity" if same else "not the same, and one is infinite", _number_key(scaled, truth)
    if truth.bound or scaled.bound:
        same, reason = _compare_bounds(truth, scaled)
    elif truth.fraction:
        same, reason = _compare_to_fraction(truth, scaled)
    elif truth.whole:
        value = _without_noise(scaled.value, 0)
        same = value == truth.value
        reason = "the same number" if same else "another number"
        if not same and value != value.to_integral_value():
            reason = "not a whole number, as the truth is"
    else:
        same = _rounds_to(scaled.value, truth.value, truth.exponent)
        reason = "equal" if same else "not equal"
        reason += f" at the truth's {-truth.exponent} decimals" if truth.exponent < 0 else " at the truth's precision"
    if same and truth.spread is not None and given.spread is not None and given.spread != truth.spread:
        same, reason = False, "the number agrees, what follows ± does not"
    key = _number_key(truth, truth) if same else _number_key(scaled, truth)
    return same, f"{reason}{note}", key


def _single_number(text: str) -> Number | None:
    number = parse_number(text)
    if number is None and text.strip()[:1] in {"[", "("}:
        # '[34.65]', '[[1,234]]' and 'array([3])': a list of one is that one.
        for spaced in (False, True):
            items, keyed, _ = split_items(text, spaced=spaced)
            if len(items) == 1 and not keyed:
                return parse_number(items[0][1])
    return number


def _in_unit_of(truth: Number, given: Number, unit: Unit) -> tuple[Number, str]:
    """Bring an answer in per cent to the truth's unit; see `question.unit_of` for how that is known."""
    if given.percent == truth.percent:
        return given, ""
    if truth.percent:
        return given, " (read as per cent, the truth's unit)"
    if unit == "percent":
        return given, " (per cent is the question's unit)"
    value = EXACT.scaleb(given.value, -2) if given.finite else given.value
    return Number(value, given.exponent - 2, whole=False, bound=given.bound), " (per cent taken as a proportion)"


def _compare_bounds(truth: Number, given: Number) -> tuple[bool, str]:
    if truth.bound and given.bound:
        if truth.bound[0] in "<≤" and given.bound[0] in "<≤":
            same = given.value <= truth.value
        elif truth.bound[0] in ">≥" and given.bound[0] in ">≥":
            same = given.value >= truth.value
        else:
            same = False
        return same, "a bound as tight as the truth's" if same else "a looser bound than the truth's"
    if truth.bound:
        inside = {
            "<": given.value < truth.value,
            "≤": given.value <= truth.value,
            ">": given.value > truth.value,
            "≥": given.value >= truth.value,
        }[truth.bound]
        # '< 0.001' is said of p-values: a negative number is no way to meet it.
        inside = inside and (truth.value <= 0 or given.value >= 0)
        return inside, "within the truth's bound" if inside else "outside the truth's bound"
    # 'p < 0.0001' for a p-value of 0.0000: as close as the truth's own precision can tell.
    close = given.bound in {"<", "≤"} and truth.value == 0 and not truth.whole
    close = close and 0 < given.value <= Decimal(1).scaleb(truth.exponent)
    return close, "a bound within the truth's last digit" if close else "only a bound, and the truth is a number"


def _compare_to_fraction(truth: Number, given: Number) -> tuple[bool, str]:
    if given.value == truth.value:
        return True, "the same number"
    # 0.33 for 1/3; 0.3 would be too coarse to tell it from 3/10.
    if not given.fraction and given.exponent <= -2 and _rounds_to(truth.value, given.value, given.exponent):
        return True, "the truth's fraction, rounded"
    return False, "another number"


def _rounds_to(value: Decimal, target: Decimal, exponent: int) -> bool:
    unit = Decimal(1).scaleb(exponent)
    for candidate in {value, _without_noise(value, -exponent)}:
        for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN):
            try:
                if candidate.quantize(unit, rounding=mode, context=EXACT) == target:
                    return True
            except InvalidOperation:  # more digits than any sensible answer has: too far apart to match
                return False
    return False


def _without_noise(value: Decimal, decimals: int) -> Decimal:
    """Round a float printed in full to 12 significant digits, never closer than 3 digits below `decimals`."""
    if not value.is_finite() or len(value.as_tuple().digits) < 15 or value.as_tuple().exponent >= 0:  # type: ignore[operator]
        return value
    exponent = min(value.adjusted() - 11, -(decimals + 3))
    try:
        return value.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_EVEN, context=EXACT)
    except InvalidOperation:
        return value


def _same_range(truth: str, answer: str) -> bool:
    expected, given = parse_range(truth), parse_range(answer)
    if expected is None or given is None:
        return False
    return all(_compare_number(e, str(g.value), None)[0] for e, g in zip(expected, given, strict=True))


def _compare_items(truth: Value, answer: str, unit: Unit, question: Question) -> tuple[bool, str]:
    items, keyed, _ = split_items(answer)
    if len(items) != len(truth.items):
        spaced, spaced_keyed, _ = split_items(answer, spaced=True)
        if len(spaced) == len(truth.items):
            items, keyed = spaced, spaced_keyed
    if len(items) != len(truth.items):
        return False, f"{len(items)} items, and the truth has {len(truth.items)}"
    expected = [(key, parse_truth(text)) for key, text in truth.items]
    if truth.kind == "mapping":
        given = dict(items)
        if not keyed or len(given) != len(items):
            return False, "the items carry no names, and the truth's do"
        for key, value in expected:
            if key not in given:
                return False, f"no item is named '{key}'"
            matched, reason, _ = _compare(value, given[key], unit, question)
            if not matched:
                return False, f"item '{key}': {reason}"
        return True, "every named item matches"
    answers = [text for _, text in items]
    if truth.unordered or not order_matters(question):
        return _compare_sets([value for _, value in expected], answers, unit, question)
    for position, ((_, value), text) in enumerate(zip(expected, answers, strict=True), start=1):
        matched, reason, _ = _compare(value, text, unit, question)
        if not matched:
            return False, f"item {position}: {reason}"
    return True, "every item matches"


def _compare_sets(expected: list[Value], answers: list[str], unit: Unit, question: Question) -> tuple[bool, str]:
    left = list(answers)
    for value in expected:
        hit = next((text for text in left if _compare(value, text, unit, question)[0]), None)
        if hit is None:
            return False, f"nothing matches '{value.text}'"
        left.remove(hit)
    return True, "the same items, in any order"


def _number_key(number: Number, truth: Number) -> str:
    value = number.value
    if number.finite and truth.finite and not truth.whole and not truth.fraction:
        try:
            value = _without_noise(value, -truth.exponent).quantize(
                Decimal(1).scaleb(truth.exponent), rounding=ROUND_HALF_EVEN, context=EXACT
            )
        except InvalidOperation:
            value = number.value
    elif number.finite:
        value = _without_noise(value, 0)
    return f"{number.bound}{_written(value)}"


def _written(value: Decimal) -> str:
    if not value.is_finite():
        return str(value).casefold()
    if value == 0:
        return "0"
    shortest = EXACT.plus(value).normalize(EXACT)
    return f"{shortest:f}" if -8 < shortest.adjusted() < 21 else str(shortest)


def _key(text: str) -> str:
    boolean = parse_boolean(text)
    if boolean is not None and len(plain(text)) > 1:
        return "true" if boolean else "false"
    nothing = parse_nothing(text)
    if nothing:
        return nothing
    number = parse_number(text)
    if number is not None:
        sign = "%" if number.percent else ""
        return f"{number.bound}{_written(_without_noise(number.value, 0))}{sign}"
    moment = parse_moment(text)
    if moment:
        return moment
    items, keyed, unordered = split_items(text) if len(text) <= 2000 else ((), False, False)
    if len(items) > 1 and (text.strip()[:1] in "[({" or keyed):
        parts = [f"{key}:{_key(item)}" if keyed else _key(item) for key, item in items]
        return "[" + ", ".join(sorted(parts) if unordered else parts) + "]"
    return canonical_string(text)
