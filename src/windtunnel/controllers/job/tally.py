"""What a Job's pods amount to: which are active, which have ended and are not counted yet.

Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from windtunnel.controllers.job.indexes import index_of
from windtunnel.controllers.job.policy import FailureRuling, judge_failure
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.views import PodView
from windtunnel.kinds.workload.job_indexes import Indexes, read_indexes

FINALIZER: Final = "batch.kubernetes.io/job-tracking"
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_COUNT: Final = "batch.kubernetes.io/job-index-ignored-failure-count"


class _PodSpec(msgspec.Struct, rename="camel"):
    restart_policy: str = "Always"


class _Template(msgspec.Struct):
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)


class Tally:
    """One visit to one Job: what its pods amount to."""

    def __init__(
        self, job: JobView, pods: Sequence[PodView], released: frozenset[str], now: float
    ) -> None:
        self.job, self.spec, self.now = job, job.spec, now
        self.pods = pods
        self.indexed = job.spec.completion_mode == "Indexed"
        self.per_index = job.spec.backoff_limit_per_index is not None
        self.only_failed = job.spec.pod_replacement_policy == "Failed"
        self.completions = job.spec.completions or 0
        self.tracked = [
            pod
            for pod in pods
            if FINALIZER in pod.metadata.finalizers and pod.metadata.uid not in released
        ]
        self.active = [pod for pod in pods if pod.active]
        self.terminating = sum(pod.metadata.deleting and not pod.finished for pod in pods)
        noted = job.status.uncounted_terminated_pods
        self.noted_succeeded, self.noted_failed = set(noted.succeeded), set(noted.failed)
        self.fresh_succeeded = self._fresh(
            self.noted_succeeded, [pod for pod in self.tracked if pod.status.phase == "Succeeded"]
        )
        self.fresh_failed = self._fresh(
            self.noted_failed, [pod for pod in self.tracked if self.failed(pod)]
        )
        self.succeeded_indexes = self.failed_indexes = Indexes()
        if self.indexed:
            self._count_indexes()
            self.succeeded = len(self.succeeded_indexes)
        else:
            self.succeeded = (
                job.status.succeeded + len(self.fresh_succeeded) + len(self.noted_succeeded)
            )
        self.failures = (
            job.status.failed
            + sum(self.ruling(pod).counts for pod in self.fresh_failed)
            + len(self.noted_failed)
        )

    def _fresh(self, noted: set[str], pods: Iterable[PodView]) -> list[PodView]:
        return [
            pod
            for pod in pods
            if pod.metadata.uid not in noted and (not self.indexed or self.index(pod) is not None)
        ]

    def index(self, pod: PodView) -> int | None:
        """Return the pod's completion index, if it has a valid one."""
        return index_of(pod.metadata.annotations, self.spec.completions)

    def failed(self, pod: PodView) -> bool:
        """Whether the pod counts as failed; a deleted one does, unless replacements wait for it."""
        if pod.status.phase == "Failed":
            return True
        return not self.only_failed and pod.metadata.deleting and pod.status.phase != "Succeeded"

    def ruling(self, pod: PodView) -> FailureRuling:
        """Return what the pod failure policy says."""
        return judge_failure(self.spec.pod_failure_policy, pod, per_index=self.per_index)

    def _count_indexes(self) -> None:
        status = self.job.status
        noted = read_indexes(status.completed_indexes, self.completions)
        self.succeeded_indexes = noted | self._indexes(self.fresh_succeeded)
        if not self.per_index:
            return
        lost = [pod for pod in self.tracked if self.failed(pod) and self._index_is_lost(pod)]
        noted = read_indexes(status.failed_indexes or "", self.completions)
        self.failed_indexes = noted | self._indexes(lost)

    def _indexes(self, pods: Iterable[PodView]) -> set[int]:
        return {number for pod in pods if (number := self.index(pod)) is not None}

    def _index_is_lost(self, pod: PodView) -> bool:
        ruling = self.ruling(pod)
        if ruling.action == "FailIndex":
            return True
        limit = self.spec.backoff_limit_per_index
        return limit is not None and ruling.counts and noted_number(pod, FAILURE_COUNT) >= limit

    def waiting_indexes(self) -> dict[int, PodView]:
        """Return the failed pod of each index that waits for its replacement."""
        if not self.per_index:
            return {}
        done = self.succeeded_indexes | self.failed_indexes | self._indexes(self.active)
        waiting: dict[int, PodView] = {}
        for pod in self.tracked:
            number = self.index(pod)
            if number is None or number in done or not self.failed(pod):
                continue
            present = waiting.get(number)
            if present is None or all_failures(present) <= all_failures(pod):
                waiting[number] = pod
        return waiting

    def restarts_exceed(self) -> bool:
        """Whether containers of pods that restart them have failed too often."""
        template = msgspec.json.decode(self.spec.template, type=_Template)
        if template.spec.restart_policy != "OnFailure":
            return False
        total = sum(
            status.restart_count
            for pod in self.pods
            if pod.status.phase in ("Pending", "Running")
            for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
        )
        return total > 0 if self.spec.backoff_limit == 0 else total >= self.spec.backoff_limit


def noted_number(pod: PodView, annotation: str) -> int:
    """Return the number an annotation carries; 0 for none or nonsense."""
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else 0


def all_failures(pod: PodView) -> int:
    """Return how often a pod's index had failed before it, counted or not."""
    return noted_number(pod, FAILURE_COUNT) + noted_number(pod, IGNORED_COUNT)
