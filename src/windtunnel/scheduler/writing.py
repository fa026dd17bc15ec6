"""Carries attempts out through a client: bindings, conditions, evictions, events.

What is written is the real scheduler's, field for field.

Source: kube-scheduler v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windtunnel.client import Client, Write
from windtunnel.client.event_series import EventSeries
from windtunnel.client.events import Subject
from windtunnel.fleet import PodView
from windtunnel.kernel import Clock, Parked
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree
from windtunnel.scheduler import words
from windtunnel.scheduler.turn import Attempt


class Writer:
    """Writes what attempts say, as one scheduler."""

    def __init__(self, client: Client, clock: Clock, host: str) -> None:
        self._client, self._clock = client, clock
        self._events = EventSeries(clock, host)

    def bind(self, attempts: Sequence[Attempt]) -> list[tuple[Attempt, Exception]]:
        """Bind placed pods and tell of it; returns those that could not be bound, and why."""
        bindings = [
            Write("bind", "pods", one.pod.key, _binding(one.pod, one.node)) for one in attempts
        ]
        failures = []
        events = []
        outcomes = self._client.write_many(bindings)
        for attempt, outcome in zip(attempts, outcomes, strict=True):
            if outcome is None:
                events.append(self._event(attempt.pod, words.bound(attempt.pod, attempt.node)))
            else:
                failures.append((attempt, outcome))
        self.write(events)
        return failures

    def fail(self, pod: PodView, reason: str, message: str, nominated: str | None) -> None:
        """Write why a pod has no node; ``nominated`` None leaves its nomination alone."""
        writes: list[Write | None] = [self._event(pod, words.failed(message))]
        status: Tree = {}
        known = pod.condition("PodScheduled")
        told = known is not None and (known.status, known.reason, known.message)
        if told != ("False", reason, message):
            condition = self._condition(pod, "PodScheduled", "False", reason, message)
            status["conditions"] = [condition]
        if nominated is not None:
            status["nominatedNodeName"] = nominated or None
        if status:
            writes.append(_status(pod.key, status))
        self.write(writes)

    def skip(self, pod: PodView) -> None:
        """Tell that a pod which is being deleted is not scheduled."""
        self.write([self._event(pod, words.failed(words.skipped(pod)))])

    def demote(self, pods: Sequence[PodView]) -> None:
        """Take the nominations of pods back."""
        self.write([_status(pod.key, {"nominatedNodeName": None}) for pod in pods])

    def evict(self, by: PodView, node: str, victims: Sequence[PodView]) -> None:
        """Delete victims, each told why first."""
        reason, message = words.disruption(by)
        writes: list[Write | None] = []
        for victim in victims:
            condition = self._condition(victim, "DisruptionTarget", "True", reason, message)
            writes += [
                _status(victim.key, {"conditions": [condition]}),
                Write("delete", "pods", victim.key, {}),
                self._event(victim, words.preempted(by, node), related=by),
            ]
        self.write(writes)

    def end_series(self) -> None:
        """Tell how often events were that have ended."""
        self.write(self._events.ended())

    def refresh_series(self) -> None:
        """Tell how often events were that come again and again."""
        self.write(self._events.lasting())

    def write(self, maybe: Sequence[Write | None]) -> None:
        """Write what may be refused without harm; what is None needs no writing.

        Raises:
            Exception: Anything but a refusal of the API.
        """
        writes = [one for one in maybe if one is not None]
        if not writes:
            return
        for write, outcome in zip(writes, self._client.write_many(writes), strict=True):
            if isinstance(outcome, Parked):
                outcome.resume(_again(self, write))
            elif outcome is not None and not isinstance(outcome, ApiError):
                raise outcome

    def _condition(self, pod: PodView, kind: str, status: str, reason: str, message: str) -> Tree:
        condition: Tree = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastProbeTime": None,
        }
        if pod.generation:
            condition["observedGeneration"] = pod.generation
        known = pod.condition(kind)
        if known is None or known.status != status:
            condition["lastTransitionTime"] = time_text(self._clock.now())
        return condition

    def _event(
        self, pod: PodView, note: words.Note, related: PodView | None = None
    ) -> Write | None:
        """Return the write that tells of ``note``; None where a series says it already."""
        teller = related or pod
        return self._events.write_of(
            _subject(pod),
            note.reason,
            note.text,
            action=note.action,
            controller=teller.scheduler,
            type_=note.type,
            related=None if related is None else _subject(related),
        )


def _again(writer: Writer, write: Write) -> Callable[[], None]:
    return lambda: writer.write([write])


def _binding(pod: PodView, node: str) -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": pod.key.namespace, "name": pod.key.name, "uid": pod.uid},
        "target": {"kind": "Node", "name": node},
    }


def _status(key: Key, status: Tree) -> Write:
    return Write("patch_status", "pods", key, {"status": status})


def _subject(pod: PodView) -> Subject:
    key = pod.key
    return Subject("Pod", key.name, key.namespace, pod.uid, resource_version=pod.revision)
