from typing import Any

import pytest
from tests.world import World

from windtunnel.machinery.tree import Key, Tree

SLICES = "endpointslices.discovery.k8s.io"
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"


@pytest.fixture(autouse=True)
def node(world: World) -> None:
    world.node("n1")


def pod(world: World, name: str, app: str = "web", **container: Any) -> None:
    spec = {
        "containers": [{"name": "c", "image": "x", **container}],
        "nodeName": "n1",
        "terminationGracePeriodSeconds": 0,
    }
    world.create("pods", name, metadata={"labels": {"app": app}}, spec=spec)
    world.run(1)


def service(world: World, target: int | str = 8080, **spec: Any) -> None:
    whole = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": target}], **spec}
    world.create("services", "s", metadata={"labels": {"k": "v"}}, spec=whole)
    world.run(1)


def slices(world: World) -> list[Tree]:
    return world.client.list(SLICES, "default", label_selector="kubernetes.io/service-name=s")


def targets(world: World) -> list[str]:
    ends = [end for each in slices(world) for end in each["endpoints"]]
    return sorted(end["targetRef"]["name"] for end in ends)


def test_a_service_has_the_endpoints_of_its_pods(world: World) -> None:
    pod(world, "a")
    pod(world, "other", "else")
    service(world)
    (one,) = slices(world)
    assert one["metadata"]["labels"] == {
        "k": "v",
        "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert one["metadata"]["ownerReferences"][0]["kind"] == "Service"
    assert TRIGGER in one["metadata"]["annotations"]
    assert one["ports"] == [{"name": "", "protocol": "TCP", "port": 8080}]

    pod(world, "b")
    world.client.delete("pods", Key("default", "a"))
    world.run(1)

    assert targets(world) == ["b"]
    assert len(slices(world)) == 1
    ips = [
        address["targetRef"]["name"]
        for address in world.get("endpoints", "s")["subsets"][0]["addresses"]
    ]
    assert ips == ["b"]


def test_a_changed_selector_and_changed_labels_are_followed(world: World) -> None:
    pod(world, "a")
    pod(world, "b", "two")
    service(world)
    patch = {"spec": {"selector": {"app": "two"}}, "metadata": {"labels": {"x": "y"}}}
    world.client.patch("services", Key("default", "s"), patch)
    world.run(1)
    assert targets(world) == ["b"]
    assert slices(world)[0]["metadata"]["labels"]["x"] == "y"

    world.client.patch("pods", Key("default", "a"), {"metadata": {"labels": {"app": "two"}}})
    world.run(1)

    assert targets(world) == ["a", "b"]


def test_a_port_may_have_the_name_that_containers_give_it(world: World) -> None:
    pod(world, "a", ports=[{"name": "http", "containerPort": 9000}])
    service(world, "http")

    assert slices(world)[0]["ports"][0]["port"] == 9000


def test_a_service_without_an_address_says_so(world: World) -> None:
    service(world, clusterIP="None")

    assert slices(world)[0]["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert world.get("endpoints", "s").get("subsets") is None


def test_a_slice_that_somebody_spoils_or_deletes_comes_back(world: World) -> None:
    pod(world, "a")
    service(world)
    (one,) = slices(world)
    key = Key("default", one["metadata"]["name"])
    world.client.patch(SLICES, key, {"metadata": {"labels": {"k": "spoilt"}}})
    world.run(1)
    assert slices(world)[0]["metadata"]["labels"]["k"] == "v"

    world.client.delete(SLICES, key)
    world.run(1)

    assert targets(world) == ["a"]


def test_all_goes_with_the_service(world: World) -> None:
    pod(world, "a")
    service(world)
    world.client.delete("services", Key("default", "s"))
    world.run(1)

    assert slices(world) == []
    assert world.client.get("endpoints", Key("default", "s")) is None


def test_pods_that_no_service_selects_cost_no_visit(world: World) -> None:
    pod(world, "a")

    assert len(world.controllers.workers["endpointslice-controller"].queue) == 0
    assert world.client.list(SLICES, "default", label_selector="kubernetes.io/service-name") == []
