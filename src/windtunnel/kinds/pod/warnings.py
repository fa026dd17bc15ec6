"""What the real server warns of in pods and templates without refusing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from windtunnel.kinds.network.address_warnings import ip_warnings, one_ip_warnings
from windtunnel.kinds.pod.annotations import (
    APP_ARMOR,
    CONTAINER_SECCOMP,
    SECCOMP,
    app_armor_field,
)
from windtunnel.kinds.pod.scheduling import PREFERRED, REQUIRED
from windtunnel.kinds.pod.security import containers_of
from windtunnel.machinery import names
from windtunnel.machinery.quantity import parse
from windtunnel.machinery.tree import Tree, dig

DEPRECATED_LABELS: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_DEPRECATED_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_DEPRECATED_VOLUMES: Final = {
    "photonPersistentDisk": ("photonPersistentDisk", "v1.11", "non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "v1.11", "and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "v1.16", "non-functional in v1.22+"),
    "flocker": ("flocker", "v1.22", "non-functional in v1.25+"),
    "storageos": ("storageOS", "v1.22", "non-functional in v1.25+"),
    "quobyte": ("quobyte", "v1.22", "non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "v1.25", "non-functional in v1.26+"),
    "cephfs": ("cephfs", "v1.28", "non-functional in v1.31+"),
    "rbd": ("rbd", "v1.28", "non-functional in v1.31+"),
}
_SECCOMP_TEXT: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_FRACTION: Final = "is invalid, must be an integer"
_NULL_SELECTOR: Final = "a null labelSelector results in matching no pod"
_BYTES: Final = ("memory", "ephemeral-storage")


def pod_warnings(
    spec: Tree, metadata: Mapping[str, object], root: str = "", *, template: bool = False
) -> list[str]:
    """Return the warnings for a pod (or template) whose spec stands at ``root + 'spec'``."""
    annotations = metadata.get("annotations") or {}
    assert isinstance(annotations, dict)
    field, at = f"{root}spec", f"{root}metadata.annotations"
    found: list[str] = []
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            found.append(f"{field}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}")
    found += _node_affinity(spec, field)
    found += _spread(spec, field)
    found += [
        f"{at}[{key}]: {text}"
        for key, text in _DEPRECATED_ANNOTATIONS.items()
        if key in annotations
    ]
    if volumes := spec.get("volumes"):
        found += _volumes(volumes, f"{field}.volumes")
    found += _repeated(spec.get("hostAliases") or (), "ip", f"{field}.hostAliases")
    secrets = spec.get("imagePullSecrets") or ()
    found += _repeated(secrets, "name", f"{field}.imagePullSecrets")
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            found.append(f'{field}.imagePullSecrets[{index}].name: invalid empty name ""')
    found += _fractions(spec.get("overhead"), f"{field}.overhead")
    if dig(spec, "securityContext", "seccompProfile") is None and SECCOMP in annotations:
        found.append(f"{at}[{SECCOMP}]: {_SECCOMP_TEXT}")
    for container, where in containers_of(spec, field):
        found += _container(container, where, annotations, at, template=template)
    found += _ports(spec, field)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{field}.terminationGracePeriodSeconds: {text}")
    found += _pod_affinity(spec, field)
    servers = dig(spec, "dnsConfig", "nameservers") or ()
    found += ip_warnings(servers, f"{field}.dnsConfig.nameservers")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        found += one_ip_warnings(alias.get("ip", ""), f"{field}.hostAliases[{index}].ip")
    return found


def _node_affinity(spec: Tree, field: str) -> list[str]:
    affinity = dig(spec, "affinity", "nodeAffinity")
    if not affinity:
        return []
    where = f"{field}.affinity.nodeAffinity"
    found: list[str] = []
    for index, term in enumerate(dig(affinity, REQUIRED, "nodeSelectorTerms") or ()):
        found += node_term_warnings(term, f"{where}.{REQUIRED}.nodeSelectorTerms[{index}]")
    for index, preferred in enumerate(affinity.get(PREFERRED) or ()):
        at = f"{where}.{PREFERRED}[{index}].preference"
        found += node_term_warnings(preferred.get("preference") or {}, at, values=True)
    return found


def node_term_warnings(term: Tree, field: str, *, values: bool = False) -> list[str]:
    """Return the warnings for one term of a node selector."""
    found: list[str] = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key, where = expression.get("key", ""), f"{field}.matchExpressions[{index}]"
        if key in DEPRECATED_LABELS:
            found.append(f"{where}.key: {key} is {DEPRECATED_LABELS[key]}")
        if values:
            for number, value in enumerate(expression.get("values") or ()):
                found += [
                    f"{where}.values[{number}]: {value} is invalid, {text}"
                    for text in names.label_value(value)
                ]
    return found


def _spread(spec: Tree, field: str) -> list[str]:
    found: list[str] = []
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        where = f"{field}.topologySpreadConstraints[{index}]"
        key = constraint.get("topologyKey", "")
        if key in DEPRECATED_LABELS:
            found.append(f"{where}.topologyKey: {key} is {DEPRECATED_LABELS[key]}")
        if constraint.get("labelSelector") is None:
            found.append(f"{where}.labelSelector: {_NULL_SELECTOR}")
    return found


def _repeated(items: Sequence[Tree], key: str, field: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(key, "")
        if value in seen:
            found.append(f'{field}[{index}].{key}: duplicate {key} "{value}"')
        seen.add(value)
    return found


def _fractions(listed: Tree | None, field: str) -> list[str]:
    if not listed:
        return []
    return [
        f'{field}[{name}]: fractional byte value "{parse(listed[name])}" {_FRACTION}'
        for name in _BYTES
        if name in listed and parse(listed[name]).milli % 1000
    ]


def _container(
    container: Tree, field: str, annotations: Mapping[str, str], at: str, *, template: bool
) -> list[str]:
    found: list[str] = []
    name = container.get("name", "")
    if annotations:
        key = CONTAINER_SECCOMP + name
        if dig(container, "securityContext", "seccompProfile") is None and key in annotations:
            found.append(f"{at}[{key}]: {_SECCOMP_TEXT}")
        key = APP_ARMOR + name
        if key in annotations and _app_armor_is_new(container, annotations[key], template=template):
            text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
            found.append(f"{at}[{key}]: {text}")
    if resources := container.get("resources"):
        parts = [
            _fractions(resources.get(part), f"{field}.resources.{part}")
            for part in ("limits", "requests")
        ]
        found += sorted(parts[0] + parts[1], key=lambda text: "[ephemeral-storage]" in text)
    found += _hidden(container.get("env") or (), f"{field}.env")
    return found


def _app_armor_is_new(container: Tree, annotation: str, *, template: bool) -> bool:
    """Say whether only the annotation names a profile (a pod's field has adopted it by now)."""
    own, meant = dig(container, "securityContext", "appArmorProfile"), app_armor_field(annotation)
    return own is None if template or meant is None else own == meant


def _hidden(variables: Sequence[Tree], field: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        if name in seen:
            reference = f"$({name})"
            uses_it = reference in value and value != reference
            if variable.get("valueFrom") is not None or not uses_it:
                text = f'hides previous definition of "{name}"'
                found.append(f"{field}[{index}]: {text}, which may be dropped when using apply")
        seen.add(name)
    return found


def _ports(spec: Tree, field: str) -> list[str]:
    ports = [
        (f"{where}.ports[{index}]", port)
        for container, where in containers_of(spec, field)
        for index, port in enumerate(container.get("ports") or ())
    ]
    if not ports:
        return []
    found: list[str] = []
    seen: dict[tuple[int, str], list[tuple[str, Tree]]] = {}
    for where, port in ports:
        address, host = port.get("hostIP", ""), port.get("hostPort", 0)
        if address and not host:
            number, protocol = port.get("containerPort", 0), port.get("protocol", "")
            said = (
                f"{{Name:{port.get('name', '')} HostPort:0 ContainerPort:{number}"
                f" Protocol:{protocol} HostIP:{address}}}"
            )
            found.append(f"{where}: hostIP set without hostPort: {said}")
        others = seen.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        found += [text for at, other in others if (text := _clash(where, port, at, other))]
        others.append((where, port))
    by_name: dict[str, str] = {}
    for where, port in ports:
        name = port.get("name")
        if not name:
            continue
        first = by_name.setdefault(name, where)
        if first != where:
            text = f'duplicate port name "{name}" with {first}'
            use = f"services and probes that select ports by name will use {first}"
            found.append(f"{where}: {text}, {use}")
    return found


def _clash(where: str, port: Tree, at: str, other: Tree) -> str:
    ours, theirs = port.get("hostPort", 0), other.get("hostPort", 0)
    address, another = port.get("hostIP", ""), other.get("hostIP", "")
    if address == another and ours == theirs:
        return f"{where}: duplicate port definition with {at}"
    if not ours or not theirs:
        return f"{where}: overlapping port definition with {at}"
    if ours == theirs and bool(address) != bool(another):
        return f"{where}: dangerously ambiguous port definition with {at}"
    return ""


def _pod_affinity(spec: Tree, field: str) -> list[str]:
    found: list[str] = []
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = dig(spec, "affinity", kind) or {}
        where = f"{field}.affinity.{kind}"
        for index, term in enumerate(affinity.get(REQUIRED) or ()):
            if term.get("labelSelector") is None:
                found.append(f"{where}.{REQUIRED}[{index}].labelSelector: {_NULL_SELECTOR}")
        for index, weighted in enumerate(affinity.get(PREFERRED) or ()):
            if dig(weighted, "podAffinityTerm", "labelSelector") is None:
                at = f"{where}.{PREFERRED}[{index}].podAffinityTerm.labelSelector"
                found.append(f"{at}: {_NULL_SELECTOR}")
    return found


def _volumes(volumes: Sequence[Tree], field: str) -> list[str]:
    found: list[str] = []
    for index, volume in enumerate(volumes):
        for key, (said, since, now) in _DEPRECATED_VOLUMES.items():
            if key in volume:
                found.append(f"{field}[{index}].{said}: deprecated in {since}, {now}")
        claim = dig(volume, "ephemeral", "volumeClaimTemplate", "spec")
        if claim:
            where = f"{field}[{index}].ephemeral.volumeClaimTemplate.spec"
            found += claim_warnings(claim, where)
    for volume in volumes:
        found += _overlaps(volume)
    return found


def claim_warnings(spec: Tree, field: str) -> list[str]:
    """Return the warnings for a claim: a fraction of a byte."""
    return [
        f'{field}.resources.{part}[storage]: fractional byte value "{parse(size)}" {_FRACTION}'
        for part in ("requests", "limits")
        if (size := dig(spec, "resources", part, "storage")) is not None
        and parse(size).milli % 1000
    ]


def _overlaps(volume: Tree) -> list[str]:
    """Return which paths inside a volume lie in each other's way."""
    name = volume.get("name", "")
    found: list[str] = []
    for key, named in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "")):
        source = volume.get(key)
        if source is None or source.get("items") is None:
            continue
        of = source.get("name" if key == "configMap" else "secretName", "")
        said = f'{named} "{of}"' if named else "DownwardAPI"
        paths = [(item.get("path", ""), "") for item in source["items"]]
        found += _colliding(name, said, paths)
    projected = volume.get("projected")
    if projected is not None:
        paths = []
        for part in projected.get("sources") or ():
            if not part:
                found.append(f'volume "{name}" (Projected) has no sources provided')
            paths += _projected_paths(part)
        found += _colliding(name, "Projected", paths)
    return found


def _projected_paths(part: Tree) -> list[tuple[str, str]]:
    for key, named in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if items := dig(part, key, "items"):
            said = f'{named} "{part[key].get("name", "")}"'
            return [(item.get("path", ""), said) for item in items]
    if items := dig(part, "downwardAPI", "items"):
        return [(item.get("path", ""), "DownwardAPI") for item in items]
    if (token := part.get("serviceAccountToken")) is not None:
        return [(token.get("path", ""), "ServiceAccountToken")]
    return []


def _colliding(volume: str, said: str, paths: Iterable[tuple[str, str]]) -> list[str]:
    def shown(path: str, source: str) -> str:
        return f'"{path}" ({source})' if source else f'"{path}"'

    found: list[str] = []
    seen: list[tuple[str, str]] = []
    for path, source in paths:
        own = path.rstrip("/")
        for other, another in seen:
            if (
                own
                and other
                and (f"{other}/".startswith(f"{own}/") or f"{own}/".startswith(f"{other}/"))
            ):
                body = f"{shown(own, source)} with {shown(other, another)}"
                found.append(f'volume "{volume}" ({said}): overlapping paths: {body}')
        seen.append((own, source))
    return found
