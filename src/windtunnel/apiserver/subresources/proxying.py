"""Proxies: requests that go on to whatever listens at a node, a pod or a Service.

The port may be a number or, for a Service, a name; ``https:`` before the name asks for TLS, whose
certificate nobody checks. A node without a port is its kubelet.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.request import Destination, Relay
from windtunnel.apiserver.subresources.reaching import (
    Name,
    is_played,
    kubelet,
    node_address,
    proxied,
    served_address,
)
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.machinery.errors import BadRequest, NotFound, ServiceUnavailable
from windtunnel.machinery.tree import Key, Tree, decode, dig

_SLICES: Final = "endpointslices.discovery.k8s.io"
_SERVICE_LABEL: Final = "kubernetes.io/service-name"
_DEFAULT_PORT: Final = {"": 80, "http": 80, "https": 443}


class Proxying:
    """Says where a request to a proxy goes."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handle(self, call: Call) -> Relay:
        """Return the relay to what stands before ``/proxy``."""
        route = call.route
        wanted = proxied(route.name)
        version = self._objects.find(call.kind, Key(call.namespace, wanted.name))
        if version is None:
            raise NotFound.of(call.kind.plural, call.kind.group, wanted.name)
        tree = self._objects.tree(call.kind, version)
        match call.kind.resource:
            case "nodes":
                _require_real(tree)
                destination = _of_node(tree, wanted)
            case "pods":
                _require_real(self._node(dig(tree, "spec", "nodeName") or ""))
                destination = _of_pod(tree, wanted)
            case _:
                destination = self._of_service(call.namespace, tree, wanted)
        query = urlencode(call.request.query)
        headers = call.request.headers
        return Relay(
            destination=destination,
            target=quote(route.rest or "/", safe="/:@!$&'()*+,;=~")
            + (f"?{query}" if query else ""),
            upgrade="upgrade" in headers.get("connection", "").lower() and "upgrade" in headers,
            unreachable=lambda why: ServiceUnavailable(f"error trying to reach service: {why}"),
        )

    def _of_service(self, namespace: str, service: Tree, wanted: Name) -> Destination:
        port = _service_port(service, wanted)
        name = f"{wanted.name}:{wanted.port}" if wanted.port else wanted.name
        if port is None:
            raise ServiceUnavailable(f'no service port "{wanted.port}" found for service "{name}"')
        for version in self._objects.store.list(_SLICES, namespace):
            if version.labels.get(_SERVICE_LABEL) != wanted.name:
                continue
            found = _endpoint(decode(version.body), port.get("name") or "")
            if found is not None:
                address, number, home = found
                node = self._node(home)
                _require_real(node)
                if node:
                    address = served_address(address, node_address(node))
                return Destination(address, number, wanted.scheme == "https")
        raise ServiceUnavailable(f'no endpoints available for service "{name}"')

    def _node(self, name: str) -> Tree:
        """Return a node, or an empty tree where there is none."""
        version = self._objects.store.get("nodes", Key("", name))
        return {} if version is None else decode(version.body)


def _require_real(node: Tree) -> None:
    if is_played(node):
        raise ServiceUnavailable(
            f"node {dig(node, 'metadata', 'name')} is played: nothing listens there, nor at the "
            "addresses of its pods"
        )


def _of_node(node: Tree, wanted: Name) -> Destination:
    own = kubelet(node)
    if wanted.port and wanted.port != str(own.port):
        return Destination(own.host, _number(wanted.port), wanted.scheme == "https")
    return own


def _of_pod(pod: Tree, wanted: Name) -> Destination:
    address = dig(pod, "status", "podIP")
    if not address:
        raise BadRequest("address not allowed")
    port = _number(wanted.port) if wanted.port else _first_port(pod, wanted.scheme)
    return Destination(
        served_address(address, dig(pod, "status", "hostIP") or ""), port, wanted.scheme == "https"
    )


def _first_port(pod: Tree, scheme: str) -> int:
    for container in dig(pod, "spec", "containers") or ():
        for port in container.get("ports") or ():
            return int(port["containerPort"])
    return _DEFAULT_PORT[scheme]


def _number(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise BadRequest(f'strconv.ParseUint: parsing "{text}": invalid syntax')
    return int(text)


def _service_port(service: Tree, wanted: Name) -> Tree | None:
    ports: list[Tree] = dig(service, "spec", "ports") or []
    if not wanted.port:
        return ports[0] if len(ports) == 1 else None
    for port in ports:
        if wanted.port in (port.get("name"), str(port.get("port"))):
            return port
    return None


def _endpoint(piece: Tree, port_name: str) -> tuple[str, int, str] | None:
    """Return address, port and node of the first ready endpoint of a slice."""
    for port in piece.get("ports") or ():
        if (port.get("name") or "") != port_name or not port.get("port"):
            continue
        for endpoint in piece.get("endpoints") or ():
            if dig(endpoint, "conditions", "ready") is not False:
                return endpoint["addresses"][0], port["port"], endpoint.get("nodeName") or ""
    return None
