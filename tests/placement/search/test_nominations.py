"""Who waits for which node."""

from __future__ import annotations

from tests.build import pod

from windtunnel.placement.search import Nominations


def test_a_pod_is_nominated_for_one_node_at_a_time() -> None:
    nominations = Nominations()
    one = pod("a")
    nominations.put(one, "x")
    nominations.put(one, "y")

    assert nominations.node_of(one.key) == "y"
    assert nominations.on("x") == []
    assert list(nominations.nodes()) == ["y"]

    nominations.put(one, "")
    assert not nominations


def test_only_others_of_at_least_the_priority_are_ahead() -> None:
    nominations = Nominations()
    pods = [pod("low", priority=1), pod("even", priority=5), pod("high", priority=9)]
    for one in pods:
        nominations.put(one, "x")

    ahead = nominations.ahead_of(pods[1], "x")

    assert ahead == [pods[2]]
    assert nominations.ahead_of(pod("new", priority=5), "x") == pods[1:]
