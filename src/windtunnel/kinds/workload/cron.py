"""Cron schedules: when a cron job is due, and what is wrong with a schedule that is none.

Five fields (minute, hour, day of month, month, day of week), ``@daily`` and its like, or ``@every``
with a duration. A schedule is sets of allowed numbers, so the next due minute is found by stepping.
Messages are those of the library that Kubernetes v1.36.3 uses.
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from typing import Final

from windtunnel.machinery.age import parse_duration

_MONTHS: Final = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_LONGEST: Final = 18
"""Digits; more are no number that anybody parses."""
_ZONE_PART: Final = re.compile(r"[A-Za-z0-9._\-+]{1,14}")


class MalformedSchedule(ValueError):
    """The text is no schedule; the message says why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Allowed numbers of each field; or, where ``every_seconds`` is not 0, a plain interval."""

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = False
    """The day of month was ``*`` or ``?``."""
    any_weekday: bool = False
    every_seconds: float = 0.0
    zone: str = ""
    """Time zone written into the schedule itself."""


@dataclass(frozen=True, slots=True)
class _Field:
    low: int
    high: int
    words: dict[str, int]

    def number(self, text: str) -> int:
        word = text.lower()
        if word in self.words:
            return self.words[word]
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdigit()):
            raise MalformedSchedule(
                f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'
            )
        if len(digits.lstrip("0")) > _LONGEST:
            raise MalformedSchedule(
                f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": '
                "value out of range"
            )
        if text[0] == "-":
            raise MalformedSchedule(f"negative number ({text}) not allowed: {text}")
        return int(digits)

    def numbers(self, text: str) -> frozenset[int]:
        return frozenset().union(*(self._range(part) for part in text.split(",") if part))

    def _range(self, text: str) -> frozenset[int]:
        ends, *steps = text.split("/")
        bounds = ends.split("-")
        single = len(bounds) == 1
        if bounds[0] in ("*", "?"):
            low, high = self.low, self.high
        else:
            low = self.number(bounds[0])
            if len(bounds) > 2:
                raise MalformedSchedule(f"too many hyphens: {text}")
            high = low if single else self.number(bounds[1])
        step = 1
        if steps:
            if len(steps) > 1:
                raise MalformedSchedule(f"too many slashes: {text}")
            step = self.number(steps[0])
            if single:
                high = self.high
        if low < self.low:
            raise MalformedSchedule(
                f"beginning of range ({low}) below minimum ({self.low}): {text}"
            )
        if high > self.high:
            raise MalformedSchedule(f"end of range ({high}) above maximum ({self.high}): {text}")
        if low > high:
            raise MalformedSchedule(
                f"beginning of range ({low}) beyond end of range ({high}): {text}"
            )
        if step == 0:
            raise MalformedSchedule(f"step of range should be a positive number: {text}")
        return frozenset(range(low, high + 1, step))


_FIELDS: Final = (
    _Field(0, 59, {}),
    _Field(0, 23, {}),
    _Field(1, 31, {}),
    _Field(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


def parse_schedule(text: str) -> Schedule:
    """Return the schedule that ``text`` spells.

    Raises:
        MalformedSchedule: It spells none.
    """
    zone = ""
    if text.startswith(("TZ=", "CRON_TZ=")):
        prefix, _, text = text.partition(" ")
        zone = prefix.partition("=")[2]
        if not known_zone(zone):
            raise MalformedSchedule(f"provided bad location {zone}: unknown time zone {zone}")
        text = text.strip()
    if text.startswith("@every "):
        return Schedule(every_seconds=_interval(text), zone=zone)
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise MalformedSchedule(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    parts = text.split()
    if len(parts) != len(_FIELDS):
        shown = " ".join(parts)
        raise MalformedSchedule(f"expected exactly 5 fields, found {len(parts)}: [{shown}]")
    minutes, hours, days, months, weekdays = (
        field.numbers(part) for field, part in zip(_FIELDS, parts, strict=True)
    )
    return Schedule(
        minutes,
        hours,
        days,
        months,
        weekdays,
        any_day=_is_star(parts[2]),
        any_weekday=_is_star(parts[4]),
        zone=zone,
    )


def _is_star(text: str) -> bool:
    """Say whether a field matches every day and so leaves the choice to the other one."""
    return any(
        part.partition("/")[0] in ("*", "?") and part.partition("/")[2] in ("", "1")
        for part in text.split(",")
    )


def _interval(text: str) -> float:
    duration = text.removeprefix("@every ")
    try:
        seconds = parse_duration(duration.lstrip("+-"))
    except ValueError:
        raise MalformedSchedule(
            f'failed to parse duration {text}: time: invalid duration "{duration}"'
        ) from None
    return max(1.0, float(int(seconds)))


def known_zone(name: str) -> bool:
    """Say whether this is the name of a time zone."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def zone_problem(name: str) -> str:
    """Return what is wrong with the time zone of a cron job; "" for nothing."""
    if not name:
        return "timeZone must be nil or non-empty string"
    unknown = f"unknown time zone {name}"
    for part in name.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return unknown
    if name.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    return "" if known_zone(name) else unknown
