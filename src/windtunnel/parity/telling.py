"""What the recording tells about an attempt, told of ours in the same words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from windtunnel.machinery.tree import Key, Tree
from windtunnel.placement.search import Decision, RefusedNodes
from windtunnel.scheduler import Attempt, Note, Preemption


def told_event(key: Key, note: Note) -> Tree:
    """Return one event as the recording writes it."""
    return {
        "object": str(key),
        "type": note.type,
        "reason": note.reason,
        "action": note.action,
        "note": note.text,
    }


def _grouped(refused: Iterable[RefusedNodes]) -> list[Tree]:
    groups = [
        {
            "code": one.refusal.code.value,
            "plugin": one.refusal.plugin,
            "reasons": list(one.refusal.reasons),
            "nodes": sorted(one.nodes),
        }
        for one in refused
    ]
    return sorted(groups, key=lambda group: group["nodes"][0])


def told(attempt: Attempt) -> Tree:
    """Return what the recording tells about an attempt, before it is carried out."""
    decision = attempt.decision
    assert decision is not None
    result = _told_search(decision)
    if decision.node:
        return result
    result["condition"] = {"reason": "Unschedulable", "message": attempt.message}
    if decision.rejectors:
        result["unschedulablePlugins"] = sorted(decision.rejectors)
    if attempt.preemption is not None:
        result["preemption"] = _told_preemption(attempt.preemption)
    return result


def _told_search(decision: Decision) -> Tree:
    result: Tree = {"outcome": "scheduled" if decision.node else "unschedulable"}
    gate = decision.gate
    if decision.nodes:
        said: dict[str, Any] = {
            "code": gate.code.value,
            "plugin": gate.plugin,
            "reasons": list(gate.reasons),
            "nodeNames": list(gate.names or ()),
            "restrictingPlugins": list(gate.restricting),
        }
        result["preFilter"] = {name: value for name, value in said.items() if value}
    if decision.nominated_tried:
        result["nominatedNodeTriedFirst"] = decision.nominated_tried
    if decision.refused:
        result["filter"] = _grouped(decision.refused)
    if decision.scores is not None:
        scores = decision.scores
        best = max(scores.total)
        result["scores"] = {
            "nodes": list(scores.nodes),
            "plugins": {name: list(row) for name, row in scores.plugins.items()},
            "total": list(scores.total),
        }
        pairs = zip(scores.nodes, scores.total, strict=True)
        result["top"] = sorted(node for node, total in pairs if total == best)
        result["naturalChoice"] = decision.node
    elif decision.found:
        looked_at = [*decision.found, decision.surplus] if decision.surplus else decision.found
        result["feasible"] = list(looked_at)
    return result


def _told_preemption(preemption: Preemption) -> Tree:
    made: Tree = {
        "code": preemption.code.value,
        "message": preemption.message,
        "nominatedNode": preemption.nominated,
    }
    if preemption.chosen is not None:
        made["victims"] = [str(one.key) for one in preemption.chosen.victims]
    if preemption.candidates:
        made["candidates"] = [
            {
                "node": one.node,
                "victims": [str(victim.key) for victim in one.victims],
                "pdbViolations": one.violations,
            }
            for one in sorted(preemption.candidates, key=lambda one: one.node)
        ]
        made["bestTies"] = list(preemption.ties)
    if preemption.refused:
        made["rejected"] = _grouped(preemption.refused)
    return made
