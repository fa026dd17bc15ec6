"""The whole status of a pod, and what of it the API does not know yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from windtunnel.kinds.pod.requests import container_amounts
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import TERMINAL, generation
from windtunnel.nodes.kubelet.status.conditions import RESTARTING, conditions, merge_conditions
from windtunnel.nodes.kubelet.status.containers import as_listed, end_what_waits
from windtunnel.nodes.kubelet.status.phase import phase_of

_OURS: Final = (
    "phase", "reason", "message", "hostIP", "hostIPs", "podIP", "podIPs", "startTime",
    "initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses", "qosClass",
    "observedGeneration", "allocatedResources",
)  # fmt: skip
"""The fields that we write whole; conditions are merged one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Where a pod stands in its life, apart from its containers."""

    now: float
    node_address: str
    address: str = ""
    """The pod's, empty while it is not to be shown."""
    sandbox: bool = False
    begun: bool = False
    ended: bool = False
    """Everything in it has stopped for good, so a terminal phase may be told."""
    gone: bool = False
    """Whatever is not known to have ended has, by force."""
    verdict: tuple[str, str] | None = None
    """(reason, message) of an end that the node itself has decided: the pod has failed."""
    restarting: bool = False
    """All its containers are being stopped in order to run it anew."""


def coming_phase(pod: Tree, statuses: Mapping[str, Tree], situation: Situation) -> str:
    """Return the phase that a pod is in, even where it is not to be told yet."""
    before = str((pod.get("status") or {}).get("phase") or "Pending")
    if before in TERMINAL:
        return before
    if situation.verdict is not None:
        return "Failed"
    return phase_of(pod, statuses, ended=situation.ended, begun=situation.begun)


def pod_status(pod: Tree, statuses: Mapping[str, Tree], situation: Situation) -> Tree:
    """Return the status of a pod that was admitted."""
    old: Tree = pod.get("status") or {}
    phase = coming_phase(pod, statuses, situation)
    before = str(old.get("phase") or "Pending")
    now = time_text(situation.now)
    made = conditions(pod, statuses, phase, sandbox=situation.sandbox, begun=situation.begun)
    if situation.restarting:
        made.append({"type": RESTARTING, "status": "True", "observedGeneration": generation(pod)})
    # A terminal phase is told only when everything has stopped; its conditions come before.
    told = phase
    if phase in TERMINAL and not situation.ended and before != phase:
        told = before
    if situation.gone:
        end_what_waits(pod, statuses)
        told = told if told in TERMINAL else "Failed"
    status: Tree = {
        "observedGeneration": generation(pod),
        "phase": told,
        "conditions": merge_conditions(old.get("conditions") or (), made, now),
        "hostIP": situation.node_address,
        "hostIPs": [{"ip": situation.node_address}],
        "startTime": old.get("startTime") or now,
        "qosClass": old.get("qosClass") or "BestEffort",
        **as_listed(pod, statuses),
    }
    if told == "Failed" and situation.verdict is not None:
        status["reason"], status["message"] = situation.verdict
    elif old.get("reason") and before in TERMINAL:
        status |= {key: old[key] for key in ("reason", "message") if old.get(key)}
    if situation.address:
        status["podIP"] = situation.address
        status["podIPs"] = [{"ip": situation.address}]
    allocated = _allocated(pod)
    if allocated:
        status["allocatedResources"] = allocated
    return status


def rejected_status(pod: Tree, reason: str, message: str, now: float) -> Tree:
    """Return the status of a pod that this node did not admit."""
    old: Tree = pod.get("status") or {}
    return {
        "observedGeneration": generation(pod),
        "phase": "Failed",
        "reason": reason,
        "message": f"Pod was rejected: {message}",
        "startTime": old.get("startTime") or time_text(now),
        "qosClass": old.get("qosClass") or "BestEffort",
        "conditions": [],
    }


def status_patch(old: Tree, new: Tree) -> Tree:
    """Return the strategic merge patch that leads from one status to the other; {} for nothing.

    Conditions of others are left alone; of ours those are named that have changed.
    """
    patch: Tree = {}
    for name in _OURS:
        if old.get(name) == new.get(name):
            continue
        if name in ("hostIPs", "podIPs"):
            patch[name] = _listed(old.get(name) or (), new.get(name) or (), "ip")
        else:
            patch[name] = new.get(name)
    changed = _listed(old.get("conditions") or (), new.get("conditions") or (), "type")
    if changed:
        patch["conditions"] = changed
        order = [{"type": each["type"]} for each in new["conditions"]]
        if order:
            patch["$setElementOrder/conditions"] = order
    return patch


def _listed(old: Any, new: Any, key: str) -> list[Tree]:
    """Return what to patch in a list whose elements are merged by a key."""
    before = {each[key]: each for each in old}
    after = {each[key]: each for each in new}
    changed: list[Tree] = []
    for name, each in after.items():
        known = before.get(name)
        if known is None or _without_none(known) != _without_none(each):
            gone: Tree = {part: None for part in known or () if part not in each}
            changed.append({**each, **gone})
    changed += [{key: name, "$patch": "delete"} for name in before if name not in after]
    return changed


def _without_none(tree: Tree) -> Tree:
    return {key: value for key, value in tree.items() if value is not None}


def _allocated(pod: Tree) -> Tree:
    """Return what the pod as a whole has been given: all that its containers request."""
    total = container_amounts(pod["spec"], "requests")
    return {name: str(amount) for name, amount in sorted(total.items())}
