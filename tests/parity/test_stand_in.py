"""The stand-in for the API server: what it admits, binds and evicts, told back to the engine."""

from __future__ import annotations

import pytest
from tests.build import gpus, node_tree, pod_tree

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key, Tree
from windtunnel.parity.stand_in import START, StandIn
from windtunnel.scheduler import Attempt, Engine, read_configuration


def stand_in(*trees: Tree, graceful: bool = False) -> tuple[Engine, StandIn]:
    engine = Engine(read_configuration(), VirtualClock(START))
    made = StandIn(engine, graceful=graceful)
    for tree in trees:
        made.put(tree)
    return engine, made


def attempted(engine: Engine) -> Attempt:
    attempt = engine.attempt(details=True)
    assert attempt is not None
    return attempt


def test_a_pod_is_bound_where_the_recording_bound_it() -> None:
    created = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    engine, server = stand_in(node_tree("a"), node_tree("b"), pod_tree("p", metadata=created))

    server.bind(attempted(engine), "b")

    assert server.trees[Key("default", "p")]["spec"]["nodeName"] == "b"
    assert engine.fleet.where(Key("default", "p")) == "b"


@pytest.mark.parametrize("graceful", [False, True])
def test_victims_go_at_once_or_are_going(graceful: bool) -> None:
    engine, server = stand_in(
        node_tree("a"),
        pod_tree("low", node="a", requests=gpus(8)),
        pod_tree("vip", priority=9, requests=gpus(8)),
        graceful=graceful,
    )

    victims = server.evict(attempted(engine))

    assert [one.key.name for one in victims] == ["low"]
    assert (Key("default", "low") in server.trees) is graceful
    assert (engine.fleet.where(Key("default", "low")) == "a") is graceful


def test_a_class_that_nobody_made_is_refused() -> None:
    _, server = stand_in(
        {"kind": "PriorityClass", "metadata": {"name": "known"}, "value": 1},
    )
    strange = pod_tree("p", priorityClassName="strange")
    del strange["metadata"]["uid"]

    assert server.refusals(strange) == ["no PriorityClass with name strange was found"]
    assert server.refusals(pod_tree("p", priorityClassName="strange")) == []
