"""What an API server serves, as its discovery says: the only list of resources that is true there.

Parts that must know every resource (who collects garbage, who empties namespaces) ask the server in
front of them instead of a list of their own, so that they do the same on any cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""The media type of discovery in two documents, ``/api`` and ``/apis``."""


@dataclass(frozen=True, slots=True)
class Served:
    """One resource in one version of its group."""

    resource: str
    """``deployments.apps``"""
    api_version: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]
    scalable: bool = False


class _Kind(msgspec.Struct):
    kind: str = ""


class _Subresource(msgspec.Struct):
    subresource: str = ""


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    response_kind: _Kind | None = None
    scope: str = ""
    verbs: tuple[str, ...] = ()
    subresources: tuple[_Subresource, ...] = ()


class _Version(msgspec.Struct):
    version: str
    resources: tuple[_Resource, ...] = ()


class _Metadata(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    versions: tuple[_Version, ...] = ()


class _Groups(msgspec.Struct):
    items: tuple[_Group, ...] = ()


class _Listed(msgspec.Struct):
    name: str
    namespaced: bool


class _ResourceList(msgspec.Struct):
    resources: tuple[_Listed, ...]


def read_served(document: bytes) -> list[Served]:
    """Return what one document of aggregated discovery lists, preferred versions first.

    Raises:
        ValueError: It is no such document.
    """
    return [
        Served(
            f"{each.resource}.{group.metadata.name}" if group.metadata.name else each.resource,
            f"{group.metadata.name}/{part.version}" if group.metadata.name else part.version,
            each.response_kind.kind if each.response_kind is not None else "",
            each.scope == "Namespaced",
            frozenset(each.verbs),
            any(one.subresource == "scale" for one in each.subresources),
        )
        for group in msgspec.json.decode(document, type=_Groups).items
        for part in group.versions
        for each in part.resources
    ]


def read_scopes(document: bytes) -> dict[str, bool]:
    """Return of each resource that a version's document lists whether it is in namespaces.

    Raises:
        ValueError: It is no such document.
    """
    listed = msgspec.json.decode(document, type=_ResourceList).resources
    return {each.name: each.namespaced for each in listed}
