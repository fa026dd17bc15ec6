"""A named node."""

from __future__ import annotations

from tests.build import fleet, node, pod
from tests.placement.rules.judging import relieved, verdict

from windtunnel.placement import What
from windtunnel.placement.rules.node_name import NodeName

MADE = fleet(node("a"), node("b"))


def test_only_the_named_node_passes() -> None:
    assert verdict(NodeName(), pod(node="b"), MADE) == (
        [False, True], ["node(s) didn't match the requested node name"], [True, False],
    )  # fmt: skip
    assert verdict(NodeName(), pod(), MADE)[0] == [True, True]


def test_a_new_node_may_be_the_one() -> None:
    assert relieved(NodeName(), pod(), MADE, What.NODE_ADDED, node=node("c"))
    assert not relieved(NodeName(), pod(), MADE, What.POD_GONE)
