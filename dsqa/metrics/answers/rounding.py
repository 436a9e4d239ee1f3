"""Whether a number matches a number, and an answer in canonical form.

Rounding
--------
The paper: "If the output is decimal value … the output will be automatically rounded to the closest value."
Here: where the ground truth has d decimals, the answer is rounded to d decimals and must then equal it. On a
tie both neighbours are accepted, because a program's half-up, half-even and binary rounding differ there.
A ground truth without decimals needs a whole number (``12.0`` matches ``12``): rounding ``11.6`` to ``12``, as
the paper's sentence would have it word for word, would also let ``0.04`` match ``0``. Where the question says how
many decimals it wants, and the truth shows fewer (a spreadsheet shows 0.90 as 0.9), the missing ones are zeros.
Digits beyond the twelfth of an answer that shows fifteen or more are taken as floating-point noise. A question may
set another rule: `tolerance`, a largest distance from the truth, or `rounding`, the digits to which both are rounded.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

from dsqa.metrics.answers.asked import Unit
from dsqa.metrics.answers.question import Rule
from dsqa.values import (
    EXACT,
    Number,
    canonical_string,
    parse_boolean,
    parse_moment,
    parse_nothing,
    parse_number,
    plain,
    same_unit,
    split_items,
)

__all__ = ["canonical_key", "compare_number", "in_unit_of", "single_number"]


_LONGEST_WORKED = 200
_DEEPEST = 8
_EQUALS = re.compile(r"\s*(?:=|≈|→|⇒|->|=>|\\rightarrow|\\to)\s*")
_COMPARED = re.compile(r"([^<>≤≥]*\d[^<>≤≥]*?)\s*(<<|<=|>=|[<>≤≥≪≫])\s*(?:(?:α|alpha)\s*=?\s*)?([\d.]+)")
_ARITHMETIC = re.compile(
    r"(?=.*\d)[\d\s.,()+\-−–*/×÷·^√²³%]+|(?:\d\s?[×*·]?\s?)?Pr?\s?\([^()]{1,60}\)", re.IGNORECASE
)
# '34.65, rounded' and 't = -2.41, df = 58'; not '32, or more'.
_REMARK = re.compile(
    r",\s+(?!.*\b(?:or|and|not|but|maybe|perhaps|possibly|unless|if|more|less|fewer)\b)"
    r"(?:[^\W\d]+(?:[ -][^\W\d]+){0,7}\.?|(?:df|p|n|se|sd|ci|9\d\s?%\s?ci)\b[^@]{1,60})$",
    re.IGNORECASE,
)


def compare_number(truth: Number, answer: str, rule: Rule) -> tuple[bool, str, str]:
    """Return whether the answer matches the number, why, and the answer's key."""
    given = single_number(answer)
    if given is None:
        return False, "is not one number", canonical_key(answer)
    given = _in_size_of(truth, given)
    if not same_unit(truth.unit, given.unit):
        return False, f"in {given.unit}, and the truth in {truth.unit}", f"{canonical_key(answer)} {given.unit}"
    if given.percent and not truth.percent and rule.unit is None and truth.finite and abs(truth.value) > 1:
        # 4298 % is the number 42.98, but nobody who was asked for a mean distance means that.
        return False, "in per cent, which nothing asked for", canonical_key(answer)
    scaled, note = in_unit_of(truth, given, rule.unit)
    if not truth.finite or not scaled.finite:
        same = truth.value == scaled.value
        return same, "the same infinity" if same else "not the same, and one is infinite", _number_key(scaled, truth)
    if truth.bound or scaled.bound:
        same, reason = _compare_bounds(truth, scaled)
    elif rule.tolerance is not None:
        same, reason = _within(scaled.value, truth.value, rule.tolerance)
    elif rule.rounding is not None:
        same, reason = _rounded_alike(scaled.value, truth, rule.rounding)
    elif rule.decimals is not None and not truth.fraction and not truth.percent and not truth.scaled:
        same, reason = _as_asked(truth, scaled, rule.decimals)
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


def _in_size_of(truth: Number, given: Number) -> Number:
    """Bring an answer to the truth's unit of size: ``285,700 EUR`` and ``285.7`` for ``285.7 kEUR``."""
    power = 0
    if given.size and given.size != truth.size:
        power = given.size - truth.size
    elif truth.size and not given.size and (given.scaled or (given.unit and same_unit(truth.unit, given.unit))):
        power = -truth.size
    if not power or not given.finite:
        return given
    unit = given.unit if given.unit in {"eur", "usd", "gbp"} or power < 0 < truth.size else ""
    value, exponent = EXACT.scaleb(given.value, power), given.exponent + power
    return replace(given, value=value, exponent=exponent, whole=given.whole and exponent >= 0, unit=unit)


