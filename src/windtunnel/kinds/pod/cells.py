"""How a pod looks in a table: the one word that stands for all of its states, and the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

from windtunnel.kinds.pod.requests import is_sidecar
from windtunnel.kinds.rules.checks import age_cell
from windtunnel.machinery.age import age
from windtunnel.machinery.tree import Tree, dig

_NONE = "<none>"


class _Restarts(NamedTuple):
    """How often containers have been started again, and when last."""

    times: int = 0
    last: str = ""

    def more(self, status: Tree) -> _Restarts:
        ended = dig(status, "lastState", "terminated", "finishedAt") or ""
        return _Restarts(self.times + (status.get("restartCount") or 0), max(self.last, ended))

    def cell(self, now: float) -> str:
        if self.times and self.last:
            return f"{self.times} ({age(self.last, now)} ago)"
        return str(self.times)


def _has(pod: Tree, kind: str) -> bool:
    for condition in dig(pod, "status", "conditions") or ():
        if condition.get("type") == kind:
            return bool(condition.get("status") == "True")
    return False


def _ended(terminated: Tree) -> str:
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode') or 0}"


def pod_cells(pod: Tree, now: float) -> list[Any]:
    """Return the cells of a pod's row."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    init = {each.get("name"): each for each in spec.get("initContainers") or ()}
    total = len(spec.get("containers") or ()) + sum(map(is_sidecar, init.values()))
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    ready = 0
    restarts, sidecars = _Restarts(), _Restarts()
    starting = ""
    for index, each in enumerate(status.get("initContainerStatuses") or ()):
        restarts = restarts.more(each)
        sidecar = is_sidecar(init.get(each.get("name")) or {})
        if sidecar:
            sidecars = sidecars.more(each)
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if sidecar and each.get("started"):
            ready += bool(each.get("ready"))
            continue
        if ended is not None:
            starting = f"Init:{_ended(ended)}"
        elif waiting.get("reason") not in (None, "", "PodInitializing"):
            starting = f"Init:{waiting['reason']}"
        else:
            starting = f"Init:{index}/{len(init)}"
        reason = starting
        break
    if not starting or _has(pod, "Initialized"):
        reason, running, restarts = _main(pod, reason, sidecars)
        ready += running
    if dig(pod, "metadata", "deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in ("Succeeded", "Failed"):
            reason = "Terminating"
    return [
        dig(pod, "metadata", "name") or "",
        f"{ready}/{total}",
        reason,
        restarts.cell(now),
        age_cell(pod, now),
        dig(status, "podIPs", 0, "ip") or _NONE,
        spec.get("nodeName") or _NONE,
        status.get("nominatedNodeName") or _NONE,
        _gates(pod),
    ]


def _main(pod: Tree, reason: str, restarts: _Restarts) -> tuple[str, int, _Restarts]:
    """Return the reason, how many main containers are ready, and all restarts."""
    ready = 0
    failed = ""
    for each in reversed(dig(pod, "status", "containerStatuses") or []):
        restarts = restarts.more(each)
        state = each.get("state") or {}
        ended = state.get("terminated")
        if waiting := (state.get("waiting") or {}).get("reason"):
            reason = waiting
        elif ended is not None:
            reason = _ended(ended)
            if ended.get("exitCode"):
                failed = reason
        elif each.get("ready") and state.get("running") is not None:
            ready += 1
    if reason == "Completed":
        if ready and _has(pod, "Ready"):
            reason = "Running"
        elif failed:
            reason = failed
        elif ready:
            reason = "NotReady"
    return reason, ready, restarts


def _gates(pod: Tree) -> str:
    gates = dig(pod, "spec", "readinessGates")
    if not gates:
        return _NONE
    open_gates = sum(_has(pod, gate.get("conditionType", "")) for gate in gates)
    return f"{open_gates}/{len(gates)}"
