"""What may have changed a waiting pod's luck: the news that the scheduling queue asks rules about.

Source: kube-scheduler v1.36, cluster events and queueing hints.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from windtunnel.fleet import NodeFacts, PodView


class What(Enum):
    """Kinds of news. A change of one node can be several of them, told one after the other."""

    NODE_ADDED = "node added"
    NODE_REMOVED = "node removed"
    NODE_ALLOCATABLE = "node allocatable changed"
    NODE_LABELS = "node labels changed"
    NODE_TAINTS = "node taints changed"
    NODE_FEATURES = "node declares other features"
    POD_PLACED = "a pod came onto a node"
    POD_LABELS = "a pod's labels changed"
    POD_SHRUNK = "a pod asks for less"
    POD_GONE = "a pod left its node, or gave up a claim on one"
    OWN_TOLERATIONS = "the waiting pod's tolerations changed"
    OWN_GATES = "the waiting pod's scheduling gates are gone"


NODE_NEWS: Final = frozenset({What.NODE_ADDED, What.NODE_TAINTS})
"""A rule that waits for new nodes is asked at every change of taints, too: the real scheduler may
have left a new node out of sight because of its taints."""


@dataclass(frozen=True, slots=True)
class Relief:
    """One piece of news, with what it was about before and after."""

    what: What
    node_before: NodeFacts | None = None
    node: NodeFacts | None = None
    pod_before: PodView | None = None
    pod: PodView | None = None


def node_reliefs(before: NodeFacts, after: NodeFacts) -> list[Relief]:
    """Return the news in a change of a node, in the order in which the scheduler tells them."""
    told = []
    if before.allocatable != after.allocatable or before.allowed_pods != after.allowed_pods:
        told.append(What.NODE_ALLOCATABLE)
    if before.labels != after.labels:
        told.append(What.NODE_LABELS)
    if before.taints != after.taints or (before.unschedulable and not after.unschedulable):
        told.append(What.NODE_TAINTS)
    if before.features != after.features:
        told.append(What.NODE_FEATURES)
    return [Relief(what, node_before=before, node=after) for what in told]
