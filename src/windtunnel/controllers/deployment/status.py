"""What a Deployment says of itself: counters, conditions, and whether it still makes progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from windtunnel.controllers.controller import unless_zero
from windtunnel.controllers.deployment.rollout import Share, max_unavailable
from windtunnel.controllers.deployment.views import DeploymentStatus, DeploymentView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.replicaset import FAILURE
from windtunnel.controllers.views import Condition, ReplicaSetStatus, find_condition
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree

AVAILABLE: Final = "Available"
PROGRESSING: Final = "Progressing"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
FAILED_CREATE: Final = "ReplicaSetCreateError"
ALL_NEW: Final = "NewReplicaSetAvailable"
_FOREVER: Final = 2**31 - 1

Conditions = tuple[Condition, ...]


def has_deadline(deployment: DeploymentView) -> bool:
    """Whether lack of progress is to be noticed."""
    return deployment.spec.progress_deadline_seconds not in (None, _FOREVER)


def put_condition(
    conditions: Conditions, type_: str, status: str, reason: str, message: str, now: float
) -> Conditions:
    """Return the conditions with this one last; the same status and reason change nothing."""
    present = find_condition(conditions, type_)
    if present is not None and (present.status, present.reason) == (status, reason):
        return conditions
    text = time_text(now)
    moved = present is None or present.status != status
    fresh = Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_update_time=text,
        last_transition_time=text if moved else present.last_transition_time,  # type: ignore[union-attr]
    )
    return (*without(conditions, type_), fresh)


def without(conditions: Conditions, type_: str) -> Conditions:
    """Return the conditions without those of this type."""
    return tuple(each for each in conditions if each.type != type_)


def count(
    deployment: DeploymentView,
    conditions: Conditions,
    newest: Share | None,
    old: Sequence[Share],
    now: float,
) -> DeploymentStatus:
    """Return the counters these sets amount to, with condition Available."""
    shares = [*old, *([newest] if newest is not None else [])]
    counted: list[ReplicaSetStatus] = [share.view.status for share in shares]
    available = sum(each.available_replicas for each in counted)
    terminating = [each.terminating_replicas for each in counted]
    wanted = sum(share.replicas for share in shares)
    if available >= deployment.spec.replicas - max_unavailable(deployment):
        verdict = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        verdict = (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    return DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.replicas for each in counted),
        updated_replicas=newest.view.status.replicas if newest is not None else 0,
        ready_replicas=sum(each.ready_replicas for each in counted),
        available_replicas=available,
        unavailable_replicas=max(wanted - available, 0),
        terminating_replicas=(
            None if None in terminating else sum(each or 0 for each in terminating)
        ),
        collision_count=deployment.status.collision_count,
        conditions=put_condition(conditions, AVAILABLE, *verdict, now),
    )


def judge(
    deployment: DeploymentView,
    conditions: Conditions,
    status: DeploymentStatus,
    newest: Share | None,
    old: Sequence[Share],
    now: float,
) -> DeploymentStatus:
    """Add what the rollout has come to: condition Progressing, and ReplicaFailure of the sets."""
    result = status.conditions
    if not has_deadline(deployment):
        result = without(result, PROGRESSING)
    elif not _settled(conditions, status):
        result = _progress(deployment, conditions, result, status, newest, now)
    result = without(result, FAILURE)
    failed = _failure(newest, old)
    if failed is not None:
        result = put_condition(result, FAILURE, failed.status, failed.reason, failed.message, now)
    return msgspec.structs.replace(status, conditions=result)


def _settled(conditions: Conditions, status: DeploymentStatus) -> bool:
    present = find_condition(conditions, PROGRESSING)
    all_new = status.replicas == status.updated_replicas
    return all_new and present is not None and present.reason == ALL_NEW


def _progress(
    deployment: DeploymentView,
    conditions: Conditions,
    result: Conditions,
    status: DeploymentStatus,
    newest: Share | None,
    now: float,
) -> Conditions:
    what = f'Deployment "{deployment.metadata.name}"'
    if newest is not None:
        what = f'ReplicaSet "{newest.name}"'
    present = find_condition(conditions, PROGRESSING)
    if is_complete(deployment, status):
        text = f"{what} has successfully progressed."
        return put_condition(result, PROGRESSING, "True", ALL_NEW, text, now)
    if _advances(deployment.status, status):
        fresh = Condition(
            type=PROGRESSING,
            status="True",
            reason="ReplicaSetUpdated",
            message=f"{what} is progressing.",
            last_update_time=time_text(now),
            last_transition_time=(
                present.last_transition_time
                if present is not None and present.status == "True"
                else time_text(now)
            ),
        )
        return (*without(result, PROGRESSING), fresh)
    if _timed_out(deployment, present, now):
        text = f"{what} has timed out progressing."
        return put_condition(result, PROGRESSING, "False", TIMED_OUT, text, now)
    return result


def is_complete(deployment: DeploymentView, status: DeploymentStatus) -> bool:
    """Whether every wanted pod is new and available, and no old one is left."""
    wanted = deployment.spec.replicas
    return (
        status.updated_replicas == status.replicas == status.available_replicas == wanted
        and status.observed_generation >= deployment.metadata.generation
    )


def seconds_left(deployment: DeploymentView, status: DeploymentStatus, now: float) -> float | None:
    """Return when the deadline must be looked at again, or None for not at all."""
    present = find_condition(status.conditions, PROGRESSING)
    if present is None or not has_deadline(deployment) or present.reason == TIMED_OUT:
        return None
    if is_complete(deployment, status):
        return None
    since = seconds(present.last_update_time)
    limit = deployment.spec.progress_deadline_seconds
    if since is None or limit is None:
        return None
    return max(since + limit - now, 0.0) + 1.0


def status_tree(status: DeploymentStatus) -> Tree:
    """Return the status as it is written: counters are absent when zero."""
    return {
        "observedGeneration": unless_zero(status.observed_generation),
        "replicas": unless_zero(status.replicas),
        "updatedReplicas": unless_zero(status.updated_replicas),
        "readyReplicas": unless_zero(status.ready_replicas),
        "availableReplicas": unless_zero(status.available_replicas),
        "unavailableReplicas": unless_zero(status.unavailable_replicas),
        "terminatingReplicas": status.terminating_replicas,
        "collisionCount": status.collision_count,
        "conditions": [each.to_tree() for each in status.conditions] or None,
    }


def _advances(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    return (
        after.updated_replicas > before.updated_replicas
        or after.replicas - after.updated_replicas < before.replicas - before.updated_replicas
        or after.ready_replicas > before.ready_replicas
        or after.available_replicas > before.available_replicas
    )


def _timed_out(deployment: DeploymentView, present: Condition | None, now: float) -> bool:
    if present is None or present.reason == ALL_NEW:
        return False
    if present.reason == TIMED_OUT:
        return True
    since = seconds(present.last_update_time)
    limit = deployment.spec.progress_deadline_seconds
    return since is not None and limit is not None and since + limit < now


def _failure(newest: Share | None, old: Sequence[Share]) -> Condition | None:
    for share in ([newest] if newest is not None else []) + list(old):
        condition = find_condition(share.view.status.conditions, FAILURE)
        if condition is not None:
            return condition
    return None
