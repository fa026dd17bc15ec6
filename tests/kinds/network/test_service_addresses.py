from __future__ import annotations

from typing import Any

from windtunnel.kinds.network.service_addresses import (
    drop_dependent,
    is_external,
    is_headless,
    needs_health_check,
    normalize,
)
from windtunnel.machinery.tree import Tree


def service(**spec: Any) -> Tree:
    return {"spec": {"type": "ClusterIP", **spec}}


def test_types_need_different_things() -> None:
    assert is_headless({"clusterIP": "None"})
    assert is_external({"type": "NodePort"})
    assert is_external({"type": "ClusterIP", "externalIPs": ["1.2.3.4"]})
    assert not is_external({"type": "ClusterIP"})
    assert needs_health_check({"type": "LoadBalancer", "externalTrafficPolicy": "Local"})


def test_one_address_and_the_list_are_brought_in_line() -> None:
    created = service(clusterIP="10.0.0.1")
    normalize(created, None)
    assert created["spec"]["clusterIPs"] == ["10.0.0.1"]

    moved = service(clusterIP="10.0.0.2", clusterIPs=["10.0.0.1"])
    normalize(moved, created)
    assert moved["spec"]["clusterIPs"] == ["10.0.0.2"]

    released = service(clusterIP="", clusterIPs=["10.0.0.1"])
    normalize(released, created)
    assert "clusterIPs" not in released["spec"]


def test_a_change_of_type_forgets_what_belonged_to_the_old_one() -> None:
    common = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv4"]}
    old = service(
        **common, ports=[{"port": 80, "nodePort": 30000}], externalTrafficPolicy="Cluster",
        allocateLoadBalancerNodePorts=True,
    )  # fmt: skip
    old["spec"]["type"] = "LoadBalancer"
    new = service(
        **common, ports=[{"port": 80, "nodePort": 30000}], externalTrafficPolicy="Cluster",
        allocateLoadBalancerNodePorts=True,
    )  # fmt: skip

    drop_dependent(new, old)
    assert new["spec"] == {"type": "ClusterIP", **common, "ports": [{"port": 80}]}

    new["spec"]["type"] = "ExternalName"
    drop_dependent(new, service(**common))
    assert "clusterIP" not in new["spec"]
