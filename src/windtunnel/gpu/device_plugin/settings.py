"""What a device plugin is told by its environment, under the names of the operator's chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from windtunnel.devices import TOPOLOGY_NAME, node_config_map_name
from windtunnel.gpu.environment import container_root, flag, require
from windtunnel.machinery.tree import Key


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where one device plugin works, and for which node."""

    node: str
    namespace: str
    topology_name: str = TOPOLOGY_NAME
    fake_node: bool = False
    """Whether the node has no kubelet, so that its status is written instead."""
    topology_url: str = ""
    """Where containers reach topology-server; empty: nvidia-smi knows an address of its own."""
    root: Path = Path("/")
    """What host paths are looked for under."""

    @property
    def document(self) -> Key:
        """The ConfigMap of this node."""
        return Key(self.namespace, node_config_map_name(self.topology_name, self.node))

    @property
    def sockets(self) -> Path:
        """Where the kubelet and device plugins have their sockets, by as short a path as can be."""
        return (self.root / "var/lib/kubelet/device-plugins").resolve()


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        UsageError: one that must be set is not.
    """
    return Settings(
        node=require(environment, "NODE_NAME"),
        topology_name=require(environment, "TOPOLOGY_CM_NAME"),
        namespace=require(environment, "TOPOLOGY_CM_NAMESPACE"),
        fake_node=flag(environment, "FAKE_NODE"),
        topology_url=topology_url(environment),
        root=container_root(environment),
    )


def topology_url(environment: Mapping[str, str]) -> str:
    """Return where topology-server is: as it is said, or where our own service variables say.

    A container of a user has no variables for services of other namespaces, and its nvidia-smi
    knows one address only; so the plugin, which lives beside the server, passes its own on.
    """
    said = environment.get("TOPOLOGY_SERVER_URL", "")
    host = environment.get("TOPOLOGY_SERVER_SERVICE_HOST", "")
    port = environment.get("TOPOLOGY_SERVER_SERVICE_PORT", "")
    if said or not host or not port:
        return said
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
