"""News in a change of a node."""

from __future__ import annotations

import pytest
from tests.build import gpus, node

from windtunnel.fleet.node import NodeFacts
from windtunnel.placement.relief import What, node_reliefs

TAINT = [{"key": "k", "effect": "NoSchedule"}]

CASES = {
    "nothing": (node(), node(), []),
    "more of something": (node(), node(allocatable=gpus(9)), [What.NODE_ALLOCATABLE]),
    "a label": (node(), node(labels={"x": "1"}), [What.NODE_LABELS]),
    "a taint": (node(), node(taints=TAINT), [What.NODE_TAINTS]),
    "opened": (node(unschedulable=True), node(), [What.NODE_TAINTS]),
    "cordoned is no news": (node(), node(unschedulable=True), []),
    "a feature": (node(), node(features=["F"]), [What.NODE_FEATURES]),
    "all at once, in order": (
        node(),
        node(allocatable=gpus(9), labels={"x": "1"}, taints=TAINT),
        [What.NODE_ALLOCATABLE, What.NODE_LABELS, What.NODE_TAINTS],
    ),
}


@pytest.mark.parametrize(("before", "after", "want"), CASES.values(), ids=CASES)
def test_news(before: NodeFacts, after: NodeFacts, want: list[What]) -> None:
    assert [relief.what for relief in node_reliefs(before, after)] == want
