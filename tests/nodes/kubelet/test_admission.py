"""Whether a pod fits the node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.admission import judge


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
