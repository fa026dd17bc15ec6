"""Plays the API server's part in a replay: admits pods, binds them, evicts victims.

It keeps the trees and feeds every change back to the engine, as a watch would.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Final

from windtunnel.fleet import PodView
from windtunnel.kinds import builtin_kinds
from windtunnel.kinds.served.kind import Context, Kind
from windtunnel.machinery.change import Change, ChangeType
from windtunnel.machinery.schema import fill_defaults
from windtunnel.machinery.timestamp import parse_time, time_text
from windtunnel.machinery.tree import Key, Tree, dig, encode, key_of
from windtunnel.scheduler import Attempt, Engine, disruption

START: Final = parse_time("2026-01-01T01:00:00Z")
"""When all scenarios were recorded, as far as pods can tell."""
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


@cache
def _pods() -> Kind:
    return next(kind for kind in builtin_kinds() if kind.resource == "pods")


class StandIn:
    """The objects of one scenario, and what happens to them."""

    def __init__(self, engine: Engine, *, graceful: bool) -> None:
        """Feed ``engine``; ``graceful``: victims are only marked as going."""
        self.trees: dict[Key, Tree] = {}
        """All pods."""
        self._engine, self._graceful = engine, graceful
        self._classes: dict[str, int] = dict(_SYSTEM_CLASSES)
        self._revision = 0

    def put(self, tree: Tree) -> None:
        """Create or replace an object; kinds that nobody watches are ignored."""
        if tree["kind"] == "PriorityClass":
            self._classes[tree["metadata"]["name"]] = tree["value"]
        elif tree["kind"] in _RESOURCES:
            self._change("MODIFIED" if key_of(tree) in self.trees else "ADDED", tree)

    def delete(self, key: Key) -> None:
        """Delete a pod."""
        self._change("DELETED", self.trees.pop(key))

    def refusals(self, tree: Tree) -> list[str]:
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
        rules.prepare_create(pod, Context(START))
        return [str(violation) for violation in rules.validate_create(pod)]

    def bind(self, attempt: Attempt, node: str) -> None:
        """Bind to the smallest name among the best, as the recording did."""
        key = attempt.pod.key
        if node != attempt.node:
            self._engine.fleet.place(attempt.pod, node)
        tree = self.trees[key]
        tree["spec"]["nodeName"] = node
        status = tree.setdefault("status", {})
        status.pop("nominatedNodeName", None)
        status |= {"phase": "Running", "startTime": tree["metadata"]["creationTimestamp"]}
        self._change("MODIFIED", tree)

    def write_failure(self, attempt: Attempt) -> None:
        """Write who is nominated where, now that the pod has no node."""
        for pod in (attempt.pod, *attempt.demoted):
            tree = self.trees[pod.key]
            nominated = pod.nominated if pod is attempt.pod else ""
            status = tree.setdefault("status", {})
            if status.get("nominatedNodeName", "") != nominated or pod is attempt.pod:
                status["nominatedNodeName"] = nominated
                self._change("MODIFIED", tree)

    def evict(self, attempt: Attempt) -> list[PodView]:
        """Evict the victims of an attempt and return them."""
        chosen = attempt.preemption.chosen if attempt.preemption else None
        victims = [one for one in chosen.victims if not one.terminating] if chosen else []
        reason, message = disruption(attempt.pod)
        for one in victims:
            tree = self.trees[one.key]
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": reason,
                "message": message,
            }
            tree.setdefault("status", {}).setdefault("conditions", []).append(condition)
            if self._graceful:
                tree["metadata"]["deletionTimestamp"] = time_text(START)
                self._change("MODIFIED", tree)
            else:
                del self.trees[one.key]
                self._change("DELETED", tree)
        return victims

    def _change(self, kind: ChangeType, tree: Tree) -> None:
        self._revision += 1
        tree["metadata"]["resourceVersion"] = str(self._revision)
        key = key_of(tree)
        if tree["kind"] == "Pod" and kind != "DELETED":
            self.trees[key] = tree
        resource = _RESOURCES[tree["kind"]]
        self._engine.observe(resource, Change(kind, key, self._revision, encode(tree)))
