"""Containers of pods: the judgements that make up most of a pod's validation.

This is the hot path of every create: what is absent costs one look-up, and paths are only put
together where something is there to be judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.kinds.pod.env import validate_env, validate_env_from
from windtunnel.kinds.pod.paths import descending_path, no_backsteps
from windtunnel.kinds.pod.probes import validate_lifecycle, validate_probes
from windtunnel.kinds.pod.security import validate_container_security
from windtunnel.kinds.rules.checks import each, go_value
from windtunnel.kinds.rules.resource_names import validate_requirements
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)

_PROTOCOLS: Final = ["SCTP", "TCP", "UDP"]
_PULL_POLICIES: Final = ["Always", "IfNotPresent", "Never"]
_MESSAGE_POLICIES: Final = ["File", "FallbackToLogsOnError"]
_RESTART_POLICIES: Final = ["Always", "Never", "OnFailure"]
_PROPAGATIONS: Final = ["Bidirectional", "HostToContainer", "None"]
_RECURSIVE: Final = ["Disabled", "Enabled", "IfPossible"]
_RESTART_ACTIONS: Final = ["Restart", "RestartAllContainers"]
_UNPROBED: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
_EPHEMERAL_FORBIDS: Final = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe",
    "readinessProbe", "startupProbe", "lifecycle",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What a container must know of its pod to be judged."""

    volumes: Mapping[str, Tree] = field(default_factory=dict)
    claims: Collection[str] = ()
    grace: int | None = None
    restart_policy: str = "Always"
    system: Tree | None = None
    host_users: bool = True


def _common(container: Tree, pod: PodFacts, field: str) -> list[Violation]:
    found: list[Violation] = []
    name = container.get("name", "")
    if not name:
        found.append(required(f"{field}.name"))
    elif texts := names.dns_label(name):
        found += each(texts, f"{field}.name", name)
    if not container.get("image"):
        found.append(required(f"{field}.image"))
    policy = container.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        where = f"{field}.terminationMessagePolicy"
        found.append(not_supported(where, policy, _MESSAGE_POLICIES) if policy else required(where))
    if ports := container.get("ports"):
        found += _ports(ports, f"{field}.ports")
    if variables := container.get("env"):
        found += validate_env(variables, f"{field}.env")
    if sources := container.get("envFrom"):
        found += validate_env_from(sources, f"{field}.envFrom")
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    if mounts:
        found += _mounts(container, mounts, devices, pod.volumes, f"{field}.volumeMounts")
    if devices:
        found += _devices(devices, mounts, pod.volumes, f"{field}.volumeDevices")
    pull = container.get("imagePullPolicy", "")
    if pull not in _PULL_POLICIES:
        where = f"{field}.imagePullPolicy"
        found.append(not_supported(where, pull, _PULL_POLICIES) if pull else required(where))
    if resources := container.get("resources"):
        found += validate_requirements(resources, f"{field}.resources", pod.claims)
    if policies := container.get("resizePolicy"):
        found += _resize_policies(policies, pod.restart_policy, f"{field}.resizePolicy")
    if context := container.get("securityContext"):
        where = f"{field}.securityContext"
        found += validate_container_security(context, where, pod.host_users)
    return found


def _ports(ports: Sequence[Tree], field: str) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{field}[{index}]"
        if name := port.get("name"):
            texts = names.port_name(name)
            found += [invalid(f"{where}.name", name, text) for text in texts]
            if not texts:
                if name in seen:
                    found.append(duplicate(f"{where}.name", name))
                seen.add(name)
        number = port.get("containerPort", 0)
        if not number:
            found.append(required(f"{where}.containerPort"))
        else:
            found += each(names.port_number(number), f"{where}.containerPort", number)
        if host := port.get("hostPort"):
            found += each(names.port_number(host), f"{where}.hostPort", host)
        protocol = port.get("protocol", "")
        if not protocol:
            found.append(required(f"{where}.protocol"))
        elif protocol not in _PROTOCOLS:
            found.append(not_supported(f"{where}.protocol", protocol, _PROTOCOLS))
    return found


def _mounts(
    container: Tree,
    mounts: Sequence[Tree],
    devices: Sequence[Tree],
    volumes: Mapping[str, Tree],
    field: str,
) -> list[Violation]:
    found: list[Violation] = []
    paths: set[str] = set()
    # A device that is named twice counts once, with its last path.
    by_name = {device.get("name", ""): device.get("devicePath", "") for device in devices}
    device_names, device_paths = by_name.keys(), by_name.values()
    for index, mount in enumerate(mounts):
        where = f"{field}[{index}]"
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            found.append(required(f"{where}.name"))
        if name not in volumes:
            found.append(not_found(f"{where}.name", name))
        if not path:
            found.append(required(f"{where}.mountPath"))
        if path in paths:
            found.append(invalid(f"{where}.mountPath", path, "must be unique"))
        paths.add(path)
        if name in device_names:
            text = "must not already exist in volumeDevices"
            found.append(invalid(f"{where}.name", name, text))
        if path in device_paths:
            text = "must not already exist as a path in volumeDevices"
            found.append(invalid(f"{where}.mountPath", path, text))
        found += _mount_options(container, mount, where, field)
    return found


