"""The loop plays steps in a total order and never waits."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kernel import Loop, VirtualClock, WallClock


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 10, 20])), max_size=30))
def test_steps_play_by_time_then_priority_then_sequence(plan: list[tuple[int, int]]) -> None:
    loop = Loop(VirtualClock())
    played: list[tuple[int, int, int]] = []
    for number, (when, priority) in enumerate(plan):
        entry = (when, priority, number)
        loop.call_at(when, lambda entry=entry: played.append(entry), priority)

    loop.run_virtual()

    assert played == sorted(played)
    assert len(played) == len(plan)


def test_a_step_scheduled_by_a_step_plays_in_the_same_run() -> None:
    loop, played = Loop(VirtualClock()), []
    loop.call_soon(lambda: loop.call_soon(lambda: played.append("inner")))

    assert loop.run_due() is False
    assert played == ["inner"]


def test_a_cancelled_step_is_never_played() -> None:
    loop, played = Loop(VirtualClock()), []
    ticket = loop.call_after(1, lambda: played.append(1))
    assert ticket.pending
    ticket.cancel()
    ticket.cancel()

    loop.run_virtual()

    assert played == []
    assert loop.next_due() is None


def test_virtual_time_stops_where_asked_and_keeps_later_steps() -> None:
    clock = VirtualClock(100.0)
    loop, played = Loop(clock), []
    loop.call_after(5, lambda: played.append("five"))
    loop.call_after(50, lambda: played.append("fifty"))

    loop.run_virtual(until=110.0)

    assert (played, clock.now(), loop.next_due()) == (["five"], 110.0, 150.0)


def test_a_loop_on_the_wall_clock_refuses_virtual_time() -> None:
    with pytest.raises(TypeError, match="VirtualClock"):
        Loop(WallClock()).run_virtual()


def test_at_least_one_due_step_plays_however_small_the_budget() -> None:
    loop, played = Loop(VirtualClock()), []
    for number in range(3):
        loop.call_soon(lambda number=number: played.append(number))

    still_due = loop.run_due(budget_seconds=0.0)

    assert played == [0]
    assert still_due


def test_posts_from_another_thread_are_played_and_wake_the_loop() -> None:
    loop, played, woken = Loop(VirtualClock()), [], []
    loop.wake = lambda: woken.append(True)
    thread = threading.Thread(target=lambda: loop.post(lambda: played.append("posted")))
    thread.start()
    thread.join()

    loop.run_due()

    assert played == ["posted"]
    assert woken


def test_only_an_earlier_step_wakes() -> None:
    loop, woken = Loop(VirtualClock()), []
    loop.call_after(10, lambda: None)
    loop.wake = lambda: woken.append(True)
    loop.call_after(20, lambda: None)
    assert woken == []
    loop.call_after(5, lambda: None)
    assert woken == [True]


class Interrupted(Loop):
    """A loop to which another thread posts right after it has taken what was posted."""

    posts = 1

    def _take_posted(self) -> None:
        super()._take_posted()
        if self.posts:
            self.posts -= 1
            self.post(lambda: None)


def test_a_post_at_the_wrong_moment_plays_nothing_that_is_not_due() -> None:
    loop, played = Interrupted(VirtualClock()), []
    loop.call_after(10, lambda: played.append("too early"))

    still_due = loop.run_due()

    assert played == []
    assert still_due
    assert loop.run_due() is False


def test_a_post_at_the_wrong_moment_does_no_harm_to_an_empty_loop() -> None:
    assert Interrupted(VirtualClock()).run_due() is True
