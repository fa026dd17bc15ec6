"""What users reported of fake GPUs, replayed on a whole cluster with node and operator."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import Home, Kubectl

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

Up = Callable[..., Home]
GPU = "nvidia.com/gpu"
POOL = "run.ai/simulated-gpu-node-pool"
OPERATOR = ("-n", "gpu-operator")
A100 = "gpuProduct: NVIDIA-A100-SXM4-80GB, gpuCount: 8, gpuMemory: 81920"
CUT = (
    "mig: [{devices: [0], mig-enabled: true, mig-devices: {2g.20gb: 3, 1g.10gb: 1}},"
    " {devices: [1], mig-enabled: true, mig-devices: {4g.40gb: 1, 3g.40gb: 1}}]"
)
PATIENCE_SECONDS = 60.0


class Lab:
    """A cluster, and questions that are asked until the answer is right."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl
        self._never = threading.Event()

    def until(self, ask: Callable[[], Any], want: Any, seconds: float = PATIENCE_SECONDS) -> float:
        """Return how long it took."""
        begun = time.monotonic()
        while (got := ask()) != want:
            assert time.monotonic() - begun < seconds, f"wanted {want}, got {got}"
            self._never.wait(0.1)
        return time.monotonic() - begun

    def node(self) -> Any:
        return json.loads(self.kubectl("get", "node", "node-0", "-o", "json"))

    def gpus(self, of: str = "allocatable") -> dict[str, str]:
        found = self.node()["status"][of].items()
        return {name: count for name, count in found if name.startswith("nvidia.com/")}

    def labels(self, *names: str) -> list[str]:
        labels = self.node()["metadata"]["labels"]
        return [labels.get(name, "") for name in names]

    def pod(self, name: str, resource: str = GPU, count: int = 1) -> None:
        container = {
            "name": "c",
            "image": "busybox",
            "command": ["sleep", "3600"],
            "resources": {"limits": {resource: str(count)}},
        }
        spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
        tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(tree))

    def status(self, name: str) -> Any:
        return json.loads(self.kubectl("get", "pod", name, "-o", "json"))["status"]

    def phase(self, name: str) -> Callable[[], str]:
        return lambda: str(self.status(name)["phase"])

    def why(self, name: str) -> str:
        conditions = self.status(name).get("conditions", ())
        found = [one for one in conditions if one["type"] == "PodScheduled"]
        return str(found[0].get("message", "")).partition(". ")[0] if found else ""

    def pools(self, pool: str, more: str = "") -> None:
        """Replace the document of pools."""
        text = f"nodePools:\n  default: {{{pool}}}\nnodePoolLabelKey: {POOL}\n{more}"
        patch = json.dumps({"data": {"topology.yml": text}})
        self.kubectl("patch", "configmap", "topology", *OPERATOR, "--type=merge", "-p", patch)

    def told(self, kind: str, reason: str) -> list[str]:
        events = json.loads(self.kubectl("get", "events", "-A", "-o", "json"))["items"]
        return [
            event["message"]
            for event in events
            if (event["involvedObject"]["kind"], event["reason"]) == (kind, reason)
        ]


@pytest.fixture
def lab(up: Up, kubectl: Kubectl) -> Lab:
    up("--ephemeral", "--port", "0", kubelet=True)
    made = Lab(kubectl)
    kubectl("wait", "--for=create", "node/node-0", "--timeout=60s")
    made.until(lambda: made.gpus(), {GPU: "2"})
    return made


def test_gpus_that_are_shared_live(lab: Lab) -> None:
    shares = (
        "sharing: {timeSlicing: {failRequestsGreaterThanOne: true,"
        " resources: [{name: nvidia.com/gpu, replicas: 10}]}}"
    )
    one = "gpuProduct: NVIDIA-A100-SXM4-80GB, gpuCount: 1, gpuMemory: 81920"
    lab.pools(f"{one}, {shares}")
    lab.until(lambda: lab.gpus(), {GPU: "10"})
    lab.until(
        lambda: lab.labels(f"{GPU}.product", f"{GPU}.replicas", f"{GPU}.sharing-strategy"),
        ["NVIDIA-A100-SXM4-80GB-SHARED", "10", "time-slicing"],
    )

    lab.pod("two", count=2)
    lab.until(lab.phase("two"), "Failed")
    assert lab.status("two")["reason"] == "UnexpectedAdmissionError"
    assert lab.status("two")["message"] == (
        "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = request for "
        '"nvidia.com/gpu": invalid request: maximum request size for shared resources is 1; '
        "found 2, which is unexpected"
    )

    lab.pools(f"{one}, {shares.replace('true', 'false').replace('10', '8')}")
    lab.until(lambda: lab.gpus(), {GPU: "8"})
    lab.pod("again", count=2)
    lab.until(lab.phase("again"), "Running")


