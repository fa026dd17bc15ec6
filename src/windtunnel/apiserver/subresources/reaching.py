"""Where a node's kubelet, a pod or a Service can be reached from the API server.

Addresses are tried in the order that k3s and kubeadm set. Pods of a node on this machine's
loopback share its network: their address 10.a.b.c in the API is served at 127.a.b.c. The kubelet
has the same rule (``nodes/kubelet/network.py``); the two do not import each other, and only here
nodes are met that are not ours.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.apiserver.request import Destination
from windtunnel.devices import PLAYED
from windtunnel.machinery.errors import ApiError, BadRequest
from windtunnel.machinery.tree import Tree, dig

KUBELET_PORT: Final = 10250
_PREFERRED: Final = ("InternalIP", "ExternalIP", "Hostname")
_SCHEMES: Final = ("", "http", "https")
_LOOPBACK: Final = "127."
_OWN_NETWORK: Final = "10."


class Unreachable(ApiError):
    """The real server reports what went wrong on the way to a node without a reason."""

    code, reason = 500, ""


class Name(NamedTuple):
    """What stands before ``/proxy``: a name, and how and where it is to be spoken to."""

    scheme: str
    name: str
    port: str


def proxied(text: str) -> Name:
    """Read ``name``, ``name:port`` or ``scheme:name:port``.

    Raises:
        BadRequest: It is none of them.
    """
    parts = text.split(":")
    match parts:
        case [name] if name:
            return Name("", name, "")
        case [name, port] if name:
            return Name("", name, port)
        case [scheme, name, port] if name and scheme in _SCHEMES:
            return Name(scheme, name, port)
    raise BadRequest(f"invalid request {_quoted(text)}")


def is_played(node: Tree) -> bool:
    """Whether nothing runs on a node: it is only played, and has told of no kubelet."""
    annotations = dig(node, "metadata", "annotations") or {}
    return PLAYED in annotations and not _kubelet_port(node)


def node_address(node: Tree) -> str:
    """Return the address at which a node is spoken to.

    Raises:
        Unreachable: It has told none.
    """
    known = dig(node, "status", "addresses") or []
    for wanted in _PREFERRED:
        for address in known:
            if address.get("type") == wanted and address.get("address"):
                return str(address["address"])
    shown = " ".join(f"{{{each.get('type', '')} {each.get('address', '')}}}" for each in known)
    raise Unreachable(f"no preferred addresses found; known addresses: [{shown}]")


def kubelet(node: Tree) -> Destination:
    """Return where a node's kubelet listens.

    Raises:
        Unreachable: It has told no address.
    """
    return Destination(node_address(node), _kubelet_port(node) or KUBELET_PORT, secure=True)


def served_address(pod_address: str, node_address: str) -> str:
    """Return where something listens that the API knows at a pod's address."""
    if node_address.startswith(_LOOPBACK) and pod_address.startswith(_OWN_NETWORK):
        return _LOOPBACK + pod_address.removeprefix(_OWN_NETWORK)
    return pod_address


def _kubelet_port(node: Tree) -> int:
    return dig(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port") or 0


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
