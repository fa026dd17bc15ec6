"""What a Job's policies say of pods and indexes: does a failure count, is success enough.

Source: job-controller of Kubernetes v1.36, pod failure policy and success policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windtunnel.controllers.views import ContainerStatus, PodView, find_condition
from windtunnel.kinds.workload.job_indexes import Indexes, read_indexes

Policy = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FailureRuling:
    """What the first matching rule says of a failed pod; ``action`` is "" where none matches."""

    action: str = ""
    message: str = ""
    """Why the Job fails; "" where it does not."""

    @property
    def counts(self) -> bool:
        """Whether the failure counts against the backoff limit."""
        return self.action != "Ignore"


def judge_failure(policy: Policy | None, pod: PodView, *, per_index: bool) -> FailureRuling:
    """Say what the pod failure policy makes of a failed pod.

    Args:
        policy: The Job's podFailurePolicy, or None.
        pod: The failed pod.
        per_index: Whether the Job has a backoff limit per index; without it FailIndex is no action.
    """
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        why = _match(rule, pod)
        if why is None:
            continue
        action = str(rule.get("action", ""))
        if action == "FailIndex" and not per_index:
            continue
        if action == "FailJob":
            return FailureRuling(action, f"{why} matching {action} rule at index {number}")
        return FailureRuling(action)
    return FailureRuling()


def _match(rule: Mapping[str, Any], pod: PodView) -> str | None:
    """Return what about the pod matches the rule, or None."""
    who = f"{pod.metadata.namespace}/{pod.metadata.name}"
    codes = rule.get("onExitCodes")
    if codes is not None:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            code = _matching_code(codes, status)
            if code is not None:
                return f"Container {status.name} for pod {who} failed with exit code {code}"
        return None
    for wanted in rule.get("onPodConditions") or ():
        condition = find_condition(pod.status.conditions, wanted.get("type", ""))
        if condition is not None and condition.status == wanted.get("status", "True"):
            return f"Pod {who} has condition {condition.type}"
    return None


def _matching_code(codes: Mapping[str, Any], status: ContainerStatus) -> int | None:
    ended = status.state.terminated
    if ended is None or ended.exit_code == 0:
        return None
    if codes.get("containerName") not in (None, status.name):
        return None
    listed = ended.exit_code in (codes.get("values") or ())
    return ended.exit_code if listed == (codes.get("operator") == "In") else None


def judge_success(policy: Policy | None, completions: int, succeeded: Indexes) -> str | None:
    """Return why the succeeded indexes are enough, or None."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        least = rule.get("succeededCount")
        if rule.get("succeededIndexes") is not None:
            required = read_indexes(rule["succeededIndexes"], completions)
            have = required.shared(succeeded)
            enough = have == len(required) if least is None else have >= least
        else:
            enough = least is not None and len(succeeded) >= least
        if enough:
            return f"Matched rules at index {number}"
    return None
