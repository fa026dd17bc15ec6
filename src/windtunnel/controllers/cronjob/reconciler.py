"""CronJobs: reads them and their Jobs, and writes what ``plan`` decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.cronjob.plan import decide, job_name, outcome, surplus
from windtunnel.controllers.cronjob.times import zoned_text
from windtunnel.controllers.cronjob.views import CronJobStatus, CronJobView, JobReference
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.ownership import owner_reference
from windtunnel.controllers.pods import namespace_is_going
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import template_of
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig

RESOURCE: Final = "cronjobs.batch"
JOBS: Final = "jobs.batch"
SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronJobs:
    """Reconciles CronJobs."""

    name = "cronjob-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a CronJob when it or one of its Jobs changes."""

        def job_changed(key: Key, before: JobView | None, after: JobView | None) -> None:
            for job in (before, after):
                controller = job.metadata.controller if job is not None else None
                if controller is not None and controller.kind == "CronJob":
                    queue.add(Key(key.namespace, controller.name))

        self._sources.cron_jobs.on_change(lambda key, before, after: queue.add(key))
        self._sources.jobs.on_change(job_changed)

    def reconcile(self, key: Key) -> Result:
        """Bring one CronJob in line."""
        cron_job = self._sources.cron_jobs.get(key)
        if cron_job is None:
            return DONE
        now = self._clock.now()
        jobs = [job for _, job in self._sources.jobs.by("owner", cron_job.metadata.uid)]
        active = self._clean_up(cron_job, jobs)
        active = self._follow(cron_job, jobs, active)
        last_time, again_at = cron_job.status.last_schedule_time, None
        failure: ApiError | None = None
        if not cron_job.metadata.deleting:
            plan = decide(cron_job, active, now)
            again_at = plan.again_at
            for type_, reason, message in plan.events:
                self._tell(cron_job, type_, reason, message)
            for reference in plan.replace:
                if self._delete(cron_job, reference.name, reference.uid):
                    active = tuple(each for each in active if each.uid != reference.uid)
            if plan.start is not None:
                try:
                    started = self._start(cron_job, plan.start)
                except ApiError as refusal:
                    failure = refusal
                else:
                    active = (*active, *started)
                    last_time = time_text(plan.start)
        status = CronJobStatus(active, last_time, _last_success(cron_job, jobs))
        if status != cron_job.status:
            write_status(self._client, RESOURCE, key, _status_tree(status))
        if failure is not None and not namespace_is_going(failure):
            raise failure
        return DONE if again_at is None else Result(max(again_at - now, 0.0))

    def _clean_up(self, cron_job: CronJobView, jobs: Sequence[JobView]) -> tuple[JobReference, ...]:
        """Delete the finished Jobs that history need not keep; returns who is still active."""
        spec, active = cron_job.spec, cron_job.status.active
        old = [
            *surplus(jobs, failed=True, limit=spec.failed_jobs_history_limit),
            *surplus(jobs, failed=False, limit=spec.successful_jobs_history_limit),
        ]
        for job in old:
            uid = job.metadata.uid
            if not job.metadata.deleting and self._delete(cron_job, job.metadata.name, uid):
                active = tuple(each for each in active if each.uid != uid)
        return active

    def _follow(
        self, cron_job: CronJobView, jobs: Sequence[JobView], active: tuple[JobReference, ...]
    ) -> tuple[JobReference, ...]:
        """Say what has become of the Jobs that ran; returns those that still run."""
        known = {job.metadata.uid: job for job in jobs}
        running: list[JobReference] = []
        for reference in active:
            job = known.get(reference.uid)
            if job is None:
                found = self._client.get(JOBS, Key(reference.namespace, reference.name))
                if found is not None and found["metadata"]["uid"] == reference.uid:
                    running.append(reference)
                    continue
                text = f"Active job went missing: {reference.name}"
                self._recorder.normal(_subject(cron_job), "MissingJob", text)
            elif outcome(job):
                text = f"Saw completed job: {job.metadata.name}, condition: {outcome(job)}"
                self._recorder.normal(_subject(cron_job), "SawCompletedJob", text)
            else:
                running.append(reference)
        for job in jobs:
            if self._is_forgotten(cron_job, job):
                name = job.metadata.name
                text = f"Saw a job that the controller did not create or forgot: {name}"
                self._recorder.warning(_subject(cron_job), "UnexpectedJob", text)
        return tuple(running)

    def _is_forgotten(self, cron_job: CronJobView, job: JobView) -> bool:
        """Whether a Job runs of which the CronJob, read afresh, knows nothing."""
        uid = job.metadata.uid
        if outcome(job) or job.metadata.deleting:
            return False
        if any(reference.uid == uid for reference in cron_job.status.active):
            return False
        key = Key(cron_job.metadata.namespace, cron_job.metadata.name)
        live = dig(self._client.get(RESOURCE, key), "status", "active") or ()
        return not any(each.get("uid") == uid for each in live)

    def _start(self, cron_job: CronJobView, time: float) -> list[JobReference]:
        """Start the Job for a time; returns its reference, or nothing where it has ended."""
        tree = _job(cron_job, time)
        key = Key(cron_job.metadata.namespace, tree["metadata"]["name"])
        try:
            made = self._client.create(JOBS, tree)
        except AlreadyExists:
            found = self._client.get(JOBS, key)
            owners = dig(found, "metadata", "ownerReferences") or ()
            if found is None or not any(
                each["uid"] == cron_job.metadata.uid for each in owners if each.get("controller")
            ):
                raise
            ended = dig(found, "status", "completionTime")
            return [] if ended else [_reference(found)]
        except ApiError as refusal:
            if not namespace_is_going(refusal):
                text = f"Error creating job: {refusal}"
                self._recorder.warning(_subject(cron_job), "FailedCreate", text)
            raise
        self._recorder.normal(_subject(cron_job), "SuccessfulCreate", f"Created job {key.name}")
        return [_reference(made)]

    def _delete(self, cron_job: CronJobView, name: str, uid: str) -> bool:
        """Delete a Job; returns whether it is on its way."""
        key = Key(cron_job.metadata.namespace, name)
        try:
            self._client.delete(JOBS, key, uid=uid, propagation="Background")
        except NotFound:
            return True
        except ApiError as refusal:
            text = f"Deleted job: {refusal}"
            self._recorder.warning(_subject(cron_job), "FailedDelete", text)
            return False
        self._recorder.normal(_subject(cron_job), "SuccessfulDelete", f"Deleted job {name}")
        return True

    def _tell(self, cron_job: CronJobView, type_: str, reason: str, message: str) -> None:
        record = self._recorder.normal if type_ == "Normal" else self._recorder.warning
        record(_subject(cron_job), reason, message)


