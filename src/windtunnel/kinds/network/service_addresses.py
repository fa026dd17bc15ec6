"""Addresses of services: which a service of some type needs, keeps and forgets.

Source: kube-apiserver v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from windtunnel.machinery.tree import Tree

HEADLESS: Final = "None"


def is_headless(spec: Mapping[str, Any]) -> bool:
    """Say whether a service has no address of its own, on purpose."""
    return spec.get("clusterIPs") == [HEADLESS] or spec.get("clusterIP") == HEADLESS


def needs_address(spec: Mapping[str, Any]) -> bool:
    """Say whether a service is reached at a cluster IP."""
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Mapping[str, Any]) -> bool:
    """Say whether a service is reached at ports of nodes."""
    return spec.get("type") in ("NodePort", "LoadBalancer")


def needs_health_check(spec: Mapping[str, Any]) -> bool:
    """Say whether a load balancer must be able to ask nodes for their health."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_external(spec: Mapping[str, Any]) -> bool:
    """Say whether a service can be reached from outside the cluster."""
    kind = spec.get("type")
    by_address = kind == "ClusterIP" and bool(spec.get("externalIPs"))
    return kind in ("NodePort", "LoadBalancer") or by_address


def keep_allocated(new: Tree, old: Tree) -> None:
    """Give an update what its writer left out of what was allocated before."""
    ours, theirs = new["spec"], old["spec"]
    if needs_address(ours) and needs_address(theirs):
        for key in ("clusterIP", "clusterIPs"):
            if not ours.get(key) and theirs.get(key):
                ours[key] = theirs[key]
    if needs_node_ports(ours) and needs_node_ports(theirs):
        before = {
            port.get("name", ""): port.get("nodePort", 0) for port in theirs.get("ports") or ()
        }
        used = {port.get("nodePort", 0) for port in ours.get("ports") or ()} & set(before.values())
        for port in ours.get("ports") or ():
            last = before.get(port.get("name", ""), 0)
            if not port.get("nodePort") and last and last not in used:
                port["nodePort"] = last
    if needs_health_check(ours) and needs_health_check(theirs):
        last = theirs.get("healthCheckNodePort")
        if last and not ours.get("healthCheckNodePort"):
            ours["healthCheckNodePort"] = last


def normalize(new: Tree, old: Tree | None) -> None:
    """Bring the one address and the list of addresses in line with each other."""
    spec = new["spec"]
    address, addresses = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if old is None:
        if address and not addresses:
            spec["clusterIPs"] = [address]
        return
    before, all_before = old["spec"].get("clusterIP") or "", old["spec"].get("clusterIPs") or []
    if address == before:
        if all_before and not addresses:
            spec["clusterIPs"] = list(all_before)
    elif addresses == all_before:
        if before and not address:
            spec.pop("clusterIPs", None)
        else:
            spec["clusterIPs"] = [address]


def _same(new: Mapping[str, Any], old: Mapping[str, Any], *keys: str) -> bool:
    return all((new.get(key) or None) == (old.get(key) or None) for key in keys)


def drop_dependent(new: Tree, old: Tree) -> None:
    """Forget what belonged to the type that a service had before."""
    ours, theirs = new["spec"], old["spec"]
    if needs_address(theirs) and not needs_address(ours):
        if _same(ours, theirs, "clusterIP", "clusterIPs"):
            ours.pop("clusterIP", None)
            ours.pop("clusterIPs", None)
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if _same(ours, theirs, key):
                ours.pop(key, None)
    if needs_node_ports(theirs) and not needs_node_ports(ours):
        before = {port.get("nodePort") for port in theirs.get("ports") or ()}
        if all(port.get("nodePort") in before | {None} for port in ours.get("ports") or ()):
            for port in ours.get("ports") or ():
                port.pop("nodePort", None)
    gone = (
        ("healthCheckNodePort", needs_health_check(theirs) and not needs_health_check(ours)),
        ("externalTrafficPolicy", is_external(theirs) and not is_external(ours)),
    )
    left = theirs.get("type") == "LoadBalancer" and ours.get("type") != "LoadBalancer"
    for key, gone_now in (
        *gone,
        ("allocateLoadBalancerNodePorts", left),
        ("loadBalancerClass", left),
    ):
        if gone_now and _same(ours, theirs, key):
            ours.pop(key, None)
    if ours.get("type") != "LoadBalancer":
        new["status"] = {"loadBalancer": {}}
