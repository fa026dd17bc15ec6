"""Which resources there are: what the server serves, asked again whenever a definition changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from windtunnel.client import Client, Served
from windtunnel.client.cache import Cache
from windtunnel.kernel import DONE, Line, Loop, Settled
from windtunnel.machinery.tree import Key

_NEEDED: Final = frozenset({"get", "list", "watch", "delete"})
_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_TWICE: Final = frozenset({"events.events.k8s.io"})
"""Another form of what another resource holds already."""


class NotYetKnown(Exception):
    """What the server serves has not been learnt yet."""


class _Names(msgspec.Struct):
    plural: str = ""
    kind: str = ""


class _Version(msgspec.Struct):
    name: str = ""
    served: bool = False


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Spec(msgspec.Struct):
    group: str = ""
    scope: str = ""
    names: _Names = msgspec.field(default_factory=_Names)
    versions: tuple[_Version, ...] = ()


class _Status(msgspec.Struct):
    conditions: tuple[_Condition, ...] | None = None


class _Definition(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class Resource(msgspec.Struct, frozen=True):
    """One resource that can be listed, watched and deleted."""

    name: str
    """``deployments.apps``"""
    namespaced: bool
    kind: str
    api_version: str
    """In the preferred version."""
    scalable: bool = False


class Resources:
    """Every resource whose objects can belong to something."""

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client = client
        self._known: dict[str, Resource] | None = None
        self._by_kind: dict[tuple[str, str], Resource] = {}
        self._listeners: list[Callable[[Resource, bool], None]] = []
        self._line: Line[str] = Line(loop, "discovery", self._look)
        self._definitions: Cache[Any] = Cache(client, _DEFINITIONS, _Definition)

    def start(self) -> None:
        """Learn what there is, and begin to watch definitions."""
        self._line.add("")
        self._definitions.on_change(self._changed)
        self._definitions.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        self._definitions.stop()

    def on_change(self, tell: Callable[[Resource, bool], None]) -> None:
        """Tell of every resource there is, and of each that comes (True) or goes (False)."""
        self._listeners.append(tell)
        for resource in (self._known or {}).values():
            tell(resource, True)

    def namespaced(self) -> list[str]:
        """Return the resources of namespaces, pods first.

        Raises:
            NotYetKnown: Nobody has said yet what there is.
        """
        names = [each.name for each in self._all().values() if each.namespaced]
        return sorted(names, key=lambda name: (name != "pods", name))

    def find(self, name: str) -> Resource | None:
        """Return the resource of this name, or None."""
        return (self._known or {}).get(name)

    def of_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource whose objects are of this kind, or None for an unknown kind.

        Raises:
            NotYetKnown: Nobody has said yet what there is.
        """
        self._all()
        return self._by_kind.get((api_version, kind))

    def _all(self) -> dict[str, Resource]:
        if self._known is None:
            raise NotYetKnown("what the server serves is not known yet")
        return self._known

    def _look(self, _: Sequence[str]) -> list[Settled]:
        """Learn what there is now, and tell of what came and what went."""
        known: dict[str, Resource] = {}
        by_kind: dict[tuple[str, str], Resource] = {}
        for one in self._client.served():
            if one.resource in _TWICE:
                continue
            resource = known.get(one.resource)
            if resource is None:
                resource = _resource_of(one)
                if one.verbs >= _NEEDED:
                    known[one.resource] = resource
            by_kind.setdefault((one.api_version, one.kind), resource)
        before, self._known, self._by_kind = self._known or {}, known, by_kind
        for name, resource in before.items():
            if name not in known:
                self._tell(resource, there=False)
        for name, resource in known.items():
            if name not in before:
                self._tell(resource, there=True)
        return [DONE]

    def _changed(self, key: Key, before: Any, after: Any) -> None:
        if _served_by(before) != _served_by(after):
            self._line.add("")

    def _tell(self, resource: Resource, *, there: bool) -> None:
        for tell in self._listeners:
            tell(resource, there)


def _resource_of(served: Served) -> Resource:
    return Resource(
        served.resource, served.namespaced, served.kind, served.api_version, served.scalable
    )


def _served_by(definition: _Definition | None) -> _Spec | None:
    """Return what an established definition serves; None for nothing yet."""
    if definition is None:
        return None
    established = any(
        each.type == "Established" and each.status == "True"
        for each in definition.status.conditions or ()
    )
    return definition.spec if established else None
