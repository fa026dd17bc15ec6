"""Tests of the labels of nodes whose GPUs are cut or shared."""

from __future__ import annotations

import pytest
from tests.devices.cut import A100, cut_node, mps, slicing

from windtunnel.devices import NodeTopology, discovered, is_discovered

GPU = "nvidia.com/gpu"


def labels(topology: NodeTopology) -> dict[str, str]:
    return discovered(topology, A100)


def test_a_plain_node_has_none_of_them() -> None:
    assert labels(cut_node(None, None)) == {}


SHARED: dict[str, tuple[NodeTopology, tuple[str, str, str]]] = {
    "time slicing": (cut_node(None, sharing=slicing(10)), (f"{A100}-SHARED", "10", "time-slicing")),
    "a name of its own says it": (
        cut_node(None, sharing=slicing(10, renameByDefault=True)),
        (A100, "10", "time-slicing"),
    ),
    "MPS": (cut_node(None, sharing=mps(4)), (f"{A100}-SHARED", "4", "mps")),
    "another resource is shared": (
        cut_node(None, sharing=slicing(2, "nvidia.com/mig-1g.10gb")),
        (A100, "1", "none"),
    ),
}


@pytest.mark.parametrize(("topology", "want"), SHARED.values(), ids=SHARED)
def test_what_is_shared_says_so(topology: NodeTopology, want: tuple[str, str, str]) -> None:
    found = labels(topology)

    assert (
        found[f"{GPU}.product"],
        found[f"{GPU}.replicas"],
        found[f"{GPU}.sharing-strategy"],
    ) == want
    assert ("nvidia.com/mps.capable" in found) is (want[2] == "mps")


def test_mixed_slices_have_labels_by_profile() -> None:
    found = labels(cut_node({"2g.20gb": 3, "1g.10gb": 1}, {"2g.20gb": 1}, None))

    assert {name: value for name, value in found.items() if "mig-2g.20gb" in name} == {
        "nvidia.com/mig-2g.20gb.product": f"{A100}-MIG-2g.20gb",
        "nvidia.com/mig-2g.20gb.count": "4",
        "nvidia.com/mig-2g.20gb.replicas": "1",
        "nvidia.com/mig-2g.20gb.sharing-strategy": "none",
        "nvidia.com/mig-2g.20gb.memory": "19968",
        "nvidia.com/mig-2g.20gb.multiprocessors": "28",
        "nvidia.com/mig-2g.20gb.slices.gi": "2",
        "nvidia.com/mig-2g.20gb.slices.ci": "2",
        "nvidia.com/mig-2g.20gb.engines.copy": "2",
        "nvidia.com/mig-2g.20gb.engines.decoder": "1",
        "nvidia.com/mig-2g.20gb.engines.encoder": "0",
        "nvidia.com/mig-2g.20gb.engines.jpeg": "0",
        "nvidia.com/mig-2g.20gb.engines.ofa": "0",
    }
    assert found["nvidia.com/mig-1g.10gb.count"] == "1"
    assert f"{GPU}.count" not in found  # physical GPUs, as on any other node
    assert found["nvidia.com/mig.capable"] == "true"
    assert labels(cut_node({"2g.20gb": 3}))[f"{GPU}.replicas"] == "0"


def test_single_slices_stand_for_gpus() -> None:
    found = labels(cut_node({"3g.40gb": 2}, {"3g.40gb": 1}, strategy="single"))

    assert found[f"{GPU}.product"] == f"{A100}-MIG-3g.40gb"
    assert found[f"{GPU}.count"] == "3"
    assert found[f"{GPU}.memory"] == "40192"
    assert found[f"{GPU}.engines.decoder"] == "2"


def test_single_slices_that_contradict_each_other_are_invalid() -> None:
    found = labels(cut_node({"3g.40gb": 2}, None, strategy="single"))

    assert found[f"{GPU}.product"] == f"{A100}-MIG-INVALID"
    assert (found[f"{GPU}.count"], found[f"{GPU}.memory"]) == ("0", "0")


def test_a_long_product_keeps_its_mark() -> None:
    found = discovered(cut_node(None, sharing=slicing(2)), "x" * 63)

    assert found[f"{GPU}.product"] == "x" * 56 + "-SHARED"


@pytest.mark.parametrize(
    ("label", "want"),
    [
        ("nvidia.com/mig-1g.5gb.count", True),
        ("nvidia.com/gpu.replicas", True),
        ("nvidia.com/mig.strategy", False),
        ("nvidia.com/mig-manager", False),
        ("nvidia.com/gpu.product", False),
        ("nvidia.com/mig-", False),
    ],
)
def test_which_labels_go_with_cuts_and_sharing(label: str, want: bool) -> None:
    assert is_discovered(label) is want
