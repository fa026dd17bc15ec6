"""Whether a container that has exited is started again."""

from __future__ import annotations

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.restart import Aftermath, after_exit

RULES: Tree = {
    "restartPolicyRules": [
        {"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}},
        {"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [4]}},
    ]
}

CASES = {
    "always, after success": ("Always", {}, 0, Aftermath.RESTART),
    "on failure, after success": ("OnFailure", {}, 0, Aftermath.STAY),
    "on failure, after a failure": ("OnFailure", {}, 1, Aftermath.RESTART),
    "never, after a failure": ("Never", {}, 1, Aftermath.STAY),
    "its own policy goes before the pod's": (
        "Never", {"restartPolicy": "Always"}, 0, Aftermath.RESTART,
    ),
    "the first rule that matches decides": ("Never", RULES, 3, Aftermath.RESTART),
    "a rule for all other codes": ("Never", RULES, 5, Aftermath.RESTART_ALL),
    "no rule matches": ("Never", RULES, 4, Aftermath.STAY),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "parts", "code", "want"), CASES.values(), ids=CASES.keys())
def test_an_app_container(policy: str, parts: Tree, code: int, want: Aftermath) -> None:
    container = {"name": "a", **parts}
    pod: Tree = {"metadata": {}, "spec": {"restartPolicy": policy, "containers": [container]}}

    assert after_exit(pod, container, code) is want


def test_an_init_container_of_a_pod_that_always_restarts_is_done_after_success() -> None:
    container = {"name": "i"}
    pod: Tree = {"metadata": {}, "spec": {"restartPolicy": "Always", "initContainers": [container]}}

    assert after_exit(pod, container, 0) is Aftermath.STAY
    assert after_exit(pod, container, 1) is Aftermath.RESTART


def test_nothing_of_a_deleted_pod_starts_again() -> None:
    container = {"name": "a"}
    pod: Tree = {"metadata": {"deletionTimestamp": "x"}, "spec": {"containers": [container]}}

    assert after_exit(pod, container, 1) is Aftermath.STAY
