"""Writes answers: objects, lists, tables and metadata, as JSON or YAML.

The common answers, an object and a list of objects as JSON, are joins of stored bytes and decode
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import yaml

from windtunnel.apiserver.forms.negotiation import YAML, Form
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.kinds.served.kind import Column, Kind
from windtunnel.machinery.age import age
from windtunnel.machinery.errors import ApiError, BadRequest, NotAcceptable
from windtunnel.machinery.tree import Tree, dig, encode
from windtunnel.machinery.violations import invalid
from windtunnel.store import Version

COMMON_HEADERS: Final = [("Cache-Control", "no-cache, private")]
_META: Final = "meta.k8s.io"
_DEFAULT_COLUMNS: Final = (Column("Name", "string", "name"), Column("Created At", "date"))
_PLAIN: Final = Form()
_TYPED_ANNOTATIONS: Final = {"daemonsets.apps": "deprecated.daemonset.template.generation"}
"""Annotations that the real server adds when it writes the whole object, and only then."""
_PHASES: Final = {
    "Succeeded": ("Succeeded", "The pod has completed successfully."),
    "Failed": ("Failed", "The pod failed."),
}
_INCLUDES: Final = ("", "Metadata", "Object", "None")


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """Return the Warning headers for these texts."""
    return [
        ("Warning", '299 - "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
        for text in warnings
    ]


def written(tree: Any, form: Form, *, pretty: bool = False) -> tuple[bytes, str]:
    """Return a tree as a body and its content type."""
    if form.media == YAML:
        text = yaml.dump(tree, sort_keys=True, allow_unicode=True, default_flow_style=False)
        return text.encode(), YAML
    if pretty:
        return json.dumps(tree, indent=2, ensure_ascii=False).encode() + b"\n", form.media
    return encode(tree) + b"\n", form.media


def answer(
    tree: Any,
    *,
    status: int = 200,
    form: Form = _PLAIN,
    pretty: bool = False,
    warnings: Sequence[str] = (),
    revision: int = 0,
) -> Answer:
    """Return an answer that carries a tree."""
    body, content_type = written(tree, form, pretty=pretty)
    headers = [*COMMON_HEADERS, *warning_headers(warnings)]
    return Answer(status, body, content_type, headers, revision)


def text_answer(text: str, status: int = 200) -> Answer:
    """Return a plain text."""
    headers = [*COMMON_HEADERS, ("X-Content-Type-Options", "nosniff")]
    return Answer(status, text.encode(), "text/plain; charset=utf-8", headers)


def refusal_answer(error: ApiError, *, warnings: Sequence[str] = ()) -> Answer:
    """Return the answer that carries a refusal."""
    found = answer(error.to_status(), status=error.code, warnings=warnings)
    if error.retry_after_seconds is not None:
        found.headers.append(("Retry-After", str(error.retry_after_seconds)))
    return found


def success_status(kind: Kind, name: str, uid: str) -> Tree:
    """Return the Status of a finished delete."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {field: value for field, value in details.items() if value},
    }


CREATED: Final[Tree] = {
    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
}  # fmt: skip
"""What a binding or an eviction answers."""


@lru_cache(maxsize=1024)
def _prefix(kind: str, api_version: str) -> bytes:
    return f'{{"kind":"{kind}","apiVersion":"{api_version}",'.encode()


def list_body(
    kind: Kind,
    bodies: Sequence[bytes],
    *,
    revision: int,
    token: str = "",
    remaining: int | None = None,
) -> bytes:
    """Return the JSON of a list of objects, given their JSON."""
    if kind.custom:
        metadata: Tree = {"continue": token, "resourceVersion": str(revision)}
        if remaining:
            metadata["remainingItemCount"] = remaining
        return b'{"apiVersion":"%s","items":[%s],"kind":"%s","metadata":%s}\n' % (
            kind.api_version.encode(),
            b",".join(bodies),
            _list_kind(kind).encode(),
            encode(dict(sorted(metadata.items()))),
        )
    metadata = {"resourceVersion": str(revision)}
    if token:
        metadata["continue"] = token
    if remaining:
        metadata["remainingItemCount"] = remaining
    # Items of built-in lists do not repeat what the list says of all of them. One join of views
    # copies each body once, which is nearly all that a long list costs.
    cut = len(_prefix(kind.kind, kind.api_version))
    pieces: list[bytes | memoryview] = [
        b'{"kind":"%s","apiVersion":"%s","metadata":%s,"items":['
        % (_list_kind(kind).encode(), kind.api_version.encode(), encode(metadata))
    ]
    opening = b"{"
    for body in bodies:
        pieces.append(opening)
        pieces.append(memoryview(body)[cut:])
        opening = b",{"
    pieces.append(b"]}\n")
    return b"".join(pieces)


