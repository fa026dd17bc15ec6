"""Replays recorded scheduling scenarios (kube-scheduler v1.36.3) through our engine.

A scenario is objects and steps; every step's result is emitted in the recording's own format, so
that the comparer beside the recordings can judge it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from windtunnel.errors import DataError
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key, Tree, decode, dig, encode, key_of
from windtunnel.parity.report import CaseResult, Report, differences
from windtunnel.parity.stand_in import START, StandIn
from windtunnel.parity.telling import told, told_event
from windtunnel.scheduler import (
    Engine,
    Place,
    bound,
    disruption,
    failed,
    preempted,
    read_configuration,
)


def scenarios(path: Path) -> Iterator[Tree]:
    """Yield the scenarios of a file of JSON lines, packed or not.

    Raises:
        DataError: the file is not of this format.
    """
    body = path.read_bytes()
    try:
        lines = gzip.decompress(body) if path.suffix == ".gz" else body
        for line in lines.splitlines():
            if line.strip():
                yield _checked(decode(line))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"{path} holds no recorded scenarios: {error}") from error


def _checked(scenario: Any) -> Tree:
    wanted = {"id": str, "features": list, "results": list}
    for field, kind in wanted.items():
        if not isinstance(scenario, dict) or not isinstance(scenario.get(field), kind):
            raise ValueError(f"a line has no {field}")
    checked: Tree = scenario
    return checked


def replay(path: Path, emit: Path | None = None) -> Report:
    """Replay every scenario of a file; ``emit`` takes the results, a line a scenario."""
    outcomes, emitted = [], []
    for scenario in scenarios(path):
        results, lines = _played(scenario)
        emitted.append(encode({"id": scenario["id"], "results": results}) + b"\n")
        group = next((name for name in scenario["features"] if name.startswith("theme-")), "hand")
        outcomes.append(CaseResult(scenario["id"], group, lines))
    if emit is not None:
        body = b"".join(emitted)
        emit.write_bytes(gzip.compress(body) if emit.suffix == ".gz" else body)
    return Report(tuple(outcomes))


def _played(scenario: Tree) -> tuple[list[Tree], tuple[str, ...]]:
    """Return our results, and where they differ; what cannot be played is a difference."""
    try:
        results = ScenarioReplay(scenario).results()
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


class ScenarioReplay:
    """One scenario, played once."""

    def __init__(self, scenario: Tree) -> None:
        self._scenario = scenario
        config = scenario.get("config")
        if not config or "percentageOfNodesToScore" not in config:
            config = {**(config or {}), "percentageOfNodesToScore": 100}
        self._engine = Engine(read_configuration(config), VirtualClock(START))
        graceful = scenario.get("victimDeletion") == "graceful"
        self._server = StandIn(self._engine, graceful=graceful)

    def results(self) -> list[Tree]:
        """Play all steps."""
        for tree in sorted(self._scenario["objects"], key=_arrival):
            self._server.put(tree)
        return [self._step(step) for step in self._scenario["steps"]]

    def _step(self, step: Tree) -> Tree:
        match step["op"]:
            case "schedule":
                return self._schedule(step["pod"])
            case "retry":
                return self._retry(_key(step["ref"]))
            case "delete":
                key = _key(step["ref"])
                self._server.delete(key)
                return {"op": "delete", "pod": step["ref"], **self._settled()}
            case "apply":
                self._server.put(step["object"])
                return {"op": "apply", **self._settled()}
            case other:
                return {"op": other, "outcome": "error"}

    def _settled(self) -> Tree:
        return {"outcome": "ok", "queueAfter": self._queue()}

    def _schedule(self, tree: Tree) -> Tree:
        errors = self._server.refusals(tree)
        if errors:
            return {"op": "schedule", "outcome": "invalid", "errors": errors}
        self._server.put(tree)
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

    def _retry(self, key: Key) -> Tree:
        result: Tree = {"op": "retry", "pod": str(key)}
        tree = self._server.trees.get(key)
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
        result = told(attempt)
        if attempt.node:
            chosen = result["top"][0] if result.get("top") else attempt.node
            self._server.bind(attempt, chosen)
            note = bound(attempt.pod, chosen)
            return result | {"chosen": chosen, "events": [told_event(attempt.pod.key, note)]}
        events = [told_event(attempt.pod.key, failed(attempt.message))]
        self._server.write_failure(attempt)
        victims = self._server.evict(attempt)
        if victims and attempt.preemption is not None and attempt.preemption.nominated:
            note = preempted(attempt.pod, attempt.preemption.nominated)
            events += [
                told_event(one.key, note) for one in sorted(victims, key=lambda one: one.key)
            ]
            reason, message = disruption(attempt.pod)
            result["preemption"]["victimConditionMessage"] = f"{reason}|{message}"
        return result | {"events": events, "queueAfter": self._queue()}

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
