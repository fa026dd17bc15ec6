"""What a scenario waits for, judged on what has been seen, and how a node is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from windtunnel.machinery.tree import Tree, dig

_EVENT = (
    "type",
    "reason",
    "message",
    "count",
    "source",
    "reportingComponent",
    "reportingInstance",
    "involvedObject",
)
_LISTS = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


def pod_is(pod: Tree | None, until: Tree) -> bool:
    """Whether a pod is as a ``wait`` step wants it; None: there is none."""
    if "gone" in until:
        return pod is None
    if pod is None:
        return False
    status: Tree = pod.get("status") or {}
    return all(_JUDGES[word](status, wanted, until) for word, wanted in until.items())


def event_is(event: Tree, wanted: Tree) -> bool:
    """Whether an event has the reason, and the words in its message."""
    if "reason" in wanted and event.get("reason") != wanted["reason"]:
        return False
    return wanted.get("message", "") in (event.get("message") or "")


def node_is(node: Tree | None, wanted: Tree) -> bool:
    """Whether a node's figures are those wanted; others may be there too."""
    status = (node or {}).get("status") or {}
    return all(
        (status.get(section) or {}).get(name) == figure
        for section, figures in wanted.items()
        for name, figure in figures.items()
    )


def shown_node(node: Tree) -> Tree:
    """Return a node as recordings show it: all but times and what the API server adds."""
    status: Tree = dict(node.get("status") or {})
    keys = sorted(status)
    status["conditions"] = [
        {name: value for name, value in one.items() if not name.startswith("last")}
        for one in status.get("conditions") or ()
    ]
    metadata = node.get("metadata") or {}
    return {
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "spec": node.get("spec") or {},
        "status": {**status, "keys": keys},
    }


def shown_events(events: Iterable[Tree]) -> list[Tree]:
    """Return what a kubelet said of its node, each event once, as it was in the end."""
    latest: dict[str, Tree] = {}
    for event in events:
        if (event.get("source") or {}).get("component") == "kubelet":
            latest[event["metadata"]["name"]] = {name: event.get(name) for name in _EVENT}
    return list(latest.values())


def containers(status: Tree) -> Iterable[Tree]:
    """Return the status of every container of a pod."""
    return [one for name in _LISTS for one in status.get(name) or ()]


def _condition(status: Tree, kind: str) -> str:
    for one in status.get("conditions") or ():
        if one["type"] == kind:
            return str(one["status"])
    return ""


def _container(status: Tree, wanted: Tree) -> bool:
    for one in containers(status):
        if one["name"] == wanted["name"]:
            state: Tree = one.get("state") or {}
            return all(
                (
                    word == "name",
                    word in ("waiting", "terminated") and dig(state, word, "reason") == value,
                    word == "running" and ("running" in state) == value,
                    word == "ready" and one.get("ready") == value,
                    word == "restarts" and one.get("restartCount", 0) >= value,
                ).count(True)
                for word, value in wanted.items()
            )
    return False


def _health(status: Tree, wanted: str, until: Tree) -> bool:
    found = [
        device["health"]
        for one in containers(status)
        for resource in one.get("allocatedResourcesStatus") or ()
        for device in resource.get("resources") or ()
    ]
    judge = any if until.get("any") else all
    return bool(found) and judge(health == wanted for health in found)


def _any(status: Tree, wanted: Any, until: Tree) -> bool:
    return True


_JUDGES = {
    "phase": lambda status, wanted, until: status.get("phase") == wanted,
    "reason": lambda status, wanted, until: status.get("reason") == wanted,
    "ready": lambda status, wanted, until: (_condition(status, "Ready") == "True") == wanted,
    "condition": lambda status, wanted, until: (
        _condition(status, wanted["type"]) == wanted["status"]
    ),
    "container": lambda status, wanted, until: _container(status, wanted),
    "health": _health,
    "any": _any,
}
