"""The arithmetic of rollouts: how many pods each ReplicaSet of a Deployment is to have.

Pure numbers; what they mean for objects is decided in ``deployment``. Source: deployment-controller
of Kubernetes v1.36.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from windtunnel.controllers.deployment.views import DeploymentView, RollingUpdate
from windtunnel.controllers.portions import portion
from windtunnel.controllers.views import ReplicaSetView


@dataclass(slots=True)
class Share:
    """One ReplicaSet's part in a rollout; ``replicas`` is what it is to have and changes."""

    view: ReplicaSetView
    replicas: int
    desired_note: int | None = None
    """Annotation desired-replicas."""
    max_note: int | None = None
    """Annotation max-replicas."""

    @property
    def name(self) -> str:
        """The ReplicaSet's name."""
        return self.view.metadata.name

    @property
    def available(self) -> int:
        """How many of its pods are available."""
        return self.view.status.available_replicas

    @property
    def age_rank(self) -> tuple[str, str]:
        """Sort key: the oldest first, names where two were made in one second."""
        return (self.view.metadata.creation_timestamp, self.name)

    def move(self, replicas: int) -> Move:
        """Change the number, and say so."""
        move = Move(self.name, self.replicas, replicas)
        self.replicas = replicas
        return move


class Move(NamedTuple):
    """One write of a ReplicaSet's number; the same before and after rewrites its notes only."""

    name: str
    before: int
    after: int


def max_surge(deployment: DeploymentView) -> int:
    """Return how many pods above the wanted number a rollout may have."""
    strategy = deployment.spec.strategy
    if strategy.type != "RollingUpdate":
        return 0
    return _fenceposts(strategy.rolling_update, deployment.spec.replicas)[0]


def max_unavailable(deployment: DeploymentView) -> int:
    """Return how many pods may be missing during a rollout."""
    strategy = deployment.spec.strategy
    if strategy.type != "RollingUpdate" or deployment.spec.replicas == 0:
        return 0
    unavailable = _fenceposts(strategy.rolling_update, deployment.spec.replicas)[1]
    return min(unavailable, deployment.spec.replicas)


def _fenceposts(update: RollingUpdate, replicas: int) -> tuple[int, int]:
    surge = portion(update.max_surge, replicas, up=True)
    unavailable = portion(update.max_unavailable, replicas, up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def grown(deployment: DeploymentView, newest: int, total: int) -> int:
    """Return how many pods the newest set may have now, given what all sets have together."""
    wanted = deployment.spec.replicas
    if deployment.spec.strategy.type == "Recreate":
        return wanted
    room = wanted + max_surge(deployment) - total
    return newest if room <= 0 else newest + min(room, wanted - newest)


def grow_newest(deployment: DeploymentView, newest: Share, old: Sequence[Share]) -> list[Move]:
    """Bring the newest set as near to the wanted number as the surge allows."""
    wanted = deployment.spec.replicas
    if newest.replicas < wanted:
        total = newest.replicas + sum(share.replicas for share in old)
        wanted = grown(deployment, newest.replicas, total)
    return [newest.move(wanted)] if wanted != newest.replicas else []


def shrink_old(deployment: DeploymentView, newest: Share, old: Sequence[Share]) -> list[Move]:
    """Lower the old sets as far as the rollout allows: broken pods first, the oldest sets first.

    Nothing happens while a set still counts more available pods than it is to have: its controller
    has not followed an earlier move yet.
    """
    active = sorted((share for share in old if share.replicas), key=lambda share: share.age_rank)
    least = deployment.spec.replicas - max_unavailable(deployment)
    total = newest.replicas + sum(share.replicas for share in active)
    room = total - least - (newest.replicas - newest.available)
    if not active or room <= 0 or any(share.available > share.replicas for share in active):
        return []
    moves = []
    for share in active:
        less = min(room, share.replicas - share.available)
        if less > 0:
            moves.append(share.move(share.replicas - less))
            room -= less
    spare = newest.available + sum(share.available for share in active) - least
    for share in active:
        less = min(share.replicas, spare)
        if less > 0:
            moves.append(share.move(share.replicas - less))
            spare -= less
    return moves


def scale(deployment: DeploymentView, newest: Share | None, old: Sequence[Share]) -> list[Move]:
    """Spread a changed number of replicas over the sets."""
    wanted = deployment.spec.replicas
    active = [
        share for share in (*old, *([newest] if newest is not None else [])) if share.replicas
    ]
    single = _single(active, newest, old)
    if single is not None:
        return [single.move(wanted)] if single.replicas != wanted else []
    if newest is not None and _saturated(deployment, newest):
        return [share.move(0) for share in old if share.replicas]
    if deployment.spec.strategy.type == "RollingUpdate" and active:
        return _spread(deployment, active)
    return []


def _single(active: Sequence[Share], newest: Share | None, old: Sequence[Share]) -> Share | None:
    """Return the one set that takes the whole number: the only active one, or the newest."""
    if active:
        return active[0] if len(active) == 1 else None
    return newest or max(old, key=lambda share: share.age_rank, default=None)


def _saturated(deployment: DeploymentView, newest: Share) -> bool:
    wanted = deployment.spec.replicas
    return newest.replicas == newest.desired_note == newest.available == wanted


def _spread(deployment: DeploymentView, active: list[Share]) -> list[Move]:
    """Grow or shrink each set in proportion; what rounding leaves goes to the largest."""
    wanted = deployment.spec.replicas
    allowed = wanted + max_surge(deployment) if wanted > 0 else 0
    add = allowed - sum(share.replicas for share in active)
    if add == 0:
        return [share.move(share.replicas) for share in active]
    active = sorted(active, key=lambda share: share.age_rank, reverse=add > 0)
    active.sort(key=lambda share: -share.replicas)
    sizes = []
    added = 0
    for share in active:
        left = add - added
        part = _fraction(deployment, share) if left else 0
        part = min(part, left) if add > 0 else max(part, left)
        sizes.append(share.replicas + part)
        added += part
    sizes[0] = max(sizes[0] + add - added, 0)
    return [share.move(size) for share, size in zip(active, sizes, strict=True)]


def _fraction(deployment: DeploymentView, share: Share) -> int:
    if deployment.spec.replicas == 0:
        return -share.replicas
    before = share.max_note or deployment.status.replicas
    if not before:
        return 0
    after = share.replicas * (deployment.spec.replicas + max_surge(deployment)) / before
    return math.floor(after + 0.5) - share.replicas
