"""Deployments: reads them and their ReplicaSets, and writes what ``deployment_plan`` decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.deployment.plan import Plan, decide
from windtunnel.controllers.deployment.sets import REVISION, same_template
from windtunnel.controllers.deployment.status import (
    FAILED_CREATE,
    PROGRESSING,
    has_deadline,
    put_condition,
    seconds_left,
    status_tree,
)
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.ownership import claim, owner_reference, selector_of
from windtunnel.controllers.pods import namespace_is_going
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, ReplicaSetView, template_of
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "deployments.apps"
SETS: Final = "replicasets.apps"


class Deployments:
    """Reconciles Deployments."""

    name = "deployment-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a Deployment when it, one of its sets, or the last pod of an old set changes."""

        def set_changed(
            key: Key, before: ReplicaSetView | None, after: ReplicaSetView | None
        ) -> None:
            for view in (before, after):
                controller = view.metadata.controller if view is not None else None
                if controller is not None and controller.kind == "Deployment":
                    queue.add(Key(key.namespace, controller.name))
            if after is not None and after.metadata.controller is None:
                for name, deployment in self._sources.deployments.by("namespace", key.namespace):
                    if selector_of(deployment.spec.selector).matches(after.metadata.labels):
                        queue.add(name)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            gone = before is not None and (
                after is None or (after.finished and not before.finished)
            )
            controller = before.metadata.controller if before is not None else None
            if not gone or controller is None or controller.kind != "ReplicaSet":
                return
            view = self._sources.replica_sets.get(Key(key.namespace, controller.name))
            upper = view.metadata.controller if view is not None else None
            if upper is not None and upper.kind == "Deployment":
                queue.add(Key(key.namespace, upper.name))

        self._sources.deployments.on_change(lambda key, before, after: queue.add(key))
        self._sources.replica_sets.on_change(set_changed)
        self._sources.pods.on_change(pod_changed)

    def reconcile(self, key: Key) -> Result:
        """Bring one Deployment in line."""
        deployment = self._sources.deployments.get(key)
        if deployment is None:
            return DONE
        now = self._clock.now()
        plan = decide(deployment, self._sets(key, deployment), self._old_pods_left, now)
        self._create(key, deployment, plan)
        for name, patch in plan.patches:
            self._client.patch(SETS, Key(key.namespace, name), patch)
        for message in plan.events:
            self._recorder.normal(_subject(deployment), "ScalingReplicaSet", message)
        for name in plan.remove:
            self._remove(Key(key.namespace, name))
        if plan.revision is not None:
            notes = {"annotations": {REVISION: plan.revision}}
            self._client.patch(RESOURCE, key, {"metadata": notes})
        if plan.status is None:
            return DONE
        if plan.status != deployment.status:
            write_status(self._client, RESOURCE, key, status_tree(plan.status))
        return Result(seconds_left(deployment, plan.status, now))

    def _create(self, key: Key, deployment: DeploymentView, plan: Plan) -> None:
        if plan.create is None:
            return
        try:
            self._client.create(SETS, plan.create)
        except AlreadyExists:
            if not self._is_ours(key, deployment, plan.create):
                collisions = (deployment.status.collision_count or 0) + 1
                write_status(self._client, RESOURCE, key, {"collisionCount": collisions})
                raise
            plan.events.clear()
        except ApiError as refusal:
            if not namespace_is_going(refusal):
                self._report(key, deployment, plan.create["metadata"]["name"], refusal)
            raise

    def _is_ours(self, key: Key, deployment: DeploymentView, tree: Tree) -> bool:
        """Whether the set of the wanted name is ours and of the same template."""
        found = self._sources.replica_sets.get(Key(key.namespace, tree["metadata"]["name"]))
        controller = found.metadata.controller if found is not None else None
        return (
            found is not None
            and controller is not None
            and controller.uid == deployment.metadata.uid
            and same_template(
                template_of(found.spec.template), template_of(deployment.spec.template)
            )
        )

    def _report(self, key: Key, deployment: DeploymentView, name: str, refusal: ApiError) -> None:
        text = f'Failed to create new replica set "{name}": {refusal}'
        if has_deadline(deployment):
            conditions = put_condition(
                deployment.status.conditions,
                PROGRESSING,
                "False",
                FAILED_CREATE,
                text,
                self._clock.now(),
            )
            if conditions != deployment.status.conditions:
                trees = [each.to_tree() for each in conditions]
                write_status(self._client, RESOURCE, key, {"conditions": trees})
        self._recorder.warning(_subject(deployment), FAILED_CREATE, text)

    def _remove(self, key: Key) -> None:
        try:
            self._client.delete(SETS, key)
        except NotFound:
            return

    def _sets(self, key: Key, deployment: DeploymentView) -> list[ReplicaSetView]:
        sets = self._sources.replica_sets
        uid = deployment.metadata.uid
        found = {
            set_key: view
            for set_key, view in sets.by("namespace", key.namespace)
            if (controller := view.metadata.controller) is None or controller.uid == uid
        }
        ours = claim(
            self._client,
            SETS,
            ((set_key, view.metadata) for set_key, view in found.items()),
            owner_reference("apps/v1", "Deployment", deployment.metadata),
            deployment.metadata.deleting,
            selector_of(deployment.spec.selector).matches,
        )
        return [found[set_key] for set_key in ours]

    def _old_pods_left(self, uids: Iterable[str]) -> bool:
        return any(
            not pod.finished for uid in uids for _, pod in self._sources.pods.by("owner", uid)
        )


def _subject(deployment: DeploymentView) -> Subject:
    metadata = deployment.metadata
    return Subject("Deployment", metadata.name, metadata.namespace, metadata.uid, "apps/v1")
