from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.devices.cut import cut_node

from windtunnel.devices import AllocatedBy, GpuStatus, NodeTopology, Numa, TopologyGpu
from windtunnel.gpu.exporter.holdings import (
    PodDevices,
    ZoneShare,
    apportioned,
    cpus_per_zone,
    holdings,
)
from windtunnel.machinery.tree import Key


def owned(*pods: str) -> NodeTopology:
    gpus = [
        TopologyGpu(id=f"GPU-{i}", status=GpuStatus(allocated_by=AllocatedBy("ml" * bool(p), p)))
        for i, p in enumerate(pods)
    ]
    return NodeTopology(gpus=tuple(gpus))


def asking(cpu: str, memory: str) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": memory}
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}


@given(total=st.integers(0, 10**12), weights=st.lists(st.integers(0, 99), max_size=8))
def test_nothing_is_lost_and_nobody_gets_more_than_one_too_many(
    total: int, weights: list[int]
) -> None:
    shares = apportioned(total, weights)

    assert sum(shares) == (total if any(weights) else 0)
    for share, weight in zip(shares, weights, strict=True):
        exact = total * weight / (sum(weights) or 1)
        assert abs(share - exact) < 1 + total / 10**12


def test_the_largest_remainder_gets_what_is_left() -> None:
    assert apportioned(6, [2, 1]) == [4, 2]
    assert apportioned(10, [1, 1, 1]) == [4, 3, 3]


def test_a_pod_on_two_zones_has_a_share_of_each() -> None:
    pods = {Key("ml", "p"): asking("6", "3Gi")}

    found = holdings(owned("p", "p", "p", ""), Numa(zones=2), 16, pods.get)

    assert found == (
        PodDevices(
            Key("ml", "p"),
            (
                ZoneShare(0, ("GPU-0", "GPU-1"), (0, 1, 2, 3), 2 << 30),
                ZoneShare(1, ("GPU-2",), (16, 17), 1 << 30),
            ),
        ),
    )


def test_no_two_pods_have_the_same_processors() -> None:
    pods = {Key("ml", name): asking("3", "0") for name in "ab"}

    first, second = holdings(owned("b", "a"), Numa(zones=1), 4, pods.get)

    assert (first.pod.name, first.shares[0].cpus) == ("a", (0, 1, 2))
    assert (second.pod.name, second.shares[0].cpus) == ("b", (3,))


def test_a_pod_that_is_gone_asks_for_nothing() -> None:
    (one,) = holdings(owned("p"), Numa(zones=1), 4, lambda key: None)

    assert one.shares == (ZoneShare(0, ("GPU-0",), (), 0),)


@pytest.mark.parametrize(
    ("cpu", "zones", "want"), [("32", 2, 16), ("7500m", 1, 8), ("1", 3, 0), ("9P", 1, 8192)]
)
def test_how_many_processors_a_zone_has(cpu: str, zones: int, want: int) -> None:
    node = {"status": {"allocatable": {"cpu": cpu}}}

    assert cpus_per_zone(node, Numa(zones=zones)) == want


def test_slices_are_told_by_their_resource() -> None:
    bare = cut_node({"2g.20gb": 1})
    (one,) = bare.gpus[0].mig or ()
    owner = GpuStatus(allocated_by=AllocatedBy("ml", "p", "c"))
    cut = msgspec.structs.replace(one, status=owner)
    topology = msgspec.structs.replace(
        bare, gpus=(msgspec.structs.replace(bare.gpus[0], mig=(cut,)),)
    )

    (found,) = holdings(topology, Numa(zones=1), 4, {}.get)

    (share,) = found.shares
    assert (share.gpus, share.slices) == ((), (("nvidia.com/mig-2g.20gb", one.id),))
