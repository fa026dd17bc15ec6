"""What the server says of a custom resource definition: are its names free, is it served.

Pure: the API server calls this after each write to a definition and writes the status it returns.
Source: apiextensions-apiserver of v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig

CLEANUP_FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
_NAME_KEYS: Final = ("plural", "singular", "kind", "listKind")


def established_status(tree: Tree, others: Iterable[Tree], now: float) -> Tree:
    """Return the status of a definition whose names were compared with those of others.

    Args:
        tree: The definition.
        others: All other definitions.
        now: Seconds since the epoch.

    Returns:
        A status of its own: accepted names, conditions NamesAccepted and Established.
    """
    status = dict(tree.get("status") or {})
    wanted = dig(tree, "spec", "names") or {}
    current = status.get("acceptedNames") or {}
    taken = _taken_names(tree, others)
    accepted: Tree = {}
    conflicts: list[tuple[str, str]] = []
    for key in _NAME_KEYS:
        value = wanted.get(key) or ""
        group = "kinds" if key in ("kind", "listKind") else "names"
        if value and value in taken[group]:
            conflicts.append(
                (f"{key[:1].upper()}{key[1:]}Conflict", f'"{value}" is already in use')
            )
            value = current.get(key) or ""
        if value or key in ("plural", "kind"):
            accepted[key] = value
    short = wanted.get("shortNames") or []
    used = [name for name in short if name in taken["names"]]
    if used:
        said = ", ".join(f'"{name}" is already in use' for name in used)
        conflicts.append(("ShortNamesConflict", said))
        short = current.get("shortNames") or []
    if short:
        accepted["shortNames"] = short
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    status["acceptedNames"] = accepted
    if conflicts:
        reason, message = conflicts[-1]
        _set(status, "NamesAccepted", "False", reason, message, now)
        if not _has(status, "Established", "True"):
            text = "not all names are accepted"
            _set(status, "Established", "False", "NotAccepted", text, now)
        return status
    _set(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
    if not _has(status, "Established", "True"):
        text = "the initial names have been accepted"
        _set(status, "Established", "True", "InitialNamesAccepted", text, now)
    return status


def terminating_status(tree: Tree, now: float) -> Tree:
    """Return the status of a definition that was asked to go and waits for its objects."""
    status = dict(tree.get("status") or {})
    message = (
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    )
    _set(status, "Terminating", "True", "InstanceDeletionPending", message, now)
    return status


def _taken_names(tree: Tree, others: Iterable[Tree]) -> dict[str, set[str]]:
    group, own = dig(tree, "spec", "group"), dig(tree, "metadata", "name")
    taken: dict[str, set[str]] = {"names": set(), "kinds": set()}
    for other in others:
        if dig(other, "spec", "group") != group or dig(other, "metadata", "name") == own:
            continue
        accepted = dig(other, "status", "acceptedNames") or {}
        taken["names"] |= {accepted.get("plural") or "", accepted.get("singular") or ""}
        taken["names"] |= set(accepted.get("shortNames") or ())
        taken["kinds"] |= {accepted.get("kind") or "", accepted.get("listKind") or ""}
    return taken


def _has(status: Tree, kind: str, value: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == value
        for condition in status.get("conditions") or ()
    )


def _set(status: Tree, kind: str, value: str, reason: str, message: str, now: float) -> None:
    """Set a condition; its time moves only when its value does."""
    conditions = [dict(condition) for condition in status.get("conditions") or ()]
    status["conditions"] = conditions
    for condition in conditions:
        if condition.get("type") == kind:
            if condition.get("status") != value:
                condition["lastTransitionTime"] = time_text(now)
            condition |= {"status": value, "reason": reason, "message": message}
            return
    conditions.append(
        {
            "type": kind,
            "status": value,
            "lastTransitionTime": time_text(now),
            "reason": reason,
            "message": message,
        }
    )
