"""Decisions: the words of a failure."""

from __future__ import annotations

import pytest

from windtunnel.machinery.tree import Key
from windtunnel.placement import Code, Refusal
from windtunnel.placement.search.decision import Decision, Gate, RefusedNodes


def refused(plugin: str, *reasons: str, nodes: int) -> RefusedNodes:
    names = tuple(f"{plugin}-{reasons}-{number}" for number in range(nodes))
    return RefusedNodes(Refusal(Code.UNSCHEDULABLE, plugin, reasons), names)


def failure(nodes: int, *kept: RefusedNodes, gate: Gate | None = None) -> Decision:
    return Decision(Key("default", "p"), "", nodes, gate=gate or Gate(), refused=kept)


SHUT = Gate(Code.UNRESOLVABLE, "NodeAffinity", ("pod affinity terms conflict",))
NAMED = Gate(names=("a",), restricting=("NodeAffinity",))

CASES = {
    "no nodes": (failure(0), "no nodes available to schedule pods"),
    "counts are sorted as text": (
        failure(12, refused("F", "x", nodes=10), refused("F", "y", nodes=2)),
        "0/12 nodes are available: 10 x, 2 y.",
    ),
    "a node with two reasons counts twice": (
        failure(3, refused("F", "x", "y", nodes=1), refused("F", "y", nodes=2)),
        "0/3 nodes are available: 1 x, 3 y.",
    ),
    "the same reason of two rules is one": (
        failure(2, refused("F", "x", nodes=1), refused("G", "x", nodes=1)),
        "0/2 nodes are available: 2 x.",
    ),
    "a gate that is shut": (
        failure(3, gate=SHUT), "0/3 nodes are available: pod affinity terms conflict.",
    ),
    "nodes left out by a gate": (
        failure(3, refused("F", "x", nodes=1), gate=NAMED),
        "0/3 nodes are available: 1 x, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("decision", "want"), CASES.values(), ids=CASES)
def test_message(decision: Decision, want: str) -> None:
    assert decision.message() == want


def test_what_came_of_preemption_is_told_last() -> None:
    told = failure(1, refused("F", "x", nodes=1)).message("preemption: no.")

    assert told == "0/1 nodes are available: 1 x. preemption: no."


def test_rejectors_are_all_who_said_no() -> None:
    assert failure(1, refused("F", "x", nodes=1), gate=NAMED).rejectors == {"F", "NodeAffinity"}
    assert failure(1, gate=SHUT).rejectors == {"NodeAffinity"}
