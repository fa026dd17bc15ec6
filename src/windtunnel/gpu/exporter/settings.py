"""What an exporter is told by its environment, under the names of the operator's chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from windtunnel.devices import POOL_NAMESPACE, TOPOLOGY_NAME
from windtunnel.gpu.environment import (
    RESERVATION_NAMESPACE,
    container_root,
    flag,
    port,
    require,
    seconds,
)

PORT: Final = 9400


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes one exporter tells of, and where."""

    node: str = ""
    """The node it runs on; empty where it tells of all played nodes."""
    topology_name: str = TOPOLOGY_NAME
    namespace: str = POOL_NAMESPACE
    reservation_namespace: str = RESERVATION_NAMESPACE
    prometheus_url: str = "http://prometheus-operated.runai:9090"
    interval_seconds: float = 10.0
    """How long a node's labels and files may differ from its topology, though that stays."""
    zones: bool = False
    """Whether the zones of nodes are told (NodeResourceTopology)."""
    live_zones: bool = False
    """Whether what somebody has of a zone counts as not available."""
    pod_resources: bool = False
    """Whether who has which devices is told, as a kubelet would."""
    host: str = ""
    port: int = PORT
    root: Path = Path("/")
    """What host paths are looked for under."""


def read_settings(environment: Mapping[str, str], *, played: bool) -> Settings:
    """Read the settings.

    Args:
        environment: Where they stand.
        played: Whether the exporter tells of all played nodes.

    Raises:
        UsageError: one that must be set is not, or says what it cannot.
    """
    said = environment.get
    return Settings(
        node="" if played else require(environment, "NODE_NAME"),
        topology_name=said("TOPOLOGY_CM_NAME") or TOPOLOGY_NAME,
        namespace=said("TOPOLOGY_CM_NAMESPACE") or POOL_NAMESPACE,
        reservation_namespace=said("RESOURCE_RESERVATION_NAMESPACE") or RESERVATION_NAMESPACE,
        prometheus_url=said("PROMETHEUS_URL") or "http://prometheus-operated.runai:9090",
        interval_seconds=seconds(environment, "TOPOLOGY_MAX_EXPORT_INTERVAL", 10.0),
        zones=flag(environment, "NODE_RESOURCE_TOPOLOGY_ENABLED"),
        live_zones=flag(environment, "NODE_RESOURCE_TOPOLOGY_LIVE"),
        pod_resources=not played and flag(environment, "POD_RESOURCES_ENABLED"),
        host=said("WINDTUNNEL_LISTEN_HOST", ""),
        port=port(environment, "WINDTUNNEL_LISTEN_PORT", PORT),
        root=container_root(environment),
    )
