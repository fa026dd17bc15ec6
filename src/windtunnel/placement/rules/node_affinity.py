"""Pods choose nodes by label and name; a profile may choose for all its pods.

Source: kube-scheduler v1.36, plugin NodeAffinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from windtunnel.fleet import ANY_NODE, FleetView, Ints, NodeChoice, NodeTerm, PodView
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.rule import normalised
from windtunnel.placement.verdict import GO_ON, NOTHING_TO_DO, Code, Entrance, Scope, Verdict

_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
_CHOSEN = "node(s) didn't match Pod's node affinity/selector"
_CONFLICT = "pod affinity terms conflict"


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """Refuse nodes that the pod did not choose; prefer those it would like."""

    enforced: NodeChoice = ANY_NODE
    """``addedAffinity``, the required part."""
    preferred: tuple[tuple[int, NodeTerm], ...] = ()
    """``addedAffinity``, the preferred part."""

    name: ClassVar[str] = "NodeAffinity"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Name the only nodes that can match where every term pins names."""
        choice = pod.shape.node_choice
        if choice.free and self.enforced.free:
            return NOTHING_TO_DO
        if not choice.terms:
            return GO_ON
        names: frozenset[str] = frozenset()
        for term in choice.terms:
            pinned = term.pinned_names()
            if pinned is None:
                return GO_ON
            names |= pinned
        if not names:
            return Entrance(Code.UNRESOLVABLE, (_CONFLICT,))
        return Entrance(names=names)

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row; what the profile enforces is told first."""
        barred = ~view.chosen(self.enforced)
        unchosen = ~view.chosen(pod.shape.node_choice) & ~barred
        refused = barred | unchosen
        told = ((_ENFORCED, barred), (_CHOSEN, unchosen))
        return Verdict(~refused, refused, tuple(one for one in told if one[1].any()))

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node came or was relabelled, and now matches."""
        node, before = relief.node, relief.node_before
        if relief.what is What.NODE_TAINTS:
            return True
        if relief.what not in (What.NODE_ADDED, What.NODE_LABELS) or node is None:
            return False
        choice = pod.shape.node_choice
        return (
            self.enforced.matches(node.name, node.labels)
            and choice.matches(node.name, node.labels)
            and (before is None or not choice.matches(before.name, before.labels))
        )

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Only where somebody prefers something."""
        return bool(self.preferred or pod.shape.preferred_nodes)

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Preferences always tell nodes apart."""
        return None

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Add the weights of matching preferences."""
        raw = np.zeros(len(view), np.int64)
        for weight, term in (*self.preferred, *pod.shape.preferred_nodes):
            raw += weight * view.matching(term)
        return normalised(raw)
