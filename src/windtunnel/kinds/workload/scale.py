"""The scale of a workload: how many replicas it has and should have (autoscaling/v1 ``Scale``).

Pure functions between an object and its scale, for deployments, replica sets, stateful sets and
replication controllers; custom resources say by path where their numbers are.
Source: autoscaling/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import not_negative
from windtunnel.machinery.selectors import LabelSelector, MalformedSelector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation

API_VERSION: Final = "autoscaling/v1"
_KEPT: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(tree: Tree) -> Tree:
    """Return the scale of a built-in workload.

    Args:
        tree: The workload; its selector is a label selector, or a plain map (replication
            controllers).
    """
    selector = dig(tree, "spec", "selector")
    return _scale(
        tree,
        replicas=dig(tree, "spec", "replicas") or 0,
        current=dig(tree, "status", "replicas") or 0,
        selector=_selector_text(selector),
    )


def _selector_text(selector: Tree | None) -> str:
    if not selector:
        return ""
    if "matchLabels" in selector or "matchExpressions" in selector:
        try:
            return str(LabelSelector.from_tree(selector))
        except MalformedSelector:
            return ""
    return str(LabelSelector.from_tree({"matchLabels": selector}))


def _scale(tree: Tree, *, replicas: int, current: int, selector: str) -> Tree:
    metadata = tree.get("metadata") or {}
    status: Tree = {"replicas": current}
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": API_VERSION,
        "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def validate_scale(scale: Tree) -> list[Violation]:
    """Judge a scale that a user sends."""
    return not_negative(dig(scale, "spec", "replicas"), "spec.replicas")


def set_replicas(tree: Tree, scale: Tree) -> None:
    """Write the wanted replicas of a scale into its workload."""
    tree.setdefault("spec", {})["replicas"] = dig(scale, "spec", "replicas") or 0


class NoSuchPath(LookupError):
    """A custom resource has no number of replicas where its definition says it is."""


def custom_scale_of(tree: Tree, paths: Tree) -> Tree:
    """Return the scale of a custom resource.

    Args:
        tree: The custom resource.
        paths: ``subresources.scale`` of its definition.

    Raises:
        NoSuchPath: The spec replicas are missing; the message is the server's.
    """
    where = paths.get("specReplicasPath") or ""
    replicas = value_at(tree, where)
    if replicas is None:
        raise NoSuchPath(f'the spec replicas field "{where}" does not exist')
    selector = value_at(tree, paths.get("labelSelectorPath") or "")
    return _scale(
        tree,
        replicas=replicas,
        current=value_at(tree, paths.get("statusReplicasPath") or "") or 0,
        selector=selector if isinstance(selector, str) else "",
    )


def set_custom_replicas(tree: Tree, paths: Tree, scale: Tree) -> None:
    """Write the wanted replicas of a scale into a custom resource, making the way there."""
    *way, last = (paths.get("specReplicasPath") or "").removeprefix(".").split(".")
    for step in way:
        tree = tree.setdefault(step, {})
    tree[last] = dig(scale, "spec", "replicas") or 0


def value_at(tree: Tree, path: str) -> Any:
    """Return what stands at a dotted path like ``.spec.replicas``; None where nothing does."""
    return dig(tree, *path.removeprefix(".").split(".")) if path else None
