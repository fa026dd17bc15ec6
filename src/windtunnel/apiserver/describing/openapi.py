"""OpenAPI v3: an index of documents with their hashes, and the documents.

Built-in documents are the recorded ones, unpacked when somebody asks; a custom group's document is
made from its definitions. A document that is asked for with its hash may be kept for ever.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, Final

from windtunnel.kinds import Catalogue, Kind
from windtunnel.kinds.served import recorded
from windtunnel.machinery.tree import Tree, encode

_INFO: Final[Tree] = {"title": "Kubernetes", "version": "1.36"}
_QUERY: Final = ("dryRun", "fieldManager", "fieldValidation", "pretty")
_PATCH_TYPES: Final = (
    "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
)  # fmt: skip


@cache
def _recorded_hash(path: str) -> str:
    return hashlib.sha512(recorded.openapi_document(path)).hexdigest().upper()


class OpenApi:
    """Serves the index and its documents."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._generation = -1
        self._custom: dict[str, bytes] = {}

    def _documents(self) -> dict[str, bytes]:
        if self._generation != self._catalogue.generation:
            self._generation = self._catalogue.generation
            self._custom = {
                f"apis/{group}/{version}": encode(_document(group, version, kinds))
                for group, versions in self._catalogue.groups().items()
                for version, kinds in versions.items()
                if kinds[0].custom
            }
        return self._custom

    def index(self) -> Tree:
        """Return the index."""
        custom = self._documents()
        paths = sorted({*recorded.openapi_paths(), *custom})
        return {
            "paths": {
                path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self.hash_of(path)}"}
                for path in paths
            }
        }

    def hash_of(self, path: str) -> str:
        """Return the hash of a document."""
        made = self._documents().get(path)
        if made is None:
            return _recorded_hash(path)
        return hashlib.sha512(made).hexdigest().upper()

    def document(self, path: str) -> bytes | None:
        """Return a document, or None where there is none."""
        made = self._documents().get(path)
        if made is not None:
            return made
        return recorded.openapi_document(path) if path in recorded.openapi_paths() else None


def _model_name(kind: Kind) -> str:
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def _document(group: str, version: str, kinds: list[Kind]) -> Tree:
    paths: Tree = {}
    schemas: Tree = {}
    for kind in kinds:
        name = _model_name(kind)
        gvk = {"group": group, "version": version, "kind": kind.kind}
        schema: Tree = dict(kind.structure().schema or {"type": "object"})
        schema["x-kubernetes-group-version-kind"] = [gvk]
        properties = dict(schema.get("properties") or {})
        properties.setdefault("apiVersion", {"type": "string"})
        properties.setdefault("kind", {"type": "string"})
        properties["metadata"] = {"type": "object"}
        schema["properties"] = properties
        schemas[name] = schema
        root = f"/apis/{group}/{version}"
        if kind.namespaced:
            root += "/namespaces/{namespace}"
        root += f"/{kind.plural}"
        reference = {"$ref": f"#/components/schemas/{name}"}
        paths[root] = {
            "get": _operation(gvk, "list", reference),
            "post": _operation(gvk, "post", reference, body=("*/*",)),
        }
        paths[root + "/{name}"] = {
            "get": _operation(gvk, "get", reference),
            "put": _operation(gvk, "put", reference, body=("*/*",)),
            "patch": _operation(gvk, "patch", reference, body=_PATCH_TYPES),
            "delete": _operation(gvk, "delete", reference),
        }
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(gvk: Tree, action: str, reference: Tree, body: tuple[str, ...] = ()) -> Tree:
    made: dict[str, Any] = {
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
            for name in _QUERY
        ],
        "responses": {"200": {"content": {"application/json": {"schema": reference}}}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk,
    }
    if body:
        made["requestBody"] = {"content": {media: {"schema": reference} for media in body}}
    return made
