"""Host ports."""

from __future__ import annotations

from tests.build import fleet, node, pod
from tests.placement.rules.judging import relieved, skips, verdict

from windtunnel.fleet import PodView
from windtunnel.placement import What
from windtunnel.placement.rules.node_ports import NodePorts


def listening(name: str, port: int, **kept: object) -> PodView:
    ports = [{"containerPort": port, "hostPort": port}]
    return pod(name, containers=[{"name": "main", "ports": ports}], **kept)


MADE = fleet(node("a"), node("b"), pods=(listening("e", 80, node="a"),))


def test_a_port_is_taken_once_a_node() -> None:
    assert verdict(NodePorts(), listening("p", 80), MADE) == (
        [False, True],
        ["node(s) didn't have free ports for the requested pod ports"],
        [False, False],
    )


def test_pods_without_host_ports_are_not_asked() -> None:
    assert skips(NodePorts(), pod(), MADE)
    assert not skips(NodePorts(), listening("p", 81), MADE)


def test_only_a_pod_with_the_same_port_leaves_room() -> None:
    wish = listening("p", 80)

    assert relieved(NodePorts(), wish, MADE, What.POD_GONE, pod_before=listening("e", 80))
    assert not relieved(NodePorts(), wish, MADE, What.POD_GONE, pod_before=listening("e", 81))
    assert relieved(NodePorts(), wish, MADE, What.NODE_ADDED, node=node("c"))
