"""The operator's device plugin beside our kubelet's devices, over real sockets.

What users reported: plugins that miss a restart of the kubelet, and shares of GPUs of which a pod
may have one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.devices.cut import cut_node, mps, slicing
from tests.nodes.kubelet.test_devices import GPU, Node, pod
from windtunnel.devices import NodeTopology, node_topology_text
from windtunnel.gpu.device_plugin import DevicePlugin
from windtunnel.gpu.device_plugin.settings import Settings
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.devices.admission import Admitted, Rejected

FOUR = cut_node(None, None, None, None)


class Documents:
    """The API server, as far as the plugin asks it."""

    def __init__(self, topology: NodeTopology) -> None:
        self.topology = topology

    def get(self, resource: str, key: Key) -> Tree | None:
        assert resource == "configmaps"
        if key.name != "topology-n":
            return None
        return {"data": {"topology.yml": node_topology_text(self.topology)}}


class Bench:
    """One kubelet's devices, and the plugin."""

    def __init__(self, folder: Path) -> None:
        self.node = Node(folder)
        place = folder / "var/lib/kubelet"
        place.mkdir(parents=True)
        (place / "device-plugins").symlink_to(folder / "p")
        self.documents = Documents(FOUR)
        self._started = False
        self.plugin = DevicePlugin(
            self.documents,  # type: ignore[arg-type]
            self.node.loop,
            Settings(node="n", namespace="gpu-operator", root=folder),
        )

    def offers(self, topology: NodeTopology, *figures: int, resource: str = GPU) -> None:
        """Start the plugin, or change what it reads; wait for what comes of it."""
        self.documents.topology = topology
        if not self._started:
            self.plugin.start()
            self._started = True
        self.node.until(lambda: self.figures(resource) == figures)

    def figures(self, resource: str = GPU) -> tuple[int, int]:
        figures = self.node.devices.figures()
        return figures.capacity.get(resource, -1), figures.allocatable.get(resource, -1)

    def held(self, name: str) -> set[str]:
        resources = self.node.devices.health(f"uid-{name}", "c0")
        return {state["resourceID"] for one in resources for state in one["resources"]}


@pytest.fixture
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="dp") as name:
        made = Bench(Path(name))
        yield made
        made.plugin.stop()
        made.node.close()


def test_a_kubelet_that_restarts_has_its_gpus_again_and_pods_keep_theirs(bench: Bench) -> None:
    bench.offers(FOUR, 4, 4)
    assert isinstance(bench.node.admit(pod("a", 2)), Admitted)
    before = bench.held("a")
    started = bench.node.loop.clock.now()

    bench.node.restart()
    assert bench.figures() == (0, 0)
    bench.node.until(lambda: bench.figures() == (4, 4))

    assert bench.node.loop.clock.now() - started < 10
    assert bench.held("a") == before
    assert isinstance(bench.node.admit(pod("b", 2)), Admitted)
    assert bench.held("b") == {gpu.id for gpu in FOUR.gpus} - before


REFUSAL = (
    'Allocate failed due to rpc error: code = Unknown desc = request for "nvidia.com/gpu": invalid '
    "request: maximum request size for shared resources is 1; found 2, which is unexpected"
)
ASKED_TWO = {
    "time slicing that fails them": (slicing(10, failRequestsGreaterThanOne=True), REFUSAL),
    "time slicing that does not": (slicing(10, failRequestsGreaterThanOne=False), ""),
    "time slicing that says nothing": (slicing(10), ""),
    "MPS that says nothing": (mps(10), REFUSAL),
    "MPS that allows them": (mps(10, failRequestsGreaterThanOne=False), ""),
}


@pytest.mark.parametrize(("sharing", "words"), ASKED_TWO.values(), ids=ASKED_TWO)
def test_a_pod_that_asks_for_two_shares(
    bench: Bench, sharing: dict[str, object], words: str
) -> None:
    bench.offers(cut_node(None, sharing=sharing), 10, 10)

    found = bench.node.admit(pod("two", 2))

    if words:
        assert found == Rejected("UnexpectedAdmissionError", words)
    else:
        assert isinstance(found, Admitted)
        options = dict(bench.node.devices.run_options("uid-two", "c0").envs)
        assert options["MOCK_NVIDIA_VISIBLE_DEVICES"] == FOUR.gpus[0].id
    assert isinstance(bench.node.admit(pod("one", 1)), Admitted)


def test_shares_are_spread_over_gpus(bench: Bench) -> None:
    bench.offers(cut_node(None, None, sharing=slicing(3)), 6, 6)

    for name in "abcd":
        assert isinstance(bench.node.admit(pod(name, 1)), Admitted)

    gpus = [one.partition("::")[0] for name in "abcd" for one in bench.held(name)]
    assert sorted(gpus.count(gpu.id) for gpu in FOUR.gpus[:2]) == [2, 2]


def test_what_is_shared_comes_and_goes_live(bench: Bench) -> None:
    bench.offers(FOUR, 4, 4)
    bench.offers(cut_node(None, None, None, None, sharing=slicing(2)), 8, 8)
    renamed = cut_node(None, None, None, None, sharing=slicing(2, renameByDefault=True))
    bench.offers(renamed, 8, 8, resource=f"{GPU}.shared")
    bench.offers(FOUR, 4, 4)


def test_slices_are_given_by_name(bench: Bench) -> None:
    topology = cut_node({"2g.20gb": 3, "1g.10gb": 1}, None)
    bench.offers(topology, 3, 3, resource="nvidia.com/mig-2g.20gb")
    bench.node.until(lambda: bench.figures() == (1, 1))
    asking = pod("m", 0)
    limits = {"nvidia.com/mig-2g.20gb": "1"}
    asking["spec"]["containers"][0]["resources"]["limits"] = limits

    assert isinstance(bench.node.admit(asking), Admitted)

    slices = {one.id for one in topology.gpus[0].mig or ()}
    assert bench.held("m") < slices
