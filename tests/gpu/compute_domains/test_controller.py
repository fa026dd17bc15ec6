"""Tests of the controller of compute domains."""

from __future__ import annotations

from tests.world import World

from windtunnel.gpu.compute_domains import ComputeDomains
from windtunnel.machinery.tree import Key, Tree

DOMAINS = "computedomains.resource.nvidia.com"
CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
KEY = Key("ml", "d")


def kind() -> Tree:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"plural": "computedomains", "kind": "ComputeDomain", "singular": "computedomain"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": DOMAINS},
        "spec": {
            "group": "resource.nvidia.com",
            "scope": "Namespaced",
            "names": names | {"listKind": "ComputeDomainList"},
            "versions": [version],
        },
    }


def controlled() -> World:
    world = World()
    world.create("namespaces", "ml", "")
    world.client.create("customresourcedefinitions.apiextensions.k8s.io", kind())
    world.run(1)
    ComputeDomains(world.virtual.client("compute-domain-controller"), world.loop).start()
    channel = {"allocationMode": "All", "resourceClaimTemplate": {"name": "t"}}
    world.client.create(
        DOMAINS,
        {
            "apiVersion": "resource.nvidia.com/v1beta1",
            "kind": "ComputeDomain",
            "metadata": {"name": "d", "namespace": "ml"},
            "spec": {"numNodes": 1, "channel": channel},
        },
    )
    world.run(1)
    return world


def domain(world: World) -> Tree:
    found = world.client.get(DOMAINS, KEY)
    assert found is not None
    return found


def test_a_domain_gets_a_template_and_is_ready_when_its_claims_are_allocated() -> None:
    world = controlled()
    assert world.names(TEMPLATES, "ml") == ["t"]
    assert domain(world)["status"] == {"status": "NotReady"}

    exactly = {"deviceClassName": "compute-domain-default-channel.nvidia.com"}
    spec = {"devices": {"requests": [{"name": "channel", "exactly": exactly}]}}
    labels = {"nvidia.com/computeDomain": "d"}
    world.create(CLAIMS, "c", "ml", metadata={"labels": labels}, spec=spec)
    result = {
        "request": "channel",
        "driver": "compute-domain.nvidia.com",
        "pool": "n",
        "device": "channel-0",
    }
    status = {"allocation": {"devices": {"results": [result]}}}
    world.client.patch(CLAIMS, Key("ml", "c"), {"status": status}, subresource="status")
    world.run(1)

    assert domain(world)["status"]["status"] == "Ready"
    assert [node["name"] for node in domain(world)["status"]["nodes"]] == ["n"]


def test_a_domain_that_goes_takes_its_template_along() -> None:
    world = controlled()

    world.client.delete(DOMAINS, KEY)
    world.run(1)

    assert world.client.get(DOMAINS, KEY) is None
    assert world.names(TEMPLATES, "ml") == []
