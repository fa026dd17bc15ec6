"""What controllers see of a Job."""

from __future__ import annotations

from typing import Any

import msgspec

from windtunnel.controllers.views import Condition, Metadata, Selector, View


class JobSpec(View, frozen=True):
    """What a Job is to do."""

    parallelism: int = 1
    completions: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    completion_mode: str = "NonIndexed"
    suspend: bool = False
    selector: Selector = Selector()
    template: msgspec.Raw = msgspec.Raw(b"{}")
    ttl_seconds_after_finished: int | None = None
    pod_failure_policy: dict[str, Any] | None = None
    success_policy: dict[str, Any] | None = None
    pod_replacement_policy: str = "TerminatingOrFailed"
    managed_by: str | None = None


class Uncounted(View, frozen=True):
    """Finished pods whose finalizer is being taken away."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(View, frozen=True):
    """How far a Job is."""

    start_time: str | None = None
    completion_time: str | None = None
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int | None = None
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: Uncounted = Uncounted()
    conditions: tuple[Condition, ...] = ()


class JobView(View, frozen=True):
    """A Job."""

    metadata: Metadata
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
