"""The queue: order, backoff, gates, news."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import node, pod

from windtunnel.fleet import PodView
from windtunnel.kernel import VirtualClock
from windtunnel.placement import Relief, What
from windtunnel.scheduler.queue import SchedulingQueue
from windtunnel.scheduler.waiting import GateRefusal, Place, Waiting

FIT = frozenset({"NodeResourcesFit"})
NEWS = Relief(What.NODE_ADDED, node=node())


class Hall:
    """A queue with a clock; pods with gates wait for OWN_GATES, all others for new nodes."""

    def __init__(self) -> None:
        self.clock = VirtualClock(1000.0)
        self.queue = SchedulingQueue(self.clock, self._gating, self._worth)

    def _gating(self, one: PodView) -> GateRefusal | None:
        return GateRefusal("SchedulingGates", "shut") if one.gates else None

    def _worth(self, waiting: Waiting, relief: Relief) -> bool:
        wanted = What.OWN_GATES if waiting.gate else What.NODE_ADDED
        return relief.what is wanted

    def add(self, *pods: PodView) -> None:
        for one in pods:
            self.queue.add(one)

    def pop(self) -> str:
        waiting = self.queue.pop()
        assert waiting is not None
        return waiting.pod.key.name

    def fail(self, *, rejectors: frozenset[str] = FIT) -> None:
        waiting = self.queue.pop()
        assert waiting is not None
        self.queue.put_back(waiting, rejectors)

    def where(self, place: Place) -> list[str]:
        return [key.name for key in self.queue.standing(place)]


def test_higher_priority_first_then_who_came_first() -> None:
    hall = Hall()
    hall.add(pod("a"), pod("b", priority=5), pod("c"), pod("d", priority=5))

    assert [hall.pop() for _ in range(4)] == ["b", "d", "a", "c"]
    assert hall.queue.pop() is None


def test_a_refused_pod_waits_for_news_and_then_backs_off() -> None:
    hall = Hall()
    hall.add(pod("a"))
    hall.fail()
    assert hall.where(Place.POOL) == ["a"]
    assert not hall.queue.ready

    hall.queue.tell(Relief(What.POD_GONE))
    assert hall.where(Place.POOL) == ["a"], "news of no use"

    hall.queue.tell(NEWS)
    assert hall.where(Place.BACKOFF) == ["a"]


def test_news_after_the_backoff_makes_a_pod_active_at_once() -> None:
    hall = Hall()
    hall.add(pod("a"))
    hall.fail()
    hall.clock.move_to(1002.0)

    hall.queue.tell(NEWS)

    assert hall.where(Place.ACTIVE) == ["a"]


def test_who_backs_off_is_taken_early_when_nobody_is_active() -> None:
    hall = Hall()
    hall.add(pod("a"))
    hall.fail()
    hall.queue.tell(NEWS)
    hall.add(pod("b"))

    assert [hall.pop(), hall.pop()] == ["b", "a"]


WAITS = {1: 1, 2: 2, 3: 4, 4: 8, 5: 10, 9: 10}


@pytest.mark.parametrize(("attempts", "seconds"), WAITS.items())
def test_the_backoff_doubles_up_to_ten_seconds(attempts: int, seconds: int) -> None:
    hall = Hall()
    hall.add(pod("a"))
    for _ in range(attempts):
        hall.queue.activate(pod("a").key)
        hall.fail()
    hall.queue.tell(NEWS)

    hall.clock.move_to(1000.0 + seconds)
    hall.queue.flush_backoff()
    assert hall.where(Place.BACKOFF) == ["a"]

    hall.clock.move_to(1001.0 + seconds)
    hall.queue.flush_backoff()
    assert hall.where(Place.ACTIVE) == ["a"]


def test_after_an_error_a_pod_backs_off_and_is_not_taken_early() -> None:
    hall = Hall()
    hall.add(pod("a"))
    hall.fail(rejectors=frozenset())

    assert hall.where(Place.BACKOFF) == ["a"]
    assert not hall.queue.ready


def test_gates_keep_a_pod_out_of_line_until_they_are_gone() -> None:
    hall = Hall()
    gated = pod("a", schedulingGates=[{"name": "g"}])
    hall.add(gated)
    hall.queue.tell(NEWS)
    hall.queue.activate(gated.key)
    assert hall.where(Place.POOL) == ["a"]
    assert hall.queue.gate_of(gated.key) is not None

    free = pod("a")
    hall.queue.update(free, [Relief(What.OWN_GATES, pod_before=gated, pod=free)])

    assert hall.where(Place.ACTIVE) == ["a"]


def test_who_waited_too_long_is_tried_again() -> None:
    hall = Hall()
    hall.add(pod("a"))
    hall.fail()
    hall.clock.move_to(1299.0)
    hall.queue.flush_pool()
    assert hall.where(Place.POOL) == ["a"]

    hall.clock.move_to(1301.0)
    hall.queue.flush_pool()
    assert hall.where(Place.ACTIVE) == ["a"]


def test_a_removed_pod_is_never_popped() -> None:
    hall = Hall()
    hall.add(pod("a"), pod("b"))
    hall.queue.remove(pod("a").key)

    assert hall.pop() == "b"
    assert hall.queue.pop() is None


def test_a_changed_priority_changes_the_order() -> None:
    hall = Hall()
    hall.add(pod("a"), pod("b"))
    hall.queue.update(pod("b", priority=9), [])

    assert [hall.pop(), hall.pop()] == ["b", "a"]


def test_news_may_concern_some_only() -> None:
    hall = Hall()
    hall.add(pod("a", priority=1), pod("b", priority=9))
    hall.fail()
    hall.fail()

    concerns: Any = lambda one: one.priority <= 5  # noqa: E731
    hall.queue.tell(NEWS, concerns)

    assert hall.where(Place.BACKOFF) == ["a"]


def test_no_news_relieves_a_pod_while_it_is_held() -> None:
    hall = Hall()
    hall.add(pod("a"), pod("b"))
    hall.fail()
    hall.fail()
    hall.queue.hold(pod("a").key)

    hall.queue.tell(NEWS)
    assert (hall.where(Place.POOL), hall.where(Place.BACKOFF)) == (["a"], ["b"])

    hall.queue.release(pod("a").key)
    assert hall.where(Place.POOL) == ["a"], "what came meanwhile stays unheard"
    hall.queue.tell(NEWS)
    assert hall.where(Place.POOL) == []
