"""Which container's log is meant, judged by what the pod's status says.

Source: kubelet v1.36; the sentences are exact, and clients see them as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.machinery.tree import Tree, dig

_STATUSES: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_SPECS: Final = ("containers", "initContainers", "ephemeralContainers")
_WAITING: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class Chosen(NamedTuple):
    """The container whose log it is."""

    container_id: str


class NoSuchLog(NamedTuple):
    """There is no log, or none yet."""

    why: str


def has_container(pod: Tree, name: str) -> bool:
    """Whether the pod's spec has a container of this name."""
    spec = pod.get("spec") or {}
    return any(each.get("name") == name for field in _SPECS for each in spec.get(field) or ())


def choose(pod: Tree, name: str, *, previous: bool) -> Chosen | NoSuchLog:
    """Return whose log is meant by a container's name."""
    subject = f'container "{name}" in pod "{dig(pod, "metadata", "name")}"'
    status = _status(pod, name)
    if status is None:
        return NoSuchLog(f"{subject} is not available")
    state = status.get("state") or {}
    before = dig(status, "lastState", "terminated") or {}
    last = _bare(before.get("containerID"))
    if previous:
        return Chosen(last) if last else NoSuchLog(f"previous terminated {subject} not found")
    if state.get("running") is not None:
        return Chosen(_bare(status.get("containerID")))
    if state.get("terminated") is not None:
        found = _bare(state["terminated"].get("containerID")) or last
        return Chosen(found) if found else NoSuchLog(f"{subject} is terminated")
    if before:
        return Chosen(last) if last else NoSuchLog(f"{subject} is terminated")
    if state.get("waiting") is not None:
        reason = state["waiting"].get("reason") or ""
        return NoSuchLog(f"{subject} is waiting to start: {_WAITING.get(reason, reason)}")
    return NoSuchLog(f"{subject} is waiting to start - no logs yet")


def _status(pod: Tree, name: str) -> Tree | None:
    known = pod.get("status") or {}
    for field in _STATUSES:
        for status in known.get(field) or ():
            if status.get("name") == name:
                found: Tree = status
                return found
    return None


def _bare(container_id: str | None) -> str:
    """Return an id without the name of its runtime."""
    return (container_id or "").rpartition("://")[2]
