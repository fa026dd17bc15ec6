"""Where a pod may go, and where it should: rules over fleet views, and what they say together.

Scheduler, queues, explain and audit ask the same code. A rule judges all nodes at once; its words
and codes are kube-scheduler's (v1.36). The rules are in ``rules``, the search over all nodes in
``search``.
"""

from windtunnel.placement.judgement import Judgement, Refusal
from windtunnel.placement.plugins import PLUGINS, POINTS, Plugin, make_rules
from windtunnel.placement.relief import NODE_NEWS, Relief, What, node_reliefs
from windtunnel.placement.rule import Filter, RowScore, RuleSet, SetScore, normalised
from windtunnel.placement.verdict import (
    GO_ON,
    NOTHING_TO_DO,
    Code,
    Entrance,
    Scope,
    Verdict,
    refuse,
)

__all__ = [
    "GO_ON",
    "NODE_NEWS",
    "NOTHING_TO_DO",
    "PLUGINS",
    "POINTS",
    "Code",
    "Entrance",
    "Filter",
    "Judgement",
    "Plugin",
    "Refusal",
    "Relief",
    "RowScore",
    "RuleSet",
    "Scope",
    "SetScore",
    "Verdict",
    "What",
    "make_rules",
    "node_reliefs",
    "normalised",
    "refuse",
]
