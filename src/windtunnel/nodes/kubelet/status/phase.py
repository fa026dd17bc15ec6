"""The phase of a pod, told from the states of its containers.

Source: kubelet v1.36 (getPhase).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.pod_spec import apps, inits, is_sidecar
from windtunnel.nodes.kubelet.restart import Aftermath, by_rule


@dataclass(slots=True)
class _Tally:
    unknown: int = 0
    running: int = 0
    waiting: int = 0
    stopped: int = 0
    succeeded: int = 0
    coming_back: int = 0


def phase_of(pod: Tree, statuses: Mapping[str, Tree], *, ended: bool, begun: bool) -> str:
    """Return the phase.

    Args:
        pod: The pod.
        statuses: Its container statuses by name, init containers among them.
        ended: Nothing of the pod will start again, whatever its policy.
        begun: An app container has been started once.
    """
    waiting_inits, failed_for_good = _regular_inits(pod, statuses)
    tally = _Tally()
    waiting_sidecars = _sidecars(pod, statuses, tally)
    for container in apps(pod):
        _count(pod, container, statuses.get(container["name"]), tally)
    if failed_for_good:
        return "Failed"
    if waiting_inits or (waiting_sidecars and not begun) or tally.waiting:
        return "Pending"
    if tally.unknown:
        return "Pending"
    if tally.running:
        return "Running"
    if not tally.stopped:
        return "Pending"
    if not ended and tally.coming_back:
        return "Running"
    return "Succeeded" if tally.stopped == tally.succeeded else "Failed"


def _regular_inits(pod: Tree, statuses: Mapping[str, Tree]) -> tuple[int, bool]:
    """Return how many init containers have not ended yet, and whether one failed for good."""
    pending, failed = 0, False
    for container in inits(pod):
        if is_sidecar(container):
            continue
        status = statuses.get(container["name"]) or {}
        code = dig(status, "state", "terminated", "exitCode")
        pending += code != 0
        failed = failed or bool(code and by_rule(pod, container, code) is Aftermath.STAY)
    return pending, failed


def _sidecars(pod: Tree, statuses: Mapping[str, Tree], tally: _Tally) -> int:
    """Count the sidecars; return how many have not started yet."""
    pending = 0
    for container in inits(pod):
        if not is_sidecar(container):
            continue
        status = statuses.get(container["name"])
        state = (status or {}).get("state") or {}
        if status is not None and "running" in state:
            pending += not status.get("started")
            tally.running += 1
        elif "terminated" in state:
            continue
        elif "waiting" in state:
            if dig(status, "lastState", "terminated") is None:
                pending += 1
                tally.waiting += 1
        else:
            pending += 1
            tally.unknown += 1
    return pending


def _count(pod: Tree, container: Tree, status: Tree | None, tally: _Tally) -> None:
    state = (status or {}).get("state") or {}
    if "running" in state:
        tally.running += 1
    elif "terminated" in state:
        code = int(state["terminated"].get("exitCode") or 0)
        tally.stopped += 1
        tally.succeeded += code == 0
        tally.coming_back += by_rule(pod, container, code) is not Aftermath.STAY
    elif "waiting" in state:
        last = dig(status, "lastState", "terminated")
        if last is None:
            tally.waiting += 1
        else:
            tally.stopped += 1
            tally.coming_back += 1
    else:
        tally.unknown += 1
