"""Whether a pod fits the node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.admission import forbid, judge


def pod(name: str = "p", requests: Tree | None = None, port: int = 0, **spec: Any) -> Tree:
    container: Tree = {"name": "c", "resources": {"requests": requests or {}}}
    if port:
        container["ports"] = [{"containerPort": 80, "hostPort": port}]
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def node(**allocatable: str) -> Tree:
    given = {"cpu": "2", "memory": "1Gi", "pods": "2", **allocatable}
    return {
        "metadata": {"name": "n", "labels": {"zone": "a"}},
        "spec": {},
        "status": {"allocatable": given},
    }


def chosen(operator: str, *values: str, part: str = "matchExpressions", key: str = "zone") -> Tree:
    term = {part: [{"key": key, "operator": operator, "values": list(values)}]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


CONFINED = {"appArmorProfile": {"type": "RuntimeDefault"}}
UNENFORCED = "Cannot enforce AppArmor: AppArmor is not enabled on the host"
TAINT = [{"key": "k", "value": "v", "effect": "NoExecute"}]
SELECTOR = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
PORTS = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
TAINTED = "Predicate TaintToleration failed: node(s) had untolerated taint(s)"


@dataclass
class Case:
    pod: Tree
    reason: str = ""
    message: str = ""
    node: Tree = field(default_factory=node)
    others: list[Tree] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)


CASES = {
    "for another system": Case(
        pod(os={"name": "windows"}, nodeSelector={"zone": "b"}),
        "PodOSNotSupported",
        "Failed to admit pod as the OS field doesn't match node OS",
    ),
    "for this system": Case(pod(os={"name": "linux"})),
    "labelled for another system": Case(
        {**pod(), "metadata": {"name": "p", "labels": {"kubernetes.io/os": "windows"}}},
        "PodOSSelectorNodeLabelDoesNotMatch",
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ),
    "with groups that only newer runtimes can set": Case(
        pod(securityContext={"supplementalGroupsPolicy": "Strict"}),
        "SupplementalGroupsPolicyNotSupported",
        "SupplementalGroupsPolicy=Strict is not supported in this node",
    ),
    "with merged groups": Case(pod(securityContext={"supplementalGroupsPolicy": "Merge"})),
    "to be confined as a whole": Case(pod(securityContext=CONFINED), "AppArmor", UNENFORCED),
    "to be confined in part": Case(
        pod(initContainers=[{"name": "i", "securityContext": CONFINED}]), "AppArmor", UNENFORCED
    ),
    "not to be confined": Case(
        pod(securityContext={"appArmorProfile": {"type": "Unconfined"}}),
    ),
    "it fits": Case(pod(requests={"cpu": "2"})),
    "too much cpu, told in thousandths": Case(
        pod(requests={"cpu": "50"}),
        "OutOfcpu",
        "Node didn't have enough resource: cpu, requested: 50000, used: 0, capacity: 2000",
    ),
    "what others use counts": Case(
        pod(requests={"memory": "600Mi"}),
        "OutOfmemory",
        "Node didn't have enough resource: memory, requested: 629145600, used: 536870912, "
        "capacity: 1073741824",
        others=[pod(requests={"memory": "512Mi"})],
    ),
    "too many pods": Case(
        pod(),
        "OutOfpods",
        "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
        others=[pod(), pod()],
    ),
    "a resource that the node does not list is left out": Case(pod(requests={"a/b": "1"})),
    "a known resource without any device": Case(
        pod(requests={"a/b": "1"}),
        "OutOfa/b",
        "Node didn't have enough resource: a/b, requested: 1, used: 0, capacity: 0",
        node(**{"a/b": "0"}),
    ),
    "devices that were just given count as the node's": Case(
        pod(requests={"a/b": "2"}), node=node(**{"a/b": "0"}), held={"a/b": 2}
    ),
    "another label": Case(pod(nodeSelector={"zone": "b"}), "NodeAffinity", SELECTOR),
    "its label": Case(pod(nodeSelector={"zone": "a"})),
    "an affinity that fits": Case(pod(affinity=chosen("In", "a", "b"))),
    "an affinity that does not": Case(pod(affinity=chosen("NotIn", "a")), "NodeAffinity", SELECTOR),
    "its name": Case(pod(affinity=chosen("In", "n", part="matchFields", key="metadata.name"))),
    "a port that is taken": Case(pod(port=80), "NodePorts", PORTS, others=[pod(port=80)]),
    "a port that is free": Case(pod(port=81), others=[pod(port=80)]),
    "a taint": Case(pod(), "TaintToleration", TAINTED, {**node(), "spec": {"taints": TAINT}}),
    "a taint that it tolerates": Case(
        pod(tolerations=[{"key": "k", "operator": "Exists"}]),
        node={**node(), "spec": {"taints": TAINT}},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_judge(case: Case) -> None:
    refusal = judge(case.pod, case.node, case.others, case.held)

    told = (refusal.reason, refusal.message) if refusal is not None else ("", "")
    assert told == (case.reason, case.message)


def test_a_machine_that_can_confine_a_pod_takes_it() -> None:
    assert judge(pod(securityContext=CONFINED), node(), [], {}, app_armor=True) is None


SYSCTLS = {
    "none": ({}, ""),
    "a safe one": ({"net.ipv4.tcp_syncookies": "0"}, ""),
    "one that is written with slashes": ({"kernel/shm_rmid_forced": "1"}, ""),
    "one that nobody may set": ({"kernel.msgmax": "1"}, '"kernel.msgmax" not allowlisted'),
    "one of a network that is shared": (
        {"net.ipv4.tcp_rmem": "1", "hostNetwork": ""},
        '"net.ipv4.tcp_rmem" not allowed with host net enabled',
    ),
}


@pytest.mark.parametrize(("given", "why"), SYSCTLS.values(), ids=SYSCTLS)
def test_kernel_parameters_of_a_pod(given: dict[str, str], why: str) -> None:
    sysctls = [{"name": name, "value": value} for name, value in given.items() if value]
    refusal = forbid(pod(securityContext={"sysctls": sysctls}, hostNetwork="hostNetwork" in given))

    assert (refusal.message if refusal else "") == (why and f"forbidden sysctl: {why}")
    assert refusal is None or refusal.reason == "SysctlForbidden"
