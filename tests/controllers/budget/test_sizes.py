from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.world import World

from windtunnel.controllers.budget.sizes import NoScale, Sizes
from windtunnel.controllers.views import PodView
from windtunnel.machinery.tree import Tree


def sizes(world: World) -> Sizes:
    own = world.controllers
    return Sizes(world.client, own.sources, own.resources)


def pod(api_version: str = "", kind: str = "", owner: Tree | None = None) -> PodView:
    metadata: dict[str, Any] = {"namespace": "default"}
    if kind:
        named = owner["metadata"] if owner else {"name": "gone", "uid": "u0"}
        reference = {"apiVersion": api_version, "kind": kind, "controller": True}
        reference |= {"name": named["name"], "uid": named["uid"]}
        metadata["ownerReferences"] = [reference]
    return msgspec.convert({"metadata": metadata}, PodView)


def template() -> Tree:
    containers = [{"name": "c", "image": "i"}]
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}}


def scaled(world: World, resource: str, replicas: int, **spec: Any) -> Tree:
    selector = {"matchLabels": {"app": "a"}}
    spec = {"replicas": replicas, "selector": selector, "template": template(), **spec}
    made = world.create(resource, "x", spec=spec)
    world.run(0.1)
    return made


def test_a_replica_set_says_what_it_wants_once(world: World) -> None:
    one = pod("apps/v1", "ReplicaSet", scaled(world, "replicasets.apps", 4))

    assert sizes(world).wanted([one, one, pod()]) == (4, 1)


def test_what_a_deployment_wants_counts_instead_of_its_sets(world: World) -> None:
    scaled(world, "deployments.apps", 3)
    (replica_set,) = world.client.list("replicasets.apps", "default")

    assert sizes(world).wanted([pod("apps/v1", "ReplicaSet", replica_set)]) == (3, 0)


def test_another_kind_is_asked_for_if_it_scales(world: World) -> None:
    made = scaled(world, "statefulsets.apps", 2, serviceName="s")

    assert sizes(world).wanted([pod("apps/v1", "StatefulSet", made)]) == (2, 0)


def test_an_owner_that_is_gone_wants_nothing(world: World) -> None:
    assert sizes(world).wanted([pod("apps/v1", "ReplicaSet")]) == (0, 0)


@pytest.mark.parametrize(
    ("api_version", "kind", "why"),
    [("batch/v1", "Job", "scale subresource"), ("example.com/v1", "Widget", "no matches for kind")],
)
def test_a_kind_without_a_size_says_so(world: World, api_version: str, kind: str, why: str) -> None:
    with pytest.raises(NoScale, match=why):
        sizes(world).wanted([pod(api_version, kind)])