def _mount_options(container: Tree, mount: Tree, field: str, mounts: str) -> list[Violation]:
    found: list[Violation] = []
    below, pattern = mount.get("subPath"), mount.get("subPathExpr")
    if below:
        found += descending_path(below, f"{mounts}.subPath")
    if pattern:
        if below:
            text = "subPathExpr and subPath are mutually exclusive"
            found.append(invalid(f"{field}.subPathExpr", pattern, text))
        found += descending_path(pattern, f"{mounts}.subPathExpr")
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if propagation is not None:
        where = f"{mounts}.mountPropagation"
        if propagation not in _PROPAGATIONS:
            found.append(not_supported(where, propagation, _PROPAGATIONS))
        privileged = (container.get("securityContext") or {}).get("privileged")
        if propagation == "Bidirectional" and not privileged:
            text = "Bidirectional mount propagation is available only to privileged containers"
            found.append(forbidden(where, text))
    if recursive is not None and recursive != "Disabled":
        where = f"{mounts}.recursiveReadOnly"
        if recursive not in _RECURSIVE:
            found.append(not_supported(where, recursive, _RECURSIVE))
        else:
            if not mount.get("readOnly"):
                found.append(forbidden(where, "may only be specified when readOnly is true"))
            if propagation not in (None, "None"):
                text = "may only be specified when mountPropagation is None or not specified"
                found.append(forbidden(where, text))
    return found


def _devices(
    devices: Sequence[Tree], mounts: Sequence[Tree], volumes: Mapping[str, Tree], field: str
) -> list[Violation]:
    found: list[Violation] = []
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    by_name = {mount.get("name", ""): mount.get("mountPath", "") for mount in mounts}
    mount_names, mount_paths = by_name.keys(), by_name.values()
    for index, device in enumerate(devices):
        name, path = device.get("name", ""), device.get("devicePath", "")
        at_name, at_path = f"{field}[{index}].name", f"{field}[{index}].devicePath"
        if not name:
            found.append(required(at_name))
        if name in seen_names:
            found.append(invalid(at_name, name, "must be unique"))
        volume = volumes.get(name)
        if volume is None:
            found.append(not_found(at_name, name))
        elif not volume.keys() & {"persistentVolumeClaim", "ephemeral"}:
            text = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block"
                " mode"
            )
            found.append(invalid(at_name, name, text))
        if not path:
            found.append(required(at_path))
        if path in seen_paths:
            found.append(invalid(at_path, path, "must be unique"))
        if path and no_backsteps(path, at_path):
            found.append(invalid(at_path, path, "can not contain backsteps ('..')"))
        else:
            seen_paths.add(path)
        if name in mount_names:
            text = "must not already exist in volumeMounts"
            found.append(invalid(at_name, name, text))
        if path in mount_paths:
            text = "must not already exist as a path in volumeMounts"
            found.append(invalid(at_path, path, text))
        if name:
            seen_names.add(name)
    return found


def _resize_policies(policies: Sequence[Tree], restart: str, field: str) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restarts = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            found.append(duplicate(f"{field}[{index}]", resource))
        seen.add(resource)
        for value, allowed in (
            (resource, ["cpu", "memory"]),
            (restarts, ["NotRequired", "RestartContainer"]),
        ):
            if not value:
                found.append(required(field))
            elif value not in allowed:
                found.append(not_supported(field, value, allowed))
        if restart == "Never" and restarts != "NotRequired":
            text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            found.append(invalid(field, restarts, text))
    return found


def _restart_policy(container: Tree, field: str) -> list[Violation]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    where = f"{field}.restartPolicy"
    found: list[Violation] = []
    if policy is None:
        if not rules:
            return []
        found.append(required(where, "must specify restartPolicy when restart rules are used"))
    elif policy not in _RESTART_POLICIES:
        found.append(not_supported(where, policy, _RESTART_POLICIES))
    if len(rules) > 20:
        found.append(too_many(f"{field}.restartPolicyRules", len(rules), 20))
    for index, rule in enumerate(rules):
        at, action, codes = f"{where}Rules[{index}]", rule.get("action", ""), rule.get("exitCodes")
        if action not in _RESTART_ACTIONS:
            found.append(not_supported(f"{at}.action", action, _RESTART_ACTIONS))
        if codes is None:
            found.append(required(f"{at}.exitCodes", "must be specified"))
            continue
        operator, values = codes.get("operator", ""), codes.get("values") or ()
        if operator not in ("In", "NotIn"):
            found.append(not_supported(f"{at}.exitCodes.operator", operator, ["In", "NotIn"]))
        if len(values) > 255:
            found.append(too_many(f"{at}.exitCodes.values", len(values), 255))
    return found


