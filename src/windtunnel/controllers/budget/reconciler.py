"""Disruption budgets: how many of the pods they select may go now.

Source: disruption controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.budget.sizes import NoScale, Sizes
from windtunnel.controllers.budget.status import (
    decide,
    expect,
    needs_owners,
    status_tree,
    still_disrupted,
    with_condition,
)
from windtunnel.controllers.budget.views import BudgetView
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.ownership import selector_of
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, ReplicaSetView, Selector
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.tree import Key

RESOURCE: Final = "poddisruptionbudgets.policy"


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
        self._sizes, self._recorder = Sizes(client, sources, resources), recorder

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a budget when it, a pod it selects, or the size of their owner changes."""

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
            wanted, unmanaged = self._sizes.wanted(pods) if needs_owners(budget.spec) else (0, 0)
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
            write_status(self._client, RESOURCE, key, status_tree(budget.status, status))
        return Result(again_in)

    def _fail_safe(self, key: Key, budget: BudgetView, message: str, now: float) -> None:
        """Allow no disruption while the numbers cannot be worked out."""
        conditions = with_condition(budget, "False", "SyncFailed", message, None, now)
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
