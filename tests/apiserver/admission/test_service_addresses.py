from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, obj


def service(name: str, **spec: Any) -> dict[str, Any]:
    return obj("v1", "Service", name, spec={"ports": [{"port": 80}], **spec})


def test_services_get_addresses_and_node_ports(api: Api, ns: str) -> None:
    one = api.post(f"{ns}/services", service("a", type="NodePort"))["spec"]
    two = api.post(f"{ns}/services", service("b"))["spec"]

    assert one["clusterIP"] != two["clusterIP"]
    assert one["clusterIP"].startswith("10.96.")
    assert 30000 <= one["ports"][0]["nodePort"] <= 32767
    headless = api.post(f"{ns}/services", service("c", clusterIP="None"))["spec"]
    assert headless["clusterIPs"] == ["None"]


def test_an_address_belongs_to_one_service_until_it_goes(api: Api, ns: str) -> None:
    api.post(f"{ns}/services", service("a", clusterIP="10.96.7.7"))

    taken = service("b", clusterIP="10.96.7.7")
    assert "already allocated" in api.refused("POST", f"{ns}/services", taken)[1]
    outside = service("b", clusterIP="10.1.2.3")
    assert "not in the valid range" in api.refused("POST", f"{ns}/services", outside)[1]
    api.delete(f"{ns}/services/a")
    assert api.post(f"{ns}/services", taken)["spec"]["clusterIP"] == "10.96.7.7"


def test_a_dry_run_takes_no_address(api: Api, ns: str) -> None:
    spec = {"type": "NodePort", "ports": [{"port": 81}]}

    made = api.post(f"{ns}/services?dryRun=All", obj("v1", "Service", "s", spec=spec))

    assert made["spec"]["clusterIP"] == "10.96.0.0"
    assert made["spec"]["ports"][0]["nodePort"] == 32769
