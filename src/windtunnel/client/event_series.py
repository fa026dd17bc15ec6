"""Events in the form of events.k8s.io/v1, as newer components tell theirs.

Names carry a rising number of nanoseconds, so that two events of one moment do not collide; the
same event again becomes a series, which is written once. The caller sends the writes, with its own.

Source: the events.k8s.io/v1 recorder of client-go, v1.36.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from windtunnel.client.events import Subject
from windtunnel.client.protocol import Write
from windtunnel.kernel import Clock
from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "events.events.k8s.io"
_REMEMBERED: Final = 4096


@dataclass(slots=True)
class _Written:
    """One event that was written, and whether it has become a series."""

    key: Key
    series: bool = False


class EventSeries:
    """Makes the writes that tell what happened."""

    def __init__(self, clock: Clock, host: str) -> None:
        self._clock, self._host = clock, host
        self._nanos = 0
        self._written: OrderedDict[tuple[Subject, str], _Written] = OrderedDict()

    def write_of(
        self,
        subject: Subject,
        reason: str,
        note: str,
        *,
        action: str,
        controller: str,
        type_: str = "Normal",
        related: Subject | None = None,
    ) -> Write | None:
        """Return the write that tells of something; None where a series says it already.

        Args:
            subject: What it is about; with another resourceVersion it is another event.
            reason: Why, in one word.
            note: What happened, for people.
            action: What was done.
            controller: Who tells.
            type_: Normal or Warning.
            related: What else it is about.
        """
        now = self._clock.now()
        known = self._written.get((subject, reason))
        if known is not None:
            if known.series:
                return None
            known.series = True
            series = {"count": 2, "lastObservedTime": micro_time_text(now)}
            return Write("patch", RESOURCE, known.key, {"series": series})
        self._nanos = max(self._nanos + 1, int(now * 1e9))
        key = Key(subject.namespace or "default", f"{subject.name}.{self._nanos:x}")
        self._written[subject, reason] = _Written(key)
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)
        event: Tree = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": key.name, "namespace": key.namespace},
            "eventTime": micro_time_text(now),
            "reportingController": controller,
            "reportingInstance": f"{controller}-{self._host}",
            "action": action,
            "reason": reason,
            "regarding": subject.to_tree(),
            "note": note,
            "type": type_,
        }
        if related is not None:
            event["related"] = related.to_tree()
        return Write("create", RESOURCE, key, event)
