"""Events in the form of events.k8s.io/v1, as newer components tell theirs.

Names carry a rising number of nanoseconds, so that two events of one moment do not collide; the
same event again becomes a series. That is written when it begins, when it has ended, and now and
then while it lasts; how often it was in between is only counted. The caller sends the writes.

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
ENDED_SECONDS: Final = 360.0
"""What has not come again for so long has ended; so often somebody looks at what has."""
REFRESH_SECONDS: Final = 1800.0
"""So often series are written that have not ended."""
_REMEMBERED: Final = 4096


@dataclass(slots=True)
class _Written:
    """One event that was written, and how often it has come."""

    key: Key
    last: float
    count: int = 1

    def write(self) -> Write:
        series = {"count": self.count, "lastObservedTime": micro_time_text(self.last)}
        return Write("patch", RESOURCE, self.key, {"series": series})


class EventSeries:
    """Makes the writes that tell what happened."""

    def __init__(self, clock: Clock, host: str) -> None:
        self._clock, self._host = clock, host
        self._nanos = 0
        self._written: OrderedDict[tuple[Subject, str, str, str, str], _Written] = OrderedDict()

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
        # What the note says does not count: another reason not to be scheduled is the same event.
        identity = (subject, type_, action, reason, controller)
        known = self._written.get(identity)
        if known is not None:
            known.count += 1
            known.last = now
            return known.write() if known.count == 2 else None
        self._nanos = max(self._nanos + 1, int(now * 1e9))
        key = Key(subject.namespace or "default", f"{subject.name}.{self._nanos:x}")
        self._written[identity] = _Written(key, now)
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

    def ended(self) -> list[Write]:
        """Forget what has ended; return the writes that tell how often it was."""
        before = self._clock.now() - ENDED_SECONDS
        ended = [(identity, one) for identity, one in self._written.items() if one.last < before]
        for identity, _ in ended:
            del self._written[identity]
        return [one.write() for _, one in ended if one.count > 1]

    def lasting(self) -> list[Write]:
        """Return the writes that tell of series so far."""
        return [one.write() for one in self._written.values() if one.count > 1]
