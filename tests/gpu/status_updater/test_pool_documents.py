"""Tests of the documents of pools, and of what is said of them."""

from __future__ import annotations

import pytest
from tests.gpu.operated import NAMESPACE, POOL, Operated

from windtunnel.errors import DataError
from windtunnel.gpu.status_updater import Settings, StatusUpdater
from windtunnel.machinery.tree import Key

BIG = "gpuProduct: NVIDIA A100, gpuCount: 4, gpuMemory: 40960"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, 'configmaps "topology" not found'),
        ({"other": "x"}, 'missing key "topology.yml"'),
    ],
)
def test_without_a_document_of_pools_it_does_not_start(
    data: dict[str, str] | None, words: str
) -> None:
    world = Operated()
    world.updater.stop()
    world.client.delete("configmaps", Key(NAMESPACE, "topology"))
    if data is not None:
        world.create("configmaps", "topology", NAMESPACE, data=data)
    updater = StatusUpdater(world.virtual.client("status-updater"), world.loop, Settings())

    with pytest.raises(DataError, match=words):
        updater.start()


def test_a_pool_of_a_config_map_of_its_own_counts() -> None:
    world = Operated()
    text = f"nodePools: {{own: {{{BIG}}}}}\nnodePoolLabelKey: {POOL}\n"
    world.create("configmaps", "topology-pool-own", NAMESPACE, data={"topology.yml": text})

    world.gpu_node("n", "own")

    assert len(world.topology("n").gpus) == 4


def test_a_cluster_without_a_node_of_a_pool_is_told_what_to_do() -> None:
    world = Operated()
    world.create("nodes", "other", "")
    world.run(20)

    assert world.told() == [
        (
            "NoNodes",
            f"0 nodes carry the pool label {POOL}, so its pools give no GPUs; give some to a node: "
            f"kubectl label node NODE {POOL}=default",
        )
    ]


def test_nodes_of_pools_elsewhere_do_not_make_up_for_a_label_that_none_carries() -> None:
    world = Operated()
    text = f"nodePools: {{own: {{{BIG}}}}}\nnodePoolLabelKey: {POOL}\n"
    world.create("configmaps", "topology-pool-own", NAMESPACE, data={"topology.yml": text})
    mistyped = f"nodePools: {{default: {{{BIG}}}}}\nnodePoolLabelKey: mistyped\n"
    world.client.patch(
        "configmaps", Key(NAMESPACE, "topology"), {"data": {"topology.yml": mistyped}}
    )
    world.gpu_node("n", "own")
    world.run(20)

    ((reason, told),) = world.told()
    assert reason == "NoNodes"
    assert told.startswith("0 nodes carry the pool label mistyped,")


def test_a_cluster_with_one_is_told_nothing() -> None:
    world = Operated()
    world.gpu_node("n")
    world.run(20)

    assert world.told() == []


UNREADABLE = {
    "an empty text": ("", "topology data is empty"),
    "broken YAML": ("nodePools: [", "did not find expected node content"),
    "no key for labels": ("nodePools: {}", "nodePoolLabelKey is not set"),
}


@pytest.mark.parametrize(("text", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_at_the_start_is_told_of_and_waited_for(text: str, words: str) -> None:
    world = Operated()
    world.gpu_node("n")
    before = world.topology("n")
    world.updater.stop()
    key = Key(NAMESPACE, "topology")
    world.client.patch("configmaps", key, {"data": {"topology.yml": text}})

    world.begin()
    assert world.topology("n") == before
    ((reason, told),) = world.told()
    assert reason == "BrokenTopology"
    assert words in told

    world.write(default=BIG)
    assert len(world.topology("n").gpus) == 4
