"""Tests of channels on played nodes."""

from __future__ import annotations

from tests.world import World

from windtunnel.gpu.kwok_compute_domain import KwokComputeDomain
from windtunnel.machinery.tree import Key

SLICES = "resourceslices.resource.k8s.io"


def played_world() -> World:
    world = World()
    KwokComputeDomain(world.virtual.client("kwok-compute-domain-dra-plugin"), world.loop).start()
    world.node("noted")
    world.create("nodes", "labelled", "", metadata={"labels": {"type": "kwok"}})
    world.create("nodes", "real", "")
    world.run(0.5)
    return world


def test_each_played_node_has_a_channel() -> None:
    world = played_world()

    names = world.names(SLICES, "")
    assert names == [f"kwok-{node}-compute-domain-channel" for node in ("labelled", "noted")]
    spec = world.get(SLICES, names[0], "")["spec"]
    assert [device["name"] for device in spec["devices"]] == ["channel-0"]


def test_a_node_that_is_played_no_more_has_none() -> None:
    world = played_world()

    world.client.patch("nodes", Key("", "labelled"), {"metadata": {"labels": {"type": None}}})
    world.client.delete("nodes", Key("", "noted"))
    world.run(0.5)

    assert world.names(SLICES, "") == []
