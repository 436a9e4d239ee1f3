"""Numbers as people and programs write them, read exactly into `decimal.Decimal`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache

from dsqa.values.notation import plain

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

_CURRENCY = r"US\$|A\$|C\$|[$€£¥₹₩]|(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|CNY)(?![A-Za-z])"
_SEPARATORS = "[, '’_\u00a0\u2009\u202f]"
_NUMBER = re.compile(
    rf"""
    (?:(?P<label>[^\W\d][\w .()\-]{{0,40}}?)\s*(?=:\s|[=≈~<>≤≥])   # 'p < …', 'mean = …', 'n: …'
       |)
    (?P<relation>[=:≈~]|<=|>=|[<>≤≥]|)\s*
    (?P<hedge>(?:about|approximately|approx\.?|around|roughly|circa|ca\.|nearly|almost)\s+|)
    (?P<sign>[+-]?)\s?
    (?P<currency>{_CURRENCY}|)\s?
    (?P<sign2>[+-]?)
    (?:
        (?P<numerator>(?:\d{{1,9}}\ (?=\d{{1,20}}\s?/))?\d{{1,20}}\s?/\s?\d{{1,20}})
      |
        (?P<integer>\d{{1,3}}(?:(?P<sep>{_SEPARATORS})\d{{3}}(?:(?P=sep)\d{{3}})*)(?!\d)|\d*)
        (?P<point>\.(?P<decimals>\d*)|)
        (?:[eE](?P<e>[+-]?\d{{1,6}})
          |\s?(?:×|[xX*·⋅])\s?10\s?(?:\^|\*\*)\s?[{{(]?\s?(?P<ten>[+-]?\d{{1,6}})\s?[)}}]?
          |)
    )
    (?P<tail>(?![\d.,]).*|\.?)
    """,
    re.VERBOSE | re.DOTALL,
)
_TAIL = re.compile(
    r"""
    (?:\s*(?P<percent>%|per\s?cent\b|pct\b))?
    (?:\s*(?:±|\+/-|\+-)\s*(?P<spread>\d+(?:\.\d*)?|\.\d+)(?:\s*(?P<percent2>%))?)?
    (?P<unit>.*?)
    \s*(?:\((?!(?:or|and|not|but)\b)[^()]{0,80}\))?              # '(rounded to two decimals)'
    \s*[.]?\s*
    """,
    re.VERBOSE | re.DOTALL,
)
_SCALES = {
    "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12, "tn": 12,
}  # fmt: skip
_SCALE = re.compile(r"(?:(\s*)(thousand|million|billion|trillion|mn|bn|tn|[kK]|[MB])(?![A-Za-z/²³]))?(.*)", re.DOTALL)
_UNIT_WORDS = re.compile(
    r"(?:\s+|-)?[^\W\d_°µμ][^\W\d_]*(?:[/ .·-][^\W\d_]+){0,3}(?:\^?[23²³])?|\s*[°º]\s?[CFK]?|\s*[µμ][a-z]{1,2}"
)
_ATTACHED = frozenset(
    re.findall(
        r"\w+",
        "g kg mg lb lbs oz m cm mm km mi ft in nm s ms ns h hr hrs min mins px l ml hp w kw mw kwh j kj n pa kpa "
        "hz khz mhz ghz mb gb kb tb usd eur gbp jpy inr chf cad aud cny st nd rd th yr yrs pp bp bps mph kph",
    )
)
# Words after a number that make it another thing than that number.
_NOT_UNITS = frozenset(
    re.findall(
        r"\w+",
        "and or to out over plus minus not hundred dozen half quarter lakh crore squared cubed times by versus "
        "vs e i x thousand million billion trillion less more fewer at least most if then when unless but maybe",
    )
)
_CURRENCY_SIGNS = {
    "$": "usd", "us$": "usd", "dollars": "usd", "dollar": "usd", "us dollars": "usd", "€": "eur", "euros": "eur",
    "euro": "eur", "£": "gbp", "pounds": "gbp", "¥": "jpy", "₹": "inr",
}  # fmt: skip
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
# '1.234.567' can be nothing but thousands; '1.234' can.
_DOTTED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3}){2,}")
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {
    word: number
    for number, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty",
        )
    )
}
_WORDS |= {ten: 10 * tens for tens, ten in enumerate(_TENS, start=2)}
_WORDS |= {f"{ten}-{one}": _WORDS[ten] + _WORDS[one] for ten in _TENS for one in list(_WORDS)[1:10]}


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
    if text.startswith("(") and text.endswith(")") and "(" not in text[1:]:
        text = text[1:-1].strip()
    text = _TEN_TO.sub(lambda m: "^" + m[0].translate(_SUPER), text)
    text = _VULGAR_MARK.sub(lambda m: f" {_VULGAR[m[0]]}", text).strip().translate(_SIGNS)
    if text.casefold() in _WORDS:
        return Number(Decimal(_WORDS[text.casefold()]), 0)
    if text[:1].isalpha() and not known_units_only:  # 'under 18' may be the name of a group
        for words, sign in _SAID:
            text, said = words.subn(sign, text, count=1) if words.match(text) else (text, 0)
            if said:
                break
    elif _DOTTED.fullmatch(text):
        text = text.replace(".", "")
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return Number(Decimal("-Infinity" if infinite[1] == "-" else "Infinity"), 0)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return _assemble(match, known_units_only)


_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d+)(?![\d.,]*\d)")
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
    scale = _SCALE.fullmatch(tail["unit"]) if tail else None
    if tail is None or scale is None:
        return None
    power = 0
    if scale[2]:
        power = _SCALES[scale[2].casefold()]
        # 'k' and 'M' only when attached; '5 M' might be metres or a size.
        if len(scale[2]) == 1 and scale[1] and not found["currency"]:
            return None
    unit = _unit(scale[3], found["currency"], known_units_only)
    if unit is None:
        return None
    try:
        value, exponent, whole = _magnitude(found, power)
    except (InvalidOperation, ZeroDivisionError):
        return None
    if abs(value.adjusted()) > _GREATEST_EXPONENT and value != 0:
        return None
    if "-" in (found["sign"], found["sign2"]):
        value = value.copy_negate()
    bound = {"<=": "≤", ">=": "≥"}.get(found["relation"], found["relation"])
    return Number(
        value=value,
        exponent=exponent,
        whole=whole,
        percent=bool(tail["percent"] or tail["percent2"]),
        bound=bound if bound in {"<", "≤", ">", "≥"} else "",
        unit=unit,
        spread=Decimal(tail["spread"]) if tail["spread"] else None,
        fraction=found["numerator"] is not None,
        label=found["label"] or "",
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


def _unit(text: str, currency: str, known_only: bool) -> str | None:
    """Return the unit in canonical form, "" for none, None where the text is no unit."""
    sign = _CURRENCY_SIGNS.get(currency.casefold(), currency.casefold())
    if not text.strip():
        return sign
    stripped = text.strip()
    lower = stripped.casefold()
    if stripped in {"$", "€", "£", "¥", "₹"} or lower in _CURRENCY_SIGNS:
        return _CURRENCY_SIGNS[lower]
    if not _UNIT_WORDS.fullmatch(text):
        return None
    words = re.split(r"[\s/.·-]+", lower)
    attached = not text[0].isspace()
    if any(word in _NOT_UNITS for word in words):
        return None
    known = lower in _ATTACHED or "°" in lower or "º" in lower or lower[0] in "µμ"
    if known_only and not known:
        return None
    # '16a' and '5 B' are labels; '5kg', '5 cars' and '5cars' are amounts.
    if not known and (len(words[0]) == 1 or (attached and len(words[0]) < 3)) and "/" not in lower:
        return None
    return f"{sign} {lower}".strip()
