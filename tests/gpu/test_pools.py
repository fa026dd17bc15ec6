"""Tests of the pools of a cluster as they stand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.devices.cut import A100, EVERYTHING

from windtunnel.devices import TopologyGpu, gpu_id
from windtunnel.gpu.pools import Pools


def config_map(pool: str, key: str = "pool", **more: str) -> dict[str, Any]:
    lines = f"nodePools: {{{pool}}}\nnodePoolLabelKey: {key}\nmigStrategy: mixed\n"
    return {"data": {"topology.yml": lines, **more}}


def pools(**documents: str) -> Pools:
    found = Pools("topology")
    for name, pool in documents.items():
        found.take(name.replace("_", "-"), config_map(pool))
    return found


def test_the_config_map_of_a_pool_goes_before_that_of_the_cluster() -> None:
    found = pools(topology="a: {gpuCount: 1}, b: {gpuCount: 2}", topology_pool_a="a: {gpuCount: 3}")

    assert [found.hardware(name).shape.count for name in "ab"] == [3, 2]
    assert found.hardware("a").mig_strategy == "mixed"


def test_a_node_names_its_pool_by_the_key_of_the_document() -> None:
    found = Pools("topology")
    found.take("topology", config_map("a: {}", key="ours"))
    found.take("topology-pool-b", config_map("b: {}", key="theirs"))

    assert found.pool_named_by({"ours": "unknown"}) == "unknown"
    assert found.pool_named_by({"theirs": "b", "ours": "a"}) == "b"
    assert found.pool_named_by({"theirs": "a"}) is None


def test_what_cannot_be_read_changes_nothing() -> None:
    found = pools(topology="a: {gpuCount: 1}")

    with pytest.raises(ValueError, match="yaml"):
        found.take("topology", {"data": {"topology.yml": "nodePools: ["}})

    assert found.hardware("a").shape.count == 1


def test_a_cluster_without_its_document_keeps_what_it_said() -> None:
    found = pools(topology="a: {gpuCount: 1}", topology_pool_b="b: {}")

    found.take("topology", None)
    found.take("topology-pool-b", None)

    assert list(found.pools()) == ["a"]


def test_by_the_ways_of_the_original_the_document_is_read_once() -> None:
    found = Pools("topology")
    tree = config_map("a: {gpuCount: 1}")
    tree["data"]["topology.yml"] += "compat: '0.2'\n"
    found.take("topology", tree)

    found.take("topology", config_map("a: {gpuCount: 2}"))

    assert found.hardware("a").shape.count == 1


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"data": {}}, 'GPU profile ConfigMap "gpu-profile-p" missing key "profile.yaml"'),
        ({"data": {"profile.yaml": "x"}}, "the profile is not a mapping"),
    ],
)
def test_a_profile_that_cannot_be_read_says_why_to_whoever_wants_it(
    tree: dict[str, Any], words: str
) -> None:
    found = pools(topology="a: {gpu: {profile: p}}")
    with pytest.raises(ValueError, match=words):
        found.take("gpu-profile-p", tree)

    with pytest.raises(ValueError, match=f'^failed to resolve profile "p": .*{words}'):
        found.hardware("a")


def test_gpus_that_a_node_had_stay_and_others_are_added() -> None:
    found = pools(topology="a: {gpuCount: 2, gpuProduct: X, gpuMemory: 5}")
    hardware = found.hardware("a")
    had = hardware.fitted("n", None)

    grown = hardware.fitted("n", had.__class__(gpus=(TopologyGpu(id="mine", fault="lost"),)))

    assert [gpu.id for gpu in had.gpus] == [gpu_id("n", 0), gpu_id("n", 1)]
    assert [(gpu.id, gpu.fault) for gpu in grown.gpus] == [("mine", "lost"), (gpu_id("n", 1), "")]


def test_a_gpu_that_stays_keeps_everything_but_its_slices() -> None:
    hardware = pools(topology=f"a: {{gpuCount: 1, gpuProduct: {A100}}}").hardware("a")

    stays = hardware.fitted("n", EVERYTHING).gpus[0]

    assert stays == msgspec.structs.replace(EVERYTHING.gpus[0], mig=None)


def test_a_slice_that_stays_keeps_everything() -> None:
    mig = "[{devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}}]"
    pool = f"a: {{gpuCount: 1, gpuProduct: {A100}, mig: {mig}}}"

    first, second = pools(topology=pool).hardware("a").fitted("n", EVERYTHING).gpus[0].mig or ()

    assert EVERYTHING.gpus[0].mig == (second,)
    assert first.status.allocated_by.pod == ""


def test_what_concerns_pools() -> None:
    found = Pools("topology")

    names = ("topology", "topology-pool-a", "gpu-profile-x", "topology-node-1", "other")
    assert [found.concerns(name) for name in names] == [True, True, True, False, False]
