"""Pods ask to be near other pods, or away from them; the others may ask the same.

Counts come from the fleet's tallies: who matches the pod's own terms, and which terms existing pods
carry. A term counts within the topology domain of its key.

Source: kube-scheduler v1.36, plugin InterPodAffinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from windtunnel.fleet import (
    AffinityTerm,
    Bools,
    FleetView,
    Ints,
    NamespaceLabels,
    PodQuery,
    PodView,
)
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.verdict import GO_ON, NOTHING_TO_DO, Entrance, Scope, Verdict

_AFFINITY = "node(s) didn't match pod affinity rules"
_OWN_ANTI = "node(s) didn't match pod anti-affinity rules"
_THEIR_ANTI = "node(s) didn't satisfy existing pods anti-affinity rules"


@dataclass(frozen=True, slots=True)
class InterPodAffinity:
    """Refuse nodes where required terms fail; rate the others by preferred ones."""

    hard_weight: int = 1
    """What an existing pod's required affinity for the pod counts in scores."""
    ignore_existing_preferences: bool = False

    name: ClassVar[str] = "InterPodAffinity"
    scope: ClassVar[Scope] = Scope.FLEET

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Nothing to do where neither the pod nor an existing pod demands anything."""
        shape = pod.shape
        if not view.any_carried and not shape.has_pod_terms:
            return NOTHING_TO_DO
        if shape.affinity or shape.anti_affinity or any(self._existing_anti(pod, view)):
            return GO_ON
        return NOTHING_TO_DO

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row: own affinity, own anti-affinity, then that of existing pods."""
        far = ~self._near_enough(pod, view)
        near = np.zeros(len(view), np.bool_)
        for term in pod.shape.anti_affinity:
            counts = view.whole.count(PodQuery((term.pods,)))
            near |= _in_domains(view, term.topology_key, counts) > 0
        near &= ~far
        unwelcome = np.zeros(len(view), np.bool_)
        for term, counts in self._existing_anti(pod, view):
            unwelcome |= _in_domains(view, term.topology_key, counts) > 0
        unwelcome &= ~(far | near)
        told = ((_AFFINITY, far), (_OWN_ANTI, near), (_THEIR_ANTI, unwelcome))
        return Verdict(
            ~(far | near | unwelcome), far, tuple(reason for reason in told if reason[1].any())
        )

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """Wanted pods came, unwanted ones went, or domains changed."""
        shape, before, after = pod.shape, relief.pod_before, relief.pod

        # The real scheduler does not look up labels of namespaces for this question.
        def attracts(other: PodView) -> bool:
            return _matches_all(shape.affinity, other, {})

        def repels(other: PodView) -> bool:
            return _matches_all(shape.anti_affinity, other, {})

        match relief.what:
            case What.POD_PLACED if after is not None:
                return attracts(after)
            case What.POD_LABELS if before is not None and after is not None:
                if after.key == pod.key:
                    return True
                return (attracts(after) and not attracts(before)) or (
                    repels(before) and not repels(after)
                )
            case What.POD_GONE if before is not None:
                return repels(before) or _matches_all(before.shape.anti_affinity, pod, {})
            case What.NODE_ADDED | What.NODE_LABELS:
                return _node_matters(pod, relief)
            case What.NODE_TAINTS:
                return True
            case _:
                return False

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Only where some existing pod is in a domain that a term means."""
        if not view.any_carried and not pod.shape.has_pod_terms:
            return False
        return any(
            (view.whole.label(term.topology_key).present & (counts > 0)).any()
            for term, counts, _ in self._weighted(pod, view)
        )

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Weights always tell nodes apart."""
        return None

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Sum weights over the pairs of each node, then stretch between least and most."""
        raw = np.zeros(len(view), np.int64)
        for term, counts, weight in self._weighted(pod, view):
            raw += weight * _in_domains(view, term.topology_key, counts)
        least, most = int(raw.min()), int(raw.max())
        if most == least:
            return np.zeros(len(view), np.int64)
        return (100.0 * ((raw - least) / (most - least))).astype(np.int64)

    def _near_enough(self, pod: PodView, view: FleetView) -> Bools:
        terms = pod.shape.affinity
        found = np.ones(len(view), np.bool_)
        if not terms:
            return found
        counts = view.whole.count(PodQuery(tuple(term.pods for term in terms)))
        keyed = np.ones(len(view), np.bool_)
        nowhere = True
        for term in terms:
            keyed &= view.label(term.topology_key).present
            found &= _in_domains(view, term.topology_key, counts) > 0
            nowhere &= not (view.whole.label(term.topology_key).present & (counts > 0)).any()
        # The first pod of a group that wants to be with its own kind may start anywhere.
        if nowhere and _matches_all(terms, pod, view.namespaces):
            return keyed
        return found & keyed

    def _existing_anti(self, pod: PodView, view: FleetView) -> Iterator[tuple[AffinityTerm, Ints]]:
        for term, counts in view.carried("anti_affinity").items():
            if _matches_any((term,), pod, view) and counts.any():
                yield term, counts

    def _weighted(self, pod: PodView, view: FleetView) -> Iterator[tuple[AffinityTerm, Ints, int]]:
        """Yield every term that counts: term, pods per row, weight of each."""
        shape = pod.shape
        prefers = shape.preferred_affinity or shape.preferred_anti_affinity
        for term in shape.preferred_affinity:
            yield term, view.whole.count(PodQuery((term.pods,))), term.weight
        for term in shape.preferred_anti_affinity:
            yield term, view.whole.count(PodQuery((term.pods,))), -term.weight
        if self.ignore_existing_preferences and not prefers:
            return
        if self.hard_weight > 0:
            for term, counts in view.carried("affinity").items():
                if _matches_any((term,), pod, view):
                    yield term, counts, self.hard_weight
        for term, counts in view.carried("preferred_affinity").items():
            if _matches_any((term,), pod, view):
                yield term, counts, term.weight
        for term, counts in view.carried("preferred_anti_affinity").items():
            if _matches_any((term,), pod, view):
                yield term, counts, -term.weight


def _in_domains(view: FleetView, key: str, counts: Ints) -> Ints:
    """Return for each row the sum of ``counts`` over its domain; 0 without the label."""
    return view.whole.label(key).totals(counts)[view.label(key).ids]


def _matches_any(terms: tuple[AffinityTerm, ...], other: PodView, view: FleetView) -> bool:
    shape = other.shape
    return any(term.pods.matches(shape.namespace, shape.labels, view.namespaces) for term in terms)


def _matches_all(
    terms: tuple[AffinityTerm, ...], other: PodView, namespaces: NamespaceLabels
) -> bool:
    shape = other.shape
    return bool(terms) and all(
        term.pods.matches(shape.namespace, shape.labels, namespaces) for term in terms
    )


def _node_matters(pod: PodView, relief: Relief) -> bool:
    before, node = relief.node_before, relief.node
    if node is None:
        return False
    wanted = [term.topology_key for term in pod.shape.affinity]
    unwanted = [term.topology_key for term in pod.shape.anti_affinity]
    if before is None:
        return bool(unwanted) or any(key in node.labels for key in wanted)
    moved = {key for key in wanted if key in node.labels} | set(unwanted)
    return any(node.labels.get(key) != before.labels.get(key) for key in moved)
