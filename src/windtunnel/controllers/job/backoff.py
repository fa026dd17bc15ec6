"""How long a Job waits before it tries again, and when its pods came to their end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from windtunnel.controllers.pods import seconds
from windtunnel.controllers.views import PodView, find_condition

BASE_SECONDS: Final = 10.0
MAX_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures since the last success, and when the last one was."""

    failures: int = 0
    last: float | None = None

    def after(self, succeeded: Iterable[PodView], failed: Iterable[PodView], now: float) -> Backoff:
        """Return the backoff after these pods have ended as well."""
        failures = sorted(finish_time(pod, now) for pod in failed)
        success = max((finish_time(pod, now) for pod in succeeded), default=None)
        if success is not None:
            failures = [when for when in failures if when > success]
            return Backoff(len(failures), failures[-1] if failures else None)
        if not failures:
            return self
        return Backoff(self.failures + len(failures), failures[-1])

    def remaining(self, now: float) -> float:
        """Return for how long no pod may be made."""
        if not self.failures or self.last is None:
            return 0.0
        return max(self.last + wait_after(self.failures) - now, 0.0)


def wait_after(failures: int) -> float:
    """Return the wait after so many failures in a row."""
    return float(min(BASE_SECONDS * 2.0 ** min(failures - 1, 60), MAX_SECONDS))


def finish_time(pod: PodView, now: float) -> float:
    """Return when a pod ended: by its containers, its readiness or its deletion."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    ends = [
        seconds(status.state.terminated.finished_at)
        for status in statuses
        if status.state.terminated is not None
    ]
    times = [end for end in ends if end is not None]
    if times and len(ends) == len(statuses):
        return max(times)
    ready = find_condition(pod.status.conditions, "Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time:
        return seconds(ready.last_transition_time) or now
    if pod.metadata.deletion_timestamp is not None:
        grace = pod.metadata.deletion_grace_period_seconds or 0
        return (seconds(pod.metadata.deletion_timestamp) or now) - grace
    return now
