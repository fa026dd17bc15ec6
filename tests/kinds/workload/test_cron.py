from __future__ import annotations

import pytest

from windtunnel.kinds.workload.cron import MalformedSchedule, parse_schedule, zone_problem


def test_a_step_without_an_end_runs_to_the_end_of_the_field() -> None:
    assert parse_schedule("5/20 * * * *").minutes == {5, 25, 45}


def test_names_of_months_and_days_are_numbers_in_any_case() -> None:
    schedule = parse_schedule("0 0 * JAN-mar Mon,fri")

    assert schedule.months == {1, 2, 3}
    assert schedule.weekdays == {1, 5}


@pytest.mark.parametrize(
    ("text", "any_day", "any_weekday"),
    [
        ("0 0 * * *", True, True),
        ("0 0 1 * *", False, True),
        ("0 0 ? * 1", True, False),
        ("0 0 */2 * 1", False, False),
        ("0 0 */1 * *", True, True),
    ],
)
def test_a_star_leaves_the_choice_of_the_day_to_the_other_field(
    text: str, any_day: bool, any_weekday: bool
) -> None:
    schedule = parse_schedule(text)

    assert (schedule.any_day, schedule.any_weekday) == (any_day, any_weekday)


def test_daily_is_midnight() -> None:
    assert parse_schedule("@daily") == parse_schedule("0 0 * * *")


@pytest.mark.parametrize(
    ("text", "seconds"), [("@every 5m", 300.0), ("@every 1h30m", 5400.0), ("@every 10ms", 1.0)]
)
def test_an_interval_is_whole_seconds_and_at_least_one(text: str, seconds: float) -> None:
    assert parse_schedule(text).every_seconds == seconds


def test_a_zone_in_the_schedule_is_kept() -> None:
    assert parse_schedule("CRON_TZ=Asia/Seoul 0 0 * * *").zone == "Asia/Seoul"


@pytest.mark.parametrize(
    "text", ["", "9" * 5000 + " * * * *", "* * * *", "60 * * * *", "@never", "TZ=Nowhere * * * * *"]
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(MalformedSchedule):
        parse_schedule(text)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Seoul", "America/Argentina/Salta"])
def test_a_zone_of_the_time_zone_database_is_fine(zone: str) -> None:
    assert zone_problem(zone) == ""


@pytest.mark.parametrize("zone", ["", "Local", "../etc/passwd", "-x", "Mars/Olympus"])
def test_other_zones_are_not(zone: str) -> None:
    assert zone_problem(zone)
