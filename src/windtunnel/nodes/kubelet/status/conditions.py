"""The conditions of a pod that the kubelet owns, in its order and words.

Source: kubelet v1.36. Conditions of others stay, before ours; a time changes only with its status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import apps, generation, inits, is_sidecar

SANDBOX: Final = "PodReadyToStartContainers"
OWNED: Final = (SANDBOX, "Initialized", "Ready", "ContainersReady", "PodScheduled")
RESTARTING: Final = "AllContainersRestarting"


def conditions(
    pod: Tree, statuses: Mapping[str, Tree], phase: str, *, sandbox: bool, begun: bool
) -> list[Tree]:
    """Return all five, without times.

    Args:
        pod: The pod; gates are judged by the conditions it has.
        statuses: Its container statuses by name.
        phase: The phase that follows from them, even where it is not told yet.
        sandbox: Whether its sandbox stands.
        begun: An app container has been started once.
    """
    containers = _containers_ready(pod, statuses, phase)
    return [
        _condition(pod, SANDBOX, sandbox),
        _initialized(pod, statuses, phase, begun),
        _ready(pod, containers),
        containers,
        _condition(pod, "PodScheduled", True),
    ]


def merge_conditions(old: Sequence[Tree], ours: Sequence[Tree], now: str) -> list[Tree]:
    """Put our conditions after those of others, each with the time of its last change."""
    known = {each.get("type"): each for each in old}
    names = {each["type"] for each in ours}
    merged = [each for each in old if each.get("type") not in names | {*OWNED, RESTARTING}]
    for each in ours:
        before = known.get(each["type"])
        since = now
        if before is not None and before.get("status") == each["status"]:
            since = before.get("lastTransitionTime") or now
        merged.append({**each, "lastTransitionTime": since})
    return merged


def _condition(pod: Tree, name: str, true: bool, reason: str = "", message: str = "") -> Tree:
    made: Tree = {
        "type": name,
        "observedGeneration": generation(pod),
        "status": "True" if true else "False",
    }
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def _initialized(pod: Tree, statuses: Mapping[str, Tree], phase: str, begun: bool) -> Tree:
    if phase == "Succeeded":
        return _condition(pod, "Initialized", True, "PodCompleted")
    unknown = [each["name"] for each in inits(pod) if each["name"] not in statuses]
    incomplete = [
        each["name"]
        for each in inits(pod)
        if each["name"] in statuses and not _initialised(each, statuses[each["name"]], begun)
    ]
    message = _message(("unknown", unknown), ("incomplete", incomplete))
    reason = "ContainersNotInitialized" if message else ""
    return _condition(pod, "Initialized", not message, reason, message)


def _initialised(container: Tree, status: Tree, begun: bool) -> bool:
    if is_sidecar(container):
        return begun or bool(status.get("started"))
    return begun or bool(status.get("ready"))


def _containers_ready(pod: Tree, statuses: Mapping[str, Tree], phase: str) -> Tree:
    if phase == "Succeeded":
        return _condition(pod, "ContainersReady", False, "PodCompleted")
    if phase == "Failed":
        return _condition(pod, "ContainersReady", False, "PodFailed")
    counted = [each for each in inits(pod) if is_sidecar(each)] + apps(pod)
    unknown = [each["name"] for each in counted if each["name"] not in statuses]
    unready = [
        each["name"]
        for each in counted
        if each["name"] in statuses and not statuses[each["name"]].get("ready")
    ]
    message = _message(("unknown", unknown), ("unready", unready))
    reason = "ContainersNotReady" if message else ""
    return _condition(pod, "ContainersReady", not message, reason, message)


def _message(*sorts: tuple[str, list[str]]) -> str:
    return ", ".join(
        f"containers with {sort} status: [{' '.join(names)}]" for sort, names in sorts if names
    )


def _ready(pod: Tree, containers: Tree) -> Tree:
    """A pod is ready when its containers are and every readiness gate is True."""
    if containers["status"] != "True":
        return {**containers, "type": "Ready"}
    known = {each.get("type"): each for each in (pod.get("status") or {}).get("conditions") or ()}
    troubles = []
    for gate in pod["spec"].get("readinessGates") or ():
        name = gate["conditionType"]
        condition = known.get(name)
        if condition is None:
            troubles.append(
                f'corresponding condition of pod readiness gate "{name}" does not exist.'
            )
        elif condition.get("status") != "True":
            troubles.append(
                f'the status of pod readiness gate "{name}" is not "True", '
                f"but {condition.get('status')}"
            )
    reason = "ReadinessGatesNotReady" if troubles else ""
    return _condition(pod, "Ready", not troubles, reason, ", ".join(troubles))
