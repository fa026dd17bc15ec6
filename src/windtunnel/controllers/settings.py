"""What can be set for controllers, by the names of kube-controller-manager's flags."""

from __future__ import annotations

from typing import Annotated

import msgspec

Duration = Annotated[float, msgspec.Meta(title="duration")]
"""Seconds; a flag gives it as Go does: ``40s``."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Flags with the real defaults; times in seconds."""

    node_monitor_period: Duration = 5.0
    node_monitor_grace_period: Duration = 50.0
    node_startup_grace_period: Duration = 60.0
    node_eviction_rate: float = 0.1
    secondary_node_eviction_rate: float = 0.01
    unhealthy_zone_threshold: float = 0.55
    large_cluster_size_threshold: int = 50
    terminated_pod_gc_threshold: int = 12500
    resource_quota_sync_period: Duration = 300.0
    root_ca: str = ""
    """PEM text for ConfigMap kube-root-ca.crt; "" publishes none."""
