"""Discovery: what is served, as old clients ask for it (a list a group) and as kubectl does.

Both are made from the catalogue and kept until it changes. The ETag is a hash of the document, so
that a client which has it already is told so.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Final

from windtunnel.kinds import Catalogue
from windtunnel.kinds.served.kind import Kind, Subresource
from windtunnel.machinery.tree import Tree, encode

_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
Document = tuple[bytes, str, str]
"""Body, content type, ETag ("" for none)."""


def group_versions(group: str, versions: Iterable[str]) -> list[Tree]:
    """Return the entries of an APIGroup."""
    return [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]


class Discovery:
    """Describes the catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._generation = -1
        self._groups: dict[str, dict[str, list[Kind]]] = {}
        self._documents: dict[tuple[str, ...], Document] = {}

    def _current(self) -> dict[str, dict[str, list[Kind]]]:
        if self._generation != self._catalogue.generation:
            self._generation = self._catalogue.generation
            self._groups = self._catalogue.groups()
            self._documents.clear()
        return self._groups

    def versions(self, group: str) -> list[str] | None:
        """Return the served versions of a group, preferred first; None for an unknown group."""
        found = self._current().get(group)
        return None if found is None else list(found)

    def builtin(self, group: str) -> bool:
        """Whether a group has kinds that are always served."""
        versions = self._current().get(group, {})
        return any(not kind.custom for kinds in versions.values() for kind in kinds)

    def roots(self) -> list[str]:
        """Return the paths of groups and their versions."""
        paths = ["/api", "/api/v1", "/apis", "/apis/"]
        for group, versions in self._current().items():
            if group:
                paths.append(f"/apis/{group}")
                paths += [f"/apis/{group}/{version}" for version in versions]
        return paths

    def aggregated(self, root: str, version: str) -> Document:
        """Return everything under ``/api`` or ``/apis`` in one document."""
        groups = self._current()
        key = (root, version)
        if key not in self._documents:
            items = [
                _group_item(group, versions)
                for group, versions in groups.items()
                if bool(group) is (root == "/apis")
            ]
            body = encode(
                {
                    "kind": "APIGroupDiscoveryList",
                    "apiVersion": f"apidiscovery.k8s.io/{version}",
                    "metadata": {},
                    "items": items,
                }
            )
            tag = f'"{hashlib.sha512(body).hexdigest().upper()}"'
            self._documents[key] = (body + b"\n", _AGGREGATED.format(version=version), tag)
        return self._documents[key]

    def legacy(self, path: str) -> Tree | None:
        """Return the old form of a discovery path; None where nothing is served."""
        groups = self._current()
        parts = path.strip("/").split("/")
        match parts:
            case ["api"]:
                return {
                    "kind": "APIVersions",
                    "versions": ["v1"],
                    "serverAddressByClientCIDRs": [
                        {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}
                    ],
                }
            case ["api", version] if version in groups.get("", {}):
                return _resource_list("", version, groups[""][version])
            case ["apis"]:
                return {
                    "kind": "APIGroupList",
                    "apiVersion": "v1",
                    "groups": [
                        _group_entry(group, versions) for group, versions in groups.items() if group
                    ],
                }
            case ["apis", group] if group in groups and group:
                return {
                    "kind": "APIGroup",
                    "apiVersion": "v1",
                    **_group_entry(group, groups[group]),
                }
            case ["apis", group, version] if version in groups.get(group, {}) and group:
                return _resource_list(group, version, groups[group][version])
        return None


def _group_entry(group: str, versions: dict[str, list[Kind]]) -> Tree:
    entries = group_versions(group, versions)
    return {"name": group, "versions": entries, "preferredVersion": entries[0]}


def _resource_list(group: str, version: str, kinds: list[Kind]) -> Tree:
    resources = []
    for kind in kinds:
        resources.append(_resource(kind))
        resources += [_part(kind, part) for part in _ordered_parts(kind)]
    made: Tree = {"kind": "APIResourceList"}
    if group:
        made["apiVersion"] = "v1"
    made["groupVersion"] = f"{group}/{version}" if group else version
    made["resources"] = resources
    return made


def _ordered_parts(kind: Kind) -> list[Subresource]:
    parts = list(kind.subresources.values())
    return parts if kind.custom else sorted(parts, key=lambda part: part.name)


def _resource(kind: Kind) -> Tree:
    made: Tree = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        made["shortNames"] = list(kind.short_names)
    if kind.categories:
        made["categories"] = list(kind.categories)
    if storage_hash := kind.storage_hash or _hash(kind):
        made["storageVersionHash"] = storage_hash
    return made


def _hash(kind: Kind) -> str:
    """Return the storage version hash of a custom kind."""
    if not kind.custom:
        return ""
    text = f"{kind.group}/{kind.version}/{kind.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def _part(kind: Kind, part: Subresource) -> Tree:
    made: Tree = {
        "name": f"{kind.plural}/{part.name}",
        "singularName": "",
        "namespaced": kind.namespaced,
    }
    if (part.group, part.version) != (kind.group, kind.version):
        made["group"], made["version"] = part.group, part.version
        if not part.group:
            made.pop("group")
    made["kind"], made["verbs"] = part.kind, list(part.verbs)
    return made


def _group_item(group: str, versions: dict[str, list[Kind]]) -> Tree:
    return {
        "metadata": {"name": group} if group else {},
        "versions": [
            {
                "version": version,
                "resources": [_aggregated_resource(kind) for kind in kinds],
                "freshness": "Current",
            }
            for version, kinds in versions.items()
        ],
    }


def _aggregated_resource(kind: Kind) -> Tree:
    made: Tree = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind, kind.group, kind.version, kind.kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        made["shortNames"] = list(kind.short_names)
    if kind.categories:
        made["categories"] = list(kind.categories)
    if kind.subresources:
        made["subresources"] = [
            {
                "subresource": part.name,
                "responseKind": _response_kind(kind, part.group, part.version, part.kind),
                "verbs": list(part.verbs),
            }
            for part in _ordered_parts(kind)
        ]
    return made


def _response_kind(kind: Kind, group: str, version: str, name: str) -> Tree:
    """Return the kind of an answer; built-in kinds leave out what their group says already."""
    if not kind.custom and (group, version) == (kind.group, kind.version):
        group = version = ""
    return {"group": group, "version": version, "kind": name}
