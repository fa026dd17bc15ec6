"""Which documents the capacity of played nodes comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windtunnel.devices import POOL_NAMESPACE, TOPOLOGY_NAME
from windtunnel.gpu.environment import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator decides about the device plugin of played nodes."""

    topology_name: str = TOPOLOGY_NAME
    topology_namespace: str = POOL_NAMESPACE


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent.

    Raises:
        UsageError: one that has no default is missing.
    """
    return Settings(
        topology_name=require(environment, "TOPOLOGY_CM_NAME"),
        topology_namespace=environment.get("TOPOLOGY_CM_NAMESPACE")
        or Settings().topology_namespace,
    )
