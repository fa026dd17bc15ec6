"""The part as a whole, against scripted plugins over real sockets."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from windtunnel.kernel import Loop, WallClock
from windtunnel.nodes.kubelet.devices import link
from windtunnel.nodes.kubelet.devices.admission import Admitted, Rejected
from windtunnel.nodes.kubelet.devices.devices import Devices
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.parity.kubelet.plugin import ScriptedPlugin
from windtunnel.wire import podresources_alpha_pb2 as alpha
from windtunnel.wire import podresources_alpha_pb2_grpc as alpha_services
from windtunnel.wire import podresources_pb2 as pb
from windtunnel.wire import podresources_pb2_grpc as services

GPU = "nvidia.com/gpu"
IDS = {"response": {"envs": {"IDS": "{ids}"}}}
Tree = dict[str, Any]


def pod(name: str, *gpus: int, **spec: Any) -> Tree:
    containers = [
        {"name": f"c{place}", "resources": {"limits": {GPU: str(count)} if count else {}}}
        for place, count in enumerate(gpus)
    ]
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"containers": containers, **spec},
    }


class Node:
    """Devices, the loop they live on, and whoever speaks to them."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.loop = Loop(WallClock())
        self.active: list[Tree] = []
        self.calls: list[Tree] = []
        self._woken = threading.Event()
        self.loop.wake = self._woken.set
        self.told: list[frozenset[str]] = []
        self._plugins: list[ScriptedPlugin] = []
        self.devices = self.make(**settings)

    def make(self, **settings: Any) -> Devices:
        devices = Devices(
            self.loop,
            Outside(self.loop, 4),
            self.folder / "p",
            self.folder / "r",
            lambda: self.active,
            **settings,
        )
        devices.start()
        devices.listen(self.told.append)
        return devices

    def plugin(self, count: int = 2, name: str = "p", **order: Any) -> ScriptedPlugin:
        devices = [{"id": f"GPU-{n}", "health": "Healthy"} for n in range(count)]
        order = {"plugin": name, "resource": GPU, "devices": devices, "allocate": IDS} | order
        plugin = ScriptedPlugin(self.folder / "p", order, self.calls.append)
        plugin.serve()
        self._plugins.append(plugin)
        return plugin

    def join(self, count: int = 2, **order: Any) -> ScriptedPlugin:
        """Start a plugin and wait until its devices can be used."""
        plugin = self.plugin(count, **order)
        assert self.aside(plugin.register) == {"register": "OK"}
        self.until(lambda: self.figures() == (count, count))
        return plugin

    def figures(self) -> tuple[int, int]:
        figures = self.devices.figures()
        return figures.capacity.get(GPU, -1), figures.allocatable.get(GPU, -1)

    def until(self, true: Callable[[], bool]) -> None:
        deadline = self.loop.clock.now() + 20
        while not true():
            assert self.loop.clock.now() < deadline, "it never came"
            self._woken.wait(0.02)
            self._woken.clear()
            self.loop.run_due()

    def aside(self, work: Callable[[], Any]) -> Any:
        """Do what blocks beside the loop, and play the loop meanwhile."""
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(work()))
        thread.start()
        self.until(lambda: not thread.is_alive())
        thread.join()
        return found[0]

    def admit(self, tree: Tree, **more: Any) -> Admitted | Rejected:
        found: list[Admitted | Rejected] = []
        self.devices.admit(tree, found.append, **more)
        self.until(lambda: bool(found))
        if isinstance(found[0], Admitted):
            self.active.append(tree)
        return found[0]

    def prepare(self, tree: Tree, container: str = "c0") -> str | None:
        found: list[str | None] = []
        self.devices.prepare(tree, container, found.append)
        self.until(lambda: bool(found))
        return found[0]

    def ask(self, call: str, **request: Any) -> Any:
        kinds = {
            "List": pb.ListPodResourcesRequest,
            "Get": pb.GetPodResourcesRequest,
            "GetAllocatableResources": pb.AllocatableResourcesRequest,
        }

        def work() -> Any:
            with grpc.insecure_channel(f"unix:{self.folder}/r/kubelet.sock") as channel:
                stub = services.PodResourcesListerStub(channel)
                try:
                    return getattr(stub, call)(kinds[call](**request), timeout=10)
                except grpc.RpcError as error:
                    return error.code().name, error.details()  # type: ignore[attr-defined]

        return self.aside(work)

    def allocations(self) -> list[list[str]]:
        return [one["container_requests"][0] for one in self.calls if one.get("call") == "Allocate"]

    def restart(self, **settings: Any) -> None:
        self.devices.stop()
        self.devices = self.make(**settings)

    def close(self) -> None:
        self.devices.stop()
        for plugin in self._plugins:
            plugin.stop()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wt-") as name:
        yield Path(name)


