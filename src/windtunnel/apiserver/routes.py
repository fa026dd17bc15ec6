"""What a path and a method ask for, before anything is known to exist.

The reading is purely textual, as in the real server, because authorization judges it first: an
unprivileged user is told 403 for a resource that does not exist. Source: apiserver request info.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_NAMESPACE_SUBRESOURCES: Final = frozenset({"status", "finalize"})
_TRUE: Final = frozenset({"1", "true", "True", "TRUE", "t", "T"})


class Route(Struct, frozen=True):
    """One request in the words of authorization. A struct, for one is made at every write."""

    path: str
    verb: str
    """For a resource: get, list, watch, create…; else the method in small letters."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    """The plural, without group."""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows the subresource, with its slash: the path behind a proxy."""
    malformed: bool = False
    """The path has empty parts: nothing is ever served there."""


def truth(text: str) -> bool:
    """Read a boolean query parameter."""
    return text in _TRUE


def _value(query: Sequence[tuple[str, str]], name: str) -> str:
    for key, value in query:
        if key == name:
            return value
    return ""


def name_selected(field_selector: str) -> str:
    """Return the name that ``metadata.name=…`` asks for, or ""."""
    for term in field_selector.split(","):
        label, found, value = term.partition("=")
        if found and label.strip() == "metadata.name":
            return value.lstrip("=").strip()
    return ""


def parse(method: str, path: str, query: Sequence[tuple[str, str]] = ()) -> Route:
    """Read a request's path.

    Args:
        method: As on the wire.
        path: Percent-decoded, without query.
        query: Decides between list and watch.
    """
    parts = path.strip("/").split("/")
    if "//" in path and path.startswith("/api"):
        return Route(path, method.lower(), malformed=True)
    if len(parts) >= 3 and parts[0] == "api":
        group, version, tail = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, tail = parts[1], parts[2], parts[3:]
    else:
        return Route(path, method.lower())
    watched = tail[0] == "watch" and len(tail) > 1
    if watched:
        tail = tail[1:]
    namespace = ""
    if tail[0] == "namespaces" and len(tail) > 1:
        namespace = tail[1]
        if len(tail) > 2 and tail[2] not in _NAMESPACE_SUBRESOURCES:
            tail = tail[2:]
    resource = tail[0]
    name = tail[1] if len(tail) > 1 else ""
    subresource = tail[2] if len(tail) > 2 else ""
    verb = _VERBS.get(method, "")
    if method in ("GET", "HEAD"):
        verb = "get"
        if watched or (not name and truth(_value(query, "watch"))):
            verb = "watch"
        elif not name:
            verb = "list"
        if not name:
            name = name_selected(_value(query, "fieldSelector")) if verb != "get" else ""
    elif method == "DELETE":
        verb = "delete" if name else "deletecollection"
    rest = ""
    if len(tail) > 3:
        rest = "/" + "/".join(tail[3:]) + ("/" if path.endswith("/") else "")
    return Route(path, verb, True, group, version, namespace, resource, name, subresource, rest)
