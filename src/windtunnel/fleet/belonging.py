"""Which pods belong together: selectors of services and of controllers.

The scheduler's built-in spreading asks for them. Source: kube-scheduler v1.36, DefaultSelector.
"""

from __future__ import annotations

from typing import Final

from windtunnel.fleet.pod import PodView
from windtunnel.machinery.selectors import EVERYTHING, LabelSelector
from windtunnel.machinery.tree import Key, Tree, dig, key_of

_OWNERS: Final = {
    ("v1", "ReplicationController"): "replicationcontrollers",
    ("apps/v1", "ReplicaSet"): "replicasets.apps",
    ("apps/v1", "StatefulSet"): "statefulsets.apps",
}
GROUPING: Final = ("services", *_OWNERS.values())
"""Resources whose selectors say which pods belong together."""


class Belonging:
    """Knows the selectors of services and controllers."""

    def __init__(self) -> None:
        self._selectors: dict[str, dict[Key, LabelSelector]] = {name: {} for name in GROUPING}
        self._by_namespace: dict[str, dict[Key, LabelSelector]] = {}

    def put(self, resource: str, tree: Tree) -> None:
        """Learn an object's selector."""
        key, selector = key_of(tree), dig(tree, "spec", "selector")
        if resource in ("services", "replicationcontrollers"):
            known = LabelSelector.from_labels(selector) if selector else None
        else:
            known = LabelSelector.from_tree(selector)
        self.remove(resource, key)
        if known is None:
            return
        self._selectors[resource][key] = known
        if resource == "services":
            self._by_namespace.setdefault(key.namespace, {})[key] = known

    def remove(self, resource: str, key: Key) -> None:
        """Forget an object."""
        self._selectors[resource].pop(key, None)
        if resource == "services":
            self._by_namespace.get(key.namespace, {}).pop(key, None)

    def selector_of(self, pod: PodView) -> LabelSelector:
        """Return what selects the pod's like; selects everything where nothing is known."""
        merged = EVERYTHING
        if pod.owner is None and not self._by_namespace:
            return merged
        for selector in self._by_namespace.get(pod.key.namespace, {}).values():
            if selector.matches(pod.shape.labels):
                merged = _both(merged, selector)
        if pod.owner is not None:
            version, kind, name = pod.owner
            resource = _OWNERS.get((version, kind), "")
            owned = self._selectors.get(resource, {}).get(Key(pod.key.namespace, name))
            if owned is not None:
                merged = _both(merged, owned)
        return merged


def _both(left: LabelSelector, right: LabelSelector) -> LabelSelector:
    added = tuple(one for one in right.requirements if one not in left.requirements)
    return LabelSelector(left.requirements + added, left.selects_nothing or right.selects_nothing)
