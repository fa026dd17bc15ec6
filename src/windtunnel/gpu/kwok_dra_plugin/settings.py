"""Which documents the slices of played nodes come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windtunnel.devices import POOL_NAMESPACE
from windtunnel.gpu.environment import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator decides about the DRA plugin of played nodes."""

    topology_namespace: str = POOL_NAMESPACE


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent.

    Raises:
        UsageError: one that has no default is missing.
    """
    require(environment, "TOPOLOGY_CM_NAME")
    return Settings(topology_namespace=require(environment, "TOPOLOGY_CM_NAMESPACE"))
