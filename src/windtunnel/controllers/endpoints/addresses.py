"""The endpoints that follow from a service and its pods.

Source: endpointslice and endpoint controllers of Kubernetes v1.36.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from typing import Any, Final

from windtunnel.controllers.endpoints.packing import Group, Ports
from windtunnel.controllers.endpoints.views import ServiceView
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.views import PodView
from windtunnel.machinery.tree import Tree, encode

ZONE: Final = "topology.kubernetes.io/zone"

ContainerPorts = Callable[[PodView], list[Tree]]
"""Returns the ports that a pod's containers name."""


def groups_of(
    service: ServiceView,
    pods: Iterable[PodView],
    node_of: Callable[[str], NodeView | None],
    container_ports: ContainerPorts,
) -> list[Group]:
    """Return the service's endpoints, by address type and ports."""
    groups: list[Group] = []
    for family in service.spec.ip_families or ("IPv4",):
        found: dict[bytes, tuple[Ports, list[Tree]]] = {}
        for pod in pods:
            address = address_of(pod, family)
            if not address or pod.finished:
                continue
            node = node_of(pod.spec.node_name)
            if node is None and not service.spec.publish_not_ready_addresses:
                continue
            ports = ports_of(service, pod, container_ports)
            group = found.setdefault(encode(ports), (ports, []))
            group[1].append(endpoint(service, pod, node, address))
        groups += [Group(family, ports, endpoints) for ports, endpoints in found.values()]
        if not found:
            groups.append(Group(family, None))
    return groups


def endpoint(service: ServiceView, pod: PodView, node: NodeView | None, address: str) -> Tree:
    """Return one pod's endpoint."""
    going = pod.metadata.deleting
    ready = service.spec.publish_not_ready_addresses or (pod.ready and not going)
    tree: Tree = {
        "addresses": [address],
        "conditions": {"ready": ready, "serving": pod.ready, "terminating": going},
        "targetRef": target_of(pod),
    }
    if has_hostname(service, pod):
        tree["hostname"] = pod.spec.hostname
    if pod.spec.node_name:
        tree["nodeName"] = pod.spec.node_name
    zone = node.metadata.labels.get(ZONE) if node is not None else None
    if zone:
        tree["zone"] = zone
    return tree


def has_hostname(service: ServiceView, pod: PodView) -> bool:
    """Whether the pod has a name of its own under the service."""
    return bool(pod.spec.hostname) and pod.spec.subdomain == service.metadata.name


def target_of(pod: PodView) -> Tree:
    """Return the reference by which an endpoint names its pod."""
    metadata = pod.metadata
    return {
        "kind": "Pod",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
    }


def address_of(pod: PodView, family: str) -> str:
    """Return a pod's address of a family; "" for none."""
    given = [each.ip for each in pod.status.pod_ips] or [pod.status.pod_ip]
    return next((text for text in given if text and family_of(text) == family), "")


def family_of(text: str) -> str:
    """Return the family of an address; "" for what is none."""
    if ":" not in text and text.count(".") == 3:
        return "IPv4"
    try:
        return f"IPv{ipaddress.ip_address(text).version}"
    except ValueError:
        return ""


def ports_of(service: ServiceView, pod: PodView, container_ports: ContainerPorts) -> Ports:
    """Return the ports at which a pod answers for a service; what it does not name is left out."""
    ports: list[Tree] = []
    for port in service.spec.ports:
        number: Any = port.target_port if port.target_port not in (None, 0, "") else port.port
        if isinstance(number, str):
            number = next(
                (
                    each["containerPort"]
                    for each in container_ports(pod)
                    if each.get("name") == number and each.get("protocol", "TCP") == port.protocol
                ),
                None,
            )
            if number is None:
                continue
        tree: Tree = {"name": port.name, "protocol": port.protocol, "port": number}
        if port.app_protocol is not None:
            tree["appProtocol"] = port.app_protocol
        ports.append(tree)
    return tuple(ports)
