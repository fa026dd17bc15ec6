"""What the controllers that make pods have in common: making, deleting and ranking them.

Source: pod control and ranking of Kubernetes v1.36: creations go in batches of 1, 2, 4, … and the
first batch with a failure is the last, so that a quota that refuses everything is asked once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cmp_to_key
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.views import PodView, find_condition
from windtunnel.machinery.errors import ApiError, Forbidden, NotFound
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Key, Tree, dig

AT_ONCE: Final = 20
"""Pods made or deleted in one step, so that it stays short; the rest follows in the next steps."""
_AT_ONCE_SECONDS: Final = 0.02
_PACE_SECONDS: Final = 0.0005
"""How much longer a visit waits for each thing it has to look at."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_RANK: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def pod_from(template: Tree, namespace: str, generate_name: str, owner: Tree) -> Tree:
    """Turn a pod template, which is used up, into a pod that ``owner`` manages."""
    metadata = template.get("metadata") or {}
    kept = {
        field: metadata[field]
        for field in ("labels", "annotations", "finalizers")
        if metadata.get(field)
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": generate_name,
            "namespace": namespace,
            **kept,
            "ownerReferences": [dict(owner)],
        },
        "spec": template.get("spec") or {},
    }


def slow_start(count: int, make: Callable[[int], Exception | None]) -> tuple[int, Exception | None]:
    """Make ``count`` things in growing batches; stop after the first batch with a failure.

    Args:
        count: How many.
        make: Makes the n-th, and returns what went wrong or None.

    Returns:
        How many were made, and the first failure.
    """
    done = made = 0
    batch = 1
    while done < count:
        outcomes = [make(number) for number in range(done, min(done + batch, count))]
        failures = [outcome for outcome in outcomes if outcome is not None]
        made += len(outcomes) - len(failures)
        done += len(outcomes)
        if failures:
            return made, failures[0]
        batch *= 2
    return made, None


