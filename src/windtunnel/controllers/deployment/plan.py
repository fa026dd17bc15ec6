"""What one visit to a Deployment does, worked out on numbers before anything is written.

Source: deployment-controller of Kubernetes v1.36: revision and annotations first, then either a
changed size is spread over the sets, or the rollout goes one step on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from windtunnel.controllers.deployment.rollout import (
    Move,
    grow_newest,
    grown,
    max_surge,
    scale,
    shrink_old,
)
from windtunnel.controllers.deployment.sets import (
    REVISION,
    find_newest,
    new_set,
    revision_notes,
    revision_of,
    scale_notes,
    share_of,
)
from windtunnel.controllers.deployment.status import (
    PROGRESSING,
    TIMED_OUT,
    count,
    has_deadline,
    is_complete,
    judge,
    put_condition,
)
from windtunnel.controllers.deployment.views import DeploymentStatus, DeploymentView
from windtunnel.controllers.views import ReplicaSetView, find_condition
from windtunnel.machinery.tree import Tree, encode

_UNBOUNDED: Final = 2**31 - 1


@dataclass(slots=True)
class Plan:
    """What one visit writes, in this order."""

    create: Tree | None = None
    patches: list[tuple[str, Tree]] = field(default_factory=list)
    """(ReplicaSet, merge patch)"""
    events: list[str] = field(default_factory=list)
    """Messages of ScalingReplicaSet events."""
    remove: list[str] = field(default_factory=list)
    """ReplicaSets that history need not keep."""
    revision: str | None = None
    """The Deployment's own revision annotation, where it changes."""
    status: DeploymentStatus | None = None


