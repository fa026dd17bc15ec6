"""Terms about other pods: affinity terms, and the questions counted per node.

Both are hashable values: the fleet keeps one column of counts for each question that is asked.
Source: kube-scheduler v1.36, inter-pod affinity and topology spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windtunnel.machinery.selectors import NOTHING, LabelSelector, Requirement

NamespaceLabels = Mapping[str, Mapping[str, str]]
"""Labels of every known namespace, by name."""


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Whom a term means: pods of some namespaces with some labels."""

    namespaces: frozenset[str]
    """Namespaces by name; the owner's own where the term names none."""
    namespace_selector: LabelSelector
    """More namespaces, by label."""
    selector: LabelSelector

    def matches(
        self, namespace: str, labels: Mapping[str, str], namespaces: NamespaceLabels
    ) -> bool:
        """Say whether a pod with these labels in this namespace is meant."""
        if namespace not in self.namespaces and not (
            self.namespace_selector.matches(namespaces.get(namespace, {}))
        ):
            return False
        return self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A pod term within one topology domain; ``weight`` is 0 for required terms."""

    topology_key: str
    pods: PodTerm
    weight: int = 0


@dataclass(frozen=True, slots=True)
class PodQuery:
    """A question counted per node: how many pods match all of ``terms``?"""

    terms: tuple[PodTerm, ...]
    terminating: bool = True
    """Whether pods that are being deleted count."""


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One topology spread constraint of a pod, or a default one of a profile."""

    topology_key: str
    max_skew: int
    hard: bool
    selector: LabelSelector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def counted_in(self, namespace: str) -> PodQuery:
        """Return the question of which pods count; an empty selector counts none."""
        selector = NOTHING if self.selector.empty else self.selector
        term = PodTerm(frozenset({namespace}), NOTHING, selector)
        return PodQuery((term,), terminating=False)


def affinity_term(tree: Mapping[str, Any], namespace: str, weight: int = 0) -> AffinityTerm:
    """Return the term that a ``PodAffinityTerm`` of a pod in ``namespace`` means."""
    named = frozenset(tree.get("namespaces") or ())
    selector = tree.get("namespaceSelector")
    if not named and selector is None:
        named = frozenset({namespace})
    return AffinityTerm(
        tree.get("topologyKey", ""),
        PodTerm(
            named,
            LabelSelector.from_tree(selector),
            LabelSelector.from_tree(tree.get("labelSelector")),
        ),
        weight,
    )


def spread_constraint(tree: Mapping[str, Any], labels: Mapping[str, str]) -> SpreadConstraint:
    """Return the constraint that a ``TopologySpreadConstraint`` of a pod with ``labels`` means."""
    selector = LabelSelector.from_tree(tree.get("labelSelector"))
    keys = [key for key in tree.get("matchLabelKeys") or () if key in labels]
    if keys and not selector.selects_nothing:
        more = tuple(Requirement(key, "in", (labels[key],)) for key in keys)
        selector = LabelSelector((*selector.requirements, *more))
    return SpreadConstraint(
        tree.get("topologyKey", ""),
        tree.get("maxSkew", 1),
        tree.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        selector,
        tree.get("minDomains") or 1,
        tree.get("nodeAffinityPolicy", "Honor") == "Honor",
        tree.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )
