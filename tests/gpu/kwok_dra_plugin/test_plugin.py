"""Tests of the DRA plugin of played nodes."""

from __future__ import annotations

from tests.gpu.operated import Operated

from windtunnel.gpu.kwok_dra_plugin import KwokDraPlugin
from windtunnel.machinery.tree import Key

SLICES = "resourceslices.resource.k8s.io"


def operated() -> Operated:
    world = Operated()
    KwokDraPlugin(world.virtual.client("kwok-dra-plugin"), world.loop).start()
    world.gpu_node("n")
    world.gpu_node("real", played=False)
    world.run(0.5)
    return world


def test_played_nodes_have_slices_and_those_that_go_take_them_along() -> None:
    world = operated()
    assert world.names(SLICES, "") == ["kwok-n-gpu"]

    world.client.delete("nodes", Key("", "n"))
    world.run(0.5)

    assert world.names(SLICES, "") == []


def test_pods_that_come_and_go_write_no_slices() -> None:
    world = operated()
    writes: list[object] = []
    world.core.store.subscribe(SLICES, writes.append)

    world.gpu_pod("p", "n")
    world.run(1)

    assert world.owners("n") == ["ml/p", ""]
    assert writes == []
