"""Cordoned nodes."""

from __future__ import annotations

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import relieved, verdict

from windtunnel.placement import What
from windtunnel.placement.rules.node_unschedulable import NodeUnschedulable

CORDON = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]


def test_only_who_tolerates_the_cordon_gets_in() -> None:
    made = fleet(node("a", unschedulable=True), node("b"))

    assert verdict(NodeUnschedulable(), pod(), made) == (
        [False, True], ["node(s) were unschedulable"], [True, False],
    )  # fmt: skip
    assert verdict(NodeUnschedulable(), pod(tolerations=CORDON), made)[0] == [True, True]


NEWS = {
    "opened": (node(unschedulable=True), node(), True),
    "was open": (node(), node(), False),
    "new and open": (None, node(), True),
    "new and cordoned": (None, node(unschedulable=True), False),
}


@pytest.mark.parametrize(("before", "after", "want"), NEWS.values(), ids=NEWS)
def test_relieved(before: object, after: object, want: bool) -> None:
    what = What.NODE_ADDED if before is None else What.NODE_TAINTS
    news = {"node_before": before, "node": after}

    assert relieved(NodeUnschedulable(), pod(), fleet(node()), what, **news) is want
