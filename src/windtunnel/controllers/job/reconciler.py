"""Jobs: pods that come to an end, and are counted exactly once.

Reads Jobs and their pods, writes what ``job_plan`` decides. A pod's change is looked at a second
later, together with what else has changed until then. Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import unless_zero, write_status
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.job.backoff import Backoff
from windtunnel.controllers.job.creations import Creation
from windtunnel.controllers.job.ending import is_finished
from windtunnel.controllers.job.indexes import INDEX
from windtunnel.controllers.job.plan import Plan, decide
from windtunnel.controllers.job.tally import FAILURE_COUNT, FINALIZER, IGNORED_COUNT
from windtunnel.controllers.job.views import JobStatus, JobView, Uncounted
from windtunnel.controllers.ownership import PodOwnership
from windtunnel.controllers.pods import (
    PodControl,
    namespace_is_going,
    pod_from,
    slow_start,
)
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, template_of
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "jobs.batch"
_BATCH_SECONDS: Final = 1.0
_CONTROLLER: Final = "kubernetes.io/job-controller"
_ENV: Final = "JOB_COMPLETION_INDEX"


class Jobs:
    """Reconciles Jobs."""

    name = "job-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder
        self._expectations = Expectations(clock)
        self._ownership = PodOwnership(client, sources.pods, sources.jobs, "batch/v1", "Job")
        self._control = PodControl(client, recorder, self._expectations)
        self._backoffs: dict[Key, Backoff] = {}
        self._released: set[str] = set()
        """uids of pods whose finalizer is gone, until the cache shows it too."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a Job when it changes, and a second after one of its pods does."""

        def job_changed(key: Key, before: JobView | None, after: JobView | None) -> None:
            if after is None:
                self._expectations.forget(key)
                self._backoffs.pop(key, None)
            queue.add(key)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            pod = after or before
            if pod is not None and (after is None or FINALIZER not in after.metadata.finalizers):
                self._released.discard(pod.metadata.uid)

        self._sources.jobs.on_change(job_changed)
        self._sources.pods.on_change(pod_changed)
        self._sources.pod_owners.follow(
            self._ownership,
            self._expectations,
            lambda key: queue.add_after(key, _BATCH_SECONDS),
        )

    def reconcile(self, key: Key) -> Result:
        """Bring one Job in line."""
        job = self._sources.jobs.get(key)
        if job is None or job.spec.managed_by not in (None, _CONTROLLER):
            return DONE
        if is_finished(job.status.conditions):
            self._backoffs.pop(key, None)
            return DONE
        pods = self._ownership.claim(job.metadata, job.spec.selector)
        plan = decide(
            job,
            pods,
            self._backoffs.get(key, Backoff()),
            self._clock.now(),
            may_act=self._expectations.met(key),
            released=frozenset(self._released & {pod.metadata.uid for pod in pods}),
        )
        made, failure = self._act(key, job, plan)
        missed = len(plan.create) - made
        status = msgspec.structs.replace(plan.status, active=max(plan.status.active - missed, 0))
        self._settle(key, job, status, plan)
        self._backoffs[key] = plan.backoff
        for type_, reason, message in plan.events:
            record = self._recorder.normal if type_ == "Normal" else self._recorder.warning
            record(_subject(job), reason, message)
        if failure is not None:
            raise failure
        return Result(plan.again_in if missed == 0 else None)  # else: nothing more can be made

    def _act(self, key: Key, job: JobView, plan: Plan) -> tuple[int, Exception | None]:
        """Make and delete pods; returns how many were made, and the first failure."""
        subject = _subject(job)
        if plan.forgive:
            for pod in plan.delete:
                self._release(pod)
        failures = [
            failure for pod in plan.delete if (failure := self._control.delete(pod, subject, key))
        ]
        if failures:
            return 0, failures[0]
        made, failure = slow_start(
            len(plan.create), lambda number: self._make(key, job, plan.create[number], subject)
        )
        return made, None if failure is None or namespace_is_going(failure) else failure

    def _make(
        self, key: Key, job: JobView, creation: Creation, subject: Subject
    ) -> Exception | None:
        owner = self._ownership.reference(job.metadata)
        pod = job_pod(job, creation, owner)
        return self._control.create(pod, subject, key)

    def _settle(self, key: Key, job: JobView, status: JobStatus, plan: Plan) -> None:
        """Note the finished pods, take their finalizers, then count them."""
        noted = job.status.uncounted_terminated_pods
        succeeded = (*noted.succeeded, *plan.counted[0])
        failed = (*noted.failed, *plan.counted[1])
        conditions = status.conditions
        if plan.interim is not None:
            conditions = (*conditions, plan.interim)
        if plan.counted[0] or plan.counted[1] or plan.interim is not None:
            status = msgspec.structs.replace(
                status,
                conditions=conditions,
                uncounted_terminated_pods=Uncounted(succeeded, failed),
            )
            write_status(self._client, RESOURCE, key, status_tree(status))
        for pod in plan.release:
            self._release(pod)
        present = self._still_tracked(job)
        done = [uid for uid in succeeded if uid not in present]
        lost = [uid for uid in failed if uid not in present]
        left = Uncounted(
            tuple(uid for uid in succeeded if uid in present),
            tuple(uid for uid in failed if uid in present),
        )
        counted = status.succeeded + len(done)
        if job.spec.completion_mode == "Indexed":
            counted = _length(status.completed_indexes)
        final = msgspec.structs.replace(
            status,
            conditions=conditions,
            succeeded=counted,
            failed=status.failed + len(lost),
            uncounted_terminated_pods=left,
        )
        ending = plan.ending
        empty = not left.succeeded and not left.failed
        if ending is not None and empty and not status.terminating:
            final = msgspec.structs.replace(
                final,
                conditions=(*conditions, ending),
                completion_time=(
                    ending.last_transition_time if ending.type == "Complete" else None
                ),
            )
            if ending.type == "Complete":
                self._recorder.normal(_subject(job), "Completed", "Job completed")
            else:
                self._recorder.warning(_subject(job), ending.reason, ending.message)
        if final != job.status:
            write_status(self._client, RESOURCE, key, status_tree(final))

    def _still_tracked(self, job: JobView) -> set[str]:
        """Return the uids of the Job's pods that still have the finalizer."""
        return {
            pod.metadata.uid
            for _, pod in self._sources.pods.by("owner", job.metadata.uid)
            if FINALIZER in pod.metadata.finalizers and pod.metadata.uid not in self._released
        }

    def _release(self, pod: PodView) -> None:
        release(self._client, pod)
        seen = self._sources.pods.get(Key(pod.metadata.namespace, pod.metadata.name))
        if seen is not None and FINALIZER in seen.metadata.finalizers:
            self._released.add(pod.metadata.uid)


