from typing import Any

import pytest

from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.kinds.rules.quota_usage import matches_scopes, unstated, usage_of
from windtunnel.machinery.tree import Tree

KINDS = Catalogue(builtin_kinds())
PODS = KINDS.by_resource("pods")


def pod(phase: str = "Running", **spec: Any) -> Tree:
    limits = {"nvidia.com/gpu": "2", "cpu": "1"}
    containers = [{"name": "c", "resources": {"limits": limits, "requests": limits}}]
    return {"spec": {"containers": containers, **spec}, "status": {"phase": phase}}


USAGES: dict[str, tuple[str, Tree, dict[str, str]]] = {
    "a running pod": (
        "pods",
        pod(),
        {
            "count/pods": "1",
            "pods": "1",
            "cpu": "1",
            "requests.cpu": "1",
            "limits.cpu": "1",
            "requests.nvidia.com/gpu": "2",
        },
    ),
    "an ended pod": ("pods", pod("Failed"), {"count/pods": "1"}),
    "a node port": (
        "services",
        {"spec": {"type": "NodePort", "ports": [{}, {}]}},
        {"count/services": "1", "services": "1", "services.nodeports": "2"},
    ),
    "a claim of a class": (
        "persistentvolumeclaims",
        {"spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "2Gi"}}}},
        {
            "count/persistentvolumeclaims": "1",
            "persistentvolumeclaims": "1",
            "requests.storage": "2Gi",
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            "gold.storageclass.storage.k8s.io/requests.storage": "2Gi",
        },
    ),
    "anything else": ("jobs.batch", {}, {"count/jobs.batch": "1"}),
}


@pytest.mark.parametrize(("resource", "tree", "want"), USAGES.values(), ids=USAGES.keys())
def test_what_an_object_counts_for(resource: str, tree: Tree, want: dict[str, str]) -> None:
    usage = usage_of(KINDS.by_resource(resource), tree)

    assert {name: str(value) for name, value in usage.items()} == want


def priority(operator: str, *values: str) -> Tree:
    expression = {"scopeName": "PriorityClass", "operator": operator, "values": list(values)}
    return {"scopeSelector": {"matchExpressions": [expression]}}


SCOPES: dict[str, tuple[Tree, Tree, bool]] = {
    "no scopes": (pod(), {}, True),
    "with a deadline": (pod(activeDeadlineSeconds=5), {"scopes": ["Terminating"]}, True),
    "without a deadline": (pod(), {"scopes": ["Terminating"]}, False),
    "both must hold": (pod(), {"scopes": ["NotTerminating", "BestEffort"]}, False),
    "the class": (pod(priorityClassName="high"), priority("In", "high"), True),
    "another class": (pod(priorityClassName="low"), priority("In", "high"), False),
    "no class is not that class": (pod(), priority("NotIn", "high"), True),
}


@pytest.mark.parametrize(("tree", "spec", "want"), SCOPES.values(), ids=SCOPES.keys())
def test_which_pods_a_scope_looks_at(tree: Tree, spec: Tree, want: bool) -> None:
    assert matches_scopes(PODS, tree, spec) is want


def test_a_gpu_alone_is_best_effort() -> None:
    only_gpu = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}

    assert matches_scopes(PODS, only_gpu, {"scopes": ["BestEffort"]})


def test_a_scope_never_looks_at_anything_but_pods() -> None:
    assert not matches_scopes(KINDS.by_resource("services"), {}, {"scopes": ["BestEffort"]})


def test_what_is_not_stated_is_named() -> None:
    containers = [{"name": "b"}, {"name": "a", "resources": {"requests": {"cpu": "1"}}}]
    bare: Tree = {"spec": {"containers": containers}}

    assert (
        unstated(bare, {"cpu": "9", "limits.memory": "9"}) == "cpu for: b; limits.memory for: a,b"
    )
