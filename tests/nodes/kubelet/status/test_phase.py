"""The phase of a pod, told from the states of its containers."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.status.phase import phase_of

RUNS: Tree = {"state": {"running": {}}, "started": True}
NOT_STARTED: Tree = {"state": {"running": {}}, "started": False}
WAITS: Tree = {"state": {"waiting": {}}}
DONE: Tree = {"state": {"terminated": {"exitCode": 0}}}
FAILED: Tree = {"state": {"terminated": {"exitCode": 1}}}
WAITS_AGAIN: Tree = {"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}}


@dataclass
class Case:
    statuses: dict[str, Tree]
    want: str
    policy: str = "Always"
    ended: bool = False
    begun: bool = False
    init: list[Tree] = field(default_factory=list)


SETUP: list[Tree] = [{"name": "i"}]
SIDE: list[Tree] = [{"name": "i", "restartPolicy": "Always"}]
CASES = {
    "nothing known": Case({}, "Pending"),
    "waiting": Case({"a": WAITS}, "Pending"),
    "running": Case({"a": RUNS}, "Running"),
    "one still waits": Case({"a": RUNS, "b": WAITS}, "Pending"),
    "coming back": Case({"a": FAILED}, "Running"),
    "waiting to come back": Case({"a": WAITS_AGAIN}, "Running"),
    "done, and always restarted": Case({"a": DONE}, "Running"),
    "done for good": Case({"a": DONE}, "Succeeded", policy="OnFailure"),
    "failed for good": Case({"a": FAILED}, "Failed", policy="Never"),
    "failed beside one that is done": Case({"a": DONE, "b": FAILED}, "Failed", policy="Never"),
    "failed beside one that runs": Case({"a": RUNS, "b": FAILED}, "Running", policy="Never"),
    "ended, all of them well": Case({"a": DONE}, "Succeeded", ended=True),
    "ended while it would have come back": Case({"a": FAILED}, "Failed", ended=True),
    "its init container runs": Case({"i": RUNS, "a": WAITS}, "Pending", init=SETUP),
    "its init container failed for good": Case(
        {"i": FAILED, "a": WAITS}, "Failed", policy="Never", init=SETUP
    ),
    "its init container is tried again": Case({"i": FAILED, "a": WAITS}, "Pending", init=SETUP),
    "its sidecar has not started": Case({"i": NOT_STARTED, "a": WAITS}, "Pending", init=SIDE),
    "its sidecar runs beside it": Case({"i": RUNS, "a": RUNS}, "Running", init=SIDE),
    "its sidecar starts again": Case(
        {"i": NOT_STARTED, "a": RUNS}, "Running", init=SIDE, begun=True
    ),
    "only its sidecar still runs": Case(
        {"i": RUNS, "a": DONE}, "Running", policy="Never", init=SIDE, begun=True
    ),
    "its sidecar's end does not count": Case(
        {"i": FAILED, "a": DONE}, "Succeeded", policy="Never", init=SIDE, begun=True
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_phase(case: Case) -> None:
    names = [name for name in case.statuses if name != "i"] or ["a"]
    pod: Tree = {
        "metadata": {},
        "spec": {
            "restartPolicy": case.policy,
            "initContainers": case.init,
            "containers": [{"name": name} for name in names],
        },
    }

    assert phase_of(pod, case.statuses, ended=case.ended, begun=case.begun) == case.want