def release(client: Client, pod: PodView) -> None:
    """Take the tracking finalizer off a pod; one that is gone already is fine."""
    kept = [name for name in pod.metadata.finalizers if name != FINALIZER]
    patch = {"metadata": {"uid": pod.metadata.uid, "finalizers": kept or None}}
    try:
        client.patch("pods", Key(pod.metadata.namespace, pod.metadata.name), patch)
    except NotFound:
        return


def job_pod(job: JobView, creation: Creation, owner: Tree) -> Tree:
    """Return the pod for one creation."""
    template = template_of(job.spec.template)
    name = job.metadata.name
    prefix = f"{name}-"
    metadata = template.setdefault("metadata", {})
    metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]
    if creation.index is not None:
        number = str(creation.index)
        notes = {INDEX: number}
        if creation.failures is not None:
            notes[FAILURE_COUNT] = str(creation.failures)
        if creation.ignored:
            notes[IGNORED_COUNT] = str(creation.ignored)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **notes}
        metadata["labels"] = {**(metadata.get("labels") or {}), INDEX: number}
        spec = template["spec"]
        spec["hostname"] = f"{name}-{number}"
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            _add_index_variable(container)
        prefix = f"{name[: 56 - len(number)]}-{number}-"
    return pod_from(template, job.metadata.namespace, prefix, owner)


def _add_index_variable(container: Tree) -> None:
    variables = container.setdefault("env", [])
    if any(variable.get("name") == _ENV for variable in variables):
        return
    path = f"metadata.labels['{INDEX}']"
    variables.append({"name": _ENV, "valueFrom": {"fieldRef": {"fieldPath": path}}})


def status_tree(status: JobStatus) -> Tree:
    """Return the status as it is written: ready and terminating are there even when zero."""
    noted = status.uncounted_terminated_pods
    uncounted: Tree = {
        "succeeded": list(noted.succeeded) or None,
        "failed": list(noted.failed) or None,
    }
    return {
        "startTime": status.start_time,
        "completionTime": status.completion_time,
        "active": unless_zero(status.active),
        "succeeded": unless_zero(status.succeeded),
        "failed": unless_zero(status.failed),
        "ready": status.ready,
        "terminating": status.terminating,
        "completedIndexes": status.completed_indexes or None,
        "failedIndexes": status.failed_indexes,
        "uncountedTerminatedPods": uncounted,
        "conditions": [each.to_tree() for each in status.conditions] or None,
    }


def _length(indexes: str) -> int:
    """Count the indexes that a status text lists."""
    total = 0
    for part in filter(None, indexes.split(",")):
        low, _, high = part.partition("-")
        total += int(high or low) - int(low) + 1
    return total


def _subject(job: JobView) -> Subject:
    return Subject("Job", job.metadata.name, job.metadata.namespace, job.metadata.uid, "batch/v1")
