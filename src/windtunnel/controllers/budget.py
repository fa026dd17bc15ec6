"""Disruption budgets: how many of the pods they select may go now.

Source: disruption controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.deployment.rollout import portion
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.replicaset import selector_of
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import (
    BudgetSpec,
    BudgetStatus,
    BudgetView,
    Condition,
    OwnerReference,
    PodView,
    ReplicaSetView,
    Selector,
    find_condition,
)
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig

RESOURCE: Final = "poddisruptionbudgets.policy"
ALLOWED: Final = "DisruptionAllowed"
_PATIENCE_SECONDS: Final = 120.0
"""How long an evicted pod may take until its deletion is seen."""


class NoScale(Exception):
    """A pod's manager is of a kind whose wanted number cannot be read."""


@dataclass(frozen=True, slots=True)
class Expected:
    """How many pods there should be, and how many of them healthy."""

    pods: int
    healthy: int


def expect(spec: BudgetSpec, matching: int, wanted: int) -> Expected:
    """Say what a budget expects.

    Args:
        spec: The budget.
        matching: How many pods it selects.
        wanted: How many pods their managers want together.
    """
    if spec.max_unavailable is not None:
        return Expected(wanted, max(wanted - portion(spec.max_unavailable, wanted, up=True), 0))
    if isinstance(spec.min_available, int):
        return Expected(matching, spec.min_available)
    return Expected(wanted, portion(spec.min_available, wanted, up=True))


def needs_owners(spec: BudgetSpec) -> bool:
    """Whether the managers' wanted numbers matter."""
    return spec.max_unavailable is not None or not isinstance(spec.min_available, int)


def still_disrupted(
    pods: Sequence[PodView], noted: Mapping[str, str], now: float
) -> tuple[dict[str, str], list[PodView], float | None]:
    """Sort the evictions a budget has noted.

    Returns:
        Those whose pod may still go, the pods that did not go in time, and when to look again.
    """
    kept: dict[str, str] = {}
    overdue = []
    waits = []
    for pod in pods:
        since = seconds(noted.get(pod.metadata.name))
        if since is None or pod.metadata.deleting:
            continue
        left = since + _PATIENCE_SECONDS - now
        if left <= 0:
            overdue.append(pod)
        else:
            kept[pod.metadata.name] = noted[pod.metadata.name]
            waits.append(left)
    return kept, overdue, min(waits, default=None)


def decide(
    budget: BudgetView, expected: Expected, healthy: int, disrupted: dict[str, str], now: float
) -> BudgetStatus:
    """Return the status of a budget."""
    allowed = max(healthy - expected.healthy, 0) if expected.pods > 0 else 0
    generation = budget.metadata.generation
    status, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    return BudgetStatus(
        observed_generation=generation,
        disrupted_pods=disrupted,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=expected.healthy,
        expected_pods=expected.pods,
        conditions=_with_condition(budget, status, reason, "", generation, now),
    )