def _as_asked(truth: Number, given: Number, decimals: int) -> tuple[bool, str]:
    """Compare at the decimals that the question asks for, whether the truth shows fewer or more of them.

    A truth that shows fewer, as a spreadsheet shows 0.90 as 0.9, has zeros there. Of a truth that shows more an
    answer may have no more than was asked; one that does have more is held against all that the truth shows.
    """
    shown = -truth.exponent
    said = f"at the {decimals} decimals asked for"
    if decimals >= shown:
        if truth.whole and given.whole and not given.fraction:
            same = given.value == truth.value
            return same, "the same number" if same else "another number"
        same = _rounds_to(given.value, truth.value, -decimals)
        return same, f"equal {said}" if same else f"not equal {said}"
    if _rounds_to(given.value, truth.value, truth.exponent):
        return True, f"equal at the truth's {shown} decimals"
    if given.exponent >= -decimals and not given.fraction and given.exponent <= 0:
        unit = Decimal(1).scaleb(-decimals)
        try:
            rounded = {
                truth.value.quantize(unit, rounding=m, context=EXACT) for m in (ROUND_HALF_UP, ROUND_HALF_DOWN)
            }
        except InvalidOperation:
            rounded = set()
        if any(given.value == value for value in rounded) and (given.value != 0 or truth.value == 0):
            return True, f"equal {said}"
    return False, f"not equal {said}"


def single_number(text: str) -> Number | None:
    """Read a text that is one number, a list of one, or works one out.

    ``1039.5 / 30 = 34.65`` is its result; ``34.6487 ≈ 34.65`` the finer of the two; ``0.03 < 0.05`` is 0.03.
    """
    number = parse_number(text)
    if number is None and len(text) <= _LONGEST_WORKED and any(c.isdigit() for c in text):
        bare = plain(text).rstrip(" ,;")
        number = parse_number(bare) or _worked_out(bare)
    for _ in range(_DEEPEST):
        # '[34.65]', '[[1,234]]' and 'array([[3]])': a list of one, nested or not, is that one.
        if number is not None or text.strip().rstrip(".!")[-1:] not in {"]", ")", "}"} or len(text) > _LONGEST_WORKED:
            break
        for spaced in (False, True):
            items, keyed, _ = split_items(text, spaced=spaced)
            if len(items) == 1 and not keyed:
                break
        else:
            break
        if items[0][1] == text:
            break
        text = items[0][1]
        number = parse_number(text)
    return number


def _worked_out(text: str) -> Number | None:
    remark = _REMARK.search(text)
    if remark:
        second = parse_number(remark[0].strip(", "))
        return parse_number(text[: remark.start()]) if second is None or second.label else None
    compared = _COMPARED.fullmatch(text)
    if compared:
        number, limit = parse_number(compared[1]), parse_number(compared[3])
        if number is None or limit is None or number.bound or limit.bound:
            return None
        below = compared[2] in {"<", "≤", "<=", "<<", "≪"}
        return number if (number.value < limit.value if below else number.value > limit.value) else None
    *before, last = _EQUALS.split(text)
    number = parse_number(last)
    if not before or number is None:
        return None
    first = parse_number(before[-1])
    if first is None:
        return number if all(_ARITHMETIC.fullmatch(part) for part in before) else None
    finer = first.exponent < number.exponent and _rounds_to(first.value, number.value, number.exponent)
    return first if finer else number if first.value == number.value else None


def in_unit_of(truth: Number, given: Number, unit: Unit) -> tuple[Number, str]:
    """Bring an answer in per cent to the truth's unit; see `question.unit_of` for how that is known."""
    if given.percent == truth.percent:
        return given, ""
    if truth.percent:
        return given, " (read as per cent, the truth's unit)"
    if unit == "percent":
        return given, " (per cent is the question's unit)"
    value = EXACT.scaleb(given.value, -2) if given.finite else given.value
    return Number(value, given.exponent - 2, whole=False, bound=given.bound), " (per cent taken as a proportion)"


def _within(value: Decimal, truth: Decimal, tolerance: str) -> tuple[bool, str]:
    if tolerance.endswith("%"):
        allowed = EXACT.multiply(abs(truth), EXACT.scaleb(Decimal(tolerance[:-1]), -2))
    else:
        allowed = Decimal(tolerance)
    same = any(abs(EXACT.subtract(v, truth)) <= allowed for v in (value, _without_noise(value, 6)))
    return same, f"within {tolerance} of the truth" if same else f"further than {tolerance} from the truth"


def _rounded_alike(value: Decimal, truth: Number, rounding: str) -> tuple[bool, str]:
    """Round answer and truth to the digits that the question says; of a tie, either neighbour."""
    if truth.value == 0 and truth.whole:
        # Rounded to whole numbers, 0.04 would be 0.
        return value == 0, "zero, as the truth" if value == 0 else "not zero, as the truth is"
    exponent, targets, said = _targets(truth.value, rounding)
    if not targets:
        return value == truth.value, "the same number" if value == truth.value else "another number"
    same = any(_rounds_to(value, target, exponent) for target in targets)
    return same, f"equal at {said}" if same else f"not equal at {said}"


@lru_cache(maxsize=4096)
def _targets(truth: Decimal, rounding: str) -> tuple[int, frozenset[Decimal], str]:
    digits, _, significant = rounding.partition(" ")
    exponent = truth.adjusted() - int(digits) + 1 if significant else -int(digits)
    unit = Decimal(1).scaleb(exponent)
    said = f"{digits} significant digits" if significant else f"{digits} decimals"
    try:
        both = {truth.quantize(unit, rounding=mode, context=EXACT) for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN)}
    except InvalidOperation:
        both = set()
    return exponent, frozenset(both), said


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


def canonical_key(text: str) -> str:
    """Return a value in canonical form, whatever it is a value of: ``1,234.50`` and ``$1234.5`` are both 1234.5."""
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
        parts = [f"{key}:{canonical_key(item)}" if keyed else canonical_key(item) for key, item in items]
        return "[" + ", ".join(sorted(parts) if unordered else parts) + "]"
    return canonical_string(text)
