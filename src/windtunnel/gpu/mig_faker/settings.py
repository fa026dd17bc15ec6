"""Whose GPUs are cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windtunnel.gpu.environment import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator decides about the MIG faker."""

    node: str


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings of an agent.

    Raises:
        UsageError: it is not said on which node it runs.
    """
    return Settings(node=require(environment, "NODE_NAME"))
