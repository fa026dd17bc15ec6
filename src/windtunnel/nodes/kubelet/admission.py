"""Whether a pod that was given its devices fits the node otherwise.

Source: kubelet v1.36. Only the first of all reasons is told. A resource that the node does not list
is left out of the account, so a pod that names one runs without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from windtunnel.kinds.pod.requests import amounts, base_units, pod_requests
from windtunnel.machinery.selectors import Requirement, requirement_of_tree
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.devices.admission import Rejected
from windtunnel.nodes.kubelet.pod_spec import containers

_SYSTEM: Final = "linux"
_SYSTEM_LABEL: Final = "kubernetes.io/os"
_SYSCTLS: Final = {
    "kernel.shm_rmid_forced": "ipc",
    "net.ipv4.ip_local_port_range": "net",
    "net.ipv4.tcp_syncookies": "net",
    "net.ipv4.ping_group_range": "net",
    "net.ipv4.ip_unprivileged_port_start": "net",
    "net.ipv4.ip_local_reserved_ports": "net",
    "net.ipv4.tcp_keepalive_time": "net",
    "net.ipv4.tcp_fin_timeout": "net",
    "net.ipv4.tcp_keepalive_intvl": "net",
    "net.ipv4.tcp_keepalive_probes": "net",
    "net.ipv4.tcp_rmem": "net",
    "net.ipv4.tcp_wmem": "net",
}
"""Kernel parameters that a pod may set, and the namespace that each belongs to."""
_FIRST: Final[tuple[str, ...]] = ("pods", "cpu", "memory", "ephemeral-storage")


def forbid(pod: Tree) -> Rejected | None:
    """Return why the pod may not even ask for its devices; None where it may."""
    spec = pod["spec"]
    shared = {"net": spec.get("hostNetwork"), "ipc": spec.get("hostIPC")}
    for each in dig(spec, "securityContext", "sysctls") or ():
        name = str(each["name"]).replace("/", ".")
        space = _SYSCTLS.get(name)
        if space is None:
            return Rejected("SysctlForbidden", f'forbidden sysctl: "{name}" not allowlisted')
        if shared[space]:
            why = f'"{name}" not allowed with host {space} enabled'
            return Rejected("SysctlForbidden", f"forbidden sysctl: {why}")
    return None


def judge(
    pod: Tree,
    node: Tree,
    others: Iterable[Tree],
    held: Mapping[str, int],
    *,
    app_armor: bool = False,
) -> Rejected | None:
    """Return why the pod may not run on the node; None where it may.

    Args:
        pod: The pod.
        node: The node's object, with its allocatable resources.
        others: Pods that run here already.
        held: Devices that are given away, by resource: a node lists at least as many.
        app_armor: Whether the machine has AppArmor.
    """
    others = list(others)
    allocatable = {
        name: max(amount, held.get(name, 0))
        for name, amount in base_units_of(dig(node, "status", "allocatable") or {}).items()
    }
    return (
        _foreign(pod, node)
        or _shortage(pod, others, allocatable)
        or _misplaced(pod, node)
        or _port_taken(pod, others)
        or _tainted(pod, node)
        or _unconfined(pod, app_armor=app_armor)
    )


def _foreign(pod: Tree, node: Tree) -> Rejected | None:
    """Say what no node of this sort could give, however empty it is."""
    if (pod["metadata"].get("labels") or {}).get(_SYSTEM_LABEL, _SYSTEM) != _SYSTEM:
        return Rejected(
            "PodOSSelectorNodeLabelDoesNotMatch",
            f"Failed to admit pod as the `{_SYSTEM_LABEL}` label doesn't match node label",
        )
    if (dig(pod, "spec", "os", "name") or _SYSTEM) != _SYSTEM:
        why = "Failed to admit pod as the OS field doesn't match node OS"
        return Rejected("PodOSNotSupported", why)
    strict = dig(pod, "spec", "securityContext", "supplementalGroupsPolicy") == "Strict"
    if strict and not dig(node, "status", "features", "supplementalGroupsPolicy"):
        return Rejected(
            "SupplementalGroupsPolicyNotSupported",
            "SupplementalGroupsPolicy=Strict is not supported in this node",
        )
    return None


def _unconfined(pod: Tree, *, app_armor: bool) -> Rejected | None:
    """Say that the machine cannot confine a pod that wants to be confined."""
    contexts = [each.get("securityContext") for each in (pod["spec"], *containers(pod))]
    kinds = {dig(each, "appArmorProfile", "type") or "Unconfined" for each in contexts}
    if app_armor or kinds == {"Unconfined"}:
        return None
    why = "Cannot enforce AppArmor: AppArmor is not enabled on the host"
    return Rejected("AppArmor", why)


def base_units_of(listed: Mapping[str, str]) -> dict[str, int]:
    """Return a resource list in whole numbers: cpu in thousandths, all else in units."""
    return base_units(amounts(listed))


def _shortage(pod: Tree, others: list[Tree], allocatable: Mapping[str, int]) -> Rejected | None:
    asked = {"pods": 1, **base_units(pod_requests(pod))}
    used: dict[str, int] = {"pods": len(others)}
    for other in others:
        for name, amount in base_units(pod_requests(other)).items():
            used[name] = used.get(name, 0) + amount
    names = [name for name in _FIRST if name in asked]
    names += sorted(set(asked) - set(_FIRST))
    for name in names:
        capacity = allocatable.get(name)
        if capacity is None or not asked[name]:
            continue
        if asked[name] > capacity - used.get(name, 0):
            return Rejected(
                f"OutOf{name}",
                f"Node didn't have enough resource: {name}, requested: {asked[name]}, "
                f"used: {used.get(name, 0)}, capacity: {capacity}",
            )
    return None


def _predicate(name: str, why: str) -> Rejected:
    return Rejected(name, f"Predicate {name} failed: {why}")


def _misplaced(pod: Tree, node: Tree) -> Rejected | None:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    name = node["metadata"]["name"]
    selector = pod["spec"].get("nodeSelector") or {}
    fits = all(labels.get(key) == value for key, value in selector.items())
    required = dig(
        pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if fits and required is not None:
        fits = any(_matches(term, labels, name) for term in required["nodeSelectorTerms"] or ())
    if not fits:
        return _predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    return None


def _matches(term: Tree, labels: Mapping[str, str], name: str) -> bool:
    """A term without any expression matches nothing."""
    by_label: list[Requirement] = [
        requirement_of_tree(each) for each in term.get("matchExpressions") or ()
    ]
    by_field = [requirement_of_tree(each) for each in term.get("matchFields") or ()]
    if not by_label and not by_field:
        return False
    fields = {"metadata.name": name}
    return all(each.matches(labels) for each in by_label) and all(
        each.matches(fields) for each in by_field
    )


def _ports(pod: Tree) -> set[tuple[str, str, int]]:
    return {
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", int(port["hostPort"]))
        for container in containers(pod)
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def _port_taken(pod: Tree, others: list[Tree]) -> Rejected | None:
    taken = {port for other in others for port in _ports(other)}
    for address, protocol, number in _ports(pod):
        for there, spoken, held in taken:
            anywhere = "0.0.0.0" in (address, there)
            if (protocol, number) == (spoken, held) and (anywhere or address == there):
                return _predicate(
                    "NodePorts", "node(s) didn't have free ports for the requested pod ports"
                )
    return None


def _tainted(pod: Tree, node: Tree) -> Rejected | None:
    """Only what would evict the pod keeps it out; the rest is the scheduler's matter."""
    tolerations = pod["spec"].get("tolerations") or ()
    for taint in node["spec"].get("taints") or ():
        if taint.get("effect") != "NoExecute":
            continue
        if not any(_tolerates(each, taint) for each in tolerations):
            return _predicate("TaintToleration", "node(s) had untolerated taint(s)")
    return None


def _tolerates(toleration: Tree, taint: Tree) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == (taint.get("value") or "")
