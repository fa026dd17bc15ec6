"""The engine: changes in, attempts out."""

from __future__ import annotations

from typing import Any

from tests.build import change, gpus, node_tree, pod_tree

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key, Tree
from windtunnel.scheduler import Engine, Place, read_configuration


def engine(*trees: Tree) -> Engine:
    made = Engine(read_configuration(), VirtualClock(1000.0))
    for tree in trees:
        observe(made, tree)
    return made


def observe(made: Engine, tree: Tree, kind: Any = "ADDED") -> None:
    made.observe({"Node": "nodes", "Pod": "pods"}[tree["kind"]], change(kind, tree))


def key(name: str) -> Key:
    return Key("default", name)


def test_a_placement_is_assumed_until_it_is_seen() -> None:
    made = engine(node_tree("a"), pod_tree("p", requests=gpus(8)), pod_tree("q", requests=gpus(1)))

    first, second = made.attempt(), made.attempt()

    assert first is not None
    assert second is not None
    assert (first.outcome, first.node) == ("placed", "a")
    assert second.outcome == "unschedulable"

    observe(made, pod_tree("p", requests=gpus(8), node="a"), "MODIFIED")
    assert not made.forget(first.pod), "seen, so nothing is assumed any more"
    made.fleet.check()


def test_a_placement_that_could_not_be_written_is_taken_back() -> None:
    made = engine(node_tree("a"), pod_tree("p", requests=gpus(8)))
    attempt = made.attempt()
    assert attempt is not None

    assert made.forget(attempt.pod)

    assert made.fleet.where(key("p")) is None
    assert made.queue.standing(Place.BACKOFF) == [key("p")]


def test_pods_of_other_schedulers_are_left_alone() -> None:
    made = engine(node_tree("a"), pod_tree("p", schedulerName="another"))

    assert made.attempt() is None


def test_a_pod_that_is_being_deleted_is_skipped() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    made = engine(node_tree("a"), pod_tree("p", metadata=leaving))

    attempt = made.attempt()

    assert attempt is not None
    assert attempt.outcome == "skipped"
    assert made.attempt() is None


def test_room_that_is_freed_brings_a_waiting_pod_back() -> None:
    made = engine(
        node_tree("a"), pod_tree("e", node="a", requests=gpus(8)), pod_tree("p", requests=gpus(1))
    )
    made.attempt()
    assert made.queue.standing(Place.POOL) == [key("p")]

    observe(made, pod_tree("e", node="a", requests=gpus(8)), "DELETED")

    attempt = made.attempt()
    assert attempt is not None
    assert attempt.node == "a"


def test_a_pod_bound_by_somebody_else_leaves_the_queue() -> None:
    made = engine(node_tree("a"), pod_tree("p"))
    observe(made, pod_tree("p", node="a"), "MODIFIED")

    assert made.attempt() is None
    assert made.fleet.where(key("p")) == "a"


def test_preemption_nominates_and_demotes_the_less_important() -> None:
    made = engine(
        node_tree("a"),
        pod_tree("e", node="a", requests=gpus(8)),
        pod_tree("low", priority=5, requests=gpus(8)),
    )
    first = made.attempt()
    assert first is not None
    assert made.nominations.node_of(key("low")) == "a"
    assert first.renominated

    observe(made, pod_tree("high", priority=9, requests=gpus(8)))
    second = made.attempt()

    assert second is not None
    assert [one.key for one in second.demoted] == [key("low")]
    assert made.nominations.node_of(key("high")) == "a"
    assert made.nominations.node_of(key("low")) == ""


def test_a_victims_end_lets_the_nominated_pod_in_first() -> None:
    made = engine(
        node_tree("a"),
        pod_tree("e", node="a", requests=gpus(8)),
        pod_tree("vip", priority=9, requests=gpus(8)),
    )
    made.attempt()
    observe(made, pod_tree("late", requests=gpus(8)))
    observe(made, pod_tree("e", node="a", requests=gpus(8)), "DELETED")

    outcomes = [made.attempt(), made.attempt()]

    placed = [one.pod.key.name for one in outcomes if one is not None and one.node]
    assert placed == ["vip"]


def test_a_node_that_grows_is_news() -> None:
    made = engine(node_tree("a", allocatable=gpus(1)), pod_tree("p", requests=gpus(2)))
    made.attempt()

    observe(made, node_tree("a", allocatable=gpus(4)), "MODIFIED")

    assert made.queue.standing(Place.BACKOFF) == [key("p")]
