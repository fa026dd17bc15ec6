from typing import Any

from tests.world import World

from windtunnel.machinery.tree import Key, Tree

SLICES = "endpointslices.discovery.k8s.io"


def by_hand(world: World, selector: dict[str, str] | None = None, **metadata: Any) -> None:
    world.create("services", "s", spec={"ports": [{"port": 80}], "selector": selector})
    subset = {
        "addresses": [{"ip": "10.7.0.1"}],
        "notReadyAddresses": [{"ip": "10.7.0.2"}],
        "ports": [{"port": 80}],
    }
    world.create("endpoints", "s", metadata=metadata, subsets=[subset])
    world.run(1)


def slices(world: World) -> list[Tree]:
    return world.client.list(SLICES, "default", label_selector="kubernetes.io/service-name=s")


def test_endpoints_written_by_hand_are_mirrored(world: World) -> None:
    by_hand(world, labels={"x": "y"}, annotations={"a": "b"})
    (one,) = slices(world)
    assert one["metadata"]["labels"]["x"] == "y"
    assert one["metadata"]["annotations"] == {"a": "b"}
    assert one["endpoints"] == [
        {"addresses": ["10.7.0.1"], "conditions": {"ready": True}},
        {"addresses": ["10.7.0.2"], "conditions": {"ready": False}},
    ]

    subsets = [{"addresses": [{"ip": "10.7.0.3"}], "ports": [{"name": "a", "port": 81}]}]
    world.client.patch("endpoints", Key("default", "s"), {"subsets": subsets})
    world.run(1)
    (same,) = slices(world)
    assert same["metadata"]["uid"] == one["metadata"]["uid"]
    assert same["ports"] == [{"name": "a", "port": 81, "protocol": "TCP"}]

    world.client.delete("endpoints", Key("default", "s"))
    world.run(1)

    assert slices(world) == []


def test_those_of_a_service_with_a_selector_are_not(world: World) -> None:
    by_hand(world, {"app": "none"})

    (one,) = slices(world)
    managed_by = one["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"]
    assert managed_by == "endpointslice-controller.k8s.io"


def test_those_that_are_to_be_skipped_are_not(world: World) -> None:
    by_hand(world, labels={"endpointslice.kubernetes.io/skip-mirror": "true"})

    assert slices(world) == []


def test_a_mirror_that_somebody_deletes_comes_back(world: World) -> None:
    by_hand(world)
    world.client.delete(SLICES, Key("default", slices(world)[0]["metadata"]["name"]))
    world.run(1)

    assert len(slices(world)) == 1
