"""Numbers as people and programs write them, read exactly into `decimal.Decimal`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache

from dsqa.values.notation import plain
from dsqa.values.units import CURRENCY, beside
from dsqa.values.words import in_words

__all__ = ["EXACT", "Number", "parse_number", "with_decimal_point"]

EXACT = Context(prec=60)
"""Arithmetic on answers: more digits than any answer shows, so nothing is lost on the way."""

_LONGEST = 200
_GREATEST_EXPONENT = 400  # a little beyond double precision


@dataclass(frozen=True)
class Number:
    """A number that was read.

    Parameters
    ----------
    value
        Its value as written: ``20%`` is 20 with `percent` set; ``2.5 million`` is 2500000.
    exponent
        Power of ten of the last digit written: -2 for ``34.65``, 0 for ``12``, 5 for ``2.5 million``.
    whole
        Written as a whole number: no decimal point, no fraction.
    percent
        A per cent sign or word follows.
    bound
        ``<``, ``≤``, ``>`` or ``≥`` where the number is only a bound, as in ``p < 0.001``.
    unit
        The unit or currency written beside it, lower case, or "".
    spread
        What follows ``±``.
    fraction
        Written as a fraction, ``3/4``.
    label
        What it is said to be, as in ``p = 0.03``.
    size
        Power of ten that the unit stands for, as 3 of ``kEUR`` and -4 of basis points; not in `value`.
    scaled
        Power of ten of a word of size that is in `value`, as 6 of ``2.5 million``.
    """

    value: Decimal
    exponent: int
    whole: bool = True
    percent: bool = False
    bound: str = ""
    unit: str = ""
    spread: Decimal | None = None
    fraction: bool = False
    label: str = ""
    size: int = 0
    scaled: int = 0

    @property
    def text(self) -> str:
        """The number written so that it is read as the same again, without label and unit."""
        return f"{self.value}{'%' if self.percent else ''}"

    @property
    def finite(self) -> bool:
        """Whether it is neither infinite nor NaN."""
        return self.value.is_finite()


_SUPER = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_TEN_TO = re.compile(r"(?<=10)[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SIGNS = str.maketrans(
    dict.fromkeys("−–—﹣－‒‐‑", "-") | {"＋": "+", "﹢": "+", "⁄": "/", "∕": "/", "．": ".", "，": ","}
)
_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅐": "1/7", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8", "⅑": "1/9", "⅒": "1/10",
}  # fmt: skip
_VULGAR_MARK = re.compile("[" + "".join(_VULGAR) + "]")
_DECIMAL = re.compile(r"^Decimal\('([^']*)'\)$")

_SEPARATORS = "[, '’_\u00a0\u2009\u202f]"
# None of these says anything of the value's size.
_HEDGE = (
    r"(?:(?:just|only|exactly|precisely|strictly|simply|a\stotal\sof|in\stotal|equal(?:s|\sto)|genau|exactement|exactamente"
    r"|about|approximately|approx\.?|around|roughly|circa|ca\.|nearly|almost|some|an?\sestimated|estimated\s(?:at|as)"
    r"|etwa|ungefähr|rund|environ|aproximadamente)(?![\w.]))"
)
_HEDGES = re.compile(rf"(?:{_HEDGE}\s+){{1,3}}(?=[^\W_]|[-+.$€£~≈=<>(])", re.IGNORECASE)
_NUMBER = re.compile(
    rf"""
    (?:(?P<label>[^\W\d][\w .()\-]{{0,40}}?)\s*(?=:\s|[=≈~<>≤≥])   # 'p < …', 'mean = …', 'n: …'
       |)
    (?P<relation>[=:≈~]|<=|>=|[<>≤≥]|)\s*
    (?:{_HEDGE}\s*)?
    (?P<sign>[+-]?)\s?
    (?P<currency>{CURRENCY}|)\s?
    (?P<sign2>[+-]?)
    (?:
        (?P<numerator>(?:\d{{1,9}}\ (?=\d{{1,20}}\s?/))?\d{{1,20}}\s?/\s?\d{{1,20}})
      |
        (?P<integer>\d{{1,3}}(?:(?P<sep>{_SEPARATORS})\d{{3}}(?:(?P=sep)\d{{3}})*)(?!\d)|\d*)
        (?P<point>\.(?P<decimals>\d*)|)
        (?:(?:[eE]|\s[eE](?=\s?[+-]))\s?(?P<e>[+-]?\d{{1,6}})
          |\s?(?:×|[xX*·⋅])\s?10\s?(?:\^|\*\*)\s?[{{(]?\s?(?P<ten>[+-]?\d{{1,6}})\s?[)}}]?
          |)
    )
    (?P<tail>(?![\d.,]).*|\.?)
    """,
    re.VERBOSE | re.DOTALL,
)
# '2.5 (thousand)' is another number, or none.
_SIZE = (
    r"\s*(?:in\s|×\s?|x\s)?\s*(?:hundreds?|thousands?|[mbtr]+illions?|tenths?|hundredths?|thousandths?|dozens?|lakhs?"
    r"|crores?|negative|minus|below\szero|per\smille|‰|basis\spoints?|bps)\s*"
)
_TAIL = re.compile(
    rf"""
    (?:\s*-?(?P<percent>%|per\s?cents?\b|percentage(?!\w)|pct\b|prozent\b|pour\s?cent\b|por\s?ciento\b|per\shundred\b))?
    (?:\s*(?:±|\+/-|\+-)\s*(?P<spread>\d+(?:\.\d*)?|\.\d+)(?:\s*(?P<percent2>%))?)?
    (?P<unit>.*?)
    \s*(?:\((?!(?:or|and|not|but)\b|{_SIZE}\))[^()]{{0,80}}\))?              # '(rounded to two decimals)'
    \s*(?:[.。]?!{{0,3}}|！)\s*
    """,
    re.VERBOSE | re.DOTALL,
)
_INFINITE = re.compile(r"([+-]?)\s?(?:np\.|math\.)?(?:inf|infinity|∞)", re.IGNORECASE)
_SAID = (
    (re.compile(r"(?:minus|negative)\s+(?=[\d.$€£])", re.IGNORECASE), "-"),
    (
        re.compile(
            r"(?:p(?:[- ]value)?\s+(?:is\s+)?)?(?:(?:less|smaller|lower)\s+than|below|under)\s+(?=[\d.$€£-])",
            re.IGNORECASE,
        ),
        "<",
    ),
    (re.compile(r"(?:(?:more|greater|larger|higher)\s+than|above|over)\s+(?=[\d.$€£-])", re.IGNORECASE), ">"),
)
_LETTER = re.compile(r"[-+]?[A-Za-z]")
_NEGATIVE = re.compile(r"(?:(?:minus|negative)\s+|-)(?=[A-Za-z])", re.IGNORECASE)
_AGAIN = re.compile(r"(?:\(|=\s?|,\s)([^()]{1,40})\)?[.!]?")
_POWER = re.compile(r"^([+-]?)\s?(\d{1,4})\s?(?:\^|\*\*)\s?[{(]?\s?([+-]?\s?\d{1,3})\s?[)}]?(?![\d.,^*])")
# '1.234.567' can be nothing but thousands; '1.234' can.
_DOTTED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3}){2,}")


def parse_number(text: str, *, known_units_only: bool = False) -> Number | None:
    """Read a text that is one number and nothing else, or return None.

    Parameters
    ----------
    text
        The value as written. Around the number may stand: decoration (see `notation.plain`), a label
        (``p =``), a relation (``<``), a hedge (``about``), a currency, a unit, ``± spread``, a remark in
        parentheses. Anything else, a second number above all, makes it something other than a number:
        ``7:30``, ``5-6``, ``3 out of 10`` and ``1.2.3`` are not read.
    known_units_only
        Take only signs and abbreviations as units, so that the title ``5 Point Someone`` stays a text.
    """
    return _parse(text, known_units_only) if len(text) <= _LONGEST else None


@lru_cache(maxsize=8192)
def _parse(text: str, known_units_only: bool) -> Number | None:
    text = plain(text).strip("*` ")
    text = _DECIMAL.sub(r"\1", text)
    if text.startswith("(") and "(" not in text[1:]:
        bare = text.rstrip(".!")
        text = bare[1:-1].strip("*` ") if bare.endswith(")") else text
    text = _TEN_TO.sub(lambda m: "^" + m[0].translate(_SUPER), text)
    text = _VULGAR_MARK.sub(lambda m: f" {_VULGAR[m[0]]}", text).strip().translate(_SIGNS)
    text = _HEDGES.sub("", text, count=1) if _HEDGES.match(text) else text
    if text[:1].isalpha() and not known_units_only:  # 'under 18' may be the name of a group
        for words, sign in _SAID:
            text, said = words.subn(sign, text, count=1) if words.match(text) else (text, 0)
            if said:
                break
    elif _DOTTED.fullmatch(text):
        text = text.replace(".", "")
    if _LETTER.match(text):
        worded = _in_words(text, known_units_only)
        if worded is not None:
            return worded
    text = _POWER.sub(_worked_power, text, count=1) if "^" in text or "**" in text else text
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return Number(Decimal("-Infinity" if infinite[1] == "-" else "Infinity"), 0)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return _assemble(match, known_units_only)


def _in_words(text: str, known_units_only: bool) -> Number | None:
    """Read ``thirty-two``, ``minus five``, ``thirty-two (32)``, ``three rows``."""
    negative = _NEGATIVE.match(text)
    text = text[negative.end() :] if negative else text
    found = in_words(text)
    if found is None:
        return None
    value, end = found
    rest = text[end:]
    if rest.startswith("%") or rest[:1].isalnum():
        return None
    again = _AGAIN.fullmatch(rest.strip())
    if again is not None:
        repeated = _parse(again[1], known_units_only)
        return (
            repeated
            if repeated is not None and repeated.value == EXACT.divide(*map(Decimal, value.as_integer_ratio()))
            else None
        )
    tail = _TAIL.fullmatch(rest)
    said = None if tail is None else beside(tail["unit"], "", known_only=known_units_only)
    if tail is None or said is None or tail["spread"] or (known_units_only and tail["unit"].strip()):
        return None
    number = EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    number = EXACT.scaleb(EXACT.multiply(number, Decimal(said.factor)), said.power)
    number = number.copy_negate() if (negative is not None) != said.negative else number
    fraction = value.denominator > 1 and "point" not in text[:end].casefold()
    exponent = 0 if value.denominator == 1 or fraction else int(number.as_tuple().exponent)
    whole = number == number.to_integral_value()
    return Number(
        number,
        exponent,
        whole,
        bool(tail["percent"]),
        unit=said.unit,
        fraction=fraction,
        size=said.size,
        scaled=said.power,
    )


def _worked_power(match: re.Match[str]) -> str:
    """Return ``10^5`` as ``1e5`` and another small power of whole numbers as what it comes to."""
    sign, base, exponent = match[1], int(match[2]), int(match[3].replace(" ", ""))
    if base == 10:
        return f"{sign}1e{exponent}"
    if not 0 <= exponent <= 64 or base > 1000 or (sign and exponent % 2 == 0):
        return match[0]
    return f"{sign}{base**exponent}"


_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d+)(?![\d.,]*\d)")
_BARE_COMMA = re.compile(r"(?:^|(?<=[-+(\[;]))\s*,(?=\d)")
_AFTER_COMMA = re.compile(r"\s?(?:[%€£]|EUR\b|CHF\b|[kcm]?[gm]\b|kg\b|cm\b|mm\b|km\b|per\s?cent\b)")


def with_decimal_point(text: str, *, declared: bool = False) -> str:
    """Return a text with decimal commas as points, where they can be nothing else.

    ``1.234,56`` has a decimal comma; so has ``34,65 €``: what has a unit is one number, and no group of thousands has
    two digits. A bare ``34,65`` may be two numbers, and ``1,234`` a group of thousands.

    Parameters
    ----------
    text
        One value.
    declared
        Whether commas are known to be decimal commas; those between items of a list are then semicolons or blanks.
    """
    if "," not in text or len(text) > _LONGEST:
        return text

    if declared:
        text = _BARE_COMMA.sub("0.", text)

    def pointed(match: re.Match[str]) -> str:
        whole, decimals = match[1], match[2]
        unit = _AFTER_COMMA.match(text, match.end()) or text[: match.start()].rstrip()[-1:] in {"€", "£"}
        if declared or "." in whole or (unit and len(decimals) != 3):
            return f"{whole.replace('.', '')}.{decimals}"
        return match[0]

    return _COMMA.sub(pointed, text)


def _assemble(match: re.Match[str], known_units_only: bool) -> Number | None:
    found = match.groupdict()
    if (found["sign"] and found["sign2"]) or (
        found["numerator"] is None and not (found["integer"] or found["decimals"])
    ):
        return None
    if found["integer"] and found["sep"] == " " and found["e"]:
        return None
    tail = _TAIL.fullmatch(found["tail"] or "")
    said = beside(tail["unit"], found["currency"], known_only=known_units_only) if tail else None
    if tail is None or said is None:
        return None
    try:
        value, exponent, whole = _magnitude(found, said.power)
    except (InvalidOperation, ZeroDivisionError):
        return None
    if abs(value.adjusted()) > _GREATEST_EXPONENT and value != 0:
        return None
    if said.factor != 1:
        value = EXACT.multiply(value, Decimal(said.factor))
    if ("-" in (found["sign"], found["sign2"])) != said.negative:
        value = value.copy_negate()
    bound = {"<=": "≤", ">=": "≥"}.get(found["relation"], found["relation"])
    return Number(
        value=value,
        exponent=exponent,
        whole=whole,
        percent=bool(tail["percent"] or tail["percent2"]),
        bound=bound if bound in {"<", "≤", ">", "≥"} else "",
        unit=said.unit,
        spread=Decimal(tail["spread"]) if tail["spread"] else None,
        fraction=found["numerator"] is not None,
        label=found["label"] or "",
        size=said.size,
        scaled=said.power,
    )


def _magnitude(found: dict[str, str], power: int) -> tuple[Decimal, int, bool]:
    if found["numerator"] is not None:
        top, bottom = found["numerator"].replace(" /", "/").replace("/ ", "/").split("/")
        whole_part, _, top = top.strip().rpartition(" ")
        value = EXACT.divide(Decimal(top), Decimal(bottom))
        value = EXACT.add(value, Decimal(whole_part or 0))
        return EXACT.scaleb(value, power), power, value == value.to_integral_value()
    digits = "".join(c for c in found["integer"] if c.isdigit()) or "0"
    decimals = found["decimals"] or ""
    shift = int(found["e"] or found["ten"] or 0) + power
    # int() also turns digits of other scripts into ASCII ones.
    value = Decimal(int(digits + decimals)).scaleb(shift - len(decimals), context=Context(prec=_LONGEST + 10))
    return value, shift - len(decimals), not decimals and shift >= 0
