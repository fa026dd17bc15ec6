"""What controllers see of a CronJob."""

from __future__ import annotations

import msgspec

from windtunnel.controllers.views import Metadata, View


class JobReference(View, frozen=True):
    """A Job that a CronJob has started."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class CronJobSpec(View, frozen=True):
    """What a CronJob starts, and when."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = "Allow"
    suspend: bool = False
    job_template: msgspec.Raw = msgspec.Raw(b"{}")
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(View, frozen=True):
    """What a CronJob has started."""

    active: tuple[JobReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJobView(View, frozen=True):
    """A CronJob."""

    metadata: Metadata
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
