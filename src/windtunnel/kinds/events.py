"""Events: what happened to an object, told to people. One store, two groups.

Core events are the stored form; events.k8s.io renames fields and asks for more on create. Both
groups are judged in stored form, so that messages name the fields of the core group, as the real
server's do. Source: v1 and events.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import IMMUTABLE
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.age import age
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    required,
)

_RENAMED: Final = {
    "note": "message",
    "regarding": "involvedObject",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
"""Field of events.k8s.io to field of the core group; all others have one name."""
_NAMED_BACK: Final = {core: new for new, core in _RENAMED.items()}
_LIMITS: Final = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
_REFERENCE_FIELDS: Final = (
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
)
_FIXED: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
"""What an update through events.k8s.io may not touch, in the order it is judged."""


def to_stored(tree: Tree) -> Tree:
    """Turn an event of events.k8s.io into one of the core group."""
    stored = {_RENAMED.get(key, key): value for key, value in tree.items()}
    stored["apiVersion"] = "v1"
    return _complete(stored, "source", "firstTimestamp", "lastTimestamp", "involvedObject")


def from_stored(tree: Tree) -> Tree:
    """Turn a core event into one of events.k8s.io."""
    event = {_NAMED_BACK.get(key, key): value for key, value in tree.items()}
    event["apiVersion"] = "events.k8s.io/v1"
    for key in ("reportingController", "reportingInstance"):
        # The core group always writes these, the other one only where they say something.
        if not event.get(key):
            event.pop(key, None)
    return event


def _complete(stored: Tree, *objects: str) -> Tree:
    for key in objects:
        stored.setdefault(key, None if key.endswith("Timestamp") else {})
    stored.setdefault("eventTime", None)
    stored.setdefault("reportingComponent", "")
    stored.setdefault("reportingInstance", "")
    return stored


def _validate_lengths(event: Tree, controller: str) -> list[Violation]:
    reporter = event.get("reportingComponent") or ""
    found = [] if reporter else [required(controller)]
    found += checks.each(names.label_key(reporter), controller, reporter)
    for key, limit in _LIMITS.items():
        text = event.get(key) or ""
        if not text and key != "message":
            found.append(required(key))
        if len(text.encode()) > limit:
            found.append(invalid(key, "", f"can have at most {limit} characters"))
    return found


def _validate_any(event: Tree, controller: str) -> list[Violation]:
    """Judge what both groups ask for; ``controller`` is what the group calls the reporter."""
    namespace = dig(event, "metadata", "namespace") or ""
    involved = dig(event, "involvedObject", "namespace") or ""
    mismatch = invalid("involvedObject.namespace", involved, "does not match event.namespace")
    found: list[Violation] = []
    if event.get("eventTime") is None:
        free = ("", "default") if not involved else (involved,)
        if namespace not in free:
            found.append(mismatch)
    else:
        if not involved and namespace not in ("default", "kube-system"):
            found.append(mismatch)
        found += _validate_lengths(event, controller)
    return found + checks.each(names.dns_subdomain(namespace), "namespace", namespace)


def _validate_series(event: Tree) -> list[Violation]:
    series = event.get("series")
    if series is None:
        return []
    found: list[Violation] = []
    if (series.get("count") or 0) < 2:
        found.append(invalid("series.count", "", "should be at least 2"))
    if series.get("lastObservedTime") is None:
        found.append(required("series.lastObservedTime"))
    return found


def _validate_new(tree: Tree) -> list[Violation]:
    event = to_stored(dict(tree))
    found = _validate_any(event, "reportingController") + _validate_series(event)
    if event.get("eventTime") is None:
        found.append(required("eventTime"))
    kind = event.get("type") or ""
    if kind not in ("Normal", "Warning"):
        found.append(invalid("type", "", f"has invalid value: {kind}"))
    for key in ("firstTimestamp", "lastTimestamp", "count"):
        if event.get(key):
            found.append(invalid(key, "", "needs to be unset"))
    source = event.get("source") or {}
    if source.get("component") or source.get("host"):
        found.append(invalid("source", "", "needs to be unset"))
    return found


def _shown(key: str, value: Any) -> Any:
    """Return a value as Go prints its struct: a reference with all of its fields."""
    if key in ("involvedObject", "related") and value is not None:
        return checks.go_value({part: value.get(part) or "" for part in _REFERENCE_FIELDS})
    return checks.go_value(value)


def _validate_new_update(new: Tree, old: Tree) -> list[Violation]:
    event, before = to_stored(dict(new)), to_stored(dict(old))
    found = _validate_any(event, "reportingController")
    if event.get("series") != before.get("series"):
        found += _validate_series(event)
    for key in _FIXED:
        if (event.get(key) or None) != (before.get(key) or None):
            field = "reportingController" if key == "reportingComponent" else key
            found.append(invalid(field, _shown(key, event.get(key)), IMMUTABLE))
    return found


def _validate_core(tree: Tree) -> list[Violation]:
    return _validate_any(tree, "reportingComponent")


def _selectable(event: Tree) -> dict[str, str]:
    involved = event.get("involvedObject") or {}
    reporter = event.get("reportingComponent") or ""
    return {
        **{f"involvedObject.{key}": involved.get(key) or "" for key in _REFERENCE_FIELDS},
        "reason": event.get("reason") or "",
        "reportingComponent": reporter,
        "source": dig(event, "source", "component") or reporter,
        "type": event.get("type") or "",
    }


def _selectable_new(tree: Tree) -> dict[str, str]:
    fields = _selectable(to_stored(dict(tree)))
    regarding = {
        key.replace("involvedObject", "regarding"): value
        for key, value in fields.items()
        if key.startswith("involvedObject")
    }
    return {**fields, **regarding, "reportingController": fields["reportingComponent"]}


def _ago(stamp: str | None, now: float) -> str:
    return age(stamp, now) if stamp else "<unknown>"


def _cells(event: Tree, now: float) -> list[Any]:
    first = _ago(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = _ago(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    count = event.get("count") or 1
    series = event.get("series")
    if series is not None:
        last, count = _ago(series.get("lastObservedTime"), now), series.get("count") or 0
    involved, source = event.get("involvedObject") or {}, event.get("source") or {}
    kind, name = (involved.get("kind") or "").lower(), involved.get("name") or ""
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    return [
        last,
        event.get("type") or "",
        event.get("reason") or "",
        f"{kind}/{name}" if name else kind,
        involved.get("fieldPath") or "",
        f"{component}, {instance}" if instance else component,
        (event.get("message") or "").strip(),
        first,
        count,
        checks.name_cell(event),
    ]


CORE: Final = Rules(
    validate_create=_validate_core,
    validate_update=lambda new, _: _validate_core(new),
    selectable=_selectable,
    cells=_cells,
)
NEW: Final = Rules(
    validate_create=_validate_new,
    validate_update=_validate_new_update,
    selectable=_selectable_new,
    cells=lambda tree, now: _cells(to_stored(dict(tree)), now),
)
_CORE_LABELS: Final = frozenset(
    {f"involvedObject.{part}" for part in _REFERENCE_FIELDS}
    | {"reason", "reportingComponent", "source", "type"}
)
_NEW_LABELS: Final = frozenset(
    {f"regarding.{part}" for part in _REFERENCE_FIELDS} | {"reason", "reportingController", "type"}
)

DECLARATIONS: Final = {
    "events": Declared(creates_on_put=True, field_labels=_CORE_LABELS, rules=CORE),
    "events.events.k8s.io": Declared(
        creates_on_put=True,
        field_labels=_NEW_LABELS,
        rules=NEW,
        stored="events",
        to_stored=to_stored,
        from_stored=from_stored,
    ),
}
