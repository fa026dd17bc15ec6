"""A pod takes overhead, node selector and tolerations from its runtime class."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.quantity import compare
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.store import Store

_CLASSES: Final = "runtimeclasses.node.k8s.io"


class RuntimeClass:
    """Applies runtime classes to pods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Creates of pods."""
        return act.operation == "CREATE" and act.resource == "pods" and not act.subresource

    def _class(self, petition: Petition) -> Tree | None:
        name = dig(petition.new, "spec", "runtimeClassName")
        if not name:
            return None
        version = self._store.get(_CLASSES, Key("", name))
        if version is None:
            raise petition.refusal(f'pod rejected: RuntimeClass "{name}" not found')
        return version.tree()

    def mutate(self, petition: Petition) -> None:
        """Write what the class says into the pod."""
        chosen = self._class(petition)
        if chosen is None or petition.new is None:
            return
        spec = petition.new["spec"]
        overhead = dig(chosen, "overhead", "podFixed")
        if overhead:
            if spec.get("overhead") and not _same(spec["overhead"], overhead):
                raise petition.refusal(
                    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
                )
            spec["overhead"] = dict(overhead)
        selector = dig(chosen, "scheduling", "nodeSelector") or {}
        given = spec.get("nodeSelector") or {}
        for key, value in selector.items():
            if given.get(key, value) != value:
                raise petition.refusal(
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {given[key]}",
                )
        if selector:
            spec["nodeSelector"] = {**given, **selector}
        tolerations = dig(chosen, "scheduling", "tolerations") or []
        present = spec.get("tolerations") or []
        added = [each for each in tolerations if each not in present]
        if added:
            spec["tolerations"] = [*present, *added]

    def judge(self, petition: Petition) -> None:
        """Refuse overhead that no class defines."""
        overhead = dig(petition.new, "spec", "overhead")
        if not overhead:
            return
        chosen = self._class(petition)
        if chosen is None or not dig(chosen, "overhead", "podFixed"):
            raise petition.refusal(
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
                "Overhead",
            )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        compare(value, other[name]) == 0 for name, value in one.items()
    )
