"""Tests of what the GPUs of a node come to as resources."""

from __future__ import annotations

import msgspec
import pytest
from tests.devices.cut import cut_node, mps, slicing

from windtunnel.devices import (
    NodeTopology,
    OtherDevice,
    TopologyGpu,
    allocatable_of,
    capacity_of,
    offerings,
)

SEVEN = {"1g.10gb": 7}
WHOLE = None
COUNTS: dict[str, tuple[NodeTopology, dict[str, str]]] = {
    "no GPUs": (NodeTopology(), {"nvidia.com/gpu": "0"}),
    "whole ones": (cut_node(WHOLE, WHOLE), {"nvidia.com/gpu": "2"}),
    "mixed: slices by profile, beside what is whole": (
        cut_node({"2g.20gb": 3, "1g.10gb": 1}, {"4g.40gb": 1, "3g.40gb": 1}, *([WHOLE] * 6)),
        {
            "nvidia.com/gpu": "6",
            "nvidia.com/mig-1g.10gb": "1",
            "nvidia.com/mig-2g.20gb": "3",
            "nvidia.com/mig-3g.40gb": "1",
            "nvidia.com/mig-4g.40gb": "1",
        },
    ),
    "mixed: names hold no plus": (
        cut_node({"1g.10gb+me": 1}),
        {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb.me": "1"},
    ),
    "mixed: a GPU cut into nothing offers nothing": (
        cut_node({}, WHOLE),
        {"nvidia.com/gpu": "1"},
    ),
    "single: every slice is a GPU": (
        cut_node(SEVEN, SEVEN, strategy="single"),
        {"nvidia.com/gpu": "14"},
    ),
    "single: without slices GPUs are whole": (
        cut_node(WHOLE, WHOLE, strategy="single"),
        {"nvidia.com/gpu": "2"},
    ),
    "none: slices do not count": (cut_node(SEVEN, strategy="none"), {"nvidia.com/gpu": "1"}),
    "shared": (cut_node(WHOLE, sharing=slicing(10)), {"nvidia.com/gpu": "10"}),
    "shared under another name": (
        cut_node(WHOLE, sharing=slicing(10, renameByDefault=True)),
        {"nvidia.com/gpu.shared": "10"},
    ),
    "shared slices": (
        cut_node({"2g.20gb": 3}, WHOLE, sharing=slicing(4, "nvidia.com/mig-2g.20gb")),
        {"nvidia.com/gpu": "1", "nvidia.com/mig-2g.20gb": "12"},
    ),
    "single and shared": (
        cut_node(SEVEN, strategy="single", sharing=slicing(2)),
        {"nvidia.com/gpu": "14"},
    ),
    "MPS": (cut_node(WHOLE, WHOLE, sharing=mps(4)), {"nvidia.com/gpu": "8"}),
}


@pytest.mark.parametrize(("topology", "want"), COUNTS.values(), ids=COUNTS)
def test_how_many_there_are(topology: NodeTopology, want: dict[str, str]) -> None:
    assert capacity_of(topology) == want
    assert allocatable_of(topology) == want


def test_counted_devices_stand_beside_but_do_not_hide_slices() -> None:
    others = (OtherDevice("nvidia.com/mig-2g.20gb", 9), OtherDevice("example.com/nic", 2))
    topology = msgspec.structs.replace(cut_node({"2g.20gb": 1}), other_devices=others)

    assert capacity_of(topology) == {
        "nvidia.com/gpu": "0",
        "nvidia.com/mig-2g.20gb": "1",
        "example.com/nic": "2",
    }


def test_a_faulty_gpu_is_there_but_cannot_be_given() -> None:
    gpus = (TopologyGpu("a", fault="XID 79"), TopologyGpu("b"))
    shared = cut_node(sharing=slicing(3))

    for topology, want in ((NodeTopology(gpus=gpus), ("2", "1")), (shared, ("6", "3"))):
        full = msgspec.structs.replace(topology, gpus=gpus)
        found = (capacity_of(full)["nvidia.com/gpu"], allocatable_of(full)["nvidia.com/gpu"])
        assert found == want


def test_only_what_is_shared_may_be_limited_to_one() -> None:
    limited = slicing(4, "nvidia.com/mig-2g.20gb", failRequestsGreaterThanOne=True)
    found = offerings(cut_node({"2g.20gb": 1}, WHOLE, sharing=limited))

    assert [(offer.resource, offer.one_each) for offer in found] == [
        ("nvidia.com/gpu", False),
        ("nvidia.com/mig-2g.20gb", True),
    ]


REFUSED = {
    "single, and a GPU without slices": (
        cut_node(SEVEN, {}, strategy="single"),
        "device 1 has no MIG devices configured",
    ),
    "single, and two sorts of slices": (
        cut_node(SEVEN, {"2g.20gb": 1}, strategy="single"),
        "more than one MIG device type present on node",
    ),
    "single, and a whole GPU": (
        cut_node(SEVEN, WHOLE, strategy="single"),
        "must be configured with the same migEnabled value",
    ),
    "a strategy that is none": (cut_node(SEVEN, strategy="some"), "unknown MIG strategy: some"),
    "MPS on slices": (cut_node(SEVEN, sharing=mps(2)), "MPS is not supported for MIG devices"),
    "more shares than a kubelet takes": (
        cut_node(WHOLE, sharing=slicing(1_000_000)),
        "a node cannot offer 1000000 shares of nvidia.com/gpu",
    ),
    "too many clients": (cut_node(WHOLE, sharing=mps(50)), "replicas exceeded: 50 > 48"),
    "too many clients of an old GPU": (
        cut_node(WHOLE, sharing=mps(17), product="Tesla-V100-SXM2-32GB"),
        "replicas exceeded: 17 > 16",
    ),
}


@pytest.mark.parametrize(("topology", "words"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_told_in_the_words_of_the_device_plugin(
    topology: NodeTopology, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        offerings(topology)


def test_slices_of_what_cannot_be_cut_are_refused() -> None:
    topology = msgspec.structs.replace(cut_node(SEVEN), gpu_product="Tesla-K80")

    with pytest.raises(ValueError, match="gpuProduct Tesla-K80 not supported"):
        offerings(topology)
