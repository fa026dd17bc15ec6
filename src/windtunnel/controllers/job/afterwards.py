"""What is left to do when a Job has ended or is gone: its finalizers, and its own removal.

Source: job-controller (orphan pods) and ttl-after-finished controller of Kubernetes v1.36.
"""

from __future__ import annotations

from windtunnel.client import Client
from windtunnel.controllers.job.ending import is_finished
from windtunnel.controllers.job.reconciler import RESOURCE, release
from windtunnel.controllers.job.tally import FINALIZER
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key


class JobOrphans:
    """Takes the tracking finalizer off pods whose Job has ended or is gone."""

    name = "job-orphans"

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue tracked pods when they appear or change, and all of a Job when it ends or goes."""

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            if after is not None and self._is_orphan(key, after):
                queue.add(key)

        def job_changed(key: Key, before: JobView | None, after: JobView | None) -> None:
            job = after or before
            if job is None or (after is not None and not is_finished(after.status.conditions)):
                return
            for pod_key, pod in self._sources.pods.by("owner", job.metadata.uid):
                if FINALIZER in pod.metadata.finalizers:
                    queue.add(pod_key)

        self._sources.pods.on_change(pod_changed)
        self._sources.jobs.on_change(job_changed)

    def reconcile(self, key: Key) -> Result:
        """Release one pod."""
        pod = self._sources.pods.get(key)
        if pod is not None and self._is_orphan(key, pod):
            release(self._client, pod)
        return DONE

    def _is_orphan(self, key: Key, pod: PodView) -> bool:
        if FINALIZER not in pod.metadata.finalizers:
            return False
        owner = pod.metadata.controller
        if owner is None:
            return True
        if owner.kind != "Job" or owner.group != "batch":
            return False
        job = self._sources.jobs.get(Key(key.namespace, owner.name))
        return job is None or job.metadata.uid != owner.uid or is_finished(job.status.conditions)


class FinishedJobs:
    """Removes Jobs some time after they have ended, where they say how long."""

    name = "ttl-after-finished-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources) -> None:
        self._client, self._clock, self._sources = client, clock, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue Jobs as they change."""
        self._sources.jobs.on_change(
            lambda key, before, after: queue.add(key) if after is not None else None
        )

    def reconcile(self, key: Key) -> Result:
        """Remove one Job when its time has come."""
        job = self._sources.jobs.get(key)
        if job is None or job.metadata.deleting:
            return DONE
        ttl, ended = job.spec.ttl_seconds_after_finished, _ended(job)
        if ttl is None or ended is None:
            return DONE
        left = ended + ttl - self._clock.now()
        if left > 0:
            return Result(left)
        try:
            self._client.delete(RESOURCE, key, uid=job.metadata.uid, propagation="Foreground")
        except NotFound:
            return DONE
        return DONE


def _ended(job: JobView) -> float | None:
    """Return when the Job ended, or None."""
    for condition in job.status.conditions:
        if condition.type in ("Complete", "Failed") and condition.status == "True":
            return seconds(condition.last_transition_time)
    return None
