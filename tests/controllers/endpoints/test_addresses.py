from typing import Any

import msgspec
import pytest

from windtunnel.controllers.endpoints.addresses import groups_of
from windtunnel.controllers.endpoints.packing import Group
from windtunnel.controllers.endpoints.views import ServiceView
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.views import PodView
from windtunnel.machinery.tree import Tree

NODE = msgspec.convert(
    {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z"}}}, NodeView
)


def service(*ports: Tree, **spec: Any) -> ServiceView:
    tree = {"metadata": {"name": "s", "namespace": "ns"}, "spec": {"ports": list(ports), **spec}}
    return msgspec.convert(tree, ServiceView)


def pod(name: str = "p", *, ready: bool = True, **more: Any) -> PodView:
    tree = {
        "metadata": {"name": name, "namespace": "ns", "uid": "u", **more.pop("metadata", {})},
        "spec": {"nodeName": "n", **more.pop("spec", {})},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
            **more,
        },
    }
    return msgspec.convert(tree, PodView)


def groups(view: ServiceView, *pods: PodView, named: dict[str, int] | None = None) -> list[Group]:
    ports = [{"name": name, "containerPort": port} for name, port in (named or {}).items()]
    return groups_of(view, pods, lambda name: NODE if name == "n" else None, lambda pod: ports)


GOING = {"deletionTimestamp": "2027-01-15T08:00:00Z"}
STATES: dict[str, tuple[dict[str, Any], PodView, tuple[bool, bool, bool]]] = {
    "a pod that is ready": ({}, pod(), (True, True, False)),
    "a pod that is not": ({}, pod(ready=False), (False, False, False)),
    "a pod that goes": ({}, pod(metadata=GOING), (False, True, True)),
    "a pod that is not, all published": (
        {"publishNotReadyAddresses": True}, pod(ready=False), (True, False, False)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "one", "want"), STATES.values(), ids=STATES)
def test_the_state_of(spec: dict[str, Any], one: PodView, want: tuple[bool, bool, bool]) -> None:
    (group,) = groups(service(**spec), one)
    (found,) = group.endpoints

    ready, serving, terminating = want
    assert found == {
        "addresses": ["10.0.0.1"],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": {"kind": "Pod", "namespace": "ns", "name": "p", "uid": "u"},
        "nodeName": "n",
        "zone": "z",
    }


LEFT_OUT = {
    "a pod without an address": pod(podIP="", podIPs=[]),
    "a pod that has ended": pod(phase="Failed"),
    "a pod of a node that is gone": pod(spec={"nodeName": "gone"}),
}


@pytest.mark.parametrize("one", LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out_is(one: PodView) -> None:
    assert groups(service(), one) == [Group("IPv4", None)]


def test_ports_are_numbers_or_names_of_the_containers() -> None:
    view = service(
        {"name": "a", "port": 80},
        {"name": "b", "port": 81, "targetPort": 8081, "appProtocol": "http"},
        {"name": "c", "port": 82, "targetPort": "web"},
        {"name": "d", "port": 83, "targetPort": "nowhere"},
    )

    (group,) = groups(view, pod(), named={"web": 8082})

    assert group.ports == (
        {"name": "a", "protocol": "TCP", "port": 80},
        {"name": "b", "protocol": "TCP", "port": 8081, "appProtocol": "http"},
        {"name": "c", "protocol": "TCP", "port": 8082},
    )


def test_each_family_has_endpoints_of_its_own() -> None:
    found = groups(service(ipFamilies=["IPv4", "IPv6"]), pod())

    assert [(each.address_type, each.endpoints[0]["addresses"]) for each in found] == [
        ("IPv4", ["10.0.0.1"]), ("IPv6", ["fd00::1"])
    ]  # fmt: skip


def test_only_a_pod_that_is_named_under_the_service_has_a_name() -> None:
    mine, other = {"hostname": "h", "subdomain": "s"}, {"hostname": "h", "subdomain": "t"}

    (group,) = groups(service(), pod("p", spec=mine), pod("q", spec=other))

    assert [each.get("hostname") for each in group.endpoints] == ["h", None]
