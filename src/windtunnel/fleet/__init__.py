"""The cluster as arrays, with nested what-if: what scheduler, queues, explain and audit look at."""

from windtunnel.fleet.arrays import Bools, Ints, Rows, distinct, numbered
from windtunnel.fleet.fleet import Fleet
from windtunnel.fleet.node import NodeFacts, read_changed_node, read_node
from windtunnel.fleet.node_terms import ANY_NODE, NodeChoice, NodeTerm, node_terms
from windtunnel.fleet.pod import PodReader, PodView
from windtunnel.fleet.pod_terms import (
    AffinityTerm,
    NamespaceLabels,
    PodQuery,
    PodTerm,
    SpreadConstraint,
    spread_constraint,
)
from windtunnel.fleet.ports import conflict
from windtunnel.fleet.requests import counts_as_scalar
from windtunnel.fleet.shape import Shape, preferred_node_terms
from windtunnel.fleet.taints import HARD, SOFT, UNSCHEDULABLE, untolerated
from windtunnel.fleet.touches import Mark
from windtunnel.fleet.view import FleetView

__all__ = [
    "ANY_NODE",
    "HARD",
    "SOFT",
    "UNSCHEDULABLE",
    "AffinityTerm",
    "Bools",
    "Fleet",
    "FleetView",
    "Ints",
    "Mark",
    "NamespaceLabels",
    "NodeChoice",
    "NodeFacts",
    "NodeTerm",
    "PodQuery",
    "PodReader",
    "PodTerm",
    "PodView",
    "Rows",
    "Shape",
    "SpreadConstraint",
    "conflict",
    "counts_as_scalar",
    "distinct",
    "node_terms",
    "numbered",
    "preferred_node_terms",
    "read_changed_node",
    "read_node",
    "spread_constraint",
    "untolerated",
]
