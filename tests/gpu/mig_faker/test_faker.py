"""Tests of the MIG faker on a cluster."""

from __future__ import annotations

import base64
import json

from tests.world import World

from windtunnel.gpu.mig_faker import MigFaker, Settings
from windtunnel.machinery.tree import Key, Tree

GOOD = "mig-configs: {selected: [{devices: ['0'], mig-devices: [{name: 1g.5gb, position: 0}]}]}"
BAD = "mig-configs: {selected: [{devices: ['0'], mig-devices: [{name: 9g.9gb, position: 0}]}]}"


def cut(world: World, wishes: str | None) -> Tree:
    note = {"run.ai/mig.config": wishes}
    world.client.patch("nodes", Key("", "n"), {"metadata": {"annotations": note}})
    world.run(0.5)
    metadata: Tree = world.get("nodes", "n", "")["metadata"]
    return metadata


def fakery() -> World:
    world = World()
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
    world.create("nodes", "n", "", metadata={"labels": labels})
    MigFaker(world.virtual.client("mig-faker"), world.loop, Settings(node="n")).start()
    world.run(0.1)
    return world


def test_wishes_become_a_mapping() -> None:
    metadata = cut(fakery(), GOOD)

    assert metadata["labels"]["nvidia.com/mig.config.state"] == "success"
    mapping = json.loads(base64.b64decode(metadata["annotations"]["run.ai/mig-mapping"]))
    assert mapping["0"][0]["gpu_instance_id"] == 19


def test_wishes_that_cannot_be_met_fail_with_an_event_and_the_mapping_stays() -> None:
    world = fakery()
    before = cut(world, GOOD)["annotations"]["run.ai/mig-mapping"]

    metadata = cut(world, BAD)

    assert metadata["labels"]["nvidia.com/mig.config.state"] == "failed"
    assert metadata["annotations"]["run.ai/mig-mapping"] == before
    assert ("MigConfigFailed", 1) in [
        (event["reason"], event["count"]) for event in world.client.list("events")
    ]


def test_taking_the_wishes_away_changes_nothing() -> None:
    world = fakery()
    cut(world, GOOD)

    metadata = cut(world, None)

    assert metadata["labels"]["nvidia.com/mig.config.state"] == "success"
    assert "run.ai/mig-mapping" in metadata["annotations"]
