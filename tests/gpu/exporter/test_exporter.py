"""The part in virtual time, on a served port of its own."""

from __future__ import annotations

import http.client
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.world import World

from windtunnel.client import Client
from windtunnel.devices import (
    AllocatedBy,
    ClusterTopology,
    DeclaredPool,
    GpuStatus,
    NodeTopology,
    Numa,
    PodUsage,
    Span,
    TopologyGpu,
    node_topology_text,
    parse_node_topology,
)
from windtunnel.gpu.exporter import Exporter
from windtunnel.gpu.exporter.exporter import numa_of
from windtunnel.gpu.exporter.settings import Settings
from windtunnel.machinery.errors import Invalid
from windtunnel.machinery.tree import Key

Make = Callable[..., Exporter]


def owned(pod: str, low: int, high: int) -> GpuStatus:
    usage = PodUsage(utilization=Span(low, high), fb_used=1000)
    return GpuStatus(allocated_by=AllocatedBy("ml", pod, "main"), pod_gpu_usage_status={"u": usage})


def topology(*statuses: GpuStatus, product: str = "Tesla K80") -> NodeTopology:
    gpus = [TopologyGpu(id=f"GPU-{i}", status=status) for i, status in enumerate(statuses)]
    return NodeTopology(
        gpu_memory=11441, gpu_product=product, gpus=tuple(gpus), mig_strategy="mixed"
    )


FREE = GpuStatus()


class Bench:
    def __init__(self, world: World) -> None:
        self.world = world
        world.create("namespaces", "gpu-operator", "")

    def write(self, node: str, topology: NodeTopology, *, played: bool = True) -> None:
        self.write_text(f"topology-{node}", node_topology_text(topology), node, played)

    def write_text(self, name: str, text: str, node: str = "n1", played: bool = True) -> None:
        key, data = Key("gpu-operator", name), {"topology.yml": text}
        if self.world.client.get("configmaps", key) is not None:
            self.world.client.patch("configmaps", key, {"data": data})
            return
        notes = {"kwok.x-k8s.io/node": "fake"} if played else {}
        metadata = {"labels": {"node-name": node}, "annotations": notes}
        self.world.create("configmaps", name, "gpu-operator", metadata=metadata, data=data)

    def labels(self, node: str = "n1") -> dict[str, str]:
        found: dict[str, str] = self.world.get("nodes", node, "")["metadata"].get("labels", {})
        return {k: v for k, v in found.items() if "gpu" in k or "mig" in k}


