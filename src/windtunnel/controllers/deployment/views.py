"""What controllers see of a Deployment."""

from __future__ import annotations

import msgspec

from windtunnel.controllers.views import Condition, Metadata, Selector, View


class RollingUpdate(View, frozen=True):
    """How far a rollout may go above and below."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class Strategy(View, frozen=True):
    """How pods are exchanged."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()


class DeploymentSpec(View, frozen=True):
    """What a Deployment is to hold."""

    replicas: int = 1
    min_ready_seconds: int = 0
    selector: Selector = Selector()
    template: msgspec.Raw = msgspec.Raw(b"{}")
    strategy: Strategy = Strategy()
    paused: bool = False
    revision_history_limit: int | None = None
    progress_deadline_seconds: int | None = None


class DeploymentStatus(View, frozen=True):
    """What a Deployment has counted."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class DeploymentView(View, frozen=True):
    """A Deployment."""

    metadata: Metadata
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()
