"""Pods on nodes: the real cache's order, and exact undo."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.build import pod

from windtunnel.fleet.residents import Residents

PODS = [pod(name) for name in "abcde"]


def residents(count: int = 4) -> Residents:
    made = Residents()
    for one in PODS[:count]:
        made.put(one, "n")
    return made


def names(made: Residents) -> list[str]:
    return [one.key.name for one in made.on("n")]


def test_the_last_pod_takes_the_place_of_one_that_leaves() -> None:
    made = residents()

    assert made.take(PODS[1], "n") == 1
    assert names(made) == ["a", "d", "c"]
    assert made.get(PODS[1].key) is None


def test_a_renewed_pod_left_and_came_again() -> None:
    made = residents()
    later = pod("b", priority=1)

    assert made.renew(PODS[1], later) == "n"

    assert names(made) == ["a", "d", "c", "b"]
    assert made.get(later.key) == (later, "n")


def test_who_is_less_important_is_known_without_looking() -> None:
    made = residents(1)
    made.put(pod("low", priority=-5), "n")
    assert [made.any_below(priority) for priority in (-5, -4, 1)] == [False, True, True]

    low = made.on("n")[1]
    place = made.take(low, "n")
    assert not made.any_below(0)
    made.untake(low, "n", place)
    assert made.any_below(0)
    made.renew(low, pod("low", priority=3))
    assert not made.any_below(0)


@given(st.lists(st.integers(0, 3), unique=True))
def test_what_was_taken_goes_back_to_its_place(order: list[int]) -> None:
    made = residents()
    taken = [(PODS[at], made.take(PODS[at], "n")) for at in order]
    made.put(PODS[4], "n")
    made.unput(PODS[4], "n")
    for one, place in reversed(taken):
        made.untake(one, "n", place)

    assert names(made) == ["a", "b", "c", "d"]
