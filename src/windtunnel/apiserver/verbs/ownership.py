"""Field ownership of writes: who set what, kept in managedFields by ``machinery.apply``.

Fields that a write cannot change (status through the main resource, everything else through
``/status``) are never owned by it.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.apiserver.call import Call
from windtunnel.kinds import Kind
from windtunnel.machinery.apply import restore_times, track_update
from windtunnel.machinery.tree import Tree

_STATUS: Final[Tree] = {"f:status": {}}
_SPEC: Final[Tree] = {"f:spec": {}}
_POD_STATUS: Final[Tree] = {
    "f:spec": {}, "f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}},
}  # fmt: skip
_CUSTOM_STATUS: Final[Tree] = {"f:spec": {}, "f:metadata": {}}


def default_manager(user_agent: str) -> str:
    """Return the manager of a client that names none: its User-Agent up to the first slash."""
    manager = user_agent.partition("/")[0]
    return "".join(mark for mark in manager if mark.isprintable())[:128] or "unknown"


def ignored(kind: Kind, subresource: str) -> Any:
    """Return the fields that a write through this subresource never owns."""
    if subresource == "status":
        if kind.custom:
            return _CUSTOM_STATUS
        return _POD_STATUS if kind.resource == "pods" else _SPEC
    if kind.resource == "nodes" or "status" not in kind.subresources:
        return None
    return _STATUS


def own_create(call: Call, tree: Tree) -> None:
    """Record that the request's manager owns what a new object says."""
    track_update(
        None,
        tree,
        call.kind.structure(),
        manager=call.manager,
        api_version=call.kind.api_version,
        now=call.timestamp,
        ignore=ignored(call.kind, ""),
    )


def own_update(call: Call, old: Tree, new: Tree, subresource: str) -> None:
    """Record what an update has changed as the request's manager's."""
    track_update(
        old,
        new,
        call.kind.structure(),
        manager=call.manager,
        api_version=call.kind.api_version,
        subresource=subresource,
        now=call.timestamp,
        ignore=ignored(call.kind, subresource),
    )


def unchanged(old: Tree, new: Tree) -> bool:
    """Whether a write changes nothing but the times of ownership."""
    if any(part != old.get(field) for field, part in new.items() if field != "metadata"):
        return False
    restore_times(old, new)
    return old == new