class Budgets:
    """Keeps the status of disruption budgets."""

    name = "disruption-controller"

    def __init__(
        self,
        client: Client,
        clock: Clock,
        sources: Sources,
        resources: Resources,
        recorder: Recorder,
    ) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._resources, self._recorder = resources, recorder

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a budget when it, a pod it selects, or the size of their manager changes."""

        def of_namespace(namespace: str, labels: Mapping[str, str] | None) -> None:
            for key, budget in self._sources.budgets.by("namespace", namespace):
                if labels is None or _selects(budget, labels):
                    queue.add(key)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            if not len(self._sources.budgets):
                return
            if before is not None:
                of_namespace(key.namespace, before.metadata.labels)
            if after is not None and (
                before is None or before.metadata.labels != after.metadata.labels
            ):
                of_namespace(key.namespace, after.metadata.labels)

        def set_changed(
            key: Key, before: ReplicaSetView | None, after: ReplicaSetView | None
        ) -> None:
            if before is None or after is None or before.spec.replicas != after.spec.replicas:
                of_namespace(key.namespace, None)

        def deployment_changed(
            key: Key, before: DeploymentView | None, after: DeploymentView | None
        ) -> None:
            if before is None or after is None or before.spec.replicas != after.spec.replicas:
                of_namespace(key.namespace, None)

        self._sources.budgets.on_change(lambda key, before, after: queue.add(key))
        self._sources.pods.on_change(pod_changed)
        self._sources.replica_sets.on_change(set_changed)
        self._sources.deployments.on_change(deployment_changed)

    def reconcile(self, key: Key) -> Result:
        """Bring one budget's status in line."""
        budget = self._sources.budgets.get(key)
        if budget is None:
            return DONE
        now = self._clock.now()
        pods = [
            pod
            for _, pod in self._sources.pods.by("namespace", key.namespace)
            if _selects(budget, pod.metadata.labels)
        ]
        subject = _subject(budget)
        if not pods:
            self._recorder.normal(subject, "NoPods", "No matching pods found")
        try:
            wanted, unmanaged = self._wanted(budget, pods)
        except NoScale as failure:
            text = f"Failed to calculate the number of expected pods: {failure}"
            self._recorder.warning(subject, "CalculateExpectedPodCountFailed", text)
            self._fail_safe(key, budget, str(failure), now)
            raise
        if unmanaged:
            self._recorder.warning(subject, "UnmanagedPods", _unmanaged_text(budget))
        disrupted, overdue, again_in = still_disrupted(pods, budget.status.disrupted_pods, now)
        for pod in overdue:
            text = f"Pod was expected by PDB {key} to be deleted but it wasn't"
            self._recorder.warning(_pod_subject(pod), "NotDeleted", text)
        healthy = sum(
            pod.ready and not pod.metadata.deleting and pod.metadata.name not in disrupted
            for pod in pods
        )
        status = decide(budget, expect(budget.spec, len(pods), wanted), healthy, disrupted, now)
        if status != budget.status:
            write_status(self._client, RESOURCE, key, _status_tree(budget.status, status))
        return Result(again_in)

    def _wanted(self, budget: BudgetView, pods: Sequence[PodView]) -> tuple[int, int]:
        """Return how many pods the managers want together, and how many pods have none."""
        if not needs_owners(budget.spec):
            return 0, 0
        sizes: dict[str, int] = {}
        unmanaged = 0
        for pod in pods:
            manager = pod.metadata.controller
            if manager is None:
                unmanaged += 1
            elif manager.uid not in sizes:
                upper, size = self._size(pod.metadata.namespace, manager)
                sizes[manager.uid] = 0 if upper in sizes and upper != manager.uid else size
                sizes.setdefault(upper, 0)
        return sum(sizes.values()), unmanaged

    def _size(self, namespace: str, manager: OwnerReference) -> tuple[str, int]:
        """Return the uid of what decides the size, and the size.

        Raises:
            NoScale: The manager's kind has no size.
        """
        key = Key(namespace, manager.name)
        if (manager.kind, manager.group) == ("ReplicaSet", "apps"):
            replica_set = self._sources.replica_sets.get(key)
            if replica_set is None:
                return manager.uid, 0
            upper = replica_set.metadata.controller
            if upper is not None and (upper.kind, upper.group) == ("Deployment", "apps"):
                deployment = self._sources.deployments.get(Key(namespace, upper.name))
                return upper.uid, deployment.spec.replicas if deployment is not None else 0
            return manager.uid, replica_set.spec.replicas
        resource = self._resources.of_kind(manager.api_version, manager.kind)
        if resource is None:
            raise NoScale(f'no matches for kind "{manager.kind}"')
        if not resource.scalable:
            raise NoScale(f"{resource.name} does not implement the scale subresource")
        tree = self._client.get(resource.name, key)
        return manager.uid, int(dig(tree, "spec", "replicas") or 0)

    def _fail_safe(self, key: Key, budget: BudgetView, message: str, now: float) -> None:
        """Allow no disruption while the numbers cannot be worked out."""
        conditions = _with_condition(budget, "False", "SyncFailed", message, None, now)
        if budget.status.disruptions_allowed or conditions != budget.status.conditions:
            status = {
                "disruptionsAllowed": 0,
                "currentHealthy": budget.status.current_healthy,
                "desiredHealthy": budget.status.desired_healthy,
                "expectedPods": budget.status.expected_pods,
                "conditions": [each.to_tree() for each in conditions],
            }
            write_status(self._client, RESOURCE, key, status)


def _selects(budget: BudgetView, labels: Mapping[str, str]) -> bool:
    selector = budget.spec.selector
    return selector is not None and selector_of(selector).matches(labels)


def _with_condition(
    budget: BudgetView,
    status: str,
    reason: str,
    message: str,
    generation: int | None,
    now: float,
) -> tuple[Condition, ...]:
    old = find_condition(budget.status.conditions, ALLOWED)
    since = time_text(now)
    if old is not None and old.status == status:
        since = old.last_transition_time or since
    fresh = Condition(
        type=ALLOWED,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since,
        observed_generation=generation,
    )
    return (*(each for each in budget.status.conditions if each.type != ALLOWED), fresh)


def _status_tree(old: BudgetStatus, status: BudgetStatus) -> Tree:
    gone: Tree = dict.fromkeys(old.disrupted_pods)
    conditions = []
    for condition in status.conditions:
        tree = condition.to_tree()
        tree.setdefault("message", "")
        conditions.append(tree)
    return {
        "observedGeneration": status.observed_generation,
        "disruptedPods": {**gone, **status.disrupted_pods} or None,
        "disruptionsAllowed": status.disruptions_allowed,
        "currentHealthy": status.current_healthy,
        "desiredHealthy": status.desired_healthy,
        "expectedPods": status.expected_pods,
        "conditions": conditions,
    }


def _unmanaged_text(budget: BudgetView) -> str:
    return (
        f"Pods selected by this PodDisruptionBudget (selector: {_go_text(budget.spec.selector)}) "
        "were found to be unmanaged. As a result, the status of the PDB cannot be calculated "
        "correctly, which may result in undefined behavior. To account for these pods please set "
        '".spec.minAvailable" field of the PDB to an integer value.'
    )


def _go_text(selector: Selector | None) -> str:
    """Print a selector as Go prints the struct."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.match_labels.items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key')},Operator:{each.get('operator')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _subject(budget: BudgetView) -> Subject:
    metadata = budget.metadata
    return Subject(
        "PodDisruptionBudget", metadata.name, metadata.namespace, metadata.uid, "policy/v1"
    )


def _pod_subject(pod: PodView) -> Subject:
    return Subject("Pod", pod.metadata.name, pod.metadata.namespace, pod.metadata.uid)
