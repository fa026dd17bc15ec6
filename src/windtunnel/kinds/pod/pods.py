"""Pods: what makes them whole, what may be written, and how they are found and shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windtunnel.kinds.pod.annotations import adopt_app_armor, validate_profiles
from windtunnel.kinds.pod.cells import pod_cells
from windtunnel.kinds.pod.requests import qos_class
from windtunnel.kinds.pod.scheduling import PREFERRED, REQUIRED
from windtunnel.kinds.pod.sound import unless_sound
from windtunnel.kinds.pod.spec_defaults import default_pod_spec, default_whole_pod
from windtunnel.kinds.pod.spec_validation import validate_whole_pod
from windtunnel.kinds.pod.status import validate_pod_status
from windtunnel.kinds.pod.template import drop_disabled
from windtunnel.kinds.pod.update import validate_pod_update
from windtunnel.kinds.pod.warnings import pod_warnings
from windtunnel.kinds.rules.checks import keep_alike
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden

_GATED: Final = "Scheduling is blocked due to non-empty scheduling gates"


def default(pod: Tree) -> None:
    """Set what a pod gets beyond its structure."""
    spec = pod.setdefault("spec", {})
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    default_whole_pod(spec)
    default_pod_spec(spec)
    if status := pod.get("status"):
        keep_alike(status, "podIP", "podIPs", _entry)


def _entry(address: str) -> Tree:
    return {"ip": address}


def prepare_create(pod: Tree, context: Context) -> None:
    """Start the pod's life: Pending, with its QoS class and the conditions that gates imply."""
    spec = pod.setdefault("spec", {})
    status: Tree = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": time_text(context.now),
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    pod["status"] = status
    drop_disabled(spec)
    metadata = pod.get("metadata") or {}
    _merge_label_keys(spec, metadata.get("labels") or {})
    if annotations := metadata.get("annotations"):
        adopt_app_armor(annotations, spec)


def _merge_label_keys(spec: Tree, labels: Tree) -> None:
    """Turn matchLabelKeys into plain conditions on the values that this pod has."""
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = dig(spec, "affinity", kind) or {}
        terms = [each.get("podAffinityTerm") or {} for each in affinity.get(PREFERRED) or ()]
        for term in [*terms, *(affinity.get(REQUIRED) or ())]:
            _add_conditions(term, "matchLabelKeys", "In", labels)
            _add_conditions(term, "mismatchLabelKeys", "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _add_conditions(constraint, "matchLabelKeys", "In", labels)


def _add_conditions(term: Tree, key: str, operator: str, labels: Tree) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for label in term.get(key) or ():
        if label in labels:
            condition = {"key": label, "operator": operator, "values": [labels[label]]}
            selector.setdefault("matchExpressions", []).append(condition)


def prepare_update(new: Tree, old: Tree, _: Context) -> None:
    """Keep the status; only its own subresource writes it."""
    new["status"] = old.get("status") or {}
    drop_disabled(new.setdefault("spec", {}))


def prepare_status(new: Tree, old: Tree, _: Context) -> None:
    """Keep owners, class and what was observed, where the writer says nothing of them."""
    metadata, before = new.setdefault("metadata", {}), old.get("metadata") or {}
    for key in ("deletionTimestamp", "ownerReferences"):
        if key in before:
            metadata[key] = before[key]
        else:
            metadata.pop(key, None)
    status, last = new.setdefault("status", {}), old.get("status") or {}
    keep_alike(status, "podIP", "podIPs", _entry)
    for key in ("qosClass", "observedGeneration"):
        if not status.get(key) and last.get(key):
            status[key] = last[key]
    _keep_observed(status.get("conditions") or (), last.get("conditions") or ())


def _keep_observed(conditions: Sequence[Tree], before: Sequence[Tree]) -> None:
    observed = {
        condition.get("type"): condition["observedGeneration"]
        for condition in before
        if condition.get("observedGeneration")
    }
    if observed:
        for condition in conditions:
            generation = observed.get(condition.get("type"))
            if generation and not condition.get("observedGeneration"):
                condition["observedGeneration"] = generation


@unless_sound
def validate_create(pod: Tree) -> list[Violation]:
    """Judge a pod that is about to be created."""
    found = validate_whole_pod(pod)
    spec = pod.get("spec") or {}
    if spec.get("ephemeralContainers"):
        found.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        text = "cannot be set until all schedulingGates have been cleared"
        found.append(forbidden("spec.nodeName", text))
    annotations = dig(pod, "metadata", "annotations")
    if annotations:
        found += validate_profiles(annotations, spec, "spec")
    return found


def warnings(new: Tree, old: Tree | None) -> list[str]:
    """Return what a creator of a pod should know."""
    if old is not None:
        return []
    metadata = new.get("metadata") or {}
    found: list[str] = []
    if texts := names.dns_label(metadata.get("name") or ""):
        said = " ".join(texts)
        found.append(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising"
            f" behavior; a DNS label is recommended: [{said}]"
        )
    return found + _usual_warnings(new)


@unless_sound
def _usual_warnings(pod: Tree) -> list[str]:
    return pod_warnings(pod.get("spec") or {}, pod.get("metadata") or {})


def selectable(pod: Tree) -> dict[str, str]:
    """Return the values that field selectors of pods know."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    addresses = status.get("podIPs")
    address = addresses[0].get("ip", "") if addresses else ""
    return {
        "spec.nodeName": spec.get("nodeName") or "",
        "spec.restartPolicy": spec.get("restartPolicy") or "",
        "spec.schedulerName": spec.get("schedulerName") or "",
        "spec.serviceAccountName": spec.get("serviceAccountName") or "",
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status.get("phase") or "",
        "status.podIP": address,
        "status.podIPs": address,
        "status.nominatedNodeName": status.get("nominatedNodeName") or "",
    }


def cells(pod: Tree, now: float) -> list[Any]:
    """Return the cells of a pod's row."""
    return pod_cells(pod, now)


RULES: Final = Rules(
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status=prepare_status,
    validate_create=validate_create,
    validate_update=validate_pod_update,
    validate_status=validate_pod_status,
    warnings=warnings,
    selectable=selectable,
    cells=cells,
)

DECLARATIONS: Final = {
    "pods": Declared(
        generation="spec",
        delete_answer="object",
        metadata_judged=(1, 1),
        field_labels=frozenset(
            {
                "spec.hostNetwork",
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "status.nominatedNodeName",
                "status.phase",
                "status.podIP",
                "status.podIPs",
            }
        ),
        rules=RULES,
    )
}
