"""Points in time, however a log or a table writes them; what is none is None, whatever it is."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.values import day_comes_first, parse_time, time_text

AT = datetime(2025, 3, 1, 10, 58, 34, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2025-03-01_10-58-34", "2025-03-01T10-58-34", "2025-03-01 10.58.34", "2025/03/01 10:58:34",
        "2025-03-01T10:58:34Z", "2025-03-01 10:58:34", "2025-03-01 10:58:34 UTC", "2025-03-01 11:58:34+01:00",
        "2025-03-01 11:58:34 CET", "2025-03-01 05:58:34 EST", "20250301T105834Z", "20250301_105834", "20250301105834",
        20250301105834, "01.03.2025 10:58:34", "1.3.2025 10:58:34", "1.3.25, 10:58:34", "13/13/2025 10:58:34",
        "Sat, 01 Mar 2025 10:58:34 GMT", "Sat, 01 Mar 2025 11:58:34 +0100", "Sat Mar  1 10:58:34 2025",
        "Sat Mar 1 10:58:34 UTC 2025", "March 1, 2025 at 10:58:34 AM", "1. März 2025 um 10:58:34 Uhr",
        1740826714, 1740826714.0, "1740826714", 1740826714000, "1740826714000", 1740826714000000,
        1740826714000000000, AT, AT.replace(tzinfo=None), AT.astimezone(timezone(timedelta(hours=9))), 45717.4573379,
        "45717.4573379",
    ],
)  # fmt: skip
def test_one_moment_in_every_notation(written: object) -> None:
    wanted = None if written == "13/13/2025 10:58:34" else AT
    assert parse_time(written) == wanted


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("12.03.2025 10:00", datetime(2025, 3, 12, 10, tzinfo=UTC)),
        ("12.03.2025", datetime(2025, 3, 12, tzinfo=UTC)),
        ("13/12/2025", datetime(2025, 12, 13, tzinfo=UTC)),
        ("12/13/2025 12:05 AM", datetime(2025, 12, 13, 0, 5, tzinfo=UTC)),
        ("12/13/2025 12:05 PM", datetime(2025, 12, 13, 12, 5, tzinfo=UTC)),
        ("20250301", datetime(2025, 3, 1, tzinfo=UTC)),
        (45717, datetime(2025, 3, 1, tzinfo=UTC)),
        (date(2025, 3, 1), datetime(2025, 3, 1, tzinfo=UTC)),
        (1740826714.25, AT + timedelta(milliseconds=250)),
        ("2025-03-01T10:58:34,5", AT + timedelta(milliseconds=500)),
    ],
)
def test_days_parts_of_a_second_and_halves_of_a_day(written: object, moment: datetime) -> None:
    assert parse_time(written) == moment


@pytest.mark.parametrize(
    "written",
    ["", "soon", "10:58", "2025", 2025, 0, -1, 5, 1e300, 10**400, float("nan"), float("inf"), True, None, "9" * 5000,
     "31.02.2025", "2025-13-01", "2025-03-01 25:00", "2025-03-01 10:58 XYZ", "3/12/2025", "١" * 12, "\ud800" * 8,
     "1 Foo 2025", "0001-01-01", [], {}],
)  # fmt: skip
def test_what_is_no_moment_is_missing(written: object) -> None:
    assert parse_time(written) is None


def test_the_days_place_is_told_by_the_other_dates() -> None:
    assert day_comes_first(["3/12/2025", "31/12/2025 10:00"]) is True
    assert day_comes_first(["3/12/2025", "12/31/2025"]) is False
    assert day_comes_first(["3/12/2025", None, 7]) is None
    assert day_comes_first(["31/12/2025", "12/31/2025"]) is None
    assert parse_time("3/12/2025", day_first=True) == datetime(2025, 12, 3, tzinfo=UTC)
    assert parse_time("3/12/2025", day_first=False) == datetime(2025, 3, 12, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 12, 31), timezones=st.just(UTC)))
def test_what_records_write_is_read_back(moment: datetime) -> None:
    assert parse_time(time_text(moment)) == moment
    seconds = moment.replace(microsecond=0)
    assert parse_time(int(seconds.timestamp())) == seconds
    assert parse_time(seconds.strftime("%d.%m.%Y %H:%M:%S")) == seconds


@given(st.text(max_size=40) | st.integers() | st.floats())
def test_nothing_makes_it_fail(value: object) -> None:
    found = parse_time(value)
    assert found is None or found.tzinfo is UTC
