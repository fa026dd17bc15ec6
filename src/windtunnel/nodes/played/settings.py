"""What can be set for played nodes; the names are those of kwok's options."""

from __future__ import annotations

import msgspec

from windtunnel.devices import PLAYED


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Which nodes are played, and how."""

    annotation: str = PLAYED
    """A node with this annotation and ``value`` is played."""
    value: str = "fake"
    node_ip: str = "127.0.0.1"
    """The address of nodes that have none, and so of the pods on the host's network there."""
    cidr: str = "10.128.0.0/9"
    """Where pod addresses come from; away from services (10.96) and the kubelet node's pods."""
    version: str = "kwok-v0.9.0"
    """What nodes say they run, where they say nothing yet."""
    lease_duration_seconds: int = 40
    identity: str = "windtunnel"
    """Who holds the leases; the same after a restart, so that nothing waits for old ones to end."""
