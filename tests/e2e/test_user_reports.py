"""What users reported of GPU clusters, replayed: the decision, and the words it is told in."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.apiserver import DEFAULT_PLUGINS
from windtunnel.assembly.parts import PartSettings
from windtunnel.assembly.virtual import Virtual
from windtunnel.devices import GPU, take_ledger
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes import PoolOrder
from windtunnel.nodes.orders import provide_pool
from windtunnel.scheduler import Configuration, read_configuration

NOT_HELPFUL = "{0} Preemption is not helpful for scheduling."
NO_VICTIMS = "{0} No preemption victims found for incoming pod."


class Lab:
    """Nodes by number of GPUs, and pods that ask for some."""

    def __init__(
        self,
        scheduler: Configuration | None = None,
        plugins: frozenset[str] | None = None,
        **gpus: int,
    ) -> None:
        taint = (GPU, "present", "NoSchedule")
        taints = () if plugins is None else (taint,)
        pools = [PoolOrder(name=name, gpus=count, taints=taints) for name, count in gpus.items()]
        self.cluster = Virtual(
            settings=PartSettings(scheduler=scheduler),
            pools=pools,
            admission_plugins=DEFAULT_PLUGINS | (plugins or frozenset()),
        )
        self.client = self.cluster.client("user")
        self.cluster.run(2)

    def pod(self, name: str, gpus: int = 0, *, wait: float = 2.0, **spec: Any) -> None:
        limits = {GPU: str(gpus)} if gpus else {}
        container = {"name": "c", "image": "x", "resources": {"limits": limits}}
        self.client.create(
            "pods",
            {
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"containers": [container], **spec},
            },
        )
        self.cluster.run(wait)

    def get(self, name: str) -> Tree:
        pod = self.client.get("pods", Key("default", name))
        assert pod is not None
        return pod

    def where(self, name: str) -> str:
        """Return the pod's pool, "" while it waits."""
        return str(self.get(name)["spec"].get("nodeName", "")).rpartition("-")[0]

    def why(self, name: str) -> str:
        (condition,) = self.get(name)["status"]["conditions"]
        assert condition["reason"] == "Unschedulable"
        return str(condition["message"])

    def events(self, name: str, reason: str) -> list[str]:
        return [
            str(event.get("note") or event.get("message"))
            for event in self.client.list("events")
            if event["reason"] == reason and event["involvedObject"]["name"] == name
        ]


def insufficient(nodes: int, tail: str) -> str:
    return (
        f"0/{nodes} nodes are available: {nodes} Insufficient nvidia.com/gpu. no new claims to "
        f"deallocate, preemption: 0/{nodes} nodes are available: {tail.format(nodes)}"
    )


def test_never_fits_and_all_are_busy_end_differently() -> None:
    lab = Lab(n1=4, n2=4, n3=2)
    lab.pod("big", 5)
    for number in range(10):
        lab.pod(f"one-{number}", 1)
    lab.pod("late", 1)

    assert lab.why("big") == insufficient(3, NOT_HELPFUL)
    assert lab.why("late") == insufficient(3, NO_VICTIMS)
    assert lab.events("late", "FailedScheduling") == [lab.why("late")]


UNTOLERATED = (
    "0/3 nodes are available: 3 node(s) had untolerated taint(s). no new claims to deallocate, "
    f"preemption: 0/3 nodes are available: {NOT_HELPFUL.format(3)}"
)


@pytest.mark.parametrize("switched_on", [True, False])
def test_gpu_pods_tolerate_the_taint_of_gpu_nodes_where_the_plugin_is_on(switched_on: bool) -> None:
    plugins = frozenset({"ExtendedResourceToleration"}) if switched_on else frozenset[str]()
    lab = Lab(plugins=plugins, n1=1, n2=1, n3=1)
    lab.pod("cpu1")
    lab.pod("g1", 1)

    toleration = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    assert lab.why("cpu1") == UNTOLERATED
    assert (toleration in lab.get("g1")["spec"]["tolerations"]) is switched_on
    assert bool(lab.where("g1")) is switched_on
    assert switched_on or lab.why("g1") == UNTOLERATED


PACKING: dict[str, tuple[str, list[str]]] = {
    "most allocated fills the small node first": ("MostAllocated", ["n3", "n1", "n2"]),
    "least allocated leaves no room for the last": ("LeastAllocated", ["n1", "n2", ""]),
}


def profile(strategy: str) -> Configuration:
    resources = [{"name": GPU, "weight": 10}, {"name": "cpu", "weight": 1}]
    fit = {"scoringStrategy": {"type": strategy, "resources": resources}}
    plugin = {"name": "NodeResourcesFit", "args": fit}
    return read_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "packing", "pluginConfig": [plugin]}],
        }
    )


