"""Which resources there are: the built-in ones, and those that definitions add at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.kinds.served.catalogue import Catalogue
from windtunnel.kinds.served.kind import Kind
from windtunnel.kinds.served.registry import builtin_kinds
from windtunnel.machinery.tree import Key

_NEEDED: Final = frozenset({"get", "list", "watch", "delete"})
_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"


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

    @property
    def resource(self) -> str:
        return f"{self.spec.names.plural}.{self.spec.group}"

    @property
    def established(self) -> bool:
        return any(
            each.type == "Established" and each.status == "True"
            for each in self.status.conditions or ()
        )


class Resource(msgspec.Struct, frozen=True):
    """One resource that can be listed, watched and deleted."""

    name: str
    """``deployments.apps``"""
    namespaced: bool


class Resources:
    """Every resource whose objects can belong to something."""

    def __init__(self, client: Client) -> None:
        self._catalogue = Catalogue(builtin_kinds())
        self._builtin = _deletable(self._catalogue)
        self._custom: dict[Key, _Definition] = {}
        self._listeners: list[Callable[[Resource, bool], None]] = []
        self._definitions: Cache[Any] = Cache(client, _DEFINITIONS, _Definition)

    def start(self) -> None:
        """Begin to watch definitions."""
        self._definitions.on_change(self._changed)
        self._definitions.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        self._definitions.stop()

    def on_change(self, tell: Callable[[Resource, bool], None]) -> None:
        """Tell of every resource there is, and of each that comes (True) or goes (False)."""
        self._listeners.append(tell)
        for resource in self._builtin:
            tell(resource, True)
        for definition in self._custom.values():
            tell(_resource_of(definition), True)

    def namespaced(self) -> list[str]:
        """Return the resources of namespaces, pods first."""
        names = [each.name for each in self._builtin if each.namespaced]
        names += [
            definition.resource
            for definition in self._custom.values()
            if definition.spec.scope == "Namespaced"
        ]
        return sorted(names, key=lambda name: (name != "pods", name))

    def kind(self, resource: str) -> Kind | None:
        """Return the built-in kind of a resource, in its preferred version, or None."""
        try:
            return self._catalogue.by_resource(resource)
        except KeyError:
            return None

    def of_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource whose objects are of this kind, or None for an unknown kind."""
        group, _, version = api_version.rpartition("/")
        found = self._catalogue.by_kind(group, version, kind)
        if found is not None:
            return Resource(found.resource, found.namespaced)
        for definition in self._custom.values():
            spec = definition.spec
            versions = {each.name for each in spec.versions if each.served}
            if (spec.group, spec.names.kind) == (group, kind) and version in versions:
                return _resource_of(definition)
        return None

    def _changed(self, key: Key, before: Any, after: Any) -> None:
        known = self._custom.pop(key, None)
        if after is not None and after.established:
            self._custom[key] = after
        present = self._custom.get(key)
        if known is not None and present is None:
            self._tell(known, there=False)
        elif known is None and present is not None:
            self._tell(present, there=True)

    def _tell(self, definition: _Definition, *, there: bool) -> None:
        for tell in self._listeners:
            tell(_resource_of(definition), there)


def _resource_of(definition: _Definition) -> Resource:
    return Resource(definition.resource, definition.spec.scope == "Namespaced")


def _deletable(catalogue: Catalogue) -> tuple[Resource, ...]:
    """Return the built-in resources, each store once: core events stand for all events."""
    seen: dict[str, Resource] = {}
    stored: set[str] = set()
    for kind in catalogue:
        if kind.store in stored or not set(kind.verbs) >= _NEEDED:
            continue
        stored.add(kind.store)
        seen[kind.resource] = Resource(kind.resource, kind.namespaced)
    return tuple(seen.values())
