"""Variables that tell containers where services are."""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.service_variables import at_its_address, service_variables

API: Tree = {
    "metadata": {"name": "kubernetes", "namespace": "default"},
    "spec": {"clusterIP": "10.96.0.1", "ports": [{"name": "https", "port": 443}]},
}


def service(name: str, namespace: str = "d", **spec: Any) -> Tree:
    given = {"clusterIP": "10.96.0.9", "ports": [{"port": 80}], **spec}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": given}


def variables(*services: Tree, links: bool = True) -> dict[str, str]:
    return service_variables(services, "d", links=links, reach=at_its_address)


def test_the_api_server_is_told_as_a_real_node_tells_it() -> None:
    assert variables(API) == {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
        "KUBERNETES_SERVICE_PORT_HTTPS": "443",
        "KUBERNETES_PORT": "tcp://10.96.0.1:443",
        "KUBERNETES_PORT_443_TCP": "tcp://10.96.0.1:443",
        "KUBERNETES_PORT_443_TCP_PROTO": "tcp",
        "KUBERNETES_PORT_443_TCP_PORT": "443",
        "KUBERNETES_PORT_443_TCP_ADDR": "10.96.0.1",
    }


def test_only_services_of_the_namespace_are_told() -> None:
    found = variables(API, service("my-web"), service("far", namespace="other"))

    assert found["MY_WEB_SERVICE_HOST"] == "10.96.0.9"
    assert not any(name.startswith("FAR_") for name in found)


def test_without_links_only_the_api_server_is_told() -> None:
    assert variables(API, service("web"), links=False) == variables(API)


def test_headless_services_have_no_variables() -> None:
    assert variables(service("web", clusterIP="None")) == {}


def test_a_variable_says_where_a_service_really_answers() -> None:
    found = service_variables(
        [service("web")], "d", links=True, reach=lambda service, port: ("127.96.0.9", 4711)
    )

    assert found["WEB_SERVICE_PORT"] == "4711"
    assert found["WEB_PORT_80_TCP"] == "tcp://127.96.0.9:4711"
