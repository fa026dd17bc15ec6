"""Where the topology server listens, and which documents it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.errors import UsageError

_LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator decides about the topology server."""

    topology_name: str = "topology"
    topology_namespace: str = "gpu-operator"
    host: str = ""
    """The address to listen on; "" for all."""
    port: int = 8080


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent; all of them have defaults.

    Raises:
        UsageError: the port is none.
    """
    port = environment.get("WINDTUNNEL_LISTEN_PORT") or str(Settings().port)
    if not port.isascii() or not port.isdecimal() or int(port) > _LAST_PORT:
        raise UsageError(f"WINDTUNNEL_LISTEN_PORT is {port!r}, which is no port")
    return Settings(
        topology_name=environment.get("TOPOLOGY_CM_NAME") or Settings().topology_name,
        topology_namespace=environment.get("TOPOLOGY_CM_NAMESPACE")
        or Settings().topology_namespace,
        host=environment.get("WINDTUNNEL_LISTEN_HOST", ""),
        port=int(port),
    )
