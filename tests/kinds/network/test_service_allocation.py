from __future__ import annotations

from typing import Any

import pytest
from tests.kinds.replay import Addresses

from windtunnel.kinds.network.service_allocation import assign
from windtunnel.machinery.tree import Tree


def service(**spec: Any) -> Tree:
    return {"spec": {"type": "ClusterIP", "ports": [{"port": 80}], **spec}}


def test_a_service_gets_an_address_and_a_family() -> None:
    tree = service()

    assert assign(tree, None, Addresses()) == []
    assert tree["spec"]["clusterIPs"] == [tree["spec"]["clusterIP"]] == ["10.96.0.9"]
    assert tree["spec"]["ipFamilies"] == ["IPv4"]
    assert tree["spec"]["ipFamilyPolicy"] == "SingleStack"


def test_a_headless_service_without_selector_speaks_both_families() -> None:
    tree = service(clusterIP="None")

    assert assign(tree, None, Addresses()) == []
    assert tree["spec"]["ipFamilies"] == ["IPv4", "IPv6"]


def test_an_external_name_gets_nothing() -> None:
    tree = service(type="ExternalName", externalName="a.b")

    assert assign(tree, None, Addresses()) == []
    assert "clusterIP" not in tree["spec"]


def test_one_port_number_over_two_protocols_shares_its_node_port() -> None:
    ports = [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    tree = service(type="NodePort", ports=ports)

    assign(tree, None, Addresses())

    assert {port["nodePort"] for port in tree["spec"]["ports"]} == {30000}


REFUSED = {
    "an address outside the range": (
        service(clusterIP="1.2.3.4"),
        'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided'
        " IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/16",
    ),
    "an address that is taken": (
        service(clusterIP="10.96.0.1"),
        'spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided'
        " IP is already allocated",
    ),
    "two families": (
        service(ipFamilyPolicy="RequireDualStack"),
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured'
        " for dual-stack services",
    ),
    "a node port outside the range": (
        service(type="NodePort", ports=[{"port": 80, "nodePort": 5}]),
        "spec.ports[0].nodePort: Invalid value: 5: provided port is not in the valid range."
        " The range of valid ports is 30000-32767",
    ),
}


@pytest.mark.parametrize(("tree", "want"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_is_refused(tree: Tree, want: str) -> None:
    assert [str(violation) for violation in assign(tree, None, Addresses())] == [want]


def test_an_update_keeps_what_was_given() -> None:
    old = service(type="NodePort", ports=[{"name": "a", "port": 80}])
    assign(old, None, Addresses())
    new = service(type="NodePort", ports=[{"name": "a", "port": 81}])

    assert assign(new, old, Addresses()) == []
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert new["spec"]["ports"][0]["nodePort"] == 30000