class Refusing:
    """A client that may update nothing."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def update(self, resource: str, tree: dict[str, Any]) -> None:
        raise Invalid("Node", "", tree["metadata"]["name"], [])


def series(exporter: Exporter, name: str = "DCGM_FI_DEV_GPU_UTIL") -> dict[tuple[str, str], float]:
    """Values by node and pod."""
    return {
        (sample.labels["Hostname"], sample.labels["pod"]): sample.value
        for family in text_string_to_metric_families(exporter.text())
        for sample in family.samples
        if sample.name == name
    }


@pytest.fixture
def bench(world: World) -> Bench:
    return Bench(world)


@pytest.fixture
def make(world: World) -> Iterator[Make]:
    made: list[Exporter] = []

    def one(
        below: Callable[[int], int] = lambda n: n - 1,
        wrap: Callable[[Client], Any] = lambda client: client,
        **settings: Any,
    ) -> Exporter:
        told = Settings(host="127.0.0.1", port=0, **settings)
        client = wrap(world.virtual.client("status-exporter"))
        exporter = Exporter(client, world.loop, told, below)
        made.append(exporter)
        exporter.start()
        world.run(0.1)
        return exporter

    yield one
    for exporter in made:
        exporter.stop()


def test_all_played_nodes_are_told_of_and_no_others(bench: Bench, make: Make) -> None:
    bench.write("n1", topology(owned("p1", 40, 40)))
    bench.write("n2", topology(FREE))
    bench.write("n3", topology(FREE), played=False)
    bench.write_text("topology", "nodePools: {}")
    exporter = make()

    assert series(exporter) == {("n1", "p1"): 40, ("n2", ""): 0}
    assert series(exporter, "DCGM_FI_DEV_FB_FREE")["n1", "p1"] == 10441


def test_an_earlier_owner_leaves_nothing_behind(bench: Bench, make: Make) -> None:
    bench.write("n1", topology(owned("p1", 40, 40)))
    exporter = make()
    bench.write("n1", topology(owned("p2", 7, 7)))
    bench.world.run(2)
    assert series(exporter) == {("n1", "p2"): 7}

    bench.world.client.delete("configmaps", Key("gpu-operator", "topology-n1"))
    bench.world.run(0.1)
    assert series(exporter) == {}


def test_many_changes_at_once_are_read_once(
    bench: Bench, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("n1", topology(FREE))
    exporter = make()
    reads: list[str] = []

    def read(text: str) -> NodeTopology:
        reads.append(text)
        return parse_node_topology(text)

    monkeypatch.setattr("windtunnel.gpu.exporter.exporter.parse_node_topology", read)
    for number in range(20):
        bench.write("n1", topology(owned("p1", number, number)))
    bench.world.run(5)

    assert len(reads) == 1
    assert series(exporter) == {("n1", "p1"): 19}


def test_a_range_is_drawn_from_every_ten_seconds(bench: Bench, make: Make) -> None:
    draws = itertools.cycle([0, 5, 19])
    bench.write("n1", topology(owned("p1", 10, 30), owned("p2", 50, 50)))
    exporter = make(lambda n: next(draws))

    shown = []
    for _ in range(3):
        shown.append(series(exporter)["n1", "p1"])
        bench.world.run(10)
    assert shown == [10, 15, 29]


def test_a_range_that_runs_backwards_harms_nobody(bench: Bench, make: Make) -> None:
    bench.write("n1", topology(owned("p1", 30, 10)))
    exporter = make()
    bench.world.run(30)

    assert series(exporter) == {("n1", "p1"): 29}


def test_a_document_that_cannot_be_read_changes_nothing(bench: Bench, make: Make) -> None:
    bench.write("n1", topology(owned("p1", 40, 40)))
    exporter = make()
    bench.write_text("topology-n1", "gpus: [")
    bench.world.run(2)

    assert series(exporter) == {("n1", "p1"): 40}
    assert [(key, "line 1" in str(error)) for _, key, error in bench.world.failures] == [
        ("n1", True)
    ]


def test_labels_are_put_right_with_each_change_of_a_topology(bench: Bench, make: Make) -> None:
    bench.world.node("n1", labels={"keep": "gpu", "nvidia.com/gpu.count": "99"})
    bench.write("n1", topology(FREE, FREE))
    make()
    bench.world.run(1)
    wanted = bench.labels()
    assert wanted["nvidia.com/gpu.count"] == "2"
    assert wanted["nvidia.com/gpu.product"] == "Tesla-K80"

    labels = {"metadata": {"labels": {"nvidia.com/gpu.count": "7"}}}
    bench.world.client.patch("nodes", Key("", "n1"), labels)
    bench.world.run(60)
    assert bench.labels()["nvidia.com/gpu.count"] == "7"

    bench.write("n1", topology(owned("p1", 1, 1), FREE))
    bench.world.run(7)
    assert bench.labels() == wanted


def test_labels_that_cannot_be_are_told_once(bench: Bench, make: Make) -> None:
    bench.world.node("n1")
    bench.write("n1", topology(FREE))
    make(wrap=Refusing)
    bench.world.run(60)

    assert bench.labels() == {}
    assert len(bench.world.failures) == 1


def test_at_rest_nothing_is_written(bench: Bench, make: Make) -> None:
    bench.world.node("n1")
    bench.write("n1", topology(owned("p1", 10, 30)))
    make()
    bench.world.run(7)
    writes: list[object] = []
    for resource in ("nodes", "configmaps"):
        bench.world.core.store.subscribe(resource, writes.append)
    bench.world.run(60)

    assert writes == []


def test_the_exporter_of_a_node_waits_for_its_topology_and_keeps_it(
    bench: Bench, make: Make, tmp_path: Path
) -> None:
    bench.world.node("n1")
    exporter = make(node="n1", root=tmp_path, reservation_namespace="ml")
    bench.write("n2", topology(FREE))
    assert series(exporter) == {}

    bench.write("n1", topology(owned("p1", 40, 40)), played=False)
    bench.world.run(2)
    (name, pod), *_ = series(exporter)
    assert (name.startswith("nvidia-dcgm-exporter-"), pod) == (True, "p1")
    assert (tmp_path / "runai/proc/pod/u/metrics/gpu/0/utilization.sm").read_text() == "40"
    assert bench.labels()["nvidia.com/gpu.present"] == "true"

    bench.world.client.delete("configmaps", Key("gpu-operator", "topology-n1"))
    bench.world.run(30)
    assert len(series(exporter)) == 1


def test_the_labels_of_its_own_node_do_not_stay_wrong(
    bench: Bench, make: Make, tmp_path: Path
) -> None:
    bench.world.node("n1")
    bench.write("n1", topology(FREE), played=False)
    make(node="n1", root=tmp_path)
    bench.world.run(2)
    labels = {"metadata": {"labels": {"nvidia.com/gpu.count": None}}}
    bench.world.client.patch("nodes", Key("", "n1"), labels)
    bench.world.run(12)

    assert bench.labels()["nvidia.com/gpu.count"] == "1"


def test_what_is_told_is_served(bench: Bench, make: Make) -> None:
    bench.write("n1", topology(owned("p1", 40, 40)))
    exporter = make()
    wire = http.client.HTTPConnection("127.0.0.1", exporter.server.port, timeout=5)
    wire.request("GET", "/metrics")
    text = wire.getresponse().read().decode()
    wire.close()

    assert "DCGM_FI_DEV_GPU_UTIL{" in text
    assert "process_resident_memory_bytes" in text


ZONES = DeclaredPool(numa=Numa(zones=2))
NODES = {
    "a pool with zones": ("a", ZONES.numa),
    "a pool without": ("b", None),
    "no zones are none": ("c", None),
    "a pool that nobody knows": ("d", None),
}


@pytest.mark.parametrize(("pool", "want"), NODES.values(), ids=NODES.keys())
def test_the_zones_of_a_nodes_pool(pool: str, want: Numa | None) -> None:
    pools = {"a": ZONES, "b": DeclaredPool(), "c": DeclaredPool(numa=Numa())}
    cluster = ClusterTopology(pools=pools, label_key="pool")

    assert numa_of({"metadata": {"labels": {"pool": pool}}}, cluster) == want
    assert numa_of({"metadata": {}}, cluster) is None
