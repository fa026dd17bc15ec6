"""Services: one name and address for many pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from windtunnel.kinds.network.address_warnings import ip_warnings, one_ip_warnings, range_warnings
from windtunnel.kinds.network.endpoints import PROTOCOLS, routable_address
from windtunnel.kinds.network.service_address_rules import (
    validate_address_changes,
    validate_cluster_addresses,
)
from windtunnel.kinds.network.service_addresses import (
    HEADLESS,
    drop_dependent,
    is_external,
    is_headless,
    needs_health_check,
)
from windtunnel.kinds.network.service_cells import service_cells
from windtunnel.kinds.pod.probes import port_or_name
from windtunnel.kinds.rules.checks import each, restore
from windtunnel.kinds.rules.metadata import validate_labels
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
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

TYPES: Final = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_AFFINITY_SECONDS: Final = 10800
_MOST_AFFINITY_SECONDS: Final = 86400
_POLICIES: Final = ["Cluster", "Local"]
_DISTRIBUTIONS: Final = ["PreferClose", "PreferSameZone", "PreferSameNode"]
_ONLY_BALANCER: Final = "may only be used when `type` is 'LoadBalancer'"
_SET_ONCE: Final = "may not change once set"


def _default(service: Tree) -> None:
    spec = service.setdefault("spec", {})
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    if (
        affinity == "ClientIP"
        and dig(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is None
    ):
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
    kind = spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if is_external(spec):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in dig(service, "status", "loadBalancer", "ingress") or ():
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _prepare_create(service: Tree, _: Context) -> None:
    service["status"] = {"loadBalancer": {}}


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    restore(new, old, "status")
    drop_dependent(new, old)


def _ports(spec: Tree) -> list[Violation]:
    ports = spec.get("ports") or ()
    found: list[Violation] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where, name = f"spec.ports[{index}]", port.get("name", "")
        if name:
            found += each(names.dns_label(name), f"{where}.name", name)
            if name in seen:
                found.append(duplicate(f"{where}.name", name))
            seen.add(name)
        elif len(ports) > 1:
            found.append(required(f"{where}.name"))
        number, protocol = port.get("port", 0), port.get("protocol", "")
        found += each(names.port_number(number), f"{where}.port", number)
        if not protocol:
            found.append(required(f"{where}.protocol"))
        elif protocol not in PROTOCOLS:
            found.append(not_supported(f"{where}.protocol", protocol, PROTOCOLS))
        found += port_or_name(port.get("targetPort", 0), f"{where}.targetPort")
        application = port.get("appProtocol")
        if application is not None:
            found += each(names.label_key(application), f"{where}.appProtocol", application)
    return found


def _repeated_ports(spec: Tree) -> list[Violation]:
    found: list[Violation] = []
    ports = spec.get("ports") or ()
    if spec.get("type") == "ClusterIP":
        text = "may not be used when `type` is 'ClusterIP'"
        found += [
            forbidden(f"spec.ports[{index}].nodePort", text)
            for index, port in enumerate(ports)
            if port.get("nodePort")
        ]
    node_ports: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        node_port = port.get("nodePort", 0)
        key = (port.get("protocol", ""), node_port)
        if node_port and key in node_ports:
            found.append(duplicate(f"spec.ports[{index}].nodePort", node_port))
        node_ports.add(key)
    numbers: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in numbers:
            shown = {
                "Name": "",
                "Protocol": key[0],
                "AppProtocol": None,
                "Port": key[1],
                "TargetPort": 0,
                "NodePort": 0,
            }
            found.append(duplicate(f"spec.ports[{index}]", shown))
        numbers.add(key)
    return found


def _by_type(spec: Tree) -> list[Violation]:
    kind = spec.get("type")
    found: list[Violation] = []
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        text = f"may not be set to 'None' for {kind} services"
        found.append(invalid("spec.clusterIPs[0]", HEADLESS, text))
    if kind != "ExternalName":
        return found
    text = "may not be set for ExternalName services"
    for key in ("clusterIPs", "ipFamilies"):
        if spec.get(key):
            found.append(forbidden(f"spec.{key}", text))
    if spec.get("ipFamilyPolicy") is not None:
        found.append(forbidden("spec.ipFamilyPolicy", text))
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        return [*found, required("spec.externalName")]
    return found + each(names.dns_subdomain(name), "spec.externalName", name)


def _affinity(spec: Tree) -> list[Violation]:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    field = "spec.sessionAffinityConfig"
    if not affinity:
        return [required("spec.sessionAffinity")]
    if affinity == "None":
        if config is None:
            return []
        return [forbidden(field, "must not be set when session affinity is None")]
    if affinity != "ClientIP":
        return [not_supported("spec.sessionAffinity", affinity, ["ClientIP", "None"])]
    seconds = dig(config, "clientIP", "timeoutSeconds")
    if seconds is None:
        return [required(field, "when session affinity type is ClientIP")]
    if 0 < seconds <= _MOST_AFFINITY_SECONDS:
        return []
    text = f"must be greater than 0 and less than {_MOST_AFFINITY_SECONDS}"
    return [invalid(f"{field}.clientIP.timeoutSeconds", seconds, text)]


def _source_ranges(service: Tree, before: Mapping[str, Any]) -> list[Violation]:
    spec = service["spec"]
    ranges = spec.get("loadBalancerSourceRanges") or ()
    annotation = (dig(service, "metadata", "annotations") or {}).get(_RANGES)
    balancer = spec.get("type") == "LoadBalancer"
    if ranges:
        field = "spec.LoadBalancerSourceRanges"
        found = [] if balancer else [forbidden(field, _ONLY_BALANCER)]
        known = {value.strip() for value in before.get("loadBalancerSourceRanges") or ()}
        for index, value in enumerate(ranges):
            if value.strip() not in known:
                texts = names.ip_range(value.strip())
                found += each(texts, f"{field}[{index}]", value.strip())
        return found
    if annotation is None:
        return []
    field = f"metadata.annotations[{_RANGES}]"
    found = [] if balancer else [forbidden(field, _ONLY_BALANCER)]
    for value in annotation.split(",") if annotation.strip() else ():
        found += each(names.ip_range(value.strip()), field, value.strip())
    return found


def _load_balancer(spec: Tree) -> list[Violation]:
    balancer = spec.get("type") == "LoadBalancer"
    found: list[Violation] = []
    allocate, kind = spec.get("allocateLoadBalancerNodePorts"), spec.get("loadBalancerClass")
    if allocate is not None and not balancer:
        found.append(forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCER))
    if allocate is None and balancer:
        found.append(required("allocateLoadBalancerNodePorts"))
    if kind is not None:
        if balancer:
            found += each(names.label_key(kind), "spec.loadBalancerClass", kind)
        else:
            found.append(forbidden("spec.loadBalancerClass", _ONLY_BALANCER))
    return found


def _traffic(spec: Tree) -> list[Violation]:
    found: list[Violation] = []
    outside, field = spec.get("externalTrafficPolicy") or "", "spec.externalTrafficPolicy"
    if not is_external(spec):
        if outside:
            text = "may only be set for externally-accessible services"
            found.append(invalid(field, outside, text))
    elif not outside:
        found.append(required(field))
    elif outside not in _POLICIES:
        found.append(not_supported(field, outside, _POLICIES))
    port, field = spec.get("healthCheckNodePort") or 0, "spec.healthCheckNodePort"
    if needs_health_check(spec):
        found += each(names.port_number(port), field, port) if port else [required(field)]
    elif port:
        text = (
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        )
        found.append(invalid(field, port, text))
    inside, field = spec.get("internalTrafficPolicy"), "spec.internalTrafficPolicy"
    if inside is None:
        if spec.get("type") in ("NodePort", "LoadBalancer", "ClusterIP"):
            found.append(required(field))
    elif inside not in _POLICIES:
        found.append(not_supported(field, inside, _POLICIES))
    spread = spec.get("trafficDistribution")
    if spread is not None and spread not in _DISTRIBUTIONS:
        found.append(not_supported("spec.trafficDistribution", spread, _DISTRIBUTIONS))
    return found


def _validate_against(service: Tree, old: Tree | None) -> list[Violation]:
    spec = service.setdefault("spec", {})
    before: Mapping[str, Any] = (old or {}).get("spec") or {}
    annotations = dig(service, "metadata", "annotations") or {}
    found: list[Violation] = []
    if _MODE in annotations and annotations.get(_HINTS, annotations[_MODE]) != annotations[_MODE]:
        text = f"must match annotations[{_HINTS}] when both are specified"
        found.append(invalid(f"metadata.annotations[{_MODE}]", annotations[_MODE], text))
    if not spec.get("ports") and not is_headless(spec) and spec.get("type") != "ExternalName":
        found.append(required("spec.ports"))
    found += _by_type(spec)
    found += _ports(spec)
    found += validate_labels(spec.get("selector"), "spec.selector")
    found += _affinity(spec)
    found += validate_cluster_addresses(spec, before)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        where = f"spec.externalIPs[{index}]"
        wrong = [] if address in (before.get("externalIPs") or ()) else names.ip_address(address)
        found += each(wrong, where, address) if wrong else routable_address(address, where)
    kind = spec.get("type", "")
    if not kind:
        found.append(required("spec.type"))
    elif kind not in TYPES:
        found.append(not_supported("spec.type", kind, TYPES))
    found += _repeated_ports(spec)
    found += _source_ranges(service, before)
    found += _load_balancer(spec)
    return found + _traffic(spec)


def _validate(service: Tree) -> list[Violation]:
    return _validate_against(service, None)


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    ours, theirs = new.setdefault("spec", {}), old.get("spec") or {}
    found = validate_address_changes(ours, theirs)
    if ours.get("type") == theirs.get("type") == "LoadBalancer":
        kind = ours.get("loadBalancerClass")
        if kind != theirs.get("loadBalancerClass"):
            found.append(invalid("spec.loadBalancerClass", kind, _SET_ONCE))
    found += _load_balancer_class(ours)
    ports = [spec.get("healthCheckNodePort") or 0 for spec in (ours, theirs)]
    if needs_health_check(ours) and needs_health_check(theirs) and ports[0] != ports[1]:
        found.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return found + _validate_against(new, old)


def _load_balancer_class(spec: Tree) -> list[Violation]:
    return [each for each in _load_balancer(spec) if each.field == "spec.loadBalancerClass"]


def _validate_status(new: Tree, old: Tree) -> list[Violation]:
    field = "status.loadBalancer.ingress"
    listed = dig(new, "status", "loadBalancer", "ingress") or ()
    if listed and dig(old, "spec", "type") != "LoadBalancer":
        return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")]
    known = {each.get("ip") for each in dig(old, "status", "loadBalancer", "ingress") or ()}
    found: list[Violation] = []
    for index, ingress in enumerate(listed):
        where = f"{field}[{index}]"
        address, mode = ingress.get("ip") or "", ingress.get("ipMode")
        if address and address not in known:
            found += each(names.ip_address(address), f"{where}.ip", address)
        if address and mode is None:
            found.append(required(f"{where}.ipMode", "must be specified when `ip` is set"))
        elif mode is not None and not address:
            text = "may not be specified when `ip` is not set"
            found.append(forbidden(f"{where}.ipMode", text))
        elif mode is not None and mode not in ("Proxy", "VIP"):
            found.append(not_supported(f"{where}.ipMode", mode, ["Proxy", "VIP"]))
        host = ingress.get("hostname")
        if host:
            found += each(names.dns_subdomain(host), f"{where}.hostname", host)
            if not names.ip_address(host):
                text = "must be a DNS name, not an IP address"
                found.append(invalid(f"{where}.hostname", host, text))
    return found


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    found: list[str] = []
    if _HINTS in (dig(new, "metadata", "annotations") or {}):
        found.append(f"annotation {_HINTS} is deprecated, please use {_MODE} instead")
    if spec.get("type") != "ExternalName":
        found += ip_warnings(spec.get("clusterIPs") or (), "spec.clusterIPs")
    headless = spec.get("type") == "ClusterIP" and spec.get("clusterIP") == HEADLESS
    if headless:
        for key in ("loadBalancerIP", "externalIPs"):
            if spec.get(key):
                found.append(f"spec.{key} is ignored for headless services")
        if spec.get("sessionAffinity") != "None":
            found.append("spec.SessionAffinity is ignored for headless services")
    outside = spec.get("externalIPs")
    if outside:
        found += ip_warnings(outside, "spec.externalIPs")
        if spec.get("type") == "ExternalName":
            found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
        elif not headless:
            found.append(
                "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
            )
    ranges = "loadBalancerSourceRanges"
    found += one_ip_warnings(spec.get("loadBalancerIP", ""), "spec.loadBalancerIP")
    found += range_warnings(spec.get(ranges) or (), f"spec.{ranges}")
    if spec.get("externalName") and spec.get("type") != "ExternalName":
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        text = '"PreferClose" is deprecated; use "PreferSameZone"'
        found.append(f"spec.trafficDistribution: {text}")
    return found


def _selectable(service: Tree) -> dict[str, str]:
    spec = service.get("spec") or {}
    return {"spec.clusterIP": spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}


DECLARATIONS: Final = {
    "services": Declared(
        creates_on_put=True,
        delete_answer="object",
        field_labels=frozenset({"spec.clusterIP", "spec.type"}),
        name_rule=names.dns_label,
        rules=Rules(
            default=_default,
            prepare_create=_prepare_create,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            validate_status=_validate_status,
            warnings=_warnings,
            selectable=_selectable,
            cells=service_cells,
        ),
    )
}
