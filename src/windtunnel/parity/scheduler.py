"""Replays recorded scheduling scenarios (kube-scheduler v1.36.3) through our engine.

A scenario is objects and steps; every step's result is emitted in the recording's own format, so
that the comparer beside the recordings can judge it. The replay plays the API server's part: it
admits pods, binds them, and deletes victims at once or gracefully, as the scenario says.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final

from windtunnel.fleet import PodView
from windtunnel.kernel import VirtualClock
from windtunnel.kinds.served.kind import Context, Kind
from windtunnel.kinds.served.registry import builtin_kinds
from windtunnel.machinery.change import Change, ChangeType
from windtunnel.machinery.schema import fill_defaults
from windtunnel.machinery.timestamp import parse_time, time_text
from windtunnel.machinery.tree import Key, Tree, decode, dig, encode, key_of
from windtunnel.parity.report import Outcome, Report, differences
from windtunnel.placement.search import Refused
from windtunnel.scheduler import (
    Attempt,
    Engine,
    Note,
    Place,
    bound,
    disruption,
    failed,
    preempted,
    read_configuration,
)

_START: Final = parse_time("2026-01-01T01:00:00Z")
_RESOURCES: Final = {
    "Pod": "pods",
    "Node": "nodes",
    "Namespace": "namespaces",
    "Service": "services",
    "ReplicationController": "replicationcontrollers",
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
}
_SYSTEM_CLASSES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


def scenarios(path: Path) -> Iterator[Tree]:
    """Yield the scenarios of a file of JSON lines, packed or not."""
    body = path.read_bytes()
    lines = gzip.decompress(body) if path.suffix == ".gz" else body
    for line in lines.splitlines():
        if line.strip():
            yield decode(line)


def replay(path: Path, emit: Path | None = None) -> Report:
    """Replay every scenario of a file; ``emit`` takes the results, a line a scenario."""
    outcomes, emitted = [], []
    for scenario in scenarios(path):
        results, lines = _played(scenario)
        emitted.append(encode({"id": scenario["id"], "results": results}) + b"\n")
        group = next((name for name in scenario["features"] if name.startswith("theme-")), "hand")
        outcomes.append(Outcome(scenario["id"], group, lines))
    if emit is not None:
        body = b"".join(emitted)
        emit.write_bytes(gzip.compress(body) if emit.suffix == ".gz" else body)
    return Report(tuple(outcomes))


def _played(scenario: Tree) -> tuple[list[Tree], tuple[str, ...]]:
    """Return our results, and where they differ; what cannot be played is a difference."""
    try:
        results = Replay(scenario).results()
    except Exception as error:
        return [], (f"cannot be played: {type(error).__name__}: {error}",)
    return results, tuple(
        f"step {step}{line}"
        for step, (want, got) in enumerate(zip(scenario["results"], results, strict=True))
        for line in differences(_comparable(want), _comparable(got))
    )


def _comparable(result: Tree) -> Tree:
    """Drop what means nothing: the order of groups, and of nodes where a gate names them."""
    result = dict(result)
    if isinstance(result.get("filter"), list):
        groups = [{**one, "nodes": sorted(one["nodes"])} for one in result["filter"]]
        result["filter"] = sorted(groups, key=lambda group: group["nodes"])
    if dig(result, "preFilter", "nodeNames"):
        result.pop("naturalChoice", None)
        if result.get("feasible"):
            result["feasible"] = sorted(result["feasible"])
        if result.get("scores"):
            scores = result["scores"]
            order = sorted(range(len(scores["nodes"])), key=scores["nodes"].__getitem__)
            result["scores"] = {
                "nodes": [scores["nodes"][at] for at in order],
                "total": [scores["total"][at] for at in order],
                "plugins": {
                    name: [row[at] for at in order] for name, row in scores["plugins"].items()
                },
            }
    return result


@cache
def _pods() -> Kind:
    return next(kind for kind in builtin_kinds() if kind.resource == "pods")


class Replay:
    """One scenario, played once."""

    def __init__(self, scenario: Tree) -> None:
        self._scenario = scenario
        config = scenario.get("config")
        if not config or "percentageOfNodesToScore" not in config:
            config = {**(config or {}), "percentageOfNodesToScore": 100}
        clock = VirtualClock(_START)
        self._engine = Engine(read_configuration(config), clock)
        self._trees: dict[Key, Tree] = {}
        self._classes: dict[str, int] = dict(_SYSTEM_CLASSES)
        self._graceful = scenario.get("victimDeletion") == "graceful"
        self._revision = 0

    def results(self) -> list[Tree]:
        """Play all steps."""
        for tree in sorted(self._scenario["objects"], key=_arrival):
            if tree["kind"] == "PriorityClass":
                self._classes[tree["metadata"]["name"]] = tree["value"]
            elif tree["kind"] in _RESOURCES:
                self._change("ADDED", tree)
        return [self._step(step) for step in self._scenario["steps"]]

    def _step(self, step: Tree) -> Tree:
        match step["op"]:
            case "schedule":
                return self._schedule(step["pod"])
            case "retry":
                return self._retry(_key(step["ref"]))
            case "delete":
                key = _key(step["ref"])
                self._change("DELETED", self._trees.pop(key))
                return {"op": "delete", "pod": step["ref"], **self._settled()}
            case "apply":
                if step["object"]["kind"] in _RESOURCES:
                    known = key_of(step["object"]) in self._trees
                    self._change("MODIFIED" if known else "ADDED", step["object"])
                return {"op": "apply", **self._settled()}
            case other:
                return {"op": other, "outcome": "error"}

    def _settled(self) -> Tree:
        return {"outcome": "ok", "queueAfter": self._queue()}

    def _schedule(self, tree: Tree) -> Tree:
        errors = self._refused_by_admission(tree)
        if errors:
            return {"op": "schedule", "outcome": "invalid", "errors": errors}
        self._change("ADDED", tree)
        key = key_of(tree)
        result: Tree = {"op": "schedule", "pod": str(key)}
        gated = self._gated(key)
        if gated is not None:
            condition = next(
                (one for one in dig(tree, "status", "conditions") or () if one.get("reason")), None
            )
            if condition is not None:
                gated["condition"] = {
                    "reason": condition["reason"],
                    "message": condition["message"],
                }
            return result | gated
        return result | self._attempt()

    def _refused_by_admission(self, tree: Tree) -> list[str]:
        """Return the API server's refusals; a pod with a uid has been let in and is complete."""
        if dig(tree, "metadata", "uid"):
            return []
        name = dig(tree, "spec", "priorityClassName")
        if name and name not in self._classes:
            return [f"no PriorityClass with name {name} was found"]
        pod = deepcopy(tree)
        rules = _pods().rules
        fill_defaults(_pods().structure(), pod)
        rules.default(pod)
        rules.prepare_create(pod, Context(_START))
        return [str(violation) for violation in rules.validate_create(pod)]

    def _retry(self, key: Key) -> Tree:
        result: Tree = {"op": "retry", "pod": str(key)}
        tree = self._trees.get(key)
        if tree is None:
            return result | {"outcome": "gone"}
        if dig(tree, "spec", "nodeName"):
            return result | {"outcome": "bound", "chosen": tree["spec"]["nodeName"]}
        self._engine.queue.activate(key)
        gated = self._gated(key)
        return result | (self._attempt() if gated is None else gated)

    def _gated(self, key: Key) -> Tree | None:
        gate = self._engine.queue.gate_of(key)
        if gate is None:
            return None
        refused = {"code": gate.code.value, "plugin": gate.plugin, "reasons": [gate.reason]}
        return {"outcome": "gated", "preEnqueue": refused}

    def _attempt(self) -> Tree:
        attempt = self._engine.attempt(details=True)
        assert attempt is not None
        result = _told(attempt)
        if attempt.node:
            chosen = result["top"][0] if result.get("top") else attempt.node
            self._bind(attempt, chosen)
            note = bound(attempt.pod, chosen)
            return result | {"chosen": chosen, "events": [_event(attempt.pod.key, note)]}
        events = [_event(attempt.pod.key, failed(attempt.message))]
        self._write_failure(attempt)
        victims = self._evict(attempt)
        if victims and attempt.preemption is not None and attempt.preemption.nominated:
            note = preempted(attempt.pod, attempt.preemption.nominated)
            events += [_event(one.key, note) for one in sorted(victims, key=lambda one: one.key)]
            reason, message = disruption(attempt.pod)
            result["preemption"]["victimConditionMessage"] = f"{reason}|{message}"
        return result | {"events": events, "queueAfter": self._queue()}

    def _bind(self, attempt: Attempt, node: str) -> None:
        """Bind to the smallest name among the best, as the recording did."""
        key = attempt.pod.key
        if node != attempt.node:
            self._engine.fleet.place(attempt.pod, node)
        tree = self._trees[key]
        tree["spec"]["nodeName"] = node
        status = tree.setdefault("status", {})
        status.pop("nominatedNodeName", None)
        status |= {"phase": "Running", "startTime": tree["metadata"]["creationTimestamp"]}
        self._change("MODIFIED", tree)

    def _write_failure(self, attempt: Attempt) -> None:
        for pod in (attempt.pod, *attempt.demoted):
            tree = self._trees[pod.key]
            nominated = pod.nominated if pod is attempt.pod else ""
            status = tree.setdefault("status", {})
            if status.get("nominatedNodeName", "") != nominated or pod is attempt.pod:
                status["nominatedNodeName"] = nominated
                self._change("MODIFIED", tree)

    def _evict(self, attempt: Attempt) -> list[PodView]:
        chosen = attempt.preemption.chosen if attempt.preemption else None
        victims = [one for one in chosen.victims if not one.terminating] if chosen else []
        reason, message = disruption(attempt.pod)
        for one in victims:
            tree = self._trees[one.key]
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": reason,
                "message": message,
            }
            tree.setdefault("status", {}).setdefault("conditions", []).append(condition)
            if self._graceful:
                tree["metadata"]["deletionTimestamp"] = time_text(_START)
                self._change("MODIFIED", tree)
            else:
                del self._trees[one.key]
                self._change("DELETED", tree)
        return victims

    def _change(self, kind: ChangeType, tree: Tree) -> None:
        self._revision += 1
        tree["metadata"]["resourceVersion"] = str(self._revision)
        key = key_of(tree)
        if tree["kind"] == "Pod" and kind != "DELETED":
            self._trees[key] = tree
        resource = _RESOURCES[tree["kind"]]
        self._engine.observe(resource, Change(kind, key, self._revision, encode(tree)))

    def _queue(self) -> Tree:
        queue = self._engine.queue
        places = {place.value: queue.standing(place) for place in _SHOWN}
        return {name: list(map(str, keys)) for name, keys in places.items() if keys}


