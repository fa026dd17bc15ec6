"""Features that a pod needs of its node's kubelet."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import relieved, skips, verdict

from windtunnel.placement import What
from windtunnel.placement.rules.node_declared_features import NodeDeclaredFeatures

RULE = NodeDeclaredFeatures()
RESTART = "RestartAllContainersOnContainerExits"
MAPPED = "UserNamespacesHostNetworkSupport"
MADE = fleet(node("a", features=[RESTART]), node("b", features=[MAPPED, RESTART]), node("c"))


def _container(action: str) -> dict[str, Any]:
    exits = {"operator": "In", "values": [42]}
    rules = [{"action": action, "exitCodes": exits}]
    return {"name": "main", "restartPolicy": "Never", "restartPolicyRules": rules}


PLAIN = {"name": "main"}
WHOLE = _container("RestartAllContainers")
MAPPED_HOST = {"hostNetwork": True, "hostUsers": False}

NEEDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, []),
    "a rule that restarts only its container": ({"containers": [_container("Restart")]}, []),
    "a rule that restarts all": ({"containers": [WHOLE]}, [RESTART]),
    "such a rule before the start": (
        {"containers": [PLAIN], "initContainers": [WHOLE]}, [RESTART],
    ),
    "the host's network": ({"hostNetwork": True}, []),
    "the host's users and network": ({"hostNetwork": True, "hostUsers": True}, []),
    "users of its own": ({"hostUsers": False}, []),
    "users of its own on the host's network": (MAPPED_HOST, [MAPPED]),
    "both": ({"containers": [WHOLE], **MAPPED_HOST}, [RESTART, MAPPED]),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "want"), NEEDS.values(), ids=NEEDS)
def test_what_a_pod_needs(spec: dict[str, Any], want: list[str]) -> None:
    one = pod(**spec)

    assert one.shape.features == set(want)
    assert skips(RULE, one, MADE) is (not want)


def test_only_nodes_that_declare_all_of_it_pass() -> None:
    reason = "node(s) didn't match Pod's required features"

    assert verdict(RULE, pod(containers=[WHOLE]), MADE) == (
        [True, True, False], [reason], [False, False, True],
    )  # fmt: skip
    assert verdict(RULE, pod(containers=[WHOLE], **MAPPED_HOST), MADE)[0] == [False, True, False]


NEWS = {
    "a node came": (What.NODE_ADDED, True),
    "a node declares otherwise": (What.NODE_FEATURES, True),
    "taints changed: a node may have been out of sight": (What.NODE_TAINTS, True),
    "labels changed": (What.NODE_LABELS, False),
    "a pod left": (What.POD_GONE, False),
}


@pytest.mark.parametrize(("what", "want"), NEWS.values(), ids=NEWS)
def test_relieved(what: What, want: bool) -> None:
    assert relieved(RULE, pod(containers=[WHOLE]), MADE, what, node=node()) is want
