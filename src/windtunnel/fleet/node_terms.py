"""Node selectors: which nodes a pod names by label or by name.

A selector is an OR of terms, a term an AND of requirements; a term without any matches nothing.
Source: kube-scheduler v1.36, node affinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from windtunnel.machinery.selectors import Requirement, requirement_of_tree


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """Requirements that hold together; ``names`` are those on ``metadata.name``."""

    labels: tuple[Requirement, ...] = ()
    names: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        """True where nothing is required: such a term matches no node."""
        return not self.labels and not self.names

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Say whether one node meets all requirements."""
        if self.empty:
            return False
        return all(one.matches(labels) for one in self.labels) and all(
            one.matches({"metadata.name": name}) for one in self.names
        )

    def pinned_names(self) -> frozenset[str] | None:
        """Return the only names that can match, or None where names are not pinned by ``In``."""
        pinned: frozenset[str] | None = None
        for one in self.names:
            if one.operator == "in":
                named = frozenset(one.values)
                pinned = named if pinned is None else pinned & named
        return pinned


NodeTerms = tuple[NodeTerm, ...]


def node_term(tree: Mapping[str, Any]) -> NodeTerm:
    """Return the term that a ``NodeSelectorTerm`` object means."""
    return NodeTerm(
        tuple(requirement_of_tree(one) for one in tree.get("matchExpressions") or ()),
        tuple(requirement_of_tree(one) for one in tree.get("matchFields") or ()),
    )


def node_terms(tree: Mapping[str, Any] | None) -> NodeTerms | None:
    """Return the terms of a ``NodeSelector`` object; None where there is none."""
    if tree is None:
        return None
    return tuple(node_term(term) for term in tree.get("nodeSelectorTerms") or ())


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """What a pod demands of its node: ``spec.nodeSelector`` and required node affinity."""

    selector: tuple[Requirement, ...] = ()
    terms: NodeTerms | None = None

    @property
    def free(self) -> bool:
        """True where every node will do."""
        return not self.selector and self.terms is None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Say whether one node is among the chosen."""
        if not all(one.matches(labels) for one in self.selector):
            return False
        return self.terms is None or any(term.matches(name, labels) for term in self.terms)


ANY_NODE: Final = NodeChoice()
