"""Pod specs: what must hold of one, in a pod or in a template, in the real server's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from windtunnel.kinds.pod.annotations import MIRROR, validate_pod_annotations
from windtunnel.kinds.pod.containers import (
    PodFacts,
    padded_image,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
    validate_pod_claims,
)
from windtunnel.kinds.pod.requests import container_amounts
from windtunnel.kinds.pod.scheduling import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from windtunnel.kinds.pod.security import (
    containers_of,
    validate_host_process,
    validate_host_users,
    validate_pod_security,
    validate_system,
)
from windtunnel.kinds.pod.volumes import validate_volumes
from windtunnel.kinds.rules.checks import each
from windtunnel.kinds.rules.metadata import validate_labels
from windtunnel.kinds.rules.resource_names import (
    is_huge_pages,
    pod_resource_name,
    validate_requirements,
)
from windtunnel.machinery import names
from windtunnel.machinery.quantity import parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)

_LARGEST_INT32: Final = 2**31 - 1
_RESTARTS: Final = ["Always", "OnFailure", "Never"]
_DNS: Final = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]
_PREEMPTION: Final = ["PreemptLowerPriority", "Never"]
_NAMESERVERS: Final = 3
_SEARCHES: Final = 32
_SEARCH_CHARACTERS: Final = 2048
_RARE: Final = frozenset({
    "activeDeadlineSeconds", "affinity", "dnsConfig", "ephemeralContainers", "hostAliases",
    "hostNetwork", "hostUsers", "hostname", "hostnameOverride", "imagePullSecrets",
    "nodeSelector", "os", "overhead", "preemptionPolicy", "priorityClassName", "readinessGates",
    "resourceClaims", "resources", "runtimeClassName", "schedulingGates", "schedulingGroup",
    "subdomain", "tolerations", "topologySpreadConstraints",
})  # fmt: skip


def validate_pod_spec(
    spec: Tree,
    field: str = "spec",
    metadata: Mapping[str, Any] | None = None,
    *,
    is_pod: bool = True,
) -> list[Violation]:
    """Judge a pod spec after defaulting.

    Args:
        spec: The spec.
        field: Where it stands, ``spec`` or ``spec.template.spec``.
        metadata: The metadata of the pod, for names and annotations; None in a template.
        is_pod: False for templates, where some things may still be open.
    """
    mine = metadata or {}
    found: list[Violation] = []
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is None:
        found.append(required(f"{field}.terminationGracePeriodSeconds"))
    pod_name = mine.get("name", "") if is_pod else ""
    volumes, wrong = validate_volumes(
        spec.get("volumes") or (), pod_name, f"{field}.volumes", is_pod=is_pod
    )
    found += wrong
    claims = spec.get("resourceClaims") or ()
    restart = spec.get("restartPolicy", "")
    pod = PodFacts(
        volumes=volumes,
        claims=frozenset(claim["name"] for claim in claims if claim.get("name")),
        grace=grace,
        restart_policy=restart,
        system=spec.get("os"),
        host_users=spec.get("hostUsers") is not False,
    )
    if claims:
        mirrored = MIRROR in (mine.get("annotations") or {})
        found += validate_pod_claims(claims, mirrored, f"{field}.resourceClaims")
    containers = spec.get("containers") or ()
    found += validate_containers(containers, pod, f"{field}.containers")
    init = spec.get("initContainers") or ()
    if init:
        found += validate_init_containers(init, containers, pod, f"{field}.initContainers")
    if ephemeral := spec.get("ephemeralContainers"):
        where = f"{field}.ephemeralContainers"
        found += validate_ephemeral_containers(ephemeral, [*containers, *init], pod, where)
    rare = not spec.keys().isdisjoint(_RARE)
    if rare:
        found += _pod_level(spec, pod, field)
        found += _host_network(spec, field, is_pod=is_pod)
    found += _one_of(restart, _RESTARTS, f"{field}.restartPolicy")
    found += _one_of(spec.get("dnsPolicy", ""), _DNS, f"{field}.dnsPolicy")
    found += validate_labels(spec.get("nodeSelector"), f"{field}.nodeSelector")
    found += validate_pod_security(spec, field)
    found += validate_affinity(spec.get("affinity"), f"{field}.affinity")
    found += _dns_config(spec, f"{field}.dnsConfig")
    if rare:
        found += _scheduling(spec, field)
    if spec.get("securityContext") or rare:
        found += validate_host_process(spec, field)
        found += validate_host_users(spec, field)
        found += _host_name_override(spec, field)
    found += _names(spec, field)
    if rare:
        found += _rest(spec, field)
    return found + _file_references(spec, field)


def _one_of(value: str, allowed: list[str], field: str) -> list[Violation]:
    if value in allowed:
        return []
    return [not_supported(field, value, allowed)] if value else [required(field)]


def _pod_level(spec: Tree, pod: PodFacts, field: str) -> list[Violation]:
    resources = spec.get("resources")
    if resources is None:
        return []
    where = f"{field}.resources"
    if dig(spec, "os", "name") == "windows":
        return [forbidden(where, "may not be set for a windows pod")]
    found: list[Violation] = []
    if resources.get("claims") is not None:
        text = "claims may not be set for Resources at pod-level"
        found.append(forbidden(f"{where}.claims", text))
    found += validate_requirements(resources, where, pod.claims, pod_resource_name)
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, total in container_amounts(spec, "requests").items():
        if name in requests and total.nanos > parse(requests[name]).nanos:
            text = f"must be greater than or equal to aggregate container requests of {total}"
            found.append(invalid(f"{where}.requests[{name}]", str(parse(requests[name])), text))
    for name, total in container_amounts(spec, "limits").items():
        if is_huge_pages(name) and name in limits and total.nanos > parse(limits[name]).nanos:
            text = f"must be greater than or equal to aggregate container limits of {total}"
            found.append(invalid(f"{where}.limits[{name}]", str(parse(limits[name])), text))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, value in (dig(container, "resources", "limits") or {}).items():
            if name in limits and parse(value).nanos > parse(limits[name]).nanos:
                text = f"must be less than or equal to pod limits of {parse(limits[name])}"
                at = f"{where}.containers[{index}][{name}].limits"
                found.append(invalid(at, str(parse(value)), text))
    return found


def _host_network(spec: Tree, field: str, *, is_pod: bool) -> list[Violation]:
    if not spec.get("hostNetwork"):
        return []
    found: list[Violation] = []
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port.get("containerPort", 0):
                text = "must match `containerPort` when `hostNetwork` is true"
                at = f"{field}.containers[{index}].ports[{number}].hostPort"
                found.append(invalid(at, host, text))
    return found


def _dns_config(spec: Tree, field: str) -> list[Violation]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            text = "must provide `dnsConfig` when `dnsPolicy` is None"
            return [required(field, text)]
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{field}.nameservers", text)]
    if not config:
        return []
    found: list[Violation] = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _NAMESERVERS:
        text = f"must not have more than {_NAMESERVERS} nameservers"
        found.append(invalid(f"{field}.nameservers", servers, text))
    for index, server in enumerate(servers):
        found += each(names.ip_address(server), f"{field}.nameservers[{index}]", server)
    if len(searches) > _SEARCHES:
        text = f"must not have more than {_SEARCHES} search paths"
        found.append(invalid(f"{field}.searches", searches, text))
    if len(" ".join(searches)) > _SEARCH_CHARACTERS:
        text = (
            f"must not have more than {_SEARCH_CHARACTERS} characters (including spaces) in the"
            " search list"
        )
        found.append(invalid(f"{field}.searches", searches, text))
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            texts = names.dns_subdomain_with_underscore(name)
            found += each(texts, f"{field}.searches[{index}]", name)
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            found.append(required(f"{field}.options[{index}]", "must not be empty"))
    return found


def _scheduling(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        found += each(names.label_key(kind), f"{field}.readinessGates[{index}].conditionType", kind)
    found += validate_gates(spec.get("schedulingGates") or (), f"{field}.schedulingGates")
    where = f"{field}.topologySpreadConstraints"
    return found + validate_spread(spec.get("topologySpreadConstraints") or (), where)


def _host_name_override(spec: Tree, field: str) -> list[Violation]:
    name = spec.get("hostnameOverride")
    if name is None:
        return []
    where = f"{field}.hostnameOverride"
    found: list[Violation] = []
    for key in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(key):
            found.append(forbidden(where, f"may not be specified when {key} is true"))
    if len(name.encode()) > 64:
        found.append(too_long(where, 64))
    return found + each(names.dns_subdomain(name), where, name)


_NAMED: Final[tuple[tuple[str, Callable[[str], list[str]]], ...]] = (
    ("serviceAccountName", names.dns_subdomain),
    ("nodeName", names.dns_subdomain),
)


def _names(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for key, rule in _NAMED:
        if (name := spec.get(key)) and (texts := rule(name)):
            found += each(texts, f"{field}.{key}", name)
    return found


def _rest(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LARGEST_INT32:
        text = names.not_between(1, _LARGEST_INT32)
        found.append(invalid(f"{field}.activeDeadlineSeconds", deadline, text))
    for key in ("hostname", "subdomain"):
        if name := spec.get(key):
            found += each(names.dns_label(name), f"{field}.{key}", name)
    found += validate_tolerations(spec.get("tolerations") or (), f"{field}.tolerations")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        where, address = f"{field}.hostAliases[{index}]", alias.get("ip", "")
        found += each(names.ip_address(address), f"{where}.ip", address)
        for number, host in enumerate(alias.get("hostnames") or ()):
            found += each(names.dns_subdomain(host), f"{where}.hostnames[{number}]", host)
    if name := spec.get("priorityClassName"):
        found += each(names.dns_subdomain(name), f"{field}.priorityClassName", name)
    runtime = spec.get("runtimeClassName")
    if runtime is not None:
        found += each(names.dns_subdomain(runtime), f"{field}.runtimeClassName", runtime)
    preemption = spec.get("preemptionPolicy")
    if preemption is not None:
        found += _one_of(preemption, _PREEMPTION, f"{field}.preemptionPolicy")
    if overhead := spec.get("overhead"):
        found += validate_requirements({"limits": overhead}, f"{field}.overhead")
    return found + validate_system(spec, field)


def _file_references(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for container, where in containers_of(spec, field):
        for index, variable in enumerate(container.get("env") or ()):
            name = dig(variable, "valueFrom", "fileKeyRef", "volumeName")
            if name is None:
                continue
            at = f"{where}.env[{index}].valueFrom.fileKeyRef.volumeName"
            volumes = {each.get("name"): each for each in spec.get("volumes") or ()}
            if name not in volumes:
                found.append(not_found(at, name))
            elif volumes[name].get("emptyDir") is None:
                found.append(invalid(at, name, "referenced volume must be of type emptyDir"))
    return found


def validate_whole_pod(pod: Tree) -> list[Violation]:
    """Judge what only pods must hold: annotations, spec, tokens, images."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    found: list[Violation] = []
    if annotations:
        found += validate_pod_annotations(annotations, spec)
    found += validate_pod_spec(spec, "spec", metadata)
    if not spec.get("serviceAccountName"):
        found += _tokens(spec)
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            found += padded_image(container, f"spec.{key}[{index}]")
    return found


def _tokens(spec: Tree) -> list[Violation]:
    text = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken", text)
        for index, volume in enumerate(spec.get("volumes") or ())
        for number, source in enumerate(dig(volume, "projected", "sources") or ())
        if source.get("serviceAccountToken") is not None
    ]
