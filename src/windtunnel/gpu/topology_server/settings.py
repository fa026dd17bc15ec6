"""Where the topology server listens, and which documents it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windtunnel.devices import POOL_NAMESPACE, TOPOLOGY_NAME
from windtunnel.gpu.environment import port


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator decides about the topology server."""

    topology_name: str = TOPOLOGY_NAME
    topology_namespace: str = POOL_NAMESPACE
    host: str = ""
    """The address to listen on; "" for all."""
    port: int = 8080


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent; all of them have defaults.

    Raises:
        UsageError: the port is none.
    """
    return Settings(
        topology_name=environment.get("TOPOLOGY_CM_NAME") or Settings().topology_name,
        topology_namespace=environment.get("TOPOLOGY_CM_NAMESPACE")
        or Settings().topology_namespace,
        host=environment.get("WINDTUNNEL_LISTEN_HOST", ""),
        port=port(environment, "WINDTUNNEL_LISTEN_PORT", Settings().port),
    )
