from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.cronjob.times import (
    Missed,
    NeverDue,
    due,
    next_after,
    spoken,
    zoned_text,
)
from windtunnel.kinds.workload.cron import parse_schedule


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


NEXT = {
    "every minute": ("* * * * *", "UTC", "2027-01-15T08:00:00", "2027-01-15T08:01:00"),
    "within the hour": ("*/20 * * * *", "UTC", "2027-01-15T08:21:30", "2027-01-15T08:40:00"),
    "the next hour": ("5 * * * *", "UTC", "2027-01-15T08:05:00", "2027-01-15T09:05:00"),
    "the next year": ("0 0 1 1 *", "UTC", "2027-01-01T00:00:00", "2028-01-01T00:00:00"),
    "a leap day": ("0 0 29 2 *", "UTC", "2027-01-01T00:00:00", "2028-02-29T00:00:00"),
    "on a weekday": ("0 9 * * mon", "UTC", "2027-01-15T08:00:00", "2027-01-18T09:00:00"),
    "on Sunday": ("0 9 * * 0", "UTC", "2027-01-15T08:00:00", "2027-01-17T09:00:00"),
    "either of two days": ("0 9 20 * fri", "UTC", "2027-01-16T08:00:00", "2027-01-20T09:00:00"),
    "in a zone": ("0 9 * * *", "Asia/Tokyo", "2027-01-15T08:00:00", "2027-01-15T09:00:00"),
    "an hour that clocks skip": (
        "30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00", "2027-03-29T02:30:00"
    ),
    "an hour that they show twice": (
        "30 2 * * *", "Europe/Berlin", "2027-10-31T00:00:00", "2027-10-31T02:30:00"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schedule", "zone", "moment", "want"), NEXT.values(), ids=NEXT)
def test_the_next_time(schedule: str, zone: str, moment: str, want: str) -> None:
    assert next_after(parse_schedule(schedule), zone, at(moment, zone)) == at(want, zone)


def test_a_zone_in_the_schedule_itself_goes_first() -> None:
    schedule = parse_schedule("TZ=Asia/Tokyo 0 9 * * *")

    found = next_after(schedule, "Europe/Berlin", at("2027-01-15T08:00:00"))

    assert found == at("2027-01-16T09:00:00", "Asia/Tokyo")


def test_nothing_comes_after_the_last_year() -> None:
    schedule = parse_schedule("* * * * *")

    assert next_after(schedule, "Asia/Seoul", at("9999-12-31T23:59:00")) is None


def test_an_interval_counts_from_the_moment() -> None:
    schedule = parse_schedule("@every 90s")

    assert next_after(schedule, "", 1000.7) == 1090.0
    assert due(schedule, "", 1000.7, 1185.0).latest == 1180.0


def test_a_day_that_does_not_exist_never_comes() -> None:
    schedule = parse_schedule("0 0 30 2 *")

    assert next_after(schedule, "", at("2027-01-01T00:00:00")) is None
    with pytest.raises(NeverDue):
        due(schedule, "", at("2027-01-01T00:00:00"), at("2028-01-01T00:00:00"))


DUE = {
    "not yet": ("08:00:10", "08:00:50", None, Missed.NONE),
    "just now": ("08:00:10", "08:01:00", "08:01:00", Missed.NONE),
    "two behind": ("08:00:10", "08:02:30", "08:02:00", Missed.FEW),
    "a hundred behind": ("08:00:00", "09:40:00", "09:40:00", Missed.FEW),
    "more than a hundred behind": ("08:00:00", "09:41:00", "09:41:00", Missed.MANY),
}


@pytest.mark.parametrize(("since", "now", "latest", "missed"), DUE.values(), ids=DUE)
def test_the_last_time_that_has_come(
    since: str, now: str, latest: str | None, missed: Missed
) -> None:
    found = due(parse_schedule("* * * * *"), "", at(f"2027-01-15T{since}"), at(f"2027-01-15T{now}"))

    assert found.latest == (None if latest is None else at(f"2027-01-15T{latest}"))
    assert found.missed is missed


@given(
    st.sampled_from(["* * * * *", "*/7 3 * * *", "0 0 * * mon", "15 10 13 * *", "@every 45s"]),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata"]),
    st.floats(1.7e9, 1.9e9),
    st.floats(0, 1e6),
)
def test_the_last_time_is_one_and_no_later_one_has_come(
    text: str, zone: str, since: float, passed: float
) -> None:
    schedule, now = parse_schedule(text), since + passed
    latest = due(schedule, zone, since, now).latest
    if latest is None:
        first = next_after(schedule, zone, since)
        assert first is not None
        assert first > now
    else:
        later = next_after(schedule, zone, latest)
        assert since < latest <= now
        assert later is not None
        assert later > now


def test_how_times_are_written() -> None:
    moment = at("2027-01-15T08:00:00")

    assert spoken(moment) == "Fri, 15 Jan 2027 08:00:00 UTC"
    assert zoned_text(moment, "") == "2027-01-15T08:00:00Z"
    assert zoned_text(moment, "Asia/Tokyo") == "2027-01-15T17:00:00+09:00"