def _host_ports(containers: Sequence[Tree], field: str) -> list[Violation]:
    found: list[Violation] = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort")
            if not host:
                continue
            used = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{host}"
            if used in taken:
                found.append(duplicate(f"{field}[{index}].ports[{number}].hostPort", used))
            taken.add(used)
    return found


def validate_containers(containers: Sequence[Tree], pod: PodFacts, field: str) -> list[Violation]:
    """Judge the main containers; there must be one."""
    if not containers:
        return [required(field)]
    found: list[Violation] = []
    seen: set[str] = set()
    ported = False
    for index, container in enumerate(containers):
        where, name = f"{field}[{index}]", container.get("name", "")
        found += _common(container, pod, where)
        if name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
        ported = ported or "ports" in container
        if (lifecycle := container.get("lifecycle")) is not None:
            found += validate_lifecycle(lifecycle, pod.grace, pod.system, f"{where}.lifecycle")
        found += validate_probes(container, pod.grace, where)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            found += _restart_policy(container, where)
    return found + _host_ports(containers, field) if ported else found


def validate_init_containers(
    containers: Sequence[Tree], regular: Sequence[Tree], pod: PodFacts, field: str
) -> list[Violation]:
    """Judge init containers, of which those that always restart are sidecars."""
    found: list[Violation] = []
    seen = {container.get("name", "") for container in regular}
    for index, container in enumerate(containers):
        where, name = f"{field}[{index}]", container.get("name", "")
        found += _common(container, pod, where)
        found += _restart_policy(container, where)
        if name in seen:
            found.append(duplicate(f"{where}.name", name))
        elif name:
            seen.add(name)
        found += _host_ports([container], field)
        lifecycle = container.get("lifecycle")
        if container.get("restartPolicy") == "Always":
            if lifecycle is not None:
                at = f"{where}.lifecycle"
                found += validate_lifecycle(lifecycle, pod.grace, pod.system, at)
            found += validate_probes(container, pod.grace, where)
            continue
        for key in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(key) is not None:
                found.append(forbidden(f"{where}.{key}", _UNPROBED))
        for number, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                at = f"{where}.resizePolicy[{number}].restartPolicy"
                text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                found.append(invalid(at, "RestartContainer", text))
    return found


def validate_ephemeral_containers(
    containers: Sequence[Tree], others: Sequence[Tree], pod: PodFacts, field: str
) -> list[Violation]:
    """Judge containers that were added to a running pod."""
    found: list[Violation] = []
    other_names = {container.get("name", "") for container in others}
    seen = set(other_names)
    for index, container in enumerate(containers):
        where, name = f"{field}[{index}]", container.get("name", "")
        found += _common(container, pod, where)
        found += padded_image(container, where)
        if name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
        target = container.get("targetContainerName")
        if target and target not in other_names:
            found.append(not_found(f"{where}.targetContainerName", target))
        found += [
            forbidden(f"{where}.{key}", _NOT_EPHEMERAL)
            for key in _EPHEMERAL_FORBIDS
            if container.get(key)
        ]
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    at = f"{where}.volumeMounts[{number}].{key}"
                    found.append(forbidden(at, _NOT_EPHEMERAL))
    return found


def padded_image(container: Tree, field: str) -> list[Violation]:
    """Judge that an image's name has no spaces around it, which templates may have."""
    image = container.get("image", "")
    if image == image.strip():
        return []
    text = "must not have leading or trailing whitespace"
    return [invalid(f"{field}.image", image, text)]


def validate_pod_claims(claims: Sequence[Tree], mirrored: bool, field: str) -> list[Violation]:
    """Judge which ResourceClaims a pod uses, and under which names."""
    found: list[Violation] = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        if mirrored:
            found.append(forbidden("", "static pods do not support resource claims"))
            continue
        where, name = f"{field}[{index}]", claim.get("name", "")
        if not name:
            found.append(required(f"{where}.name"))
        elif name in seen:
            found.append(duplicate(f"{where}.name", name))
        else:
            found += each(names.dns_label(name), f"{where}.name", name)
            seen.add(name)
        found += _claim_source(claim, where)
    return found


def _claim_source(claim: Tree, field: str) -> list[Violation]:
    own: Any = claim.get("resourceClaimName")
    template: Any = claim.get("resourceClaimTemplateName")
    found: list[Violation] = []
    if own is not None and template is not None:
        text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        found.append(invalid(field, go_value(claim), text))
    if own is None and template is None:
        text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        found.append(invalid(field, go_value(claim), text))
    for key, value in (("resourceClaimName", own), ("resourceClaimTemplateName", template)):
        if value is not None:
            found += each(names.dns_subdomain(value), f"{field}.{key}", value)
    return found
