"""Tests of the slices that a document comes to."""

from __future__ import annotations

import pytest

from windtunnel.devices import NodeTopology, TopologyGpu
from windtunnel.gpu.kwok_dra_plugin.slices import binary, slices_of


def node(count: int) -> NodeTopology:
    gpus = tuple(TopologyGpu(id=f"GPU-{number}") for number in range(count))
    return NodeTopology(gpu_memory=11441, gpu_product="X", gpus=gpus)


@pytest.mark.parametrize(
    ("amount", "want"), [(11441, "11441Mi"), (40960, "40Gi"), (1024 * 1024, "1Ti"), (0, "0")]
)
def test_an_amount_is_printed_in_whole_units(amount: int, want: str) -> None:
    assert binary(amount) == want


def test_a_gpu_is_a_device() -> None:
    (spec,) = slices_of("n", node(1))

    assert (spec["driver"], spec["nodeName"]) == ("gpu.nvidia.com", "n")
    (device,) = spec["devices"]
    assert device["name"] == "gpu-0"
    assert device["capacity"] == {"memory": {"value": "11441Mi"}}
    assert device["attributes"]["gpu.nvidia.com/uuid"] == {"string": "GPU-0"}


def test_a_node_without_gpus_has_an_empty_slice() -> None:
    (spec,) = slices_of("n", node(0))

    assert "devices" not in spec


def test_more_gpus_than_a_slice_holds_go_into_several() -> None:
    found = slices_of("n", node(300))

    assert [len(spec["devices"]) for spec in found] == [128, 128, 44]
    assert {spec["pool"]["resourceSliceCount"] for spec in found} == {3}