_SHOWN: Final = (Place.ACTIVE, Place.BACKOFF, Place.POOL)


def _arrival(tree: Tree) -> tuple[int, Key]:
    """Objects arrive in the order of keys, pods after everything else."""
    kind = tree["kind"]
    return (2 if kind == "Pod" else int(kind == "Node")), key_of(tree)


def _key(reference: str) -> Key:
    return Key(*reference.split("/", 1))


def _event(key: Key, note: Note) -> Tree:
    return {
        "object": str(key),
        "type": note.type,
        "reason": note.reason,
        "action": note.action,
        "note": note.text,
    }


def _grouped(refused: Iterable[Refused]) -> list[Tree]:
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


def _told(attempt: Attempt) -> Tree:
    """Return what the recording tells about an attempt, before it is carried out."""
    decision = attempt.decision
    assert decision is not None
    result: Tree = {"outcome": "scheduled" if decision.node else "unschedulable"}
    gate = decision.gate
    if decision.nodes:
        told: dict[str, Any] = {
            "code": gate.code.value,
            "plugin": gate.plugin,
            "reasons": list(gate.reasons),
            "nodeNames": list(gate.names or ()),
            "restrictingPlugins": list(gate.restricting),
        }
        result["preFilter"] = {name: value for name, value in told.items() if value}
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
    if decision.node:
        return result
    result["condition"] = {"reason": "Unschedulable", "message": attempt.message}
    if decision.rejectors:
        result["unschedulablePlugins"] = sorted(decision.rejectors)
    if attempt.preemption is not None:
        preemption = attempt.preemption
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
        result["preemption"] = made
    return result
