"""Nodes: what is read, and what makes no difference."""

from __future__ import annotations

import pytest
from tests.build import node, node_tree

from windtunnel.fleet.node import read_node
from windtunnel.machinery.tree import encode


def test_a_heartbeat_changes_nothing() -> None:
    tree = node_tree("a")
    before = read_node(encode(tree))
    tree["status"]["conditions"] = [{"type": "Ready", "lastHeartbeatTime": "now"}]
    tree["metadata"]["resourceVersion"] = "2"

    assert read_node(encode(tree)) == before


def test_amounts_are_whole_and_strange_names_are_left_out() -> None:
    facts = node(allocatable={"cpu": "1500m", "memory": "1Ki", "odd": "3", "hugepages-2Mi": "2Mi"})

    assert facts.allocatable["cpu"] == 1500
    assert facts.allocatable["memory"] == 1024
    assert facts.allocatable["hugepages-2Mi"] == 2097152
    assert "odd" not in facts.allocatable
    assert facts.allowed_pods == 110


ZONES = {
    "none": ({}, ""),
    "region and zone": (
        {"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"},
        "r:\0:z",
    ),
    "the old label wins": (
        {
            "failure-domain.beta.kubernetes.io/zone": "old",
            "topology.kubernetes.io/zone": "new",
        },
        ":\0:old",
    ),
}


@pytest.mark.parametrize(("labels", "want"), ZONES.values(), ids=ZONES)
def test_the_zone_by_which_nodes_are_ordered(labels: dict[str, str], want: str) -> None:
    assert node(labels=labels).zone == want