def _job(cron_job: CronJobView, time: float) -> Tree:
    """Return the Job for a time."""
    template = template_of(cron_job.spec.job_template)
    given = template.get("metadata") or {}
    owner = cron_job.metadata
    scheduled = {SCHEDULED: zoned_text(time, cron_job.spec.time_zone or "")}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(cron_job, time),
            "namespace": owner.namespace,
            "labels": given.get("labels") or {},
            "annotations": {**(given.get("annotations") or {}), **scheduled},
            "ownerReferences": [owner_reference("batch/v1", "CronJob", owner)],
        },
        "spec": template.get("spec") or {},
    }


def _reference(job: Tree) -> JobReference:
    metadata = job["metadata"]
    return JobReference(
        "batch/v1",
        "Job",
        metadata["name"],
        metadata["namespace"],
        metadata["uid"],
        metadata["resourceVersion"],
    )


def _last_success(cron_job: CronJobView, jobs: Sequence[JobView]) -> str | None:
    """Return when the last of the Jobs that are known ended well."""
    times = [job.status.completion_time for job in jobs if outcome(job) == "Complete"]
    known = [cron_job.status.last_successful_time, *times]
    return max((time for time in known if time is not None), default=None)


def _status_tree(status: CronJobStatus) -> Tree:
    active: list[Tree] = [msgspec.to_builtins(each) for each in status.active]
    return {
        "active": active or None,
        "lastScheduleTime": status.last_schedule_time,
        "lastSuccessfulTime": status.last_successful_time,
    }


def _subject(cron_job: CronJobView) -> Subject:
    metadata = cron_job.metadata
    return Subject("CronJob", metadata.name, metadata.namespace, metadata.uid, "batch/v1")
