"""Points in time as logs and tables write them, read as UTC: ISO 8601 and its kin, epochs, Excel's days."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

__all__ = ["day_comes_first", "parse_time", "time_text"]

_YEARS = range(1990, 2101)
"""A number is taken for a time only where it then lies in these years."""
_EPOCHS = ((1, 1), (10**3, 1_000), (10**6, 1_000_000), (10**9, 1_000_000_000))
_EXCEL = datetime(1899, 12, 30, tzinfo=UTC)

_CLOCK = r"(?P<hour>\d{1,2})(?:[:.h-](?P<minute>\d{2}))(?:[:.-](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_HALF = r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?:\s?(?P<zone>[Zz]|[A-Za-z]{2,5}|(?:UTC|GMT)?[+-]\d{2}(?::?\d{2})?))?"
_TIME = rf"(?:(?:[T_ ,]|\s+(?:at|um)\s|, )\s*{_CLOCK}{_HALF}(?:\s?Uhr)?{_ZONE})?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/._])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<mark>[./-])\s?(?P<two>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)
_COMPACT = re.compile(
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:[T_-]?(?P<hour>\d{2})(?P<minute>\d{2})(?:(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?)?" + _ZONE
)
_IN_WORDS = re.compile(
    r"(?:[A-Za-z]{2,10}\.?,?\s+)?(?:(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?P<month>[^\W\d_]{3,9})\.?"
    r"|(?P<month2>[^\W\d_]{3,9})\.?\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)?),?[\s-]+"
    rf"(?:(?P<year>\d{{4}}){_TIME}|(?P<late>\d{{1,2}}:\d{{2}}:\d{{2}})(?:\s(?P<zone2>[A-Z]{{3,4}}))?\s(?P<year2>\d{{4}}))"
)
_NUMBER = re.compile(r"[+]?\d{1,20}(?:\.\d{1,12})?")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan", "feb", "mar mär mrz", "apr", "may mai", "jun", "jul", "aug", "sep", "oct okt", "nov", "dec dez",
        ), start=1)
    for name in names.split()
}  # fmt: skip
_HOURS_OFF = {
    "utc": 0, "gmt": 0, "z": 0, "ut": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8,
    "pdt": -7, "cet": 1, "mez": 1, "cest": 2, "mesz": 2,
}  # fmt: skip
"""RFC 2822's names, and those of Central Europe; others stand for several places."""


def parse_time(value: Any, *, day_first: bool | None = None) -> datetime | None:
    """Return the point in time that a cell or field means, in UTC, or None where it cannot be read as one.

    Parameters
    ----------
    value
        A text, a number, or a `datetime` or `date`. Read are ISO 8601 (also with ``_`` before the time and ``-`` or
        ``.`` within it, and ``20250301T105834``), ``12.03.2025 10:00``, ``3/12/2025 10:00 AM``, dates with the
        month's name in English or German and as mail and C write them, seconds since 1970 with their thousandths,
        millionths and billionths, and Excel's days since 1900. A time without a zone is taken as UTC.
    day_first
        Whether ``3/12/2025`` is a day of December; None: not known, and then it is read only where one of the two
        can be no month. With dots the day always comes first.

    Examples
    --------
    >>> [time_text(parse_time(text)) for text in ("2025-03-01_10-58-34", "12.03.2025 10:00", 1740826714)]
    ['2025-03-01T10:58:34+00:00', '2025-03-12T10:00:00+00:00', '2025-03-01T10:58:34+00:00']
    >>> parse_time("3/12/2025"), parse_time("soon"), parse_time(2025)
    (None, None, None)
    """
    try:
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return _of_number(value)
        return _of_text(str(value).strip(), day_first)
    except (ValueError, OverflowError):
        return None  # the 31st of February, the year 0, an hour 25


def time_text(moment: datetime | None) -> str | None:
    """Return a point in time as records write it: ISO 8601 in UTC, no finer than it is."""
    if moment is None:
        return None
    fine = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=fine)


def day_comes_first(values: Iterable[Any]) -> bool | None:
    """Return whether dates such as ``3/12/2025`` begin with the day, as those among them tell that have a 13 or more.

    None: none tells, or they contradict each other.
    """
    found = set()
    for value in values:
        match = _YEAR_LAST.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 60 else None
        if match and match["mark"] != "." and max(int(match["one"]), int(match["two"])) > 12:
            found.add(int(match["one"]) > 12)
    return found.pop() if len(found) == 1 else None


def _of_number(value: int | float) -> datetime | None:
    if not math.isfinite(value):
        return None
    compact = str(int(value)) if float(value).is_integer() else ""
    if len(compact) in {8, 14} and (match := _COMPACT.fullmatch(compact)) and int(match["year"]) in _YEARS:
        try:
            return _made(match, int(match["year"]), int(match["month"]), int(match["day"]))
        except ValueError:
            pass
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (_YEARS.start, _YEARS.stop))
    for scale, divisor in _EPOCHS:
        if first.timestamp() * scale <= value < last.timestamp() * scale:
            micro = int(value) * 1_000_000 // divisor if isinstance(value, int) else round(value * 1e6 / divisor)
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micro)
    if (first - _EXCEL).days <= value < (last - _EXCEL).days:
        # A day's fraction has some 5 digits in a table, so it tells seconds and no less.
        return _EXCEL + timedelta(seconds=round(value * 86_400))
    return None


def _of_text(text: str, day_first: bool | None) -> datetime | None:
    if not 6 <= len(text) <= 60 or not text.isprintable():
        return None if not (_NUMBER.fullmatch(text) and len(text) < 6) else _of_number(float(text))
    if _NUMBER.fullmatch(text):
        return _of_number(int(text) if text.isdigit() else float(text))
    match = _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text)
    if match:
        return _made(match, int(match["year"]), int(match["month"]), int(match["day"]))
    match = _YEAR_LAST.fullmatch(text)
    if match:
        one, two, year = (int(match[name]) for name in ("one", "two", "year"))
        if match["mark"] == "." or one > 12:
            day_first = True
        elif two > 12:
            day_first = False
        if day_first is None:
            return None
        return _made(match, year if year > 99 else 2000 + year, *((two, one) if day_first else (one, two)))
    match = _IN_WORDS.fullmatch(text)
    if match:
        month = _MONTHS.get((match["month"] or match["month2"])[:3].casefold())
        if month is None:
            return None
        day = int(match["day"] or match["day2"])
        if match["late"] is None:
            return _made(match, int(match["year"]), month, day)
        return _of_text(
            f"{match['year2']}-{month:02}-{day:02} {match['late'].zfill(8)} {match['zone2'] or ''}".strip(), None
        )
    try:
        return parse_time(datetime.fromisoformat(text))
    except ValueError:
        return None


def _made(match: re.Match[str], year: int, month: int, day: int) -> datetime | None:
    if year not in _YEARS:
        return None
    parts = match.groupdict()
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = parts.get("half")
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in {"p", "P"} else 0)
    zone = _zone(parts.get("zone"))
    if zone is None:
        return None
    micro = int((parts.get("fraction") or "0").ljust(6, "0")[:6])
    return datetime(year, month, day, hour, minute, second, micro, tzinfo=zone).astimezone(UTC)


def _zone(name: str | None) -> timezone | None:
    if not name:
        return UTC
    known = _HOURS_OFF.get(name.casefold())
    if known is not None:
        return timezone(timedelta(hours=known))
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{2}):?(\d{2})?", name, re.IGNORECASE)
    if offset is None:
        return None
    size = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    return timezone(size if offset[1] == "+" else -size)
