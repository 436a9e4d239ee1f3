"""Dates and times of day, in any usual notation that can mean one thing only."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from dsqa.values.notation import undressed

__all__ = ["ambiguous_date", "parse_moment"]

_LONGEST = 120
_CALL = re.compile(
    r"(?:[A-Za-z_]+\.){0,3}(?:Timestamp|datetime64|to_datetime|Date|as\.Date|ymd|Period|fromisoformat|parse)"
    r"\(['\"]([^'\"]{4,60})['\"](?:,[^()]*)?\)"
)
_PARTS_CALL = re.compile(
    r"(?:[A-Za-z_]+\.){0,3}(?:date|datetime|Timestamp|time)\(((?:\s*(?:[a-z]+\s?=\s?)?\d{1,6}\s*,?){2,7})"
    r"(?:,?\s*tzinfo\s?=\s?[\w.]+)?\)"
)
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?!\d|:\d)\s?([ap]\.?m\b\.?)?"
    r"\s?(Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(\d{1,2})\s?([ap])\.?m\.?", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(\d{4})\s?([-/.])\s?(\d{1,2})(?:\s?\2\s?(\d{1,2}))?")
_YEAR_LAST = re.compile(r"(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{4})")
_MONTH_YEAR = re.compile(r"(\d{1,2})\s?/\s?(\d{4})")
_COMPACT = re.compile(r"((?:19|20)\d{2})(0[1-9]|1[0-2])([0-3]\d)")
_WEEKDAY = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,?"
    r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    r"|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b,?",
    re.IGNORECASE,
)
_FILLING = re.compile(r"\b(?:the|of|de|del|in|on|at|um|a las|à)\b", re.IGNORECASE)
_NAMES = (
    "january jan januar janvier enero gennaio janeiro jänner",
    "february feb februar février fevrier febrero febbraio fevereiro",
    "march mar märz maerz mars marzo março mär", "april apr avril abril aprile", "may mai mayo maggio maio",
    "june jun juni juin junio giugno junho", "july jul juli juillet julio luglio julho",
    "august aug août aout agosto", "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro", "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro",
)  # fmt: skip
_MONTHS = {name: month for month, names in enumerate(_NAMES, start=1) for name in names.split()}
_WORD = re.compile(r"[^\W\d_]+")
_DAY = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|\.)?(?![\d\w])", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")


def parse_moment(text: str) -> str | None:
    """Return a date, a time of day or both in ISO form; None where it is neither or is ambiguous.

    Midnight is the day itself, in whatever form: ``2015-03-07T00:00:00.000Z`` is ``2015-03-07``. Of a date in figures
    the day is known where it is above 12, equals the month, or the separator is a point (``07.03.2015``).
    """
    return _parse(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _parse(text: str) -> str | None:
    if not any(c.isdigit() for c in text):
        return None
    text = undressed(text)
    call = _CALL.fullmatch(text)
    text = call[1].strip() if call else text
    parts = _PARTS_CALL.fullmatch(text)
    if parts:
        return _from_parts([int(number) for number in re.findall(r"\d+", parts[1])], text)
    if len(text) > 60:
        return None
    clock = _CLOCK.search(text)
    if clock is None:
        hour = _HOUR.fullmatch(text)
        if hour:
            at = _time(int(hour[1]), 0, 0, "", hour[2])
            return None if at is None else at
        return _date(text)
    at = _time(int(clock[1]), int(clock[2]), int(clock[3] or 0), clock[4] or "", clock[5])
    if at is None:
        return None
    rest = f"{text[: clock.start()].rstrip().removesuffix('T')} {text[clock.end() :]}".strip(" ,")
    if not rest:
        return at
    day = _date(rest)
    if day is None or len(day) < 10:
        return None
    if at == "00:00:00":
        return day
    zone = (clock[6] or "").upper()
    local = "" if zone in {"", "Z", "UTC", "GMT"} or zone.strip("+-").replace(":", "") == "0000" else zone
    return f"{day} {at}{local}"


def _from_parts(numbers: list[int], text: str) -> str | None:
    if re.search(r"\btime\(", text):
        hour, minute, second = [*numbers, 0][:3]
        return _time(hour, minute, second, "", None)
    if len(numbers) < 3:
        return None
    day = _iso(numbers[0], numbers[1], numbers[2])
    hour, minute, second = [*numbers[3:6], 0, 0, 0][:3]
    at = _time(hour, minute, second, "", None)
    return day if day is None or at in {None, "00:00:00"} else f"{day} {at}"


def _time(hour: int, minute: int, second: int, fraction: str, half: str | None) -> str | None:
    if minute > 59 or second > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    fraction = fraction.rstrip("0")
    return f"{hour:02}:{minute:02}:{second:02}" + (f".{fraction}" if fraction else "")


def _date(text: str) -> str | None:
    text = " ".join(_WEEKDAY.sub(" ", text).replace(",", " ").split()).rstrip(".")
    match = _YEAR_FIRST.fullmatch(text)
    if match:
        return _iso(int(match[1]), int(match[3]), int(match[4])) if match[4] else _month(int(match[1]), int(match[3]))
    match = _YEAR_LAST.fullmatch(text)
    if match:
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        if match[2] == "." or first > 12 or first == second:
            return _iso(year, second, first)
        return _iso(year, first, second) if second > 12 else None
    match = _MONTH_YEAR.fullmatch(text)
    if match:
        return _month(int(match[2]), int(match[1]))
    match = _COMPACT.fullmatch(text)
    if match:
        return _iso(int(match[1]), int(match[2]), int(match[3]))
    return _with_name(text)


def _with_name(text: str) -> str | None:
    """Read a date with its month in words, day and year in any order."""
    text = _FILLING.sub(" ", text.replace("-", " ").replace("/", " "))
    words = [word.casefold() for word in _WORD.findall(re.sub(r"(?<=\d)(?:st|nd|rd|th|er)\b", "", text, flags=re.I))]
    if len(words) != 1 or words[0] not in _MONTHS:
        return None
    years = _YEAR.findall(text)
    days = _DAY.findall(_YEAR.sub(" ", text))
    if len(years) != 1 or len(days) > 1 or re.search(r"\d{5}|\d{3}", _YEAR.sub(" ", text)):
        return None
    if not days:
        return None if re.search(r"\d", _YEAR.sub(" ", text)) else _month(int(years[0]), _MONTHS[words[0]])
    return _iso(int(years[0]), _MONTHS[words[0]], int(days[0]))


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _month(year: int, month: int) -> str | None:
    return f"{year:04}-{month:02}" if 1 <= month <= 12 and year >= 1 else None


def ambiguous_date(text: str) -> bool:
    """Whether a text is a date in figures that may mean either of two days, as ``03/07/2015``."""
    match = _YEAR_LAST.fullmatch(undressed(text))
    if match is None or match[2] == ".":
        return False
    first, second = int(match[1]), int(match[3])
    return first != second and 1 <= first <= 12 and 1 <= second <= 12
