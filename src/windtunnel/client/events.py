"""The recorder of core/v1 events: events that repeat are folded, and a flood is cut off.

Recording never writes; a step of its own writes what has gathered, so that an event that is refused
costs no reconcile.

Source: client-go's event correlator, v1.36. The same event again only raises its count; from the
tenth message of one sort within ten minutes on, all become one event; 25 events of one object at
once, then one in 300 s.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from zlib import crc32

from windtunnel.client.protocol import Client
from windtunnel.errors import ClusterError
from windtunnel.kernel import DONE, Line, Loop, Parked, Settled
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree

_SIMILAR: Final = 10
_SIMILAR_SECONDS: Final = 600.0
_BURST: Final = 25.0
_SECONDS_PER_TOKEN: Final = 300.0
_REMEMBERED: Final = 4096
_PREFIX: Final = "(combined from similar events): "
_IN_LINE: Final = 1000
"""More than this wait only where the API server is away; what comes on top is dropped."""
AT_ONCE: Final = 4
LONGEST_WORDS: Final = 1024
"""What events.k8s.io takes as a note; core events are kept as short, though nothing limits them."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event is about."""

    kind: str
    name: str
    namespace: str = ""
    uid: str = ""
    api_version: str = "v1"
    resource_version: str = ""
    field_path: str = ""
    """Which part of the object, as ``spec.containers{main}``."""

    def to_tree(self) -> Tree:
        """Return the reference, without what is empty."""
        parts = {
            "kind": self.kind, "namespace": self.namespace, "name": self.name,
            "uid": self.uid, "apiVersion": self.api_version,
            "resourceVersion": self.resource_version, "fieldPath": self.field_path,
        }  # fmt: skip
        return {key: value for key, value in parts.items() if value}


@dataclass(slots=True)
class _Series:
    """Messages of one sort about one subject, of the last minutes."""

    messages: dict[str, None] = field(default_factory=dict)
    last: float = 0.0


@dataclass(slots=True)
class _Written:
    """One event that was written."""

    key: Key
    count: int


@dataclass(slots=True)
class _Bucket:
    """How many more events of one subject are let through."""

    tokens: float
    filled: float


@dataclass(frozen=True, slots=True, eq=False)
class _Note:
    """What is to be recorded; each is its own key in line."""

    subject: Subject
    type: str
    reason: str
    message: str
    when: float


class Recorder:
    """Records events of one component; of one on a node, where ``host`` names it."""

    def __init__(self, client: Client, loop: Loop, component: str, host: str = "") -> None:
        self._client, self._loop, self.component, self._host = client, loop, component, host
        self._series: OrderedDict[Any, _Series] = OrderedDict()
        self._written: OrderedDict[Any, _Written] = OrderedDict()
        self._buckets: OrderedDict[Subject, _Bucket] = OrderedDict()
        self._line: Line[_Note] = Line(loop, component, self._write_all, at_once=AT_ONCE)
        # Two components that record about one object at one moment must not make one name.
        self._serial = crc32(component.encode())

    def normal(self, subject: Subject, reason: str, message: str) -> None:
        """Record that something happened as it should."""
        self._record(subject, "Normal", reason, message)

    def warning(self, subject: Subject, reason: str, message: str) -> None:
        """Record that something is wrong."""
        self._record(subject, "Warning", reason, message)

    def _record(self, subject: Subject, type_: str, reason: str, message: str) -> None:
        if len(self._line) < _IN_LINE:
            self._line.add(_Note(subject, type_, reason, message, self._loop.clock.now()))

    def _write_all(self, notes: Sequence[_Note]) -> list[Settled]:
        return [self._write(note) for note in notes]

    def _write(self, note: _Note) -> Settled:
        """Write one event; one that is refused, or that would have to wait, gets no second try."""
        try:
            self._fold(note.subject, note.type, note.reason, note.message, note.when)
        except (ApiError, Parked):
            return DONE
        except ClusterError as lost:
            return lost
        return DONE

    def _fold(self, subject: Subject, type_: str, reason: str, message: str, when: float) -> None:
        """Write an event, or raise the count of the one that says the same.

        What is the same does not depend on the object's version; messages of one sort, and the
        flood of one object, are counted over all of its parts.
        """
        part = replace(subject, resource_version="")
        whole = replace(part, field_path="")
        sort = (whole, type_, reason)
        series = self._series.pop(sort, None)
        if series is None or when - series.last > _SIMILAR_SECONDS:
            series = _Series()
        _remember(self._series, sort, series)
        series.last = when
        series.messages[message] = None
        identity: Any = (part, type_, reason, message)
        if len(series.messages) >= _SIMILAR:
            series.messages.pop(next(iter(series.messages)))
            message, identity = _PREFIX + message, (sort, None)
        known = self._written.get(identity)
        if not self._let_through(whole, when):
            return
        if known is not None and self._count_up(known, message, when):
            return
        event = self._event(subject, type_, reason, message, when)
        self._client.create("events", event)
        key = Key(event["metadata"]["namespace"], event["metadata"]["name"])
        _remember(self._written, identity, _Written(key, 1))

    def _count_up(self, known: _Written, message: str, when: float) -> bool:
        """Raise the count of an event; False when it is gone."""
        patch = {"count": known.count + 1, "lastTimestamp": time_text(when), "message": message}
        try:
            self._client.patch("events", known.key, patch)
        except NotFound:
            return False
        known.count += 1
        return True

    def _let_through(self, subject: Subject, when: float) -> bool:
        bucket = self._buckets.pop(subject, None) or _Bucket(_BURST, when)
        _remember(self._buckets, subject, bucket)
        earned = (when - bucket.filled) / _SECONDS_PER_TOKEN
        bucket.tokens = min(_BURST, bucket.tokens + earned)
        bucket.filled = when
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _event(self, subject: Subject, type_: str, reason: str, message: str, when: float) -> Tree:
        """Make the object; its name is unique by the time in nanoseconds and a serial number."""
        self._serial += 1
        suffix = f"{int(when * 1_000_000) * 1000 + self._serial % 1000:x}"
        namespace = subject.namespace or "default"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{subject.name}.{suffix}", "namespace": namespace},
            "involvedObject": subject.to_tree(),
            "reason": reason,
            "message": message,
            "source": {"component": self.component} | ({"host": self._host} if self._host else {}),
            "firstTimestamp": time_text(when),
            "lastTimestamp": time_text(when),
            "count": 1,
            "type": type_,
            "eventTime": None,
            "reportingComponent": self.component,
            "reportingInstance": self._host,
        }


def _remember(memory: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    memory[key] = value
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
