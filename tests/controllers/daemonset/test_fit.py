from typing import Any

import msgspec
import pytest

from windtunnel.controllers.daemonset.fit import Fit, needs_of, node_of, pin, tolerations_of
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.views import PodView
from windtunnel.machinery.change import ViewReader
from windtunnel.machinery.tree import Tree, encode

YES, NO, STAYS = Fit(run=True, stay=True), Fit(run=False, stay=False), Fit(run=False, stay=True)


def node(*taints: tuple[str, str], name: str = "n1", **labels: str) -> NodeView:
    trees = [{"key": key, "effect": effect} for key, effect in taints]
    tree = {"metadata": {"name": name, "labels": labels}, "spec": {"taints": trees}}
    return msgspec.convert(tree, NodeView)


def affinity(*terms: Tree) -> Tree:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


NAMED = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
FITS: dict[str, tuple[dict[str, Any], NodeView, Fit]] = {
    "any node will do": ({}, node(), YES),
    "another node by name": ({"nodeName": "n2"}, node(), NO),
    "the node by name": ({"nodeName": "n1"}, node(), YES),
    "a label that it has": ({"nodeSelector": {"gpu": "yes"}}, node(gpu="yes"), YES),
    "a label that it lacks": ({"nodeSelector": {"gpu": "yes"}}, node(), NO),
    "affinity to its name": ({"affinity": affinity(NAMED)}, node(), YES),
    "affinity to another name": ({"affinity": affinity(NAMED)}, node(name="n2"), NO),
    "a taint against new pods": ({}, node(("a", "NoSchedule")), STAYS),
    "a taint against all pods": ({}, node(("a", "NoExecute")), NO),
    "a taint that only advises": ({}, node(("a", "PreferNoSchedule")), YES),
    "a taint it tolerates": (
        {"tolerations": [{"key": "a", "operator": "Exists"}]}, node(("a", "NoExecute")), YES
    ),
    "a node that is not ready": (
        {}, node(("node.kubernetes.io/not-ready", "NoExecute"),
                 ("node.kubernetes.io/unschedulable", "NoSchedule")), YES
    ),
    "a node without network": (
        {}, node(("node.kubernetes.io/network-unavailable", "NoSchedule")), STAYS
    ),
    "a node without network, on the host's": (
        {"hostNetwork": True}, node(("node.kubernetes.io/network-unavailable", "NoSchedule")), YES
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "where", "want"), FITS.values(), ids=FITS)
def test_fit(spec: dict[str, Any], where: NodeView, want: Fit) -> None:
    assert needs_of(msgspec.Raw(encode({"spec": spec}))).judge(where) == want


def test_a_toleration_that_is_there_is_not_added_again() -> None:
    extra = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}

    found = tolerations_of({"tolerations": [{"key": "a", "operator": "Exists"}, dict(extra)]})

    assert found.count(extra) == 1
    assert [each["key"] for each in found[:3]] == [
        "a", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
    ]  # fmt: skip


def test_a_pinned_pod_says_which_node_it_is_for() -> None:
    spec: Tree = {"affinity": {"nodeAffinity": {"preferred": []}, "podAffinity": {"x": 1}}}
    pin(spec, "n7")

    read: ViewReader[PodView] = ViewReader(PodView)
    pod = read.decode(encode({"metadata": {"name": "p"}, "spec": spec}))

    assert node_of(pod) == "n7"
    assert spec["affinity"]["podAffinity"] == {"x": 1}
    assert node_of(msgspec.convert({"metadata": {"name": "p"}}, PodView)) == ""
