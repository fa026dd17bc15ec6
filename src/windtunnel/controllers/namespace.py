"""Namespaces that are being deleted: their content goes, pods first and alone, then they do.

Source: namespace controller of Kubernetes v1.36. Late writes get five seconds of grace; what is
held by finalizers or still terminating is looked at again after half of what it should take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.client import Client
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import Condition, NamespaceView, find_condition
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.errors import ApiError, MethodNotAllowed, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig, key_of

RESOURCE: Final = "namespaces"
FINALIZER: Final = "kubernetes"
AT_ONCE: Final = 25
"""Objects deleted in one step."""
_GRACE_SECONDS: Final = 5.0
_FINALIZER_SECONDS: Final = 15.0
_POD_SECONDS: Final = 30


@dataclass(slots=True)
class Remains:
    """What a namespace still holds."""

    counts: dict[str, int] = field(default_factory=dict)
    """Objects by ``plural.group``."""
    finalizers: Counter[str] = field(default_factory=Counter)
    estimate: float = 0.0
    """Seconds until it should be gone."""
    errors: list[str] = field(default_factory=list)

    def add(self, resource: str, objects: Sequence[Tree]) -> None:
        """Count objects that are still there after they were asked to go."""
        if not objects:
            return
        self.counts[resource] = len(objects)
        held = [name for tree in objects for name in dig(tree, "metadata", "finalizers") or ()]
        self.finalizers.update(held)
        if held:
            self.estimate = max(self.estimate, _FINALIZER_SECONDS)
        if resource == "pods":
            graces = [_grace(tree) for tree in objects]
            self.estimate = max(self.estimate, *graces)


def decide(remains: Remains, present: tuple[Condition, ...], now: float) -> tuple[Condition, ...]:
    """Return the five conditions of a namespace that is being deleted."""
    failed = ""
    if remains.errors:
        texts = ", ".join(remains.errors)
        failed = f"Failed to delete all resource types, {len(remains.errors)} remaining: {texts}"
    counts = _listing(_dotted(remains.counts), "has")
    held = _listing(remains.finalizers, "in")
    verdicts = (
        (
            "NamespaceDeletionDiscoveryFailure",
            "",
            "",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "",
            "",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "ContentDeletionFailed",
            failed,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            f"Some resources are remaining: {counts}" if counts else "",
            "ContentRemoved",
            "All content successfully removed",
        ),
        (
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {held}" if held else "",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    )
    return tuple(_condition(present, verdict, now) for verdict in verdicts)


class Namespaces:
    """Empties and finishes namespaces that are being deleted."""

    name = "namespace-controller"

    def __init__(
        self, client: Client, clock: Clock, sources: Sources, resources: Resources
    ) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._resources = resources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a namespace once its deletion has lasted long enough."""

        def changed(key: Key, before: NamespaceView | None, after: NamespaceView | None) -> None:
            if after is None or not after.metadata.deleting or not after.spec.finalizers:
                return
            if before is None or not before.metadata.deleting:
                began = seconds(after.metadata.deletion_timestamp) or 0.0
                queue.add_after(key, began + _GRACE_SECONDS - self._clock.now())

        self._sources.namespaces.on_change(changed)

    def reconcile(self, key: Key) -> Result:
        """Delete what one namespace holds; finish it when nothing is left."""
        namespace = self._sources.namespaces.get(key)
        if namespace is None or not namespace.metadata.deleting:
            return DONE
        if FINALIZER not in namespace.spec.finalizers:
            return DONE
        remains, more = self._empty(key.name)
        if more:
            return Result(again_in=0.0)
        conditions = decide(remains, namespace.status.conditions, self._clock.now())
        if conditions != namespace.status.conditions:
            trees = [condition.to_tree() for condition in conditions]
            write_status(self._client, RESOURCE, key, {"conditions": trees})
        if remains.counts or remains.errors:
            return Result(again_in=remains.estimate / 2 + 1)
        self._finish(key)
        return DONE

    def _finish(self, key: Key) -> None:
        """Take our finalizer away; the API knows that as a PUT only."""
        tree = self._client.get(RESOURCE, key)
        if tree is None:
            return
        kept = [name for name in dig(tree, "spec", "finalizers") or () if name != FINALIZER]
        tree["spec"] = {**(tree.get("spec") or {}), "finalizers": kept}
        with suppress(NotFound):
            self._client.update(RESOURCE, tree, subresource="finalize")

    def _empty(self, namespace: str) -> tuple[Remains, bool]:
        """Ask everything to go; returns what is left, and whether there was too much at once."""
        remains = Remains()
        budget = AT_ONCE
        for resource in self._resources.namespaced():
            present = self._list(resource, namespace)
            for tree in present:
                if dig(tree, "metadata", "deletionTimestamp") is not None:
                    continue
                if budget == 0:
                    return remains, not remains.errors
                budget -= 1
                self._delete(resource, tree, remains)
            if present:
                remains.add(resource, self._list(resource, namespace))
            if resource == "pods" and remains.counts:
                return remains, False
        return remains, False

    def _list(self, resource: str, namespace: str) -> list[Tree]:
        try:
            return self._client.list(resource, namespace)
        except (NotFound, MethodNotAllowed):
            return []

    def _delete(self, resource: str, tree: Tree, remains: Remains) -> None:
        try:
            self._client.delete(resource, key_of(tree), propagation="Background")
        except NotFound:
            return
        except ApiError as refusal:
            remains.errors.append(str(refusal))


def _grace(pod: Tree) -> float:
    if dig(pod, "status", "phase") in ("Succeeded", "Failed"):
        return 0.0
    grace: Any = dig(pod, "spec", "terminationGracePeriodSeconds")
    return float(_POD_SECONDS if grace is None else grace)


def _dotted(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts under ``plural.group``, with the dot even where the group is empty."""
    return {name if "." in name else f"{name}.": number for name, number in counts.items()}


def _listing(counts: Mapping[str, int], word: str) -> str:
    return ", ".join(f"{name} {word} {counts[name]} resource instances" for name in sorted(counts))


def _condition(
    present: tuple[Condition, ...], verdict: tuple[str, str, str, str, str], now: float
) -> Condition:
    type_, bad_reason, bad, good_reason, good = verdict
    status, reason, message = ("True", bad_reason, bad) if bad else ("False", good_reason, good)
    old = find_condition(present, type_)
    since = old.last_transition_time if old is not None and old.status == status else time_text(now)
    return Condition(
        type=type_, status=status, reason=reason, message=message, last_transition_time=since
    )
