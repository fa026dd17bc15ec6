"""The cluster as arrays, with nested what-if: what scheduler, queues, explain and audit look at."""

from windtunnel.fleet.fleet import Fleet, Mark
from windtunnel.fleet.node import NodeFacts, read_node, read_node_tree
from windtunnel.fleet.node_terms import ANY_NODE, NodeChoice, NodeTerm, node_terms
from windtunnel.fleet.pod import PodReader, PodView
from windtunnel.fleet.pod_terms import (
    AffinityTerm,
    NamespaceLabels,
    PodQuery,
    PodTerm,
    SpreadConstraint,
)
from windtunnel.fleet.ports import conflict
from windtunnel.fleet.relief import NODE_NEWS, Relief, What, node_reliefs
from windtunnel.fleet.requests import counts_as_scalar
from windtunnel.fleet.rule import Filter, RowScore, SetScore, normalised
from windtunnel.fleet.shape import Shape, preferred_node_terms
from windtunnel.fleet.taints import HARD, SOFT, UNSCHEDULABLE, untolerated
from windtunnel.fleet.verdict import (
    GO_ON,
    NOTHING_TO_DO,
    Admission,
    Bools,
    Code,
    Ints,
    Rows,
    Scope,
    Verdict,
    refuse,
)
from windtunnel.fleet.view import FleetView

__all__ = [
    "ANY_NODE",
    "GO_ON",
    "HARD",
    "NODE_NEWS",
    "NOTHING_TO_DO",
    "SOFT",
    "UNSCHEDULABLE",
    "Admission",
    "AffinityTerm",
    "Bools",
    "Code",
    "Filter",
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
    "Relief",
    "RowScore",
    "Rows",
    "Scope",
    "SetScore",
    "Shape",
    "SpreadConstraint",
    "Verdict",
    "What",
    "conflict",
    "counts_as_scalar",
    "node_reliefs",
    "node_terms",
    "normalised",
    "preferred_node_terms",
    "read_node",
    "read_node_tree",
    "refuse",
    "untolerated",
]
