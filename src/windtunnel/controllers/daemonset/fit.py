"""Which nodes a DaemonSet's pods belong on, and which node a pod was made for.

Source: daemon-controller of Kubernetes v1.36. Room is not asked for: the pod is made in any case,
pinned to its node, and the scheduler says whether it fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from windtunnel.controllers.node.views import NodeView, Taint
from windtunnel.controllers.views import PodView, Toleration, template_of
from windtunnel.fleet import NodeChoice, node_terms
from windtunnel.kinds.rules.tolerations import tolerates
from windtunnel.machinery.selectors import requirement_of_tree
from windtunnel.machinery.tree import Tree, dig

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TAINTS: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
"""What every pod of a DaemonSet puts up with."""
_NETWORK: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a node's pod is to be made, and whether one that runs may stay."""

    run: bool
    stay: bool


NEITHER: Final = Fit(run=False, stay=False)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a template asks of a node."""

    node_name: str
    choice: NodeChoice
    tolerations: tuple[Toleration, ...]

    def judge(self, node: NodeView) -> Fit:
        """Judge one node."""
        name = node.metadata.name
        if self.node_name not in ("", name):
            return NEITHER
        if not self.choice.matches(name, node.metadata.labels):
            return NEITHER
        run = self._tolerates_all(node.spec.taints, ("NoSchedule", "NoExecute"))
        return Fit(run=run, stay=run or self._tolerates_all(node.spec.taints, ("NoExecute",)))

    def _tolerates_all(self, taints: Iterable[Taint], effects: tuple[str, ...]) -> bool:
        return all(
            any(tolerates(each, taint) for each in self.tolerations)
            for taint in taints
            if taint.effect in effects
        )


def needs_of(template: msgspec.Raw) -> Needs:
    """Return what a template asks of a node."""
    spec = template_of(template).get("spec") or {}
    selector = spec.get("nodeSelector") or {}
    return Needs(
        node_name=spec.get("nodeName") or "",
        choice=NodeChoice(
            tuple(
                requirement_of_tree({"key": key, "operator": "In", "values": [value]})
                for key, value in selector.items()
            ),
            node_terms(dig(spec, "affinity", "nodeAffinity", _REQUIRED)),
        ),
        tolerations=tuple(
            msgspec.convert(each, Toleration) for each in tolerations_of(spec)
        ),
    )  # fmt: skip


def tolerations_of(spec: Tree) -> list[Tree]:
    """Return the tolerations of a template's pods, those that all of them get included."""
    given: list[Tree] = list(spec.get("tolerations") or ())
    taints = (*_TAINTS, _NETWORK) if spec.get("hostNetwork") else _TAINTS
    for key, effect in taints:
        extra = {"key": key, "operator": "Exists", "effect": effect}
        same = [each for each in given if _covers_same(each, extra)]
        if same:
            given[given.index(same[0])] = extra
        else:
            given.append(extra)
    return given


def pin(spec: Tree, node: str) -> None:
    """Make a pod spec one for this node only; terms that were there are met already."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = spec.get("affinity") or {}
    node_affinity = affinity.get("nodeAffinity") or {}
    node_affinity[_REQUIRED] = {"nodeSelectorTerms": [term]}
    affinity["nodeAffinity"] = node_affinity
    spec["affinity"] = affinity


def node_of(pod: PodView) -> str:
    """Return the node that a pod is on or was made for; "" for none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    terms: Any = dig(pod.spec.affinity, "nodeAffinity", _REQUIRED) or {}
    for term in terms.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name" and len(field.get("values") or ()) == 1:
                name: str = field["values"][0]
                return name
    return ""


def _covers_same(left: Tree, right: Tree) -> bool:
    return all(
        (left.get(field) or "") == (right.get(field) or "")
        for field in ("key", "operator", "value", "effect")
    )
