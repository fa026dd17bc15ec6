"""Tests of the status updater on a cluster."""

from __future__ import annotations

import base64
import json

import pytest
from tests.gpu.operated import K80, NAMESPACE, POOL, Operated

from windtunnel.devices import gpu_id
from windtunnel.machinery.tree import Key, Tree

BIG = "gpuProduct: NVIDIA A100, gpuCount: 4, gpuMemory: 40960"


def managers(tree: Tree | None) -> list[tuple[str, str]]:
    assert tree is not None
    return [(e["manager"], e["operation"]) for e in tree["metadata"]["managedFields"]]


def test_a_node_of_a_pool_gets_a_document_and_labels() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_node("real", played=False)

    tree = world.config_map("n")
    assert tree is not None
    assert tree["metadata"]["labels"] == {"node-name": "n", "node-topology": "true"}
    assert tree["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert managers(tree) == [("status-updater", "Update")]
    topology = world.topology("n")
    assert [gpu.id for gpu in topology.gpus] == [gpu_id("n", 0), gpu_id("n", 1)]
    assert (topology.gpu_product, topology.mig_strategy) == ("Tesla-K80", "mixed")
    assert world.labels("n") == {"dcgm-exporter"}
    assert len(world.labels("real")) == 4


def test_pods_take_gpus_and_give_them_back() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_pod("a", "n")
    world.gpu_pod("b", "n")
    assert world.owners("n") == ["ml/a", "ml/b"]
    assert ("fake-gpu-operator", "Apply") in managers(world.config_map("n"))

    world.client.delete("pods", Key("ml", "a"), grace_seconds=0)
    world.run(0.5)

    assert world.owners("n") == ["", "ml/b"]


def test_what_happened_while_nobody_looked_comes_right_at_the_start() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_pod("a", "n")
    world.updater.stop()
    world.client.delete("pods", Key("ml", "a"), grace_seconds=0)
    world.gpu_pod("b", "n", 2)

    world.begin()

    assert world.owners("n") == ["ml/b", "ml/b"]


def test_a_pod_that_comes_before_its_node_is_accounted_when_the_node_comes() -> None:
    world = Operated()
    world.gpu_pod("a", "later")

    world.gpu_node("later")

    assert world.owners("later") == ["ml/a", ""]


def test_a_document_that_is_deleted_comes_back_with_its_pods() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_pod("a", "n")

    world.client.delete("configmaps", Key(NAMESPACE, "topology-n"))
    world.run(0.5)

    assert world.owners("n") == ["ml/a", ""]
    tree = world.config_map("n")
    assert tree is not None
    assert "annotations" in tree["metadata"]


def test_a_pool_that_changes_is_followed_and_pods_keep_what_survives() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_pod("a", "n")

    world.write(default=BIG)
    assert (world.topology("n").gpu_product, len(world.topology("n").gpus)) == ("NVIDIA A100", 4)
    assert world.owners("n") == ["ml/a", "", "", ""]

    world.write(default="gpuProduct: none, gpuCount: 0")
    assert world.topology("n").gpus == ()
    reasons = [reason for reason, _ in world.told()]
    assert reasons == ["GPUsRemoved", "InsufficientGPUs"]


def test_a_pool_that_changed_while_nobody_looked_is_followed() -> None:
    world = Operated()
    world.gpu_node("n")
    world.updater.stop()
    world.write(default=BIG)

    world.begin()

    assert len(world.topology("n").gpus) == 4


def test_a_node_that_changes_its_pool_is_followed() -> None:
    world = Operated(default=K80, big=BIG)
    world.gpu_node("n")

    world.client.patch("nodes", Key("", "n"), {"metadata": {"labels": {POOL: "big"}}})
    world.run(0.5)

    assert world.topology("n").gpu_product == "NVIDIA A100"


def test_a_node_that_leaves_is_given_back() -> None:
    world = Operated()
    world.gpu_node("n", played=False)

    world.client.patch("nodes", Key("", "n"), {"metadata": {"labels": {POOL: None}}})
    world.run(0.5)

    assert world.config_map("n") is None
    assert world.labels("n") == set()


def test_a_node_that_was_never_ours_keeps_its_labels() -> None:
    world = Operated()
    label = "nvidia.com/gpu.deploy.dcgm-exporter"
    world.create("nodes", "foreign", "", metadata={"labels": {label: "true"}})

    world.again()

    assert world.labels("foreign") == {"dcgm-exporter"}


@pytest.mark.parametrize("down", [True, False])
def test_the_document_of_a_node_that_is_gone_goes(down: bool) -> None:
    world = Operated()
    world.gpu_node("n")
    if down:
        world.updater.stop()

    world.client.delete("nodes", Key("", "n"))
    world.run(0.5)
    if down:
        world.begin()

    assert world.config_map("n") is None


def test_an_unknown_pool_is_told_of_and_found_when_it_comes() -> None:
    world = Operated()
    world.gpu_node("n", "missing")
    assert world.config_map("n") is None
    assert world.labels("n") == set()
    words = "no GPUs for node n: nodepool missing not found in cluster topology; known are: default"
    assert world.told() == [("UnknownPool", words)]

    world.write(default=K80, missing=BIG)

    assert len(world.topology("n").gpus) == 4


def test_a_missing_profile_is_told_of_and_found_when_it_comes() -> None:
    world = Operated(default="gpu: {profile: p}")
    world.gpu_node("n")
    (told,) = world.told()
    assert 'failed to load GPU profile "p": configmaps "gpu-profile-p" not found' in told[1]

    profile = "device_defaults: {name: P}\ndevices: [{}, {}, {}]\n"
    world.create("configmaps", "gpu-profile-p", NAMESPACE, data={"profile.yaml": profile})
    world.run(0.5)

    assert (world.topology("n").gpu_product, len(world.topology("n").gpus)) == ("P", 3)


def test_a_broken_document_of_pools_changes_nothing_and_is_told_of() -> None:
    world = Operated()
    world.gpu_node("n")

    world.client.patch(
        "configmaps", Key(NAMESPACE, "topology"), {"data": {"topology.yml": "nodePools: ["}}
    )
    world.run(0.5)
    world.gpu_node("m")

    assert len(world.topology("m").gpus) == 2
    assert [reason for reason, _ in world.told()] == ["BrokenTopology"]


def test_a_document_that_is_edited_stays_until_its_pool_changes() -> None:
    world = Operated()
    world.gpu_node("n")
    text = "gpuMemory: 5\ngpuProduct: Mine\ngpus: [{id: x}]\nmigStrategy: mixed\n"
    key = Key(NAMESPACE, "topology-n")
    world.client.patch("configmaps", key, {"data": {"topology.yml": text}})
    world.run(0.5)
    world.gpu_pod("a", "n")
    world.again()
    assert (world.topology("n").gpu_product, world.owners("n")) == ("Mine", ["ml/a"])

    world.write(default=BIG)

    assert world.topology("n").gpu_product == "NVIDIA A100"


def test_a_document_that_cannot_be_read_is_told_of_and_restored() -> None:
    world = Operated()
    world.gpu_node("n")

    key = Key(NAMESPACE, "topology-n")
    world.client.patch("configmaps", key, {"data": {"topology.yml": "gpus: ["}})
    world.run(0.5)

    assert len(world.topology("n").gpus) == 2
    assert [reason for reason, _ in world.told()] == ["BrokenTopology"]


def test_a_document_that_is_too_large_is_told_of() -> None:
    world = Operated(default="gpuProduct: X, gpuCount: 9000, gpuMemory: 1")
    world.gpu_node("n")

    (told,) = world.told()
    assert told[0] == "TopologyRefused"
    assert "9000 GPUs make it longer than a ConfigMap may be" in told[1]


def test_a_reservation_pod_is_told_which_gpu_it_holds() -> None:
    world = Operated()
    world.gpu_node("n")

    world.gpu_pod("r", "n", namespace="runai-reservation")

    notes = world.get("pods", "r", "runai-reservation")["metadata"]["annotations"]
    assert notes["run.ai/reserve_for_gpu_index"] == gpu_id("n", 0)


def test_by_the_ways_of_the_original_documents_stay_once_they_are_made() -> None:
    world = Operated(compat="0.2", default=K80)
    world.gpu_node("n")

    world.write(compat="0.2", default=BIG)
    world.gpu_node("m")
    assert [len(world.topology(name).gpus) for name in ("n", "m")] == [2, 2]

    world.client.delete("configmaps", Key(NAMESPACE, "topology-n"))
    world.run(0.5)
    assert world.config_map("n") is None

    world.again()
    assert [len(world.topology(name).gpus) for name in ("n", "m")] == [4, 2]


def test_nodes_are_not_labelled_where_that_is_turned_off() -> None:
    world = Operated()
    world.updater.stop()
    world.begin(labels_nodes=False)

    world.gpu_node("n")

    assert world.labels("n") == set()


def test_a_label_that_is_taken_away_is_restored() -> None:
    world = Operated()
    world.gpu_node("n")
    label = "nvidia.com/gpu.deploy.dcgm-exporter"

    world.client.patch("nodes", Key("", "n"), {"metadata": {"labels": {label: None}}})
    world.run(0.5)

    assert world.labels("n") == {"dcgm-exporter"}


@pytest.mark.parametrize(("count", "writes"), [(2, 4), (30, 30 + 21)])
def test_in_a_rush_a_pod_that_comes_and_runs_costs_one_write(count: int, writes: int) -> None:
    world = Operated()
    names = [f"n{number}" for number in range(count)]
    for name in names:
        world.gpu_node(name, played=False)
    seen: list[object] = []
    world.core.store.subscribe("configmaps", seen.append)

    limits = {"nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "x", "resources": {"limits": limits}}
    for name in names:
        world.create("pods", name, "ml", spec={"nodeName": name, "containers": [container]})
    world.run(0.2)
    for name in names:
        status = {"status": {"phase": "Running"}}
        world.client.patch("pods", Key("ml", name), status, subresource="status")
    world.run(3)

    assert [world.owners(name)[0] for name in names] == [f"ml/{name}" for name in names]
    assert len(seen) == writes


def test_real_nodes_are_visited_before_played_ones() -> None:
    world = Operated()
    world.updater.stop()
    world.gpu_node("a")
    world.gpu_node("b", played=False)
    made: list[str] = []
    world.core.store.subscribe("configmaps", lambda change: made.append(change.key.name))

    world.begin()

    assert made == ["topology-b", "topology-a"]


def test_at_rest_nothing_is_written() -> None:
    world = Operated()
    world.gpu_node("n")
    world.gpu_pod("a", "n")
    world.run(1)
    writes: list[object] = []
    for resource in ("configmaps", "pods"):
        world.core.store.subscribe(resource, writes.append)

    world.again()
    world.run(60)

    assert writes == []


A100_80 = "gpuProduct: NVIDIA-A100-SXM4-80GB, gpuCount: 2, gpuMemory: 81920"
ONE_CUT = "[{devices: [0], mig-enabled: true, mig-devices: {2g.20gb: 3, 1g.10gb: 1}}]"


def profiles(world: Operated, node: str) -> list[list[str] | None]:
    return [
        None if gpu.mig is None else [one.profile for one in gpu.mig]
        for gpu in world.topology(node).gpus
    ]


def map_slices(world: Operated, node: str, *instances: int) -> None:
    """Say on a node that its first GPU is cut, as the MIG faker does."""
    slices = [
        {"position": number, "device_uuid": f"MIG-{number}", "gpu_instance_id": instance}
        for number, instance in enumerate(instances)
    ]
    text = base64.b64encode(json.dumps({"0": slices}).encode()).decode()
    notes = {"metadata": {"annotations": {"run.ai/mig-mapping": text}}}
    world.client.patch("nodes", Key("", node), notes)
    world.run(0.5)


def test_a_pool_that_is_cut_and_shared_makes_such_documents_and_goes_back() -> None:
    world = Operated(default=f"{A100_80}, mig: {ONE_CUT}")
    world.gpu_node("n")
    assert profiles(world, "n") == [["2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"], None]

    sharing = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}"
    world.write(default=f"{A100_80}, {sharing}")
    assert profiles(world, "n") == [None, None]
    sharing_now = world.topology("n").sharing
    assert sharing_now is not None
    assert sharing_now.replicas("nvidia.com/gpu") == 4

    world.write(default=A100_80)
    assert world.topology("n").sharing is None


def test_a_slice_keeps_its_pod_over_a_restart() -> None:
    world = Operated(default=f"{A100_80}, mig: {ONE_CUT}")
    world.gpu_node("n")
    limits = {"nvidia.com/mig-2g.20gb": "1"}
    container = {"name": "main", "image": "x", "resources": {"limits": limits}}
    world.create("pods", "p", "ml", spec={"nodeName": "n", "containers": [container]})
    world.run(0.5)

    def owners() -> list[str]:
        return [one.status.allocated_by.pod for one in world.topology("n").gpus[0].mig or ()]

    assert owners() == ["p", "", "", ""]
    world.again()
    assert owners() == ["p", "", "", ""]
    assert world.told() == []


def test_a_slice_that_a_pod_loses_is_told_of() -> None:
    world = Operated(default=f"{A100_80}, mig: {ONE_CUT}")
    world.gpu_node("n")
    limits = {"nvidia.com/mig-1g.10gb": "1"}
    container = {"name": "main", "image": "x", "resources": {"limits": limits}}
    world.create("pods", "p", "ml", spec={"nodeName": "n", "containers": [container]})
    world.run(0.5)
    lost = (world.topology("n").gpus[0].mig or ())[3].id

    world.write(default=A100_80)

    assert world.told() == [("GPUsRemoved", f"node n has 2 GPUs now; gone is {lost} of pod ml/p")]


BAD_POOLS = {
    "slices that do not fit": ("mig: [{mig-devices: {4g.40gb: 2}}]", "2 x 4g.40gb do not fit"),
    "a GPU that is not there": ("mig: [{devices: [9], mig-devices: {}}]", "there is no GPU 9"),
    "a profile that is not there": ("mig: [{mig-devices: {1g.5gb: 1}}]", "no MIG profile 1g.5gb"),
    "single with two sorts": (
        "migStrategy: single, mig: [{mig-devices: {1g.10gb: 1, 2g.20gb: 1}}]",
        "more than one MIG device type present on node",
    ),
    "one replica": (
        "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 1}]}}",
        "number of replicas must be >= 2",
    ),
    "slices without the mode": (
        "mig: [{mig-enabled: false, mig-devices: {1g.10gb: 1}}]",
        "GPU 0 has mig-devices, but not mig-enabled",
    ),
    "fewer than no GPUs": ("gpuCount: -1", "gpuCount is -1, below 0"),
}


@pytest.mark.parametrize(("more", "words"), BAD_POOLS.values(), ids=BAD_POOLS)
def test_a_pool_that_cannot_be_is_told_of_and_the_last_document_stays(
    more: str, words: str
) -> None:
    world = Operated(default=A100_80)
    world.gpu_node("n")
    before = world.topology("n")

    world.write(default=f"{A100_80}, {more}")

    assert world.topology("n") == before
    assert {reason for reason, _ in world.told()} == {"BrokenPool"}
    assert all(words in told for _, told in world.told())

    world.write(default=A100_80.replace("gpuCount: 2", "gpuCount: 3"))
    assert len(world.topology("n").gpus) == 3


def test_what_the_mig_faker_cuts_is_there_live() -> None:
    world = Operated(default=A100_80)
    world.gpu_node("n")
    map_slices(world, "n", 9, 19)

    assert profiles(world, "n") == [["3g.40gb", "1g.10gb"], None]
    assert [one.id for one in world.topology("n").gpus[0].mig or ()] == ["MIG-0", "MIG-1"]

    map_slices(world, "n", 0, 9)
    assert profiles(world, "n") == [["3g.40gb", "1g.10gb"], None]
    ((reason, words),) = world.told()
    assert reason == "MigConfigFailed"
    assert "1 x 7g.80gb + 1 x 3g.40gb do not fit into one" in words


def test_the_original_does_not_look_at_what_the_mig_faker_cuts() -> None:
    world = Operated(compat="0.2", default=A100_80)
    world.gpu_node("n")
    map_slices(world, "n", 9)

    assert profiles(world, "n") == [None, None]
