"""How long history is kept."""

from windtunnel.kernel import VirtualClock
from windtunnel.store.retention import Retention


def test_young_history_is_kept() -> None:
    clock = VirtualClock()
    retention = Retention(clock, keep_seconds=300)

    assert retention.after(256) == 0
    clock.move_to(299)
    assert retention.after(512) == 0


def test_history_past_its_time_is_named() -> None:
    clock = VirtualClock()
    retention = Retention(clock, keep_seconds=300)
    retention.after(256)
    clock.move_to(200)
    retention.after(512)
    clock.move_to(301)

    assert retention.after(768) == 256
    assert retention.after(1024) == 0


def test_a_storm_of_writes_is_bounded_by_count() -> None:
    retention = Retention(VirtualClock(), keep_seconds=300)
    retention.after(256)

    assert retention.after(256 + 256 * 1000) == 256


def test_the_clock_is_not_read_at_every_write() -> None:
    retention = Retention(VirtualClock(), keep_seconds=0)

    assert [retention.after(revision) for revision in range(1, 256)] == [0] * 255
