from __future__ import annotations

from typing import Any

import pytest

from windtunnel.kinds.pod.cells import pod_cells
from windtunnel.machinery.tree import Tree

NOW = 1_000_000.0


def pod(status: Tree, spec: Tree | None = None, **metadata: Any) -> Tree:
    whole = {"containers": [{"name": "c"}], **(spec or {})}
    return {"metadata": {"name": "p", **metadata}, "spec": whole, "status": status}


def main(state: Tree, **more: Any) -> Tree:
    return {"phase": "Running", "containerStatuses": [{"name": "c", "state": state, **more}]}


def init(*statuses: Tree) -> Tree:
    return {"phase": "Pending", "initContainerStatuses": list(statuses)}


ENDED = {"exitCode": 0, "reason": "Completed"}
SIDECAR = {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}
STATES = {
    "a new pod": (pod({"phase": "Pending"}), "0/1", "Pending"),
    "a running pod": (pod(main({"running": {}}, ready=True)), "1/1", "Running"),
    "a pod that waits for an image": (
        pod(main({"waiting": {"reason": "ImagePullBackOff"}})), "0/1", "ImagePullBackOff",
    ),
    "a gated pod": (
        pod({"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
        "0/1", "SchedulingGated",
    ),
    "an evicted pod": (pod({"phase": "Failed", "reason": "Evicted"}), "0/1", "Evicted"),
    "a finished pod": (
        pod({**main({"terminated": ENDED}), "phase": "Succeeded"}), "0/1", "Completed",
    ),
    "a killed container": (pod(main({"terminated": {"signal": 9}})), "0/1", "Signal:9"),
    "a failed container": (pod(main({"terminated": {"exitCode": 3}})), "0/1", "ExitCode:3"),
    "a first init container": (
        pod(init({"name": "i", "state": {"running": {}}}), {"initContainers": [{"name": "i"}]}),
        "0/1", "Init:0/1",
    ),
    "a crashing init container": (
        pod(init({"name": "i", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}),
            {"initContainers": [{"name": "i"}]}),
        "0/1", "Init:CrashLoopBackOff",
    ),
    "a failed init container": (
        pod(init({"name": "i", "state": {"terminated": {"exitCode": 2}}}),
            {"initContainers": [{"name": "i"}]}),
        "0/1", "Init:ExitCode:2",
    ),
    "a running sidecar": (
        pod({**init({"name": "i", "state": {"running": {}}, "started": True, "ready": True}),
             **main({"running": {}}, ready=True)}, SIDECAR),
        "2/2", "Running",
    ),
    "a pod being deleted": (
        pod(main({"running": {}}, ready=True), deletionTimestamp="2026-01-01T00:00:00Z"),
        "1/1", "Terminating",
    ),
    "a pod on a lost node": (
        pod({"phase": "Running", "reason": "NodeLost"}, deletionTimestamp="2026-01-01T00:00:00Z"),
        "0/1", "Unknown",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "ready", "reason"), STATES.values(), ids=STATES)
def test_one_word_stands_for_the_state(tree: Tree, ready: str, reason: str) -> None:
    assert pod_cells(tree, NOW)[1:3] == [ready, reason]


def test_restarts_say_when_the_last_one_was() -> None:
    last = {"terminated": {"finishedAt": "1970-01-12T13:45:30Z"}}
    tree = pod(main({"running": {}}, ready=True, restartCount=2, lastState=last))

    assert pod_cells(tree, NOW)[3] == "2 (70s ago)"
    assert pod_cells(pod({"phase": "Pending"}), NOW)[3] == "0"


def test_readiness_gates_are_counted() -> None:
    gates = {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]}
    status = {"phase": "Running", "conditions": [{"type": "a", "status": "True"}]}

    assert pod_cells(pod(status, gates), NOW)[8] == "1/2"