def namespace_is_going(error: Exception) -> bool:
    """Whether a creation was refused because its namespace is going: nobody need be told."""
    if not isinstance(error, Forbidden):
        return False
    causes = dig(error.details or {}, "causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)


def patience(size: int) -> float:
    """Return how long a visit waits for further changes when it has ``size`` things to look at.

    Nothing for a few; half a second for a thousand: whoever owns many is visited the less often.
    """
    return size * _PACE_SECONDS if size * _PACE_SECONDS > _AT_ONCE_SECONDS else 0.0


class PodControl:
    """Makes and deletes pods for one controller, with its events.

    Args:
        client: Who writes.
        recorder: The controller's.
        expectations: What its owners are still to see.
    """

    def __init__(self, client: Client, recorder: Recorder, expectations: Expectations) -> None:
        self._client, self._recorder, self._expectations = client, recorder, expectations

    def create(self, pod: Tree, subject: Subject, owner: Hashable) -> Exception | None:
        """Create a pod that ``owner`` then waits to see; returns the refusal, also an event."""
        try:
            with self._expectations.creating(owner):
                made = self._client.create("pods", pod)
        except ApiError as refusal:
            if not namespace_is_going(refusal):
                message = f"Error creating: {refusal}"
                self._recorder.warning(subject, "FailedCreate", message)
            return refusal
        name = made["metadata"]["name"]
        self._recorder.normal(subject, "SuccessfulCreate", f"Created pod: {name}")
        return None

    def delete(self, pod: PodView, subject: Subject, owner: Hashable) -> Exception | None:
        """Delete a pod that ``owner`` then waits to see going; one that is gone already is fine."""
        uid, key = pod.metadata.uid, Key(pod.metadata.namespace, pod.metadata.name)
        try:
            with self._expectations.deleting(owner, uid):
                self._client.delete("pods", key, uid=uid)
        except NotFound:
            return None
        except ApiError as refusal:
            self._recorder.warning(subject, "FailedDelete", f"Error deleting: {refusal}")
            return refusal
        self._recorder.normal(subject, "SuccessfulDelete", f"Deleted pod: {key.name}")
        return None


def available(pod: PodView, min_ready_seconds: int, now: float) -> bool:
    """Whether the pod has been ready for long enough."""
    condition = find_condition(pod.status.conditions, "Ready")
    if condition is None or condition.status != "True":
        return False
    if min_ready_seconds == 0:
        return True
    since = seconds(condition.last_transition_time)
    return since is not None and since + min_ready_seconds <= now


def next_available(pods: Iterable[PodView], min_ready_seconds: int, now: float) -> float | None:
    """Return in how many seconds the next ready pod becomes available, or None."""
    waits = []
    for pod in pods:
        condition = find_condition(pod.status.conditions, "Ready")
        since = seconds(condition.last_transition_time) if condition and pod.ready else None
        if since is not None and since + min_ready_seconds > now:
            waits.append(since + min_ready_seconds - now)
    return min(waits, default=None)


def seconds(time: str | None) -> float | None:
    """Return a time of the API in seconds since the epoch, or None where it is absent."""
    return None if time is None else parse_time(time)


def pick_victims(
    pods: Iterable[PodView],
    count: int,
    crowd: Mapping[str, int],
    now: float,
    *,
    by_magnitude: bool = True,
) -> list[PodView]:
    """Return the ``count`` pods that are to go when there are too many.

    Args:
        pods: Active pods.
        count: How many are to go.
        crowd: Active pods of the same family per node; missing nodes count as 0.
        now: The present time in seconds.
        by_magnitude: Compare times by the power of two their age falls in; different times within
            one are told apart by uid. Otherwise the later time goes first.

    Source:
        v1.36 ActivePodsWithRanks: unassigned, phase, not ready, lower deletion cost, more of the
        family on the node, ready for less time, more restarts, younger.
    """

    ages = _compare_magnitudes(now) if by_magnitude else _compare_times

    def order(left: PodView, right: PodView) -> int:
        return (
            _compare(_standing(left, crowd), _standing(right, crowd))
            or (ages(_ready_since, left, right) if left.ready else 0)
            or _compare(_calm(left), _calm(right))
            or ages(_born, left, right)
        )

    return sorted(pods, key=cmp_to_key(order))[:count]


def deletion_cost(pod: PodView) -> int:
    """Return what the annotation says it costs to delete the pod; 0 for nothing or nonsense."""
    text = pod.metadata.annotations.get(DELETION_COST, "0")
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdecimal()) or text[:1] == "+":
        return 0
    if (len(digits) > 1 and digits[0] == "0") or len(digits) > 10:
        return 0
    value = int(text)
    return value if -(2**31) <= value < 2**31 else 0


def _compare(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return (left > right) - (left < right)


def _standing(pod: PodView, crowd: Mapping[str, int]) -> tuple[int, ...]:
    return (
        pod.spec.node_name != "",
        _PHASE_RANK.get(pod.status.phase, 0),
        pod.ready,
        deletion_cost(pod),
        -crowd.get(pod.spec.node_name, 0),
    )


def _calm(pod: PodView) -> tuple[int, ...]:
    return (
        -max((each.restart_count for each in pod.status.container_statuses), default=0),
        -max((each.restart_count for each in pod.status.init_container_statuses), default=0),
    )


def _ready_since(pod: PodView) -> float | None:
    condition = find_condition(pod.status.conditions, "Ready")
    return None if condition is None else seconds(condition.last_transition_time)


def _born(pod: PodView) -> float | None:
    return seconds(pod.metadata.creation_timestamp or None)


Moment = Callable[[PodView], float | None]


def _compare_magnitudes(now: float) -> Callable[[Moment, PodView, PodView], int]:
    def compare(moment: Moment, left: PodView, right: PodView) -> int:
        one, other = moment(left), moment(right)
        if one == other:
            return 0
        difference = _magnitude(one, now) - _magnitude(other, now)
        return difference or (-1 if left.metadata.uid < right.metadata.uid else 1)

    return compare


def _compare_times(moment: Moment, left: PodView, right: PodView) -> int:
    one, other = moment(left), moment(right)
    if one == other:
        return 0
    if one is None or other is None:
        return -1 if one is None else 1
    return -1 if one > other else 1


def _magnitude(since: float | None, now: float) -> int:
    """Return the power of two an age in nanoseconds falls in; -1 for none at all."""
    age_nanos = 0.0 if since is None else (now - since) * 1e9
    return math.floor(math.log2(age_nanos)) if age_nanos > 0 else -1