@pytest.fixture
def node(folder: Path) -> Iterator[Node]:
    node = Node(folder)
    yield node
    node.close()


def test_a_plugin_that_registers_offers_its_devices(node: Node) -> None:
    node.join(3)

    assert [next(iter(call.values())) for call in node.calls[:2]] == [
        "GetDevicePluginOptions",
        "ListAndWatch",
    ]
    assert node.devices.fresh
    assert node.devices.trouble == ""


REFUSALS = {
    "an old version": (
        {"version": "v1alpha1"},
        'requested API version "v1alpha1" is not supported by kubelet. '
        'Supported version is ["v1beta1"]',
    ),
    "no domain": ({"resource": "gpu"}, 'the ResourceName "gpu" is invalid'),
    "no name": ({"resource": ""}, 'the ResourceName "" is invalid'),
    "quota's prefix": (
        {"resource": "requests.nvidia.com/gpu"},
        'the ResourceName "requests.nvidia.com/gpu" is invalid',
    ),
}


@pytest.mark.parametrize(("asked", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_registration_is_refused_in_the_kubelets_words(
    node: Node, asked: Tree, words: str
) -> None:
    plugin = node.plugin()

    answer = node.aside(lambda: plugin.register(**asked))

    assert answer == {"register": "UNKNOWN", "details": words}


def test_failing_options_fail_the_registration(node: Node) -> None:
    plugin = node.plugin(get_options={"error": {"code": "INTERNAL", "message": "no"}})

    assert node.aside(plugin.register) == {
        "register": "UNKNOWN",
        "details": "failed to get device plugin options: rpc error: code = Internal desc = no",
    }


def test_a_pod_gets_devices_and_what_the_plugin_says_of_them(node: Node) -> None:
    node.join(4)

    assert node.admit(pod("a", 2)) == Admitted()
    assert node.allocations() == [["GPU-0", "GPU-1"]]
    assert node.devices.run_options("uid-a", "c0").envs == (("IDS", "GPU-0,GPU-1"),)
    assert node.devices.in_use() == {GPU: 2}
    assert node.devices.health("uid-a", "c0") == [
        {
            "name": GPU,
            "resources": [
                {"resourceID": "GPU-0", "health": "Healthy"},
                {"resourceID": "GPU-1", "health": "Healthy"},
            ],
        }
    ]


def unexpected(text: str) -> Rejected:
    return Rejected(
        "UnexpectedAdmissionError", f"Allocate failed due to {text}, which is unexpected"
    )


def test_too_many_are_refused_and_nothing_is_kept(node: Node) -> None:
    node.join(2)
    node.admit(pod("a", 1))

    assert node.admit(pod("b", 2)) == unexpected(
        f"requested number of devices unavailable for {GPU}. Requested: 2, Available: 1"
    )
    assert node.admit(pod("c", 1)) == Admitted()


REJECTIONS = {
    "an error": (
        {"allocate": {"error": {"code": "UNKNOWN", "message": "fell off the bus"}}},
        "rpc error: code = Unknown desc = fell off the bus",
    ),
    "no answer": (
        {"allocate": {"no_responses": True}},
        "no containers return in allocation response ",
    ),
    "no preference": (
        {
            "options": {"get_preferred_allocation_available": True},
            "preferred": {"error": {"code": "INTERNAL", "message": "no topology"}},
        },
        "device plugin GetPreferredAllocation rpc failed with err: "
        "rpc error: code = Internal desc = no topology",
    ),
}


@pytest.mark.parametrize(("order", "words"), REJECTIONS.values(), ids=REJECTIONS)
def test_a_plugin_that_refuses_has_the_pod_rejected(node: Node, order: Tree, words: str) -> None:
    plugin = node.join(1, **order)

    assert node.admit(pod("a", 1)) == unexpected(words)

    plugin.behave({"allocate": IDS, "preferred": {}})
    assert node.admit(pod("b", 1)) == Admitted()


def test_preference_is_asked_even_where_there_is_no_choice(node: Node) -> None:
    node.join(1, options={"get_preferred_allocation_available": True}, preferred={"ids": ["GPU-9"]})

    node.admit(pod("a", 1))

    asked = [call for call in node.calls if call.get("call") == "GetPreferredAllocation"]
    assert asked[0]["container_requests"] == [
        {"available": ["GPU-0"], "must_include": [], "size": 1}
    ]
    assert node.allocations() == [["GPU-0"]]


def test_init_containers_leave_their_devices_and_sidecars_do_not(node: Node) -> None:
    node.join(3)
    limits = {"resources": {"limits": {GPU: "1"}}}
    inits = [{"name": "i", **limits}, {"name": "s", "restartPolicy": "Always", **limits}]

    assert node.admit(pod("a", 1, 1, initContainers=inits)) == Admitted()
    assert node.allocations() == [["GPU-0"], ["GPU-0"], ["GPU-1"], ["GPU-2"]]


def test_devices_come_back_when_their_pod_is_no_longer_active(node: Node) -> None:
    node.join(1)
    node.admit(pod("a", 1))
    node.active.clear()

    assert node.admit(pod("b", 1)) == Admitted()
    assert node.devices.run_options("uid-a", "c0").envs == ()


def test_a_slow_answer_holds_every_pod_that_comes_later(node: Node) -> None:
    node.join(1, allocate={"delay_s": 0.4, **IDS})
    order: list[str] = []
    node.devices.admit(pod("slow", 1), lambda _: order.append("slow"))
    node.devices.admit(pod("plain", 0), lambda _: order.append("plain"))

    node.until(lambda: len(order) == 2)

    assert order == ["slow", "plain"]


def test_a_plugin_that_hangs_is_given_up(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "ANSWER_SECONDS", 0.2)
    plugin = node.join(1, allocate={"delay_s": 3.0, **IDS})

    assert node.admit(pod("a", 1)) == unexpected(
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    )

    plugin.behave({"allocate": IDS})
    assert node.admit(pod("b", 1)) == Admitted()


@pytest.mark.parametrize("ids", [["nobody's"], ["GPU-0", "GPU-1", "GPU-2"], []])
def test_a_preference_that_is_a_lie_changes_nothing(node: Node, ids: list[str]) -> None:
    node.join(3, options={"get_preferred_allocation_available": True}, preferred={"ids": ids})

    assert node.admit(pod("a", 2)) == Admitted()
    assert len(node.allocations()[0]) == 2
    assert set(node.allocations()[0]) < {"GPU-0", "GPU-1", "GPU-2"}


def test_lists_without_an_end_hold_nobody_up(node: Node) -> None:
    plugin = node.join(1)
    ended = threading.Event()

    def flood() -> None:
        for turn in range(100_000):
            if ended.is_set():
                break
            state = "Healthy" if turn % 2 else "Sick"
            many = [{"id": f"X-{n}", "health": state} for n in range(100)]
            plugin.list_devices([{"id": "GPU-0", "health": "Healthy"}, *many])

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        node.until(lambda: node.figures()[0] == 101)
        assert node.admit(pod("a", 0)) == Admitted()
    finally:
        ended.set()
        thread.join()


def test_a_plugin_that_dies_leaves_its_devices_unusable(node: Node) -> None:
    plugin = node.join(2)
    node.admit(pod("a", 1))
    plugin.stop()
    node.until(lambda: node.figures() == (2, 0))

    assert node.admit(pod("b", 1)) == unexpected(
        f"no healthy devices present; cannot allocate unhealthy devices {GPU}"
    )
    assert node.devices.health("uid-a", "c0")[0]["resources"][0]["health"] == "Healthy"

    again = node.join(2, name="q")
    assert node.admit(pod("c", 1)) == Admitted()
    again.end_stream()
    node.until(lambda: node.figures() == (2, 0))


def test_a_late_end_of_the_old_stream_cuts_off_the_new_plugin(node: Node) -> None:
    old = node.join(2, name="old")
    new = node.plugin(2, name="new")
    assert node.aside(new.register) == {"register": "OK"}
    node.until(lambda: {"sent": []} not in node.calls and len(node.calls) >= 6)
    old.end_stream()

    node.until(lambda: {"stream": "closed by kubelet"} in node.calls)

    node.until(lambda: node.figures() == (2, 0))
    assert node.aside(new.register) == {"register": "OK"}
    node.until(lambda: node.figures() == (2, 2))


def test_of_two_plugins_the_last_to_register_is_asked_and_the_last_list_counts(node: Node) -> None:
    first = node.join(2, name="first")
    second = node.plugin(3, name="second", allocate={"response": {"envs": {"WHO": "second"}}})
    assert node.aside(second.register) == {"register": "OK"}
    node.until(lambda: node.figures() == (3, 3))
    first.list_devices([{"id": "GPU-0", "health": "Healthy"}])
    node.until(lambda: node.figures() == (1, 1))

    node.admit(pod("a", 1))

    assert node.devices.run_options("uid-a", "c0").envs == (("WHO", "second"),)


def test_health_that_changes_is_told_for_the_pods_that_hold_the_device(node: Node) -> None:
    plugin = node.join(2)
    node.admit(pod("a", 1))
    node.told.clear()

    plugin.list_devices([{"id": "GPU-0", "health": "Sick"}, {"id": "GPU-1", "health": "Healthy"}])
    node.until(lambda: bool(node.told))

    assert node.told == [frozenset({"uid-a"})]
    assert node.figures() == (2, 1)


def test_a_kubelet_that_starts_again_knows_who_holds_what(node: Node) -> None:
    plugin = node.join(2)
    node.admit(pod("a", 1))
    tree = node.active[0]
    node.restart()

    assert node.figures() == (0, 0)
    assert not node.devices.fresh
    names = sorted(path.name for path in (node.folder / "p").iterdir())
    assert names == ["kubelet.sock", "kubelet_internal_checkpoint"]
    assert node.devices.run_options("uid-a", "c0").envs == (("IDS", "GPU-0"),)
    assert node.admit(tree, running=frozenset({"c0"})) == Admitted()
    assert node.prepare(tree) is None
    assert node.admit(pod("b", 1)) == unexpected(
        f"no healthy devices present; cannot allocate unhealthy devices {GPU}"
    )
    plugin.stop()
    node.join(2, name="again")
    assert node.admit(pod("c", 1)) == Admitted()
    assert node.allocations() == [["GPU-0"], ["GPU-1"]]


def test_a_plugin_that_does_not_come_back_is_named(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windtunnel.nodes.kubelet.devices.devices._RETURN_SECONDS", 0.1)
    told: list[str] = []
    node.loop.report = lambda part, what, error: told.append(f"{part} {what}: {error}")
    node.join(1)
    node.restart()

    node.until(lambda: bool(told))

    words = f"no plugin has registered {GPU} again: the node offers 0 of it"
    assert told == [f"devices {GPU}: {words}"]


def test_the_checkpoint_is_written_as_the_real_one(node: Node) -> None:
    node.join(1)
    node.admit(pod("a", 1))

    kept = json.loads((node.folder / "p" / "kubelet_internal_checkpoint").read_bytes())

    assert kept["Data"] == {
        "PodDeviceEntries": [
            {
                "PodUID": "uid-a",
                "ContainerName": "c0",
                "ResourceName": GPU,
                "DeviceIDs": {"-1": ["GPU-0"]},
                "AllocResp": "CgwKA0lEUxIFR1BVLTA=",
            }
        ],
        "RegisteredDevices": {GPU: ["GPU-0"]},
    }


def test_the_checkpoint_names_who_is_gone_until_somebody_is_given_something(node: Node) -> None:
    def named() -> list[str]:
        kept = json.loads((node.folder / "p" / "kubelet_internal_checkpoint").read_bytes())
        return [each["PodUID"] for each in kept["Data"]["PodDeviceEntries"] or ()]

    node.join(1)
    node.admit(pod("a", 1))
    node.active.clear()
    assert isinstance(node.admit(pod("b", 2)), Rejected)
    assert named() == ["uid-a"]

    node.admit(pod("c", 1))

    assert named() == ["uid-c"]


def test_a_plugin_may_ask_to_be_told_before_each_start(node: Node) -> None:
    plugin = node.join(
        1,
        options={"pre_start_required": True},
        prestart={"error": {"code": "INTERNAL", "message": "reset failed"}},
    )
    node.admit(pod("a", 1))

    assert node.prepare(node.active[0]) == (
        "device plugin PreStartContainer rpc failed with err: "
        "rpc error: code = Internal desc = reset failed"
    )
    plugin.behave({"prestart": {}})
    assert node.prepare(node.active[0]) is None
    plugin.stop()
    node.until(lambda: node.figures() == (1, 0))
    assert "has been stopped" in (node.prepare(node.active[0]) or "")


def test_a_container_that_is_added_later_needs_nothing(node: Node) -> None:
    node.join(1)
    node.admit(pod("a", 1))

    assert node.prepare(node.active[0], "added") is None


def test_a_container_gets_its_devices_late_when_its_plugin_came_late(node: Node) -> None:
    assert node.admit(pod("a", 1)) == Admitted()
    assert node.prepare(node.active[0]) is None
    assert node.devices.health("uid-a", "c0") == []
    node.join(1)

    assert node.prepare(node.active[0]) is None

    assert node.devices.run_options("uid-a", "c0").envs == (("IDS", "GPU-0"),)


def numa_devices() -> list[Tree]:
    return [{"id": f"GPU-{n}", "health": "Healthy", "numa": [n % 2]} for n in range(4)]


def test_topology_keeps_devices_together_or_the_pod_out(folder: Path) -> None:
    node = Node(folder, policy="single-numa-node", numa_nodes=2)
    node.join(4, devices=numa_devices())

    assert node.admit(pod("a", 1)) == Admitted()
    assert node.admit(pod("b", 2)) == Admitted()
    assert node.allocations() == [["GPU-0"], ["GPU-1", "GPU-3"]]
    assert node.admit(pod("c", 2)) == Rejected(
        "TopologyAffinityError", "Resources cannot be allocated with Topology locality"
    )
    node.close()


def test_pod_resources_tell_who_holds_what(node: Node) -> None:
    node.join(2)
    node.admit(pod("a", 1, 0))

    listed = node.ask("List").pod_resources
    assert [(one.name, [c.name for c in one.containers]) for one in listed] == [("a", ["c0", "c1"])]
    assert list(listed[0].containers[0].devices[0].device_ids) == ["GPU-0"]
    assert not listed[0].containers[0].devices[0].HasField("topology")
    assert node.ask("Get", pod_name="a", pod_namespace="default").pod_resources.name == "a"
    assert node.ask("Get", pod_name="b", pod_namespace="default") == (
        "UNKNOWN",
        "pod b in namespace default not found",
    )
    assert len(node.ask("GetAllocatableResources").devices) == 2


def test_the_older_service_is_there_too(node: Node) -> None:
    node.join(1)
    node.admit(pod("a", 1))

    def work() -> Any:
        with grpc.insecure_channel(f"unix:{node.folder}/r/kubelet.sock") as channel:
            stub = alpha_services.PodResourcesListerStub(channel)
            return stub.List(alpha.ListPodResourcesRequest(), timeout=10)

    assert node.aside(work).pod_resources[0].containers[0].devices[0].resource_name == GPU


def test_a_path_that_is_too_long_is_said_and_nobody_is_stuck(folder: Path) -> None:
    deep = folder / ("x" * 120)
    loop = Loop(WallClock())
    devices = Devices(loop, Outside(loop, 0), deep / "p", deep / "r", list)
    devices.start()

    assert "may have 107 bytes" in devices.trouble
    found: list[Admitted | Rejected] = []
    devices.admit(pod("a", 1), found.append)
    loop.run_due()
    assert found == [Admitted()]
    devices.stop()
