from typing import Any

import pytest
from tests.world import World

from windtunnel.controllers.quota import counted_resource
from windtunnel.machinery.tree import Key, Tree


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("pods", "pods"),
        ("requests.nvidia.com/gpu", "pods"),
        ("limits.cpu", "pods"),
        ("count/jobs.batch", "jobs.batch"),
        ("services.nodeports", "services"),
        ("configmaps", "configmaps"),
        ("requests.storage", "persistentvolumeclaims"),
        ("gold.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims"),
        ("gold.storageclass.storage.k8s.io/persistentvolumeclaims", "persistentvolumeclaims"),
    ],
)
def test_what_uses_up_a_bound(name: str, want: str) -> None:
    assert counted_resource(name) == want


def used(world: World) -> Tree:
    found: Tree = world.get("resourcequotas", "q")["status"]["used"]
    return found


def gpu_pod(world: World, name: str, **metadata: Any) -> None:
    limits = {"nvidia.com/gpu": "2"}
    containers = [{"name": "c", "image": "i", "resources": {"limits": limits, "requests": limits}}]
    world.create("pods", name, spec={"containers": containers}, metadata=metadata)


def test_what_exists_before_is_counted_and_what_ends_counts_no_more(world: World) -> None:
    gpu_pod(world, "a")
    gpu_pod(world, "b")
    world.create(
        "resourcequotas", "q", spec={"hard": {"requests.nvidia.com/gpu": "3", "pods": "9"}}
    )
    world.run(0.1)
    assert used(world) == {"requests.nvidia.com/gpu": "4", "pods": "2"}

    world.status("a", {"phase": "Failed"})
    world.run(0.1)
    assert used(world) == {"requests.nvidia.com/gpu": "2", "pods": "1"}

    world.client.delete("pods", Key("default", "b"), grace_seconds=0)
    world.run(0.1)
    assert used(world) == {"requests.nvidia.com/gpu": "0", "pods": "0"}


def test_a_bound_that_goes_is_no_longer_counted(world: World) -> None:
    world.create("resourcequotas", "q", spec={"hard": {"pods": "9", "configmaps": "9"}})
    world.run(0.1)
    world.client.patch("resourcequotas", Key("default", "q"), {"spec": {"hard": {"pods": None}}})
    world.run(0.1)

    assert world.get("resourcequotas", "q")["status"] == {
        "hard": {"configmaps": "9"},
        "used": {"configmaps": "1"},
    }
