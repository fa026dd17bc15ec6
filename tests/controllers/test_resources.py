import pytest
from tests.world import World

from windtunnel.controllers.resources import NotYetKnown, Resource, Resources
from windtunnel.machinery.tree import Key


def started(world: World) -> Resources:
    resources = Resources(world.client, world.loop)
    resources.start()
    world.run(0.1)
    return resources


def test_every_resource_comes_once_and_pods_come_first(world: World) -> None:
    resources = started(world)
    names = resources.namespaced()

    assert names[0] == "pods"
    assert len(names) == len(set(names))
    assert "deployments.apps" in names
    assert [name for name in names if name.startswith("events")] == ["events"]


def test_nothing_is_said_before_it_is_known(world: World) -> None:
    resources = Resources(world.client, world.loop)

    with pytest.raises(NotYetKnown):
        resources.namespaced()
    with pytest.raises(NotYetKnown):
        resources.of_kind("v1", "Pod")


def test_a_kind_is_found_in_any_version_it_is_served_in(world: World) -> None:
    resources = started(world)

    assert resources.of_kind("v1", "Node") == Resource("nodes", False, "Node", "v1")
    sets = Resource("replicasets.apps", True, "ReplicaSet", "apps/v1", scalable=True)
    assert resources.of_kind("apps/v1", "ReplicaSet") == sets
    assert resources.of_kind("autoscaling/v1", "HorizontalPodAutoscaler") is not None
    assert resources.of_kind("example.com/v1", "Widget") is None


def test_a_definition_adds_a_resource_and_takes_it_away(world: World) -> None:
    resources = started(world)
    heard: list[tuple[str, bool]] = []
    resources.on_change(lambda resource, there: heard.append((resource.name, there)))
    heard.clear()
    schema = {"openAPIV3Schema": {"type": "object"}}
    world.create(
        "customresourcedefinitions.apiextensions.k8s.io",
        "widgets.example.com",
        "",
        spec={
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    )
    world.run(1)

    assert heard == [("widgets.example.com", True)]
    assert resources.of_kind("example.com/v1", "Widget") == Resource(
        "widgets.example.com", True, "Widget", "example.com/v1"
    )
    assert "widgets.example.com" in resources.namespaced()

    world.client.delete(
        "customresourcedefinitions.apiextensions.k8s.io", Key("", "widgets.example.com")
    )
    world.run(1)

    assert heard[-1] == ("widgets.example.com", False)