@pytest.mark.parametrize(("strategy", "places"), PACKING.values(), ids=PACKING)
def test_a_profile_decides_whether_the_large_job_still_fits(
    strategy: str, places: list[str]
) -> None:
    lab = Lab(profile(strategy), n1=4, n2=4, n3=2)
    for name, gpus in (("a", 2), ("b", 4), ("c", 4)):
        lab.pod(name, gpus, schedulerName="packing")

    assert [lab.where(name) for name in "abc"] == places


VICTIMS: dict[str, tuple[list[tuple[str, int, str]], str, str]] = {
    "the largest pod goes when it was started last": (
        [("l1", 2, "n1"), ("l2", 2, "n1"), ("l3", 4, "n2")],
        "l3",
        "n2",
    ),
    "the small pod goes when it was started last": (
        [("l3", 4, "n2"), ("l1", 2, "n1"), ("l2", 2, "n1")],
        "l2",
        "n1",
    ),
}


@pytest.mark.parametrize(("before", "victim", "node"), VICTIMS.values(), ids=VICTIMS)
def test_who_is_evicted_is_decided_by_when_not_by_how_large(
    before: list[tuple[str, int, str]], victim: str, node: str
) -> None:
    lab = Lab(n1=4, n2=4)
    for name, value in (("low", 100), ("high", 1000)):
        lab.client.create(
            "priorityclasses.scheduling.k8s.io", {"metadata": {"name": name}, "value": value}
        )
    for name, gpus, pool in before:
        chosen = {"run.ai/simulated-gpu-node-pool": pool}
        lab.pod(name, gpus, priorityClassName="low", nodeSelector=chosen)
    lab.pod("h", 2, priorityClassName="high", wait=60)

    left = {pod["metadata"]["name"] for pod in lab.client.list("pods", "default")}
    assert {name for name, _, _ in before} - left == {victim}
    assert lab.where("h") == node
    assert lab.events(victim, "Preempted") != []


def test_an_init_container_counts_by_the_largest_moment() -> None:
    lab = Lab(n1=4)

    def container(name: str, gpus: int, **more: Any) -> Tree:
        limits = {GPU: str(gpus)}
        return {"name": name, "image": "x", "resources": {"limits": limits}, **more}

    inits = [container("i1", 3), container("side", 1, restartPolicy="Always")]
    apps = [container("c1", 1), container("c2", 1)]
    lab.client.create(
        "pods",
        {
            "metadata": {"name": "in1", "namespace": "default"},
            "spec": {"initContainers": inits, "containers": apps},
        },
    )
    lab.cluster.run(5)
    lab.pod("in2", 1)
    lab.pod("in3", 1)

    assert [lab.where(name) for name in ("in1", "in2", "in3")] == ["n1", "n1", ""]
    assert lab.why("in3") == insufficient(1, NO_VICTIMS)


def test_the_lesson_gives_its_numbers_every_time() -> None:
    lab = Lab()
    for name, count, gpus in (("a100", 2, 8), ("h100", 1, 8), ("l40s", 2, 4)):
        provide_pool(lab.client, PoolOrder(name=name, count=count, gpus=gpus))
    lab.cluster.run(2)
    lab.pod("solo", 1)
    lab.pod("sixteen", 16)
    container = {"name": "c", "image": "x", "resources": {"limits": {GPU: "1"}}}
    labels = {"app": "q"}
    lab.client.create(
        "deployments.apps",
        {
            "metadata": {"name": "q", "namespace": "default"},
            "spec": {
                "replicas": 40,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
    )
    lab.cluster.run(30)

    pods = lab.client.list("pods", "default")
    waiting = [
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"]["name"].startswith("q-") and pod["status"]["phase"] == "Pending"
    ]
    deployment = lab.client.get("deployments.apps", Key("default", "q"))
    assert deployment is not None
    assert deployment["status"]["readyReplicas"] == 31
    assert len(waiting) == 9
    assert {lab.why(name) for name in waiting} == {insufficient(5, NO_VICTIMS)}
    assert lab.why("sixteen") == insufficient(5, NOT_HELPFUL)
    ledger = take_ledger(lab.client.list("nodes"), pods)
    assert ledger.free == 0


def test_only_the_last_victims_end_is_news_for_whom_it_makes_room() -> None:
    lab = Lab(n1=4)
    for name, value in (("low", 5), ("high", 1000)):
        lab.client.create(
            "priorityclasses.scheduling.k8s.io", {"metadata": {"name": name}, "value": value}
        )
    lab.pod("quick", 2, priorityClassName="low", terminationGracePeriodSeconds=0)
    lab.pod("slow", 2, priorityClassName="low", terminationGracePeriodSeconds=30)
    slow = {"metadata": {"finalizers": ["example.com/slow"]}}
    lab.client.patch("pods", Key("default", "slow"), slow)
    lab.pod("urgent", 4, priorityClassName="high", wait=6)

    assert len(lab.events("urgent", "FailedScheduling")) == 1
    assert "No preemption victims" not in lab.why("urgent")

    lab.client.patch("pods", Key("default", "slow"), {"metadata": {"finalizers": None}})
    lab.cluster.run(30)
    assert lab.where("urgent") == "n1"