def _list_kind(kind: Kind) -> str:
    return kind.list_kind or f"{kind.kind}List"


def metadata_only(kind: Kind, tree: Tree, version: str = "v1") -> Tree:
    """Return the PartialObjectMetadata of an object."""
    metadata: Tree = tree.get("metadata") or {}
    hidden = _TYPED_ANNOTATIONS.get(kind.resource)
    if hidden in (metadata.get("annotations") or {}):
        kept = {name: value for name, value in metadata["annotations"].items() if name != hidden}
        metadata = {**metadata, "annotations": kept}
        if not kept:
            del metadata["annotations"]
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"{_META}/{version}",
        "metadata": metadata,
    }


def not_a_list(kind: Kind) -> NotAcceptable:
    """Return the refusal of a list asked for as the metadata of one object."""
    package = kind.group.partition(".")[0] or "core"
    name = f"*{package}.{_list_kind(kind)}"
    if kind.custom:
        name = "*unstructured.UnstructuredList"
    return NotAcceptable(
        f"you requested PartialObjectMetadata, but the requested object is a list ({name})"
    )


def included(include: str) -> str:
    """Check what rows of a table shall include.

    Raises:
        BadRequest: It is none of the known values.
    """
    if include not in _INCLUDES:
        why = invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {why}")
    return include or "Metadata"


class Tables:
    """Makes the tables that kubectl prints."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def columns(self, kind: Kind) -> list[Tree]:
        """Return the column definitions of a kind."""
        return [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": column.name,
                "priority": column.priority,
            }
            for column in kind.columns or _DEFAULT_COLUMNS
        ]

    def row(self, kind: Kind, tree: Tree, form: Form, include: str, now: float) -> Tree:
        """Return the row of one object."""
        if kind.rules.cells is not None:
            cells = kind.rules.cells(tree, now)
        else:
            cells = _plain_cells(kind, tree, now)
        shown: Tree | None = None
        if include == "Metadata":
            shown = metadata_only(kind, tree, form.as_version)
        elif include == "Object":
            shown = tree
        row: Tree = {"cells": cells, "object": shown}
        ended = _PHASES.get(dig(tree, "status", "phase") or "") if kind.kind == "Pod" else None
        if ended is not None:
            reason, message = ended
            row["conditions"] = [
                {"type": "Completed", "status": "True", "reason": reason, "message": message}
            ]
        return row

    def table(
        self,
        kind: Kind,
        trees: Iterable[Tree],
        form: Form,
        *,
        metadata: Tree,
        include: str,
        now: float,
        with_columns: bool = True,
    ) -> Tree:
        """Return a table of objects; ``metadata`` is that of the list or the one object."""
        return {
            "kind": "Table",
            "apiVersion": f"{_META}/{form.as_version}",
            "metadata": metadata,
            "columnDefinitions": self.columns(kind) if with_columns else [],
            "rows": [self.row(kind, tree, form, include, now) for tree in trees],
        }

    def trees(self, kind: Kind, versions: Iterable[Version]) -> Iterable[Tree]:
        """Yield the objects of versions."""
        return (self._objects.tree(kind, version) for version in versions)


def _plain_cells(kind: Kind, tree: Tree, now: float) -> list[Any]:
    created = dig(tree, "metadata", "creationTimestamp")
    columns = kind.columns or _DEFAULT_COLUMNS
    stamp = created if columns[-1].type == "date" else age(created, now)
    return [dig(tree, "metadata", "name"), stamp]
