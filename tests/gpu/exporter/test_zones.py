from typing import Any

import pytest

from windtunnel.devices import AllocatedBy, Distances, GpuStatus, NodeTopology, Numa, TopologyGpu
from windtunnel.gpu.exporter.zones import zones_of

NODE: dict[str, Any] = {
    "metadata": {"name": "n1", "uid": "u1"},
    "status": {"allocatable": {"cpu": "32", "memory": "256Gi"}},
}
TAKEN = TopologyGpu(status=GpuStatus(allocated_by=AllocatedBy("ml", "p", "c")))


def topology(free: int, taken: int = 0) -> NodeTopology:
    return NodeTopology(gpus=(TAKEN,) * taken + (TopologyGpu(),) * free)


def amounts(tree: dict[str, Any], field: str = "capacity") -> list[list[str]]:
    return [[one[field] for one in zone["resources"]] for zone in tree["zones"]]


def test_eight_gpus_on_two_zones() -> None:
    tree = zones_of(NODE, topology(8), Numa(zones=2))

    assert amounts(tree) == [["4", "16", "128Gi"]] * 2
    assert tree["topologyPolicies"] == ["SingleNUMANodeContainerLevel"]
    assert tree["zones"][1]["costs"] == [
        {"name": "node-0", "value": 21},
        {"name": "node-1", "value": 10},
    ]
    assert tree["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u1"}
    ]


def test_what_is_given_wins() -> None:
    numa = Numa(
        zones=2,
        gpus_per_zone=(3, 1),
        cpu_per_zone="7500m",
        mem_per_zone="10Gi",
        distances=Distances(self=11, remote=40),
        topology_manager_policy="restricted",
        topology_manager_scope="pod",
    )
    tree = zones_of(NODE, topology(4), numa)

    assert amounts(tree) == [["3", "7500m", "10Gi"], ["1", "7500m", "10Gi"]]
    assert tree["topologyPolicies"] == ["RestrictedPodLevel"]
    assert [cost["value"] for cost in tree["zones"][0]["costs"]] == [11, 40]


def test_a_policy_that_nobody_knows_is_none() -> None:
    numa = Numa(zones=1, topology_manager_policy="none")

    assert zones_of(NODE, topology(1), numa)["topologyPolicies"] == ["None"]


def test_what_somebody_has_is_not_available_where_that_is_wanted() -> None:
    used = topology(free=2, taken=2)

    numa = Numa(zones=2, gpus_per_zone=(3, 1))
    free = amounts(zones_of(NODE, used, numa, live=True), "available")
    assert [zone[0] for zone in free] == ["1", "1"]
    still = zones_of(NODE, used, Numa(zones=2))
    assert amounts(still, "available") == amounts(still)


def test_a_node_that_offers_nothing_says_nothing_of_it() -> None:
    bare = {"metadata": NODE["metadata"], "status": {}}

    assert amounts(zones_of(bare, topology(1), Numa(zones=1))) == [["1"]]


def test_zones_that_contradict_the_gpus_are_refused() -> None:
    with pytest.raises(ValueError, match="gpusPerZone sums to 3 but the pool has 4 GPUs"):
        zones_of(NODE, topology(4), Numa(zones=2, gpus_per_zone=(2, 1)))
