"""Proxies: where requests to nodes, pods and Services go."""

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, obj

from windtunnel.apiserver.request import Relay


def destination(api: Api, path: str) -> tuple[str, bool, str]:
    outcome = api.request("GET", path)
    assert isinstance(outcome, Relay), outcome
    return str(outcome.destination), outcome.destination.secure, outcome.target


@pytest.fixture
def cluster(api: Api, ns: str) -> Api:
    status: dict[str, Any] = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}
    api.post("/api/v1/nodes", obj("v1", "Node", "n1", status=status))
    ports = [{"containerPort": 8080}]
    api.pod(ns, nodeName="n1", containers=[{"name": "c", "image": "x", "ports": ports}])
    api.patch(f"{ns}/pods/p/status", {"status": {"podIP": "10.42.0.9", "hostIP": "127.0.0.1"}})
    service = obj("v1", "Service", "s", spec={"ports": [{"name": "web", "port": 80}]})
    api.post(f"{ns}/services", service)
    return api


GOES = {
    "a node is its kubelet": (
        "/api/v1/nodes/n1/proxy/metrics/", ("127.0.0.1:10250", True, "/metrics/"),
    ),
    "a node's other port": ("/api/v1/nodes/n1:99/proxy", ("127.0.0.1:99", False, "/")),
    "a pod's first port": (
        "/api/v1/namespaces/ns/pods/p/proxy/a%20b?q=1", ("127.42.0.9:8080", False, "/a%20b?q=1"),
    ),
    "a pod's other port, by TLS": (
        "/api/v1/namespaces/ns/pods/https:p:443/proxy/", ("127.42.0.9:443", True, "/"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), GOES.values(), ids=GOES)
def test_where_it_goes(cluster: Api, path: str, wanted: tuple[str, bool, str]) -> None:
    assert destination(cluster, path) == wanted


def test_a_service_is_one_of_its_endpoints(cluster: Api, ns: str) -> None:
    path = f"{ns}/services/s:web/proxy/x"
    assert cluster.refused("GET", path) == (503, 'no endpoints available for service "s:web"')

    piece = obj(
        "discovery.k8s.io/v1", "EndpointSlice", "s-1",
        addressType="IPv4",
        ports=[{"name": "web", "port": 8080, "protocol": "TCP"}],
        endpoints=[
            {"addresses": ["10.42.0.8"], "nodeName": "n1", "conditions": {"ready": False}},
            {"addresses": ["10.42.0.9"], "nodeName": "n1", "conditions": {"ready": True}},
        ],
    )  # fmt: skip
    piece["metadata"]["labels"] = {"kubernetes.io/service-name": "s"}
    cluster.post("/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices", piece)

    assert destination(cluster, path) == ("127.42.0.9:8080", False, "/x")
    assert destination(cluster, f"{ns}/services/s/proxy/x")[0] == "127.42.0.9:8080"
    assert cluster.refused("GET", f"{ns}/services/s:ssh/proxy/")[0] == 503


def test_nobody_is_there(cluster: Api) -> None:
    assert cluster.refused("GET", "/api/v1/nodes/n2/proxy/") == (404, 'nodes "n2" not found')


def test_what_goes_wrong_on_the_way_is_told(cluster: Api) -> None:
    outcome = cluster.request("GET", "/api/v1/nodes/n1/proxy/")
    assert isinstance(outcome, Relay)

    refusal = outcome.unreachable("EOF")

    assert (refusal.code, refusal.message) == (503, "error trying to reach service: EOF")


def test_nothing_listens_where_nodes_are_played(cluster: Api, ns: str) -> None:
    played = obj("v1", "Node", "n2", status={"addresses": [{"type": "InternalIP", "address": "x"}]})
    played["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
    cluster.post("/api/v1/nodes", played)
    cluster.pod(ns, "q", nodeName="n2")

    for path in ("/api/v1/nodes/n2/proxy/", f"{ns}/pods/q/proxy/"):
        code, text = cluster.refused("GET", path)
        assert (code, "nothing listens there" in text) == (503, True)
