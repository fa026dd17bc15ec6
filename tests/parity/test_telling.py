"""Attempts in the recording's words."""

from __future__ import annotations

from tests.build import change, gpus, node_tree, pod_tree

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key, Tree
from windtunnel.parity.telling import told, told_event
from windtunnel.scheduler import Engine, Note, read_configuration


def telling(*pods: Tree) -> Tree:
    engine = Engine(read_configuration(), VirtualClock(1000.0))
    for name in ("a", "b"):
        engine.observe("nodes", change("ADDED", node_tree(name)))
    for tree in pods:
        engine.observe("pods", change("ADDED", tree))
    attempt = engine.attempt(details=True)
    assert attempt is not None
    return told(attempt)


def test_a_choice_is_told_with_its_scores() -> None:
    result = telling(pod_tree("p", requests=gpus(1)))

    assert (result["outcome"], result["top"], result["naturalChoice"]) == (
        "scheduled", ["a", "b"], "a",
    )  # fmt: skip
    assert result["scores"]["nodes"] == ["a", "b"]
    assert result["preFilter"] == {"code": "Success"}


def test_a_failure_is_told_with_who_would_have_to_go() -> None:
    result = telling(
        pod_tree("low", node="a", requests=gpus(8)),
        pod_tree("high", node="b", priority=9, requests=gpus(8)),
        pod_tree("vip", priority=5, requests=gpus(1)),
    )

    assert result["outcome"] == "unschedulable"
    assert result["condition"]["message"].startswith("0/2 nodes are available: 2 Insufficient")
    assert result["preemption"]["nominatedNode"] == "a"
    assert result["preemption"]["victims"] == ["default/low"]


def test_an_event_is_told_by_the_recordings_names() -> None:
    note = Note("Normal", "Scheduled", "Binding", "text")

    assert told_event(Key("red", "p"), note) == {
        "object": "red/p", "type": "Normal", "reason": "Scheduled", "action": "Binding",
        "note": "text",
    }  # fmt: skip
