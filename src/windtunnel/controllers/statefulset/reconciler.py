"""StatefulSets: reads them and their pods, and writes what ``plan`` decides."""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import unless_zero, write_status
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.ownership import PodOwnership, reference_tree
from windtunnel.controllers.pods import namespace_is_going, next_available
from windtunnel.controllers.revisions import History, Revisions, RevisionView
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.statefulset.identity import (
    claim_owners,
    claim_templates,
    make_claims,
    make_pod,
    missing_labels,
    ordinal_of,
)
from windtunnel.controllers.statefulset.plan import (
    Standing,
    Vacancy,
    by_ordinal,
    count,
    decide,
    names_in_use,
)
from windtunnel.controllers.statefulset.views import StatefulSetStatus, StatefulSetView
from windtunnel.controllers.views import PodView
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "statefulsets.apps"
CLAIMS: Final = "persistentvolumeclaims"
HASH: Final = "controller.kubernetes.io/hash"


class StatefulSets:
    """Reconciles StatefulSets."""

    name = "statefulset-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder
        self._expectations = Expectations(clock)
        self._ownership = PodOwnership(
            client, sources.pods, sources.stateful_sets, "apps/v1", "StatefulSet"
        )
        self._revisions = Revisions(client, sources.revisions, "StatefulSet", HASH)

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a StatefulSet when it or one of its pods changes."""

        def set_changed(
            key: Key, before: StatefulSetView | None, after: StatefulSetView | None
        ) -> None:
            if after is None:
                self._expectations.forget(key)
            queue.add(key)

        self._sources.stateful_sets.on_change(set_changed)
        self._sources.pod_owners.follow(self._ownership, self._expectations, queue.add)

    def reconcile(self, key: Key) -> Result:
        """Bring one StatefulSet in line."""
        view = self._sources.stateful_sets.get(key)
        if view is None:
            return DONE
        history = self._revisions.settle(
            view.metadata, view.spec.selector, view.spec.template, view.status.collision_count or 0
        )
        present = _named(history, view.status.current_revision) or history.present
        pods = self._claim(view)
        now = self._clock.now()
        standing = Standing(
            view,
            by_ordinal(view, pods),
            present.metadata.name,
            history.present.metadata.name,
            now,
        )
        status = count(standing, history.collisions or 0)
        try:
            if self._expectations.met(key):
                self._act(key, standing, present, history.present)
        finally:
            if status != view.status:
                write_status(self._client, RESOURCE, key, _status_tree(status))
        self._revisions.trim(
            history, names_in_use(pods, standing), view.spec.revision_history_limit
        )
        min_ready = view.spec.min_ready_seconds
        return Result(next_available(pods, min_ready, now)) if min_ready else DONE

    def _act(
        self, key: Key, standing: Standing, present: RevisionView, newest: RevisionView
    ) -> None:
        view = standing.view
        plan = decide(standing)
        for pod in plan.repair:
            self._repair(view, pod)
        for pod in plan.surplus:
            self._hand_claims(view, pod, surplus=True)
        for vacancy in plan.create:
            self._create(key, view, newest if vacancy.updated else present, vacancy)
        for pod in plan.delete:
            self._delete(key, view, pod)

    def _create(
        self, key: Key, view: StatefulSetView, revision: RevisionView, vacancy: Vacancy
    ) -> None:
        pod = make_pod(view, revision, vacancy.ordinal)
        name = pod["metadata"]["name"]
        if self._has_stale_claim(view, vacancy.ordinal):
            return
        try:
            self._make_claims(view, vacancy.ordinal, name)
            with self._expectations.creating(key):
                self._client.create("pods", pod)
        except AlreadyExists:
            raise
        except ApiError as refusal:
            if namespace_is_going(refusal):
                return
            self._tell_pod(view, "Create", name, refusal)
            raise
        self._tell_pod(view, "Create", name)

    def _delete(self, key: Key, view: StatefulSetView, pod: PodView) -> None:
        uid, name = pod.metadata.uid, pod.metadata.name
        try:
            with self._expectations.deleting(key, uid):
                self._client.delete("pods", Key(key.namespace, name), uid=uid)
        except NotFound:
            return
        except ApiError as refusal:
            self._tell_pod(view, "Delete", name, refusal)
            raise
        self._tell_pod(view, "Delete", name)

    def _repair(self, view: StatefulSetView, pod: PodView) -> None:
        """See to the labels and claims of a pod that is wanted."""
        ordinal = ordinal_of(view, pod.metadata.name)
        if ordinal is None or pod.metadata.deleting:
            return
        labels = missing_labels(pod, ordinal)
        if labels:
            key = Key(pod.metadata.namespace, pod.metadata.name)
            self._client.patch("pods", key, {"metadata": {"labels": labels}})
            self._tell_pod(view, "Update", pod.metadata.name)
        if pod.status.phase == "Pending":
            self._make_claims(view, ordinal, pod.metadata.name)
        self._hand_claims(view, pod, surplus=False)

    def _make_claims(self, view: StatefulSetView, ordinal: int, pod: str) -> None:
        """Make the claims of a pod that are not there."""
        for claim in make_claims(view, ordinal):
            name = claim["metadata"]["name"]
            if self._sources.claims.get(Key(view.metadata.namespace, name)) is not None:
                continue
            where = f"Claim {name} Pod {pod} in StatefulSet {view.metadata.name}"
            try:
                self._client.create(CLAIMS, claim)
            except AlreadyExists:
                continue
            except ApiError as refusal:
                text = f"Create {where} failed error: {refusal}"
                self._recorder.warning(_subject(view), "FailedCreate", text)
                raise
            self._recorder.normal(_subject(view), "SuccessfulCreate", f"Create {where} success")

    def _hand_claims(self, view: StatefulSetView, pod: PodView, *, surplus: bool) -> None:
        """Say on a pod's claims with whom they go."""
        owners = claim_owners(view, pod.metadata if surplus else None)
        for template in claim_templates(view):
            key = Key(view.metadata.namespace, f"{template}-{pod.metadata.name}")
            claim = self._sources.claims.get(key)
            if claim is None:
                continue
            ours = {view.metadata.uid, pod.metadata.uid}
            references = claim.metadata.owner_references
            present = [each for each in references if each.uid in ours]
            if [each.uid for each in present] == [owner["uid"] for owner in owners]:
                continue
            kept = [reference_tree(each) for each in references if each.uid not in ours]
            patch = {"metadata": {"ownerReferences": [*kept, *owners] or None}}
            try:
                self._client.patch(CLAIMS, key, patch)
            except NotFound:
                continue

    def _has_stale_claim(self, view: StatefulSetView, ordinal: int) -> bool:
        """Whether a claim of this number still goes with a pod that is gone."""
        for claim in make_claims(view, ordinal):
            found = self._sources.claims.get(
                Key(view.metadata.namespace, claim["metadata"]["name"])
            )
            if found is not None and any(
                each.kind == "Pod" for each in found.metadata.owner_references
            ):
                return True
        return False

    def _tell_pod(
        self, view: StatefulSetView, verb: str, pod: str, refusal: ApiError | None = None
    ) -> None:
        text = f"{verb} Pod {pod} in StatefulSet {view.metadata.name}"
        if refusal is None:
            self._recorder.normal(_subject(view), f"Successful{verb}", f"{text} successful")
        else:
            message = f"{text} failed error: {refusal}"
            self._recorder.warning(_subject(view), f"Failed{verb}", message)

    def _claim(self, view: StatefulSetView) -> list[PodView]:
        pods = self._ownership.claim(
            view.metadata, view.spec.selector, lambda name: ordinal_of(view, name) is not None
        )
        return [pod for pod in pods if ordinal_of(view, pod.metadata.name) is not None]


def _named(history: History, name: str) -> RevisionView | None:
    for revision in history.all:
        if revision.metadata.name == name:
            return revision
    return None


def _status_tree(status: StatefulSetStatus) -> Tree:
    """Return the status as it is written: replicas, available ones and collisions always."""
    return {
        "observedGeneration": unless_zero(status.observed_generation),
        "replicas": status.replicas,
        "readyReplicas": unless_zero(status.ready_replicas),
        "currentReplicas": unless_zero(status.current_replicas),
        "updatedReplicas": unless_zero(status.updated_replicas),
        "availableReplicas": status.available_replicas,
        "currentRevision": status.current_revision or None,
        "updateRevision": status.update_revision or None,
        "collisionCount": status.collision_count,
        "conditions": [each.to_tree() for each in status.conditions] or None,
    }


def _subject(view: StatefulSetView) -> Subject:
    metadata = view.metadata
    return Subject("StatefulSet", metadata.name, metadata.namespace, metadata.uid, "apps/v1")