def test_gpus_that_are_cut_live(lab: Lab) -> None:
    lab.pools(f"{A100}, {CUT}", "migStrategy: mixed\n")
    lab.until(
        lambda: lab.gpus(),
        {
            GPU: "6",
            "nvidia.com/mig-1g.10gb": "1",
            "nvidia.com/mig-2g.20gb": "3",
            "nvidia.com/mig-3g.40gb": "1",
            "nvidia.com/mig-4g.40gb": "1",
        },
    )
    lab.pod("whole")
    lab.pod("slice", "nvidia.com/mig-2g.20gb")
    lab.pod("seven", count=7)
    lab.pod("unknown", "nvidia.com/mig-1g.5gb")

    lab.until(lab.phase("whole"), "Running")
    lab.until(lab.phase("slice"), "Running")
    lab.until(lambda: lab.why("seven"), f"0/1 nodes are available: 1 Insufficient {GPU}")
    words = "0/1 nodes are available: 1 Insufficient nvidia.com/mig-1g.5gb"
    lab.until(lambda: lab.why("unknown"), words)
    lab.until(
        lambda: lab.labels(
            "nvidia.com/mig.strategy", f"{GPU}.count", "nvidia.com/mig-2g.20gb.count"
        ),
        ["mixed", "8", "3"],
    )
    listed = lab.kubectl("exec", "slice", "--", "nvidia-smi", "-L").splitlines()
    assert len(listed) == 2
    assert listed[1].startswith("  MIG 2g.20gb      Device  0: (UUID: MIG-")

    lab.pools(f"{A100}, mig: [{{mig-devices: {{4g.40gb: 2}}}}]", "migStrategy: mixed\n")
    lab.until(lambda: bool(lab.told("Node", "BrokenPool")), True)
    assert "2 x 4g.40gb do not fit into one" in lab.told("Node", "BrokenPool")[0]
    assert lab.gpus()["nvidia.com/mig-2g.20gb"] == "3"


def test_a_gpu_that_falls_ill_and_recovers(lab: Lab) -> None:
    lab.pod("u1")
    lab.until(lab.phase("u1"), "Running")
    (held,) = lab.status("u1")["containerStatuses"][0]["allocatedResourcesStatus"]
    ill = held["resources"][0]["resourceID"]

    def document() -> str:
        tree = json.loads(lab.kubectl("get", "cm", "topology-node-0", *OPERATOR, "-o", "json"))
        return str(tree["data"]["topology.yml"])

    def write(text: str) -> None:
        patch = json.dumps({"data": {"topology.yml": text}})
        name = "topology-node-0"
        lab.kubectl("patch", "configmap", name, *OPERATOR, "--type=merge", "-p", patch)

    write(document().replace(f"- id: {ill}\n", f"- id: {ill}\n      fault: XID 79\n"))
    lab.until(lambda: lab.gpus(), {GPU: "1"})
    assert lab.gpus("capacity") == {GPU: "2"}

    lab.pod("u2")
    lab.until(lambda: lab.why("u2"), f"0/1 nodes are available: 1 Insufficient {GPU}")
    assert lab.phase("u1")() == "Running"
    health = lab.status("u1")["containerStatuses"][0]["allocatedResourcesStatus"]
    assert health == [{"name": GPU, "resources": [{"resourceID": ill, "health": "Unhealthy"}]}]

    text = document()
    assert "fault: XID 79" in text
    write(text.replace("      fault: XID 79\n", ""))
    assert lab.until(lab.phase("u2"), "Running") < 5


def test_a_node_that_nobody_labelled(lab: Lab) -> None:
    lab.kubectl("label", "node", "node-0", f"{POOL}-")
    lab.until(lambda: lab.gpus().get(GPU, "0"), "0")
    lab.pod("sample")
    lab.until(lambda: lab.why("sample"), f"0/1 nodes are available: 1 Insufficient {GPU}")

    lab.kubectl("label", "node", "node-0", f"{POOL}=missing")
    lab.until(lambda: bool(lab.told("Node", "UnknownPool")), True)
    assert lab.told("Node", "UnknownPool") == [
        "no GPUs for node node-0: nodepool missing not found in cluster topology; "
        "known are: default"
    ]
    assert lab.gpus().get(GPU, "0") == "0"

    lab.kubectl("label", "node", "node-0", f"{POOL}=default", "--overwrite")
    assert lab.until(lab.phase("sample"), "Running") < 30
    assert lab.labels(f"{GPU}.product", f"{GPU}.count", f"{GPU}.present") == [
        "Tesla-K80",
        "2",
        "true",
    ]


def test_a_node_that_asks_to_be_cut(lab: Lab) -> None:
    lab.pools(A100, "migStrategy: mixed\n")
    lab.until(lambda: lab.gpus(), {GPU: "8"})
    lab.until(lambda: lab.labels(f"{GPU}.product"), ["NVIDIA-A100-SXM4-80GB"])
    wishes = {"mig-devices": [{"name": "3g.40gb", "position": 0, "size": 4}]}
    entry = {"devices": ["0"], "mig-enabled": True, **wishes}
    config = json.dumps({"version": "v1", "mig-configs": {"selected": [entry]}})

    lab.kubectl("label", "node", "node-0", "node-role.kubernetes.io/runai-dynamic-mig=true")
    lab.kubectl("annotate", "node", "node-0", f"run.ai/mig.config={config}")

    lab.until(lambda: lab.gpus(), {GPU: "7", "nvidia.com/mig-3g.40gb": "1"})
    assert lab.labels("nvidia.com/mig.config.state") == ["success"]
    lab.pod("slice", "nvidia.com/mig-3g.40gb")
    lab.until(lab.phase("slice"), "Running")
