"""Which pods a Job still needs, which it has too many of, and what each one to be made carries.

Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from windtunnel.controllers.job.backoff import finish_time, wait_after
from windtunnel.controllers.job.tally import (
    FAILURE_COUNT,
    IGNORED_COUNT,
    Tally,
    all_failures,
    noted_number,
)
from windtunnel.controllers.pods import AT_ONCE, pick_victims
from windtunnel.controllers.views import PodView


@dataclass(frozen=True, slots=True)
class Creation:
    """One pod to make."""

    index: int | None = None
    failures: int | None = None
    """How often this index has failed, where the Job limits that."""
    ignored: int = 0


def wanted_pods(tally: Tally, active: int) -> int:
    """Return how many pods should be active."""
    spec = tally.spec
    if spec.completions is None:
        return active if tally.succeeded > 0 else spec.parallelism
    return max(min(spec.completions - tally.succeeded, spec.parallelism), 0)


def victims(tally: Tally, surplus: int) -> list[PodView]:
    """Return the pods to delete: superfluous indexes in any case, then by rank."""
    chosen: list[PodView] = []
    left: list[PodView] = list(tally.active)
    if tally.indexed:
        seen: set[int] = set()
        left = []
        for pod in sorted(tally.active, key=lambda pod: pod.metadata.creation_timestamp):
            number = tally.index(pod)
            if number is None or number in seen:
                chosen.append(pod)
            else:
                seen.add(number)
                left.append(pod)
    more = surplus - len(chosen)
    if more > 0:
        chosen += pick_victims(left, more, {}, tally.now, by_magnitude=False)
    return chosen


def creations(tally: Tally, missing: int) -> tuple[list[Creation], float]:
    """Return pods to make, and how long the next one must wait if there is none.

    There may be far more to make than anybody makes at once: one more than that is returned then.
    """
    missing = min(missing, AT_ONCE + 1)
    if not tally.indexed:
        return [Creation()] * missing, 0.0
    taken = tally.succeeded_indexes | tally.failed_indexes
    taken |= {number for pod in tally.active if (number := tally.index(pod)) is not None}
    if tally.only_failed:
        taken |= {
            number
            for pod in tally.pods
            if pod.metadata.deleting
            and not pod.finished
            and (number := tally.index(pod)) is not None
        }
    free = list(islice(taken.free(tally.completions), missing))
    if not tally.per_index:
        return [Creation(number) for number in free], 0.0
    waiting = tally.waiting_indexes()
    made: list[Creation] = []
    wait = 0.0
    for number in free:
        failed = waiting.get(number)
        left = 0.0
        if failed is not None:
            due = finish_time(failed, tally.now) + wait_after(all_failures(failed) + 1)
            left = max(due - tally.now, 0.0)
        if left > 0:
            wait = min(wait, left) if wait else left
        else:
            made.append(_replacement(tally, number, failed))
    return made, wait


def _replacement(tally: Tally, number: int, failed: PodView | None) -> Creation:
    if failed is None:
        return Creation(number, 0)
    count, ignored = noted_number(failed, FAILURE_COUNT), noted_number(failed, IGNORED_COUNT)
    if tally.ruling(failed).counts:
        return Creation(number, count + 1, ignored)
    return Creation(number, count, ignored + 1)
