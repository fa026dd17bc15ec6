"""What may be written to a pod's status: by nodes, schedulers and whoever plays them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from windtunnel.kinds.pod.update import validate_annotation_updates
from windtunnel.kinds.rules.checks import each, go_value, immutable, internal
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

_SYSTEM_CONDITIONS: Final = frozenset({"PodScheduled", "Ready", "Initialized"})
_NOT_NEGATIVE: Final = "must be a non-negative integer"
_STATUSES: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_ONE_PER_FAMILY: Final = "may specify no more than one IP for each IP family"
_HEALTH: Final = ["Healthy", "Unhealthy", "Unknown"]


def validate_pod_status(new: Tree, old: Tree) -> list[Violation]:
    """Judge a write to the status subresource."""
    status, before = new.get("status") or {}, old.get("status") or {}
    spec = old.get("spec") or {}
    found = validate_annotation_updates(new, old)
    found += _conditions(status.get("conditions") or ())
    found += _nominated(status, before, spec)
    if (status.get("observedGeneration") or 0) < 0:
        value = status["observedGeneration"]
        found.append(invalid("status.observedGeneration", value, _NOT_NEGATIVE))
    ours, theirs = status.get("qosClass") or "", before.get("qosClass") or ""
    found += immutable(ours, theirs, "status.qosClass")
    found += _transitions(status, before, spec)
    found += _claims(status.get("resourceClaimStatuses") or (), spec)
    for key in ("podIPs", "hostIPs"):
        found += _addresses(status, before, key)
    for key in _STATUSES:
        found += _users(status.get(key) or (), spec, f"status.{key}")
    for key, containers in (
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
    ):
        found += _allocated(status.get(key) or (), spec.get(containers) or (), f"status.{key}")
    return found


def _conditions(conditions: Sequence[Tree]) -> list[Violation]:
    found: list[Violation] = []
    for index, condition in enumerate(conditions):
        where, generation = f"status.conditions[{index}]", condition.get("observedGeneration") or 0
        if generation < 0:
            found.append(invalid(f"{where}.observedGeneration", generation, _NOT_NEGATIVE))
        kind = condition.get("type", "")
        if kind not in _SYSTEM_CONDITIONS:
            found += each(names.label_key(kind), f"{where}.Type", kind)
    return found


def _nominated(status: Tree, before: Tree, spec: Tree) -> list[Violation]:
    name = status.get("nominatedNodeName") or ""
    if not name or name == (before.get("nominatedNodeName") or ""):
        return []
    field = "status.nominatedNodeName"
    found = each(names.dns_subdomain(name), field, name)
    if spec.get("nodeName"):
        text = "may not be set on pods that are already bound to a node"
        found.append(forbidden(field, text))
    return found


def _may_restart(container: Tree, spec: Tree, code: int) -> bool:
    """Say whether a container that ended with a code may run again."""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        within = code in (codes.get("values") or ())
        if within == (codes.get("operator") == "In"):
            return rule.get("action") in ("Restart", "RestartAllContainers")
    policy = container.get("restartPolicy") or spec.get("restartPolicy") or "Always"
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def _transitions(status: Tree, before: Tree, spec: Tree) -> list[Violation]:
    found: list[Violation] = []
    containers = {
        "containerStatuses": spec.get("containers") or (),
        "initContainerStatuses": spec.get("initContainers") or (),
        "ephemeralContainerStatuses": (),
    }
    everything = any(
        rule.get("action") == "RestartAllContainers"
        for key in ("containers", "initContainers")
        for container in spec.get(key) or ()
        for rule in container.get("restartPolicyRules") or ()
    )
    for key in _STATUSES:
        if everything and key != "ephemeralContainerStatuses":
            continue
        known = {container.get("name"): container for container in containers[key]}
        ours = {each.get("name"): each for each in status.get(key) or ()}
        for index, old in enumerate(before.get(key) or ()):
            ended = dig(old, "state", "terminated")
            name = old.get("name")
            if (
                ended is None
                or name not in ours
                or dig(ours[name], "state", "terminated") is not None
            ):
                continue
            container = known.get(name)
            if container is None or not _may_restart(container, spec, ended.get("exitCode") or 0):
                text = "may not be transitioned to non-terminated state"
                found.append(forbidden(f"status.{key}[{index}].state", text))
    return found


def _claims(statuses: Sequence[Tree], spec: Tree) -> list[Violation]:
    found: list[Violation] = []
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    seen: set[Any] = set()
    for index, status in enumerate(statuses):
        where, name = f"status.resourceClaimStatuses[{index}]", status.get("name", "")
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            found.append(invalid(f"{where}.name", name, text))
        if name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
        claim = status.get("resourceClaimName")
        if claim is not None:
            found += each(names.dns_subdomain(claim), f"{where}.resourceClaimName", claim)
    return found


def _addresses(status: Tree, before: Tree, key: str) -> list[Violation]:
    listed = [entry.get("ip", "") for entry in status.get(key) or ()]
    if not listed:
        return []
    field = f"status.{key}"
    found: list[Violation] = []
    if key == "hostIPs" and (status.get("hostIP") or "") != listed[0]:
        found.append(invalid(f"{field}[0].ip", listed[0], "must be equal to `hostIP`"))
    known = {entry.get("ip") for entry in before.get(key) or ()}
    for index, address in enumerate(listed):
        if address not in known:
            found += each(names.ip_address(address), f"{field}[{index}]", address)
    if len(listed) == 1:
        return found
    broken = [index for index, address in enumerate(listed) if names.ip_address(address)]
    if broken:
        text = f"invalid IP[{broken[0]}]: {listed[broken[0]]}"
        found.append(internal(field, f"failed to check for dual stack with error:{text}"))
    families = {":" in address for address in listed}
    if broken or len(listed) > 2 or len(families) < 2:
        found.append(invalid(field, go_value(status[key]), _ONE_PER_FAMILY))
    return found


def _users(statuses: Sequence[Tree], spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    windows = dig(spec, "os", "name") == "windows"
    for index, status in enumerate(statuses):
        user = dig(status, "user", "linux")
        if user is None:
            continue
        where = f"{field}[{index}].user.linux"
        if windows:
            found.append(forbidden(where, "cannot be set for a windows pod"))
            continue
        for key in ("uid", "gid"):
            value = user.get(key) or 0
            found += each(names.unix_id(value), f"{where}.{key}", value)
        for number, group in enumerate(user.get("supplementalGroups") or ()):
            found += each(names.unix_id(group), f"{where}.supplementalGroups[{number}]", group)
    return found


def _allocated(statuses: Iterable[Tree], containers: Iterable[Tree], field: str) -> list[Violation]:
    found: list[Violation] = []
    known = {container.get("name"): container for container in containers}
    for index, status in enumerate(statuses):
        container = known.get(status.get("name"))
        for number, resource in enumerate(status.get("allocatedResourcesStatus") or ()):
            where, name = (
                f"{field}[{index}].allocatedResourcesStatus[{number}]",
                resource.get("name", ""),
            )
            if container is not None and name not in _allocatable(container, name):
                text = (
                    "must match one of the container's resource claims in a format"
                    " 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
                    if name.startswith("claim:")
                    else "must match one of the container's resource requests"
                )
                found.append(invalid(f"{where}.name", name, text))
            found += _health(resource.get("resources") or (), f"{where}.resources")
    return found


def _allocatable(container: Tree, name: str) -> list[str]:
    resources = container.get("resources") or {}
    if not name.startswith("claim:"):
        return list(resources.get("requests") or ())
    return [
        f"claim:{claim.get('name')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in resources.get("claims") or ()
    ]


def _health(resources: Sequence[Tree], field: str) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        health, identity = resource.get("health", ""), resource.get("resourceID", "")
        if health not in _HEALTH:
            found.append(not_supported(f"{where}.health", health, _HEALTH))
        if resource.get("message") == "":
            text = "must be non-empty if specified"
            found.append(required(f"{where}.message", text))
        if identity in seen:
            found.append(duplicate(f"{where}.resourceID", identity))
        seen.add(identity)
    return found
