"""What an administrator decides about the status updater, under the names of the chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import POOL_NAMESPACE, TOPOLOGY_NAME
from windtunnel.gpu.environment import (
    RESERVATION_NAMESPACE,
    flag,
    require,
    seconds,
)

_POLLING_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the documents are, and what is done beside keeping them."""

    topology_name: str = TOPOLOGY_NAME
    topology_namespace: str = POOL_NAMESPACE
    reservation_namespace: str = RESERVATION_NAMESPACE
    labels_nodes: bool = True
    """Whether nodes are labelled with what is to run on them."""
    mock_image: str = ""
    mock_pull_policy: str = "Always"
    runai_seconds: float = 0.0
    """How often the rule for Run:ai's metrics is looked after; 0 for never."""


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent.

    Where the operator stands must be said too, as to the original, though nothing here uses it.

    Raises:
        UsageError: one that has no default is missing.
    """
    require(environment, "FAKE_GPU_OPERATOR_NAMESPACE")
    runai = flag(environment, "RUNAI_INTEGRATION_ENABLED")
    return Settings(
        topology_name=require(environment, "TOPOLOGY_CM_NAME"),
        topology_namespace=require(environment, "TOPOLOGY_CM_NAMESPACE"),
        reservation_namespace=require(environment, "RESOURCE_RESERVATION_NAMESPACE"),
        labels_nodes=not flag(environment, "DISABLE_NODE_LABELING"),
        mock_image=environment.get("NVML_MOCK_IMAGE", ""),
        mock_pull_policy=environment.get("IMAGE_PULL_POLICY") or "Always",
        runai_seconds=seconds(environment, "RUNAI_INTEGRATION_POLLING_INTERVAL", _POLLING_SECONDS)
        if runai
        else 0.0,
    )
