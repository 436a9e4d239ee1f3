"""What may stand beside a number: units, currencies, and words of size or sign, which are never units."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["CURRENCY", "Beside", "beside", "same_unit"]

CURRENCY = (
    r"(?:[kKM]|[mM]n|bn)?(?:US\$|A\$|C\$|[$€£¥₹₩]|(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|CNY)(?![A-Za-z]))|TEUR\b|T€"
)
_WORD = r"[^\W\d_°µμ][^\W\d_]*(?:\^?[-⁻]?[1-4¹²³⁴])?"
_UNIT = re.compile(
    rf"(?:\s+|-|\s*/\s?)?{_WORD}(?:(?:\s?[/.·*-]\s?|\s){_WORD}){{0,3}}|\s*[°º]\s?[CFK]?|\s*[µμ][a-zA-Z]{{1,2}}"
)
_ATTACHED = frozenset(
    re.findall(
        r"\w+",
        "g kg mg lb lbs oz m cm mm km mi ft in nm s ms ns h hr hrs min mins px l ml dl cl hp w kw mw kwh j kj "
        "n pa kpa "
        "hz khz mhz ghz mb gb kb tb usd eur gbp jpy inr chf cad aud cny st nd rd th yr yrs pp mph kph kmh mpg "
        "ha sd db mol cal "
        "kcal",
    )
)
# Of what is counted: as units they say nothing that another of them does not.
_COUNTED = frozenset(
    "row record observation obs entry case item line sample instance point value unit element datum data".split()  # noqa: SIM905
)
_SAME = {
    "yrs": "year", "yr": "year", "mos": "month", "mo": "month", "wk": "week", "wks": "week",
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "s": "second", "sec": "second",
    "secs": "second", "m": "metre", "meter": "metre", "km": "kilometre", "kilometer": "kilometre",
    "cm": "centimetre", "centimeter": "centimetre", "mm": "millimetre", "millimeter": "millimetre", "mi": "mile",
    "ft": "foot", "feet": "foot", "inches": "inch", "in": "inch", "g": "gram", "gramme": "gram", "kg": "kilogram",
    "mg": "milligram", "lb": "pound", "lbs": "pound", "oz": "ounce", "l": "litre",
    "liter": "litre", "ml": "millilitre", "milliliter": "millilitre", "ms": "millisecond", "metres": "metre",
    "persons": "person", "people": "person", "children": "child", "men": "man", "women": "woman", "deg": "degree",
    "°": "degree", "º": "degree", "°c": "degree celsius", "°f": "degree fahrenheit", "sd": "standard deviation",
    "mph": "mile per hour", "kph": "kilometre per hour", "kmh": "kilometre per hour", "mpg": "mile per gallon",
    "dollar": "usd", "us dollar": "usd", "euro": "eur", "pound sterling": "gbp", "rupee": "inr", "yen": "jpy",
    "$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "a$": "aud", "c$": "cad",
    "us usd": "usd", "centigrade": "celsius",
}  # fmt: skip
_KNOWN = frozenset(_SAME.values()) | _COUNTED
_MONEY = frozenset("usd eur gbp jpy inr chf cad aud cny krw".split())  # noqa: SIM905
# Powers of ten that a word makes of the number before it.
_POWERS = {
    "hundred": 2, "hundreds": 2, "thousand": 3, "thousands": 3, "k": 3, "grand": 3, "tausend": 3, "lakh": 5,
    "lakhs": 5,
    "million": 6, "millions": 6, "mn": 6, "mln": 6, "mio": 6, "m": 6, "crore": 7, "crores": 7, "billion": 9,
    "billions": 9, "bn": 9, "bln": 9, "b": 9, "mrd": 9, "trillion": 12, "trillions": 12, "tn": 12, "trn": 12,
    "quadrillion": 15, "quadrillions": 15,
}  # fmt: skip
# Units of size: 2.5 of them is 0.0025, unless the truth is given in them too.
_SIZES = {
    "tenth": -1, "tenths": -1, "hundredth": -2, "hundredths": -2, "thousandth": -3, "thousandths": -3,
    "ten-thousandths": -4, "millionth": -6, "millionths": -6, "billionth": -9, "billionths": -9, "‰": -3,
    "per mille": -3, "per mill": -3, "permille": -3, "per mil": -3, "promille": -3, "per thousand": -3,
    "basis point": -4, "basis points": -4, "bps": -4, "bp": -4, "ppm": -6, "parts per million": -6, "ppb": -9,
    "parts per billion": -9, "per ten thousand": -4, "per million": -6, "per hundred thousand": -5,
}  # fmt: skip
_SCALE = re.compile(
    r"(?P<space>\s*)-?(?P<word>(?i:thousands?|hundreds?|grand|tausend|lakhs?|millions?|billions?|trillions?"
    r"|quadrillions?|crores?|mn|mln|mio\.?|bn|bln|mrd\.?|tn|trn)|[kKMB])(?![A-Za-z/²³\d-])(?P<rest>.*)",
    re.DOTALL,
)
_ABOVE_ZERO = re.compile(r"\s+(?:above|over)\s+(?:zero|freezing)", re.IGNORECASE)
_BELOW_ZERO = re.compile(r"(.*?)\s*(?:,|-)?\s*(?:below|under|beneath)\s+(?:zero|freezing)", re.IGNORECASE | re.DOTALL)
_DOZEN = re.compile(r"(?:\s+|-)dozens?(?![A-Za-z-])(.*)", re.IGNORECASE | re.DOTALL)
# Words after a number that make it another thing than that number, or nothing that is said for sure.
_NOT_UNITS = frozenset(
    re.findall(
        r"\w+",
        "and or to out over plus minus not half halves quarter quarters third thirds fourth fourths fifth "
        "fifths sixth "
        "sixths eighth eighths squared cubed times by versus vs e i x less more fewer at least most if then when "
        "unless but maybe ish odd something so under below above beneath between negative positive short max "
        "maximum minimum upwards tops lower higher greater smaller larger bigger beyond exceeding excess deficit "
        "loss decrease reduction double triple twice thrice gross score scores dozen dozens zero "
        "thousand thousands hundred hundreds million millions billion billions trillion trillions lakh crore "
        "tenth tenths hundredth hundredths thousandth thousandths millionth millionths billionth mille "
        "permille promille "
        "basis bps ppm ppb kilo mega giga tera milli micro nano orders magnitude powers power root factorial "
        "choose mod except without no none nor neither "
        "am pm wrong incorrect false cannot isn ain never perhaps possibly probably nope few several many ten "
        "eleven twelve "
        "millionen millones milliarden milliard milliards milliardo milliardi billiard billiarden billionen mrd "
        "mlrd mld bil thou tsd kk mil wan tens twenties hundredfold tenfold twofold threefold fold myriad myriads "
        "gazillion zillion squillion bazillion jillion doubled halved tripled reciprocal inverse inverted exponent "
        "complement off shy log logs ln "
        "twenty thirty forty fifty sixty seventy eighty ninety one two three four five six seven eight nine etc ff",
    )
)
_SCRIPTS = str.maketrans({"¹": "1", "²": "2", "³": "3", "⁴": "4", "⁻": "-", "^": ""})
_PREFIXED = re.compile(r"(k|K|M|m|mn|Mn|bn|T)\s?(US\$|A\$|C\$|[$€£¥₹₩]|USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|CNY)")


@dataclass(frozen=True)
class Beside:
    """What the words beside a number say.

    Parameters
    ----------
    unit
        The unit in canonical form, "" for none.
    power, factor
        The number is to be multiplied by ``factor × 10^power``: ``million``, ``dozen``.
    size
        Power of ten of a unit of size (``basis points``, ``kEUR``): it counts only where the truth has another unit.
    negative
        ``below zero`` follows.
    """

    unit: str = ""
    power: int = 0
    factor: int = 1
    size: int = 0
    negative: bool = False


def beside(text: str, currency: str, *, known_only: bool) -> Beside | None:
    """Read what stands after a number (`text`) and the currency before it; None where it makes it something else.

    Parameters
    ----------
    text
        The text after the number, without a per cent sign.
    currency
        A currency sign or code before it, or "".
    known_only
        Take words that are capitalised as no unit unless they are known as one: ``5 Point Someone`` is a title.
    """
    negative = _BELOW_ZERO.fullmatch(text)
    if negative:
        text = negative[1]
    elif _ABOVE_ZERO.fullmatch(text):
        text = ""
    money, size = _currency(currency)
    power, factor = 0, 1
    dozen = _DOZEN.fullmatch(text)
    scale = None if dozen else _SCALE.fullmatch(text)
    if dozen:
        factor, text = 12, dozen[1]
    elif scale is not None and not _prefixed(scale["word"] + scale["rest"]):
        # 'k' and 'M' only when attached; '5 M' might be metres or a size.
        if len(scale["word"]) == 1 and scale["space"] and not currency:
            return None
        power, text = _POWERS[scale["word"].casefold().rstrip(".")], scale["rest"]
    if (power or factor > 1) and _starts_with_power(text):
        return None  # 'thousand millions'
    unit = _unit(text, money, known_only)
    if unit is None:
        return None
    return Beside(unit[0], power, factor, size + unit[1], bool(negative))


def _starts_with_power(text: str) -> bool:
    word = re.match(r"[\s-]*([^\W\d_]+)", text)
    return word is not None and len(word[1]) > 1 and word[1].casefold() in _POWERS


def _prefixed(text: str) -> tuple[str, int] | None:
    match = _PREFIXED.fullmatch(text.strip().rstrip("."))
    if match is None:
        return None
    size = 3 if match[1] in {"k", "K", "T"} else 9 if match[1] == "bn" else 6
    return _canonical(match[2].casefold()), size


def _currency(sign: str) -> tuple[str, int]:
    if not sign:
        return "", 0
    if sign in {"TEUR", "T€"}:
        return "eur", 3
    return _prefixed(sign) or (_canonical(sign.casefold()), 0)


def _unit(text: str, money: str, known_only: bool) -> tuple[str, int] | None:
    """Return the unit and its size, or None where the text is no unit."""
    stripped = text.strip()
    if not stripped:
        return money, 0
    lower = " ".join(stripped.casefold().split())
    if stripped in {"TEUR", "T€"}:
        return "eur", 3
    if stripped == "MM":
        return None  # millions, in accounts; millimetres are mm
    prefixed = _prefixed(stripped)
    if prefixed:
        return None if money and prefixed[0] != money else prefixed
    if stripped in {"$", "€", "£", "¥", "₹", "₩"}:
        return _canonical(stripped), 0
    if lower in _SIZES:
        return f"e{_SIZES[lower]}", _SIZES[lower]
    if not _UNIT.fullmatch(text):
        return None
    words = [word for word in re.split(r"[\s/.·*^⁻¹²³⁴\d-]+", lower) if word]
    attached = not text[0].isspace()
    if any(word in _NOT_UNITS for word in words) or words[:1] == ["of"]:
        return None
    canonical = _canonical(lower)
    known = lower in _ATTACHED or lower[0] in "°ºµμ" or lower in _SAME or canonical in _KNOWN
    if known_only and not known and (any(word[:1].isupper() for word in stripped.split()) or attached):
        return None
    # '16a' and '5 B' are labels; '5kg', '5 cars' and '5cars' are amounts.
    if not known and (len(words[0]) == 1 or (attached and len(words[0]) < 3)) and "/" not in lower:
        return None
    if money:
        return (money if canonical in _MONEY else f"{money} {canonical}"), 0
    return canonical, 0


def _canonical(unit: str) -> str:
    """Return a unit in the one form it is compared in: ``km/h`` and ``kilometres per hour`` are one."""
    unit = unit.translate(_SCRIPTS).lstrip("-")
    if unit in _SAME:
        return _SAME[unit]
    words = [
        _SAME.get(word, _singular(word)) for word in re.split(r"\s*(/)\s*|\s+|(?<=\w)[·.*-](?=\w)", unit) if word
    ]
    joined = " ".join("per" if word == "/" else word for word in words if word)
    return _SAME.get(joined, joined)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    single = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    return _SAME.get(single, single)


def same_unit(left: str, right: str) -> bool:
    """Whether two units, as `beside` gives them, do not contradict each other."""
    if not left or not right or left == right:
        return True
    # 'observations' for 'rows'; '32 red cars' for '32 cars'.
    short, long = sorted((left.split(), right.split()), key=len)
    if set(short) <= set(long) and not {"per"} & (set(long) ^ set(short)):
        return True
    return left.rsplit(maxsplit=1)[-1] in _COUNTED and right.rsplit(maxsplit=1)[-1] in _COUNTED
