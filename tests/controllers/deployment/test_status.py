from typing import Any

import msgspec
import pytest

from windtunnel.controllers.deployment.rollout import Share
from windtunnel.controllers.deployment.status import (
    count,
    has_deadline,
    judge,
    put_condition,
    seconds_left,
    status_tree,
)
from windtunnel.controllers.deployment.views import DeploymentStatus, DeploymentView
from windtunnel.controllers.views import Condition, ReplicaSetView, find_condition
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0


def deployment(replicas: int = 3, deadline: int | None = 60, **status: Any) -> DeploymentView:
    tree = {
        "metadata": {"name": "web", "generation": 2},
        "spec": {"replicas": replicas, "progressDeadlineSeconds": deadline},
        "status": status,
    }
    return msgspec.convert(tree, DeploymentView)


def share(replicas: int, available: int, name: str = "rs", **status: Any) -> Share:
    counted = {"replicas": replicas, "readyReplicas": available, "availableReplicas": available}
    tree = {"metadata": {"name": name}, "status": {**counted, "terminatingReplicas": 0, **status}}
    return Share(msgspec.convert(tree, ReplicaSetView), replicas)


def progressing(reason: str, status: str = "True", ago: float = 5) -> dict[str, str]:
    since = time_text(NOW - ago)
    return {
        "type": "Progressing", "status": status, "reason": reason,
        "lastUpdateTime": since, "lastTransitionTime": since,
    }  # fmt: skip


def verdict(one: DeploymentView, newest: Share | None, *old: Share) -> Condition | None:
    before = one.status.conditions
    status = judge(one, before, count(one, before, newest, old, NOW), newest, old, NOW)
    return find_condition(status.conditions, "Progressing")


OLD = {"replicas": 3, "updatedReplicas": 1, "readyReplicas": 2, "availableReplicas": 2}
VERDICTS = {
    "all new and available": (share(3, 3), "NewReplicaSetAvailable"),
    "more are new": (share(2, 2), "ReplicaSetUpdated"),
    "nothing moves": (share(1, 1), "NewReplicaSetCreated"),
}


@pytest.mark.parametrize(("newest", "reason"), VERDICTS.values(), ids=VERDICTS.keys())
def test_progress_is_judged(newest: Share, reason: str) -> None:
    one = deployment(conditions=[progressing("NewReplicaSetCreated")], **OLD)
    old = [share(3 - newest.replicas, 0, "old")] if newest.replicas < 3 else []
    found = verdict(one, newest, *old)

    assert found is not None
    assert found.reason == reason


def test_without_progress_the_deadline_counts_from_the_last() -> None:
    late = deployment(conditions=[progressing("ReplicaSetUpdated", ago=61)], **OLD)
    found = verdict(late, share(1, 1), share(2, 1))

    assert found is not None
    assert (found.status, found.reason) == ("False", "ProgressDeadlineExceeded")
    assert found.message == 'ReplicaSet "rs" has timed out progressing.'


def test_a_complete_rollout_never_times_out() -> None:
    done = deployment(conditions=[progressing("NewReplicaSetAvailable", ago=9999)], **OLD)
    found = verdict(done, share(3, 1))

    assert found is not None
    assert found.reason == "NewReplicaSetAvailable"


def test_without_deadline_there_is_no_verdict() -> None:
    assert not has_deadline(deployment(deadline=2**31 - 1))
    assert verdict(deployment(deadline=None, conditions=[progressing("x")]), share(1, 1)) is None


def test_a_failure_of_the_newest_set_is_copied_before_an_old_ones() -> None:
    def failing(name: str) -> Share:
        condition = {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": name,
        }
        return share(1, 0, name, conditions=[condition])

    one = deployment()
    status = judge(
        one,
        (),
        count(one, (), failing("new"), [failing("old")], NOW),
        failing("new"),
        [failing("old")],
        NOW,
    )
    found = find_condition(status.conditions, "ReplicaFailure")

    assert found is not None
    assert found.message == "new"


def test_what_is_missing_counts_from_what_the_sets_are_to_have() -> None:
    status = count(deployment(), (), share(2, 1), [share(3, 2, "old")], NOW)

    assert (status.available_replicas, status.unavailable_replicas) == (3, 2)
    assert status.terminating_replicas == 0


def test_a_condition_of_the_same_status_and_reason_stays_as_it_is() -> None:
    first = put_condition((), "A", "True", "R", "one", NOW)

    assert put_condition(first, "A", "True", "R", "two", NOW + 9) is first
    (changed,) = put_condition(first, "A", "True", "S", "two", NOW + 9)
    assert changed.last_transition_time == time_text(NOW)
    assert changed.last_update_time == time_text(NOW + 9)


def test_the_deadline_is_looked_at_a_second_later() -> None:
    status = msgspec.convert({"conditions": [progressing("x", ago=20)]}, DeploymentStatus)

    assert seconds_left(deployment(), status, NOW) == 41.0


def test_counters_are_absent_when_zero() -> None:
    tree = status_tree(DeploymentStatus(replicas=2, terminating_replicas=0))

    assert {key: value for key, value in tree.items() if value is not None} == {
        "replicas": 2,
        "terminatingReplicas": 0,
    }
