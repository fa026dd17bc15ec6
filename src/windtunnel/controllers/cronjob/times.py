"""When a schedule is due: the next time after a moment, and how many were missed.

Source: the schedule library and the cronjob-controller of Kubernetes v1.36. A local time that
clocks skip is not due that day; one that they show twice is due the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from time import gmtime, strftime
from typing import Final
from zoneinfo import ZoneInfo

from windtunnel.kinds.workload.cron import Schedule

_YEARS: Final = 5
"""A schedule that is not due for so long, such as on 30 February, is never due."""
MANY: Final = 100


class Missed(Enum):
    """How many times have passed without a start."""

    NONE = "none"
    FEW = "few"
    MANY = "many"


@dataclass(frozen=True, slots=True)
class Due:
    """Where a CronJob stands at one moment."""

    earliest: float
    """From when on times count."""
    latest: float | None
    """The last time that has come, or None."""
    missed: Missed


class NeverDue(Exception):
    """The schedule names no time."""


def next_after(schedule: Schedule, zone: str, moment: float) -> float | None:
    """Return the first time after ``moment``, in seconds; None where there is none."""
    try:
        return _next_after(schedule, zone, moment)
    except (OverflowError, ValueError):
        return None  # the calendar ends with the year 9999


def _next_after(schedule: Schedule, zone: str, moment: float) -> float | None:
    if schedule.every_seconds:
        return float(int(moment) + schedule.every_seconds)
    where = ZoneInfo(schedule.zone or zone or "UTC")
    start = datetime.fromtimestamp(int(moment), where)
    for day in _days(schedule, start.date()):
        for hour in sorted(schedule.hours):
            if day == start.date() and hour < start.hour:
                continue
            for minute in sorted(schedule.minutes):
                local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=where)
                seconds = local.timestamp()
                shown = datetime.fromtimestamp(seconds, where)
                if seconds > moment and (shown.hour, shown.minute) == (hour, minute):
                    return seconds
    return None


def spoken(seconds: float) -> str:
    """Return a time as events tell it (RFC 1123)."""
    return strftime("%a, %d %b %Y %H:%M:%S UTC", gmtime(seconds))


def zoned_text(seconds: float, zone: str) -> str:
    """Return a time in a zone, in whole seconds (RFC 3339)."""
    local = datetime.fromtimestamp(int(seconds), ZoneInfo(zone or "UTC"))
    return local.isoformat().replace("+00:00", "Z")


def _days(schedule: Schedule, first: date) -> Iterator[date]:
    """Yield the days of a schedule from ``first`` on."""
    day = first
    while day.year <= first.year + _YEARS:
        if day.month not in schedule.months:
            day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            continue
        if _is_day(schedule, day):
            yield day
        day += timedelta(days=1)


def _is_day(schedule: Schedule, day: date) -> bool:
    """Whether a day counts: where both day fields are restricted, either will do."""
    by_month, by_week = day.day in schedule.days, day.isoweekday() % 7 in schedule.weekdays
    if schedule.any_day or schedule.any_weekday:
        return by_month and by_week
    return by_month or by_week


def due(schedule: Schedule, zone: str, earliest: float, now: float) -> Due:
    """Return the last time since ``earliest`` that has come, and how many have.

    Raises:
        NeverDue: The schedule names no time.
    """
    first = next_after(schedule, zone, earliest)
    if first is None:
        raise NeverDue("schedule is never due")
    if now < first:
        return Due(earliest, None, Missed.NONE)
    second = next_after(schedule, zone, first)
    if second is None or now < second:
        return Due(earliest, first, Missed.NONE)
    between = max(round(second - first), 1)
    passed = int((now - first) // between) + 1
    latest = None
    guess, back = first + (passed - 2) * between, float(between)
    while latest is None:  # where gaps differ, the guess may be beyond the last time
        latest = _last(schedule, zone, max(guess, first), now)
        if latest is None and guess <= first:
            latest = first
        guess, back = guess - back, back * 2
    return Due(earliest, latest, Missed.MANY if passed > MANY else Missed.FEW)


def _last(schedule: Schedule, zone: str, after: float, now: float) -> float | None:
    """Return the last time after a moment that has come, or None."""
    latest = None
    time = next_after(schedule, zone, after)
    while time is not None and time <= now:
        latest = time
        time = next_after(schedule, zone, time)
    return latest
