"""What can be set for a kubelet node; names follow the kubelet's own where it has one.

``distribution`` decides how the node looks and which reservations it has: like a single server of
k3s, or like a plain kubelet that was given no configuration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

Distribution = Literal["k3s", "plain"]
TopologyPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]
TopologyScope = Literal["container", "pod"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """One node: its name, its size, how it treats pods."""

    name: str = "node-0"
    address: str = "127.0.0.1"
    """Its InternalIP, and where its own HTTP API listens."""
    port: int = 10250
    labels: dict[str, str] = {}
    """On top of those of its distribution."""
    taints: tuple[str, ...] = ()
    """``key=value:Effect``, set when the node is registered."""
    distribution: Distribution = "k3s"
    version: str = ""
    """What it says it is; empty: as the distribution writes our version of Kubernetes."""
    runtime_version: str = ""
    root: Path = Path()
    """The folder that is ``/`` to its host paths; the kubelet's own is var/lib/kubelet there."""
    api_host: str = "127.0.0.1"
    """Where containers reach the API server."""
    api_port: int = 6443
    pod_cidr: str = "10.42.0.0/24"
    services_at: str = "127.96."
    """The beginning of the addresses at which services (10.96.x.y) are served."""
    max_pods: int = 110
    cpus: int = 0
    """0: as many as the machine has."""
    memory: str = ""
    """A quantity; empty: what the machine has."""
    ephemeral_storage: str = ""
    """A quantity; empty: the size of the disk that the root is on."""
    topology_manager_policy: TopologyPolicy = "none"
    topology_manager_scope: TopologyScope = "container"
    numa_nodes: int = 1
    status_seconds: float = 10.0
    lease_seconds: int = 40
    relist_seconds: float = 0.3
    """How long after a container's end it is noticed."""
    sync_seconds: float = 60.0
    """At least so often every pod is looked at."""
    retry_seconds: float = 10.0
    """After how long a pod whose sync failed is tried again."""
    backoff_seconds: float = 10.0
    """The first delay of a container that fails again, and of an image that cannot be pulled."""
    max_backoff_seconds: float = 300.0
    boot_patience_seconds: float = 0.0
    """How long pods wait after a start for plugins of devices that the node had; 0 as a kubelet."""

    @property
    def kubelet_root(self) -> Path:
        """Return the kubelet's own folder."""
        return self.root / "var/lib/kubelet"

    @property
    def log_root(self) -> Path:
        """Return the folder of the pods' logs."""
        return self.root / "var/log/pods"