class _Visit:
    """One visit to one Deployment, played on numbers."""

    def __init__(
        self, deployment: DeploymentView, sets: Iterable[ReplicaSetView], now: float
    ) -> None:
        self.deployment, self.now = deployment, now
        self.plan = Plan()
        self.conditions = deployment.status.conditions
        oldest_first = sorted(
            sets, key=lambda each: (each.metadata.creation_timestamp, each.metadata.name)
        )
        found = find_newest(deployment, oldest_first)
        self.newest = share_of(found) if found is not None else None
        self.old = [share_of(each) for each in oldest_first if each is not found]

    def mark_pause(self) -> None:
        """Say that the rollout was paused, or goes on."""
        if not has_deadline(self.deployment):
            return
        present = find_condition(self.conditions, PROGRESSING)
        reason = present.reason if present is not None else ""
        if reason == TIMED_OUT:
            return
        if self.deployment.spec.paused and reason != "DeploymentPaused":
            self._progress("Unknown", "DeploymentPaused", "Deployment is paused")
        elif not self.deployment.spec.paused and reason == "DeploymentPaused":
            self._progress("Unknown", "DeploymentResumed", "Deployment is resumed")

    def sync_newest(self) -> None:
        """Give an existing newest set its revision and annotations."""
        if self.newest is None:
            return
        view = self.newest.view
        patch: Tree = {}
        notes = revision_notes(self.deployment, view, [share.view for share in self.old])
        if notes:
            patch["metadata"] = {"annotations": notes}
        if view.spec.min_ready_seconds != self.deployment.spec.min_ready_seconds:
            patch["spec"] = {"minReadySeconds": self.deployment.spec.min_ready_seconds}
        if patch:
            self.plan.patches.append((view.metadata.name, patch))
        self._own_revision(notes.get(REVISION) or view.metadata.annotations.get(REVISION, ""))
        if has_deadline(self.deployment) and not find_condition(self.conditions, PROGRESSING):
            text = f'Found new replica set "{self.newest.name}"'
            self._progress("True", "FoundNewReplicaSet", text)

    def make_newest(self) -> None:
        """Make the newest set where there is none, as large as it may be at once."""
        if self.newest is not None:
            return
        size = grown(self.deployment, 0, sum(share.replicas for share in self.old))
        tree = new_set(
            self.deployment, [share.view for share in self.old], size, max_surge(self.deployment)
        )
        self.plan.create = tree
        self.newest = share_of(msgspec.json.decode(encode(tree), type=ReplicaSetView))
        name = self.newest.name
        if size > 0:
            self.plan.events.append(f"Scaled up replica set {name} from 0 to {size}")
        self._own_revision(tree["metadata"]["annotations"][REVISION])
        if has_deadline(self.deployment):
            self._progress("True", "NewReplicaSetCreated", f'Created new replica set "{name}"')

    def is_scaling(self) -> bool:
        """Whether the wanted number has changed since the sets were scaled."""
        shares = [*self.old, *([self.newest] if self.newest is not None else [])]
        wanted = self.deployment.spec.replicas
        return any(share.replicas and share.desired_note not in (None, wanted) for share in shares)

    def rescale(self) -> None:
        """Follow a changed number, without rolling anything out."""
        self._write(scale(self.deployment, self.newest, self.old))
        if self.deployment.spec.paused:
            self._clean_up()
        self.plan.status = self._count()

    def roll(self) -> None:
        """Exchange pods step by step."""
        self.make_newest()
        assert self.newest is not None
        moves = grow_newest(self.deployment, self.newest, self.old)
        if not moves:
            moves = shrink_old(self.deployment, self.newest, self.old)
        if moves:
            self._write(moves)
        elif is_complete(self.deployment, self.deployment.status):
            self._clean_up()
        self._judge()

    def recreate(self, old_pods_left: Callable[[], bool]) -> None:
        """Remove every old pod, then make the new ones."""
        moves = [share.move(0) for share in self.old if share.replicas]
        if moves:
            self._write(moves)
        elif not old_pods_left():
            self.make_newest()
            assert self.newest is not None
            wanted = self.deployment.spec.replicas
            if self.newest.replicas != wanted:
                self._write([self.newest.move(wanted)])
            if is_complete(self.deployment, self.deployment.status):
                self._clean_up()
        self._judge()

    def count_only(self) -> None:
        """Count, and do nothing."""
        self.plan.status = self._count()

    def _count(self) -> DeploymentStatus:
        return count(self.deployment, self.conditions, self.newest, self.old, self.now)

    def _judge(self) -> None:
        self.plan.status = judge(
            self.deployment, self.conditions, self._count(), self.newest, self.old, self.now
        )

    def _write(self, moves: Sequence[Move]) -> None:
        notes = scale_notes(self.deployment.spec.replicas, max_surge(self.deployment))
        present = {
            share.name: share.view.metadata.annotations
            for share in (*self.old, *([self.newest] if self.newest is not None else []))
        }
        for move in moves:
            if move.before == move.after and notes.items() <= present[move.name].items():
                continue
            patch: Tree = {"metadata": {"annotations": dict(notes)}}
            if move.before != move.after:
                patch["spec"] = {"replicas": move.after}
                way = "up" if move.after > move.before else "down"
                self.plan.events.append(
                    f"Scaled {way} replica set {move.name} from {move.before} to {move.after}"
                )
            self.plan.patches.append((move.name, patch))

    def _clean_up(self) -> None:
        """Let go of the smallest revisions beyond what history keeps."""
        limit = self.deployment.spec.revision_history_limit
        if limit is None or limit == _UNBOUNDED:
            return
        kept = [share.view for share in self.old if not share.view.metadata.deleting]
        kept.sort(key=lambda view: (revision_of(view), view.metadata.creation_timestamp))
        self.plan.remove = [
            view.metadata.name
            for view in kept[: max(len(kept) - limit, 0)]
            if not view.spec.replicas
            and not view.status.replicas
            and view.metadata.generation <= view.status.observed_generation
        ]

    def _own_revision(self, revision: str) -> None:
        if revision and self.deployment.metadata.annotations.get(REVISION) != revision:
            self.plan.revision = revision

    def _progress(self, status: str, reason: str, message: str) -> None:
        self.conditions = put_condition(
            self.conditions, PROGRESSING, status, reason, message, self.now
        )


def decide(
    deployment: DeploymentView,
    sets: Iterable[ReplicaSetView],
    old_pods_left: Callable[[Iterable[str]], bool],
    now: float,
) -> Plan:
    """Say what one visit writes.

    Args:
        deployment: The Deployment.
        sets: Its ReplicaSets.
        old_pods_left: Given uids of ReplicaSets, whether any of them still has a pod that has not
            come to its end.
        now: The present time in seconds.
    """
    visit = _Visit(deployment, sets, now)
    if deployment.metadata.deleting:
        visit.count_only()
        return visit.plan
    visit.mark_pause()
    visit.sync_newest()
    if deployment.spec.paused or visit.is_scaling():
        visit.rescale()
    elif deployment.spec.strategy.type == "Recreate":
        visit.recreate(lambda: old_pods_left([share.view.metadata.uid for share in visit.old]))
    else:
        visit.roll()
    return visit.plan
