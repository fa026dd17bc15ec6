"""Tests of the document of a cluster's pools."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.devices import (
    GpuShape,
    MigEntry,
    Numa,
    OtherDevice,
    parse_cluster_topology,
    parse_pools,
    resolve,
    topology_text,
)

OLDER = "gpuProduct: Tesla-K80, gpuCount: 2, gpuMemory: 11441"
NEWER = "gpu: {backend: fake, profile: t}"
PROFILES: dict[str, dict[str, Any]] = {
    "t": {
        "system": {"driver_version": "555.1", "cuda_version": "12.5"},
        "device_defaults": {"name": "T", "memory": {"total_bytes": 8 << 30, "free_bytes": 5}},
        "devices": [{}, {}, {}],
    }
}


def profile(name: str) -> dict[str, Any]:
    if name not in PROFILES:
        raise ValueError(f'failed to load GPU profile "{name}": there is none')
    return PROFILES[name]


def shape(pool: str, *, compat: bool = False, beside: str = "") -> GpuShape:
    text = f"nodePools: {{p: {{{pool}}}{beside}}}\ncompat: {'0.2' if compat else ''}\n"
    pools = parse_cluster_topology(text).pools
    assert pools is not None
    return resolve(pools["p"], profile)


K80 = GpuShape(product="Tesla-K80", memory_mib=11441, count=2)
SHAPES = {
    "the older form": (OLDER, K80),
    "nothing but a count": ("gpuCount: 3", GpuShape(count=3)),
    "a number for a product": ("gpuProduct: 4090, gpuCount: 1", GpuShape(product="4090", count=1)),
    "a profile": (
        NEWER,
        GpuShape(
            product="T", memory_mib=8192, count=3, driver_version="555.1", cuda_version="12.5"
        ),
    ),
    "changes of a profile: maps merge, lists replace": (
        "gpu: {profile: t, overrides: {device_defaults: {memory: {total_bytes: 814743552}}, "
        "devices: [{}, {}], system: {cuda_version: '13.0'}}}",
        GpuShape(
            product="T", memory_mib=777, count=2, driver_version="555.1", cuda_version="13.0"
        ),
    ),
    "a null wipes out what the profile says": (
        "gpu: {profile: t, overrides: {device_defaults: null}}",
        GpuShape(count=3, driver_version="555.1", cuda_version="12.5"),
    ),
    "a scalar over a map": (
        "gpu: {profile: t, overrides: {device_defaults: {memory: 5}, system: x}}",
        GpuShape(product="T", count=3),
    ),
    "device_count before devices": (
        "gpu: {profile: t, overrides: {device_count: 6}}",
        GpuShape(
            product="T", memory_mib=8192, count=6, driver_version="555.1", cuda_version="12.5"
        ),
    ),
    "no device_count and no devices": (
        "gpu: {profile: t, overrides: {device_count: 0, devices: []}}",
        GpuShape(product="T", memory_mib=8192, driver_version="555.1", cuda_version="12.5"),
    ),
    "without a profile neither driver nor CUDA": (
        "gpu: {overrides: {device_defaults: {name: A}, devices: [{}], "
        "system: {driver_version: '1', cuda_version: '2'}}}",
        GpuShape(product="A", count=1),
    ),
    "a driver that is no text": (
        "gpu: {profile: t, overrides: {system: {driver_version: 1.5}}}",
        GpuShape(product="T", memory_mib=8192, count=3, cuda_version="12.5"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pool", "want"), SHAPES.values(), ids=SHAPES)
def test_the_gpus_of_a_node_are_those_of(pool: str, want: GpuShape) -> None:
    assert shape(pool) == want


def test_each_pool_is_read_in_its_own_form() -> None:
    assert shape(OLDER, beside=f", other: {{{NEWER}}}") == K80


def test_the_original_loses_an_older_pool_beside_a_newer_one() -> None:
    assert shape(OLDER, beside=f", other: {{{NEWER}}}", compat=True) == GpuShape()
    assert shape(OLDER, compat=True) == K80


def test_a_missing_profile_is_named() -> None:
    with pytest.raises(ValueError, match=r'^failed to resolve profile "x": failed to load GPU'):
        shape("gpu: {profile: x}")


def test_other_resources_are_sorted_and_the_gpu_itself_is_left_out() -> None:
    text = "nodePools: {p: {gpu: {}, resources: [{z/b: 1}, {a/b: 2}, {nvidia.com/gpu: 9}]}}"

    pools = parse_cluster_topology(text).pools

    assert pools is not None
    assert pools["p"].other_devices == (OtherDevice("a/b", 2), OtherDevice("z/b", 1))


def test_zones_are_honoured_in_both_forms_but_not_by_the_original() -> None:
    text = f"nodePools: {{p: {{{OLDER}, numa: {{zones: 2}}}}}}\n"

    ours, theirs = (parse_cluster_topology(text + more) for more in ("", "compat: '0.2'\n"))

    assert ours.pools is not None
    assert theirs.pools is not None
    assert ours.pools["p"].numa == Numa(zones=2)
    assert theirs.pools["p"].numa is None


def test_what_is_unknown_is_passed_over() -> None:
    found = parse_cluster_topology("nodePools: {p: {colour: red}}\nx: 1\nmigStrategy: mixed\n")

    assert (found.mig_strategy, list(found.pools or ())) == ("mixed", ["p"])


REFUSED = {
    "broken YAML": ("nodePools: [\n", "^yaml: line 1: did not find expected node content$"),
    "a list of pools": ("nodePools: [a]", "the topology: .*nodePools"),
    "a word": ("x", "the topology is not a mapping"),
}


FLAWED = {
    "a word for a number": ("{gpuCount: many}", r"pool p: .*`int`.*gpuCount"),
    "fewer than no GPUs": ("{gpuCount: -1}", "pool p: gpuCount is -1, below 0"),
    "far too many GPUs": ("{gpuCount: 9999999}", "cannot have 9999999 GPUs"),
    "a pool that is a word": ("x", "pool p is not a mapping"),
    "fewer than no devices": (
        "{otherDevices: [{name: a/b, count: -1}]}",
        "pool p: the count of a/b is -1, below 0",
    ),
    "one replica": (
        "{sharing: {timeSlicing: {resources: [{name: gpu, replicas: 1}]}}}",
        "pool p: sharing: number of replicas must be >= 2",
    ),
    "no resource to share": ("{sharing: {mps: {}}}", "pool p: sharing: no resources specified"),
    "a slice that is counted by a word": ("{mig: [{mig-devices: {1g.5gb: two}}]}", "pool p: .*int"),
}


@pytest.mark.parametrize(("pool", "words"), FLAWED.values(), ids=FLAWED)
def test_a_flawed_pool_spoils_no_other(pool: str, words: str) -> None:
    text = f"nodePools: {{p: {pool}, q: {{{OLDER}}}}}\n"

    pools = parse_cluster_topology(text).pools

    assert pools is not None
    assert resolve(pools["q"], profile).count == 2
    with pytest.raises(ValueError, match=words):
        resolve(pools["p"], profile)


def test_a_flawed_pool_of_the_original_spoils_the_document() -> None:
    with pytest.raises(ValueError, match="pool p: gpuCount"):
        parse_cluster_topology("nodePools: {p: {gpuCount: -1}}\ncompat: '0.2'\n")


def test_a_pool_says_how_its_gpus_are_cut_and_shared_unless_it_is_the_originals() -> None:
    text = (
        "nodePools: {p: {gpuCount: 2, migStrategy: single,"
        " sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}},"
        " mig: [{devices: [0], mig-enabled: true, mig-devices: {1g.5gb: 7}}]}}\n"
    )

    ours, theirs = (parse_cluster_topology(text + more).pools for more in ("", "compat: '0.2'\n"))

    assert ours is not None
    assert theirs is not None
    assert ours["p"].sharing is not None
    assert ours["p"].sharing.replicas("nvidia.com/gpu") == 4
    assert ours["p"].mig == (MigEntry(devices=(0,), mig_devices={"1g.5gb": 7}),)
    assert ours["p"].mig_strategy == "single"
    assert (theirs["p"].sharing, theirs["p"].mig) == (None, ())


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_a_document_is_refused_in_words_for(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_cluster_topology(text)


@pytest.mark.parametrize(
    ("config_map", "words"),
    [
        ({}, 'topology configmap missing key "topology.yml"'),
        ({"data": {"topology.yml": ""}}, "topology data is empty"),
    ],
)
def test_a_config_map_without_a_document_is_refused(config_map: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        topology_text(config_map)


def test_pools_of_the_newer_form_are_empty_to_readers_of_the_older() -> None:
    text = f"nodePools: {{a: {{{OLDER}}}, b: {{{NEWER}}}}}"

    pools = parse_pools({"data": {"topology.yml": text}})

    assert (pools["a"].gpu_count, pools["b"].gpu_count) == (2, 0)
