"""Pods that nobody will ever end: of nodes that are gone, never placed, or simply too many ended.

Source: pod-garbage-collector of Kubernetes v1.36, a pass every 20 s. A node counts as gone after it
has been missing for 40 s and a live read confirms it.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.node.eviction import mark_disrupted
from windtunnel.controllers.node.taints import NOT_READY, UNREACHABLE
from windtunnel.controllers.settings import Settings
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView
from windtunnel.kernel import Clock, Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key

PERIOD_SECONDS: Final = 20.0
_QUARANTINE_SECONDS: Final = 40.0
_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
AT_ONCE: Final = 15
_PASS: Final = Key("", "pass")


class PodGarbage:
    """Removes pods that nobody else will; its only key stands for one pass."""

    name = "pod-garbage-collector-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, settings: Settings) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._settings = settings
        self._missing: dict[str, float] = {}
        """Since when each node with pods has been missing."""
        self._doomed: list[tuple[Key, PodView]] = []
        """What is left of the present pass."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue the first pass."""
        queue.add_after(_PASS, PERIOD_SECONDS)

    def reconcile(self, key: Key) -> Result:
        """Begin a pass, or go on with it: each pod is tried once a pass."""
        now = self._clock.now()
        if not self._doomed:
            self._doomed = self._surplus() + self._stranded() + self._orphaned(now)
        batch, self._doomed = self._doomed[:AT_ONCE], self._doomed[AT_ONCE:]
        for pod_key, pod in batch:
            self._remove(pod_key, pod, now)
        return Result(again_in=0.0 if self._doomed else PERIOD_SECONDS)

    def _surplus(self) -> list[tuple[Key, PodView]]:
        """Return the oldest ended pods above the threshold."""
        surplus = self._sources.pods.count("state", "finished")
        surplus -= self._settings.terminated_pod_gc_threshold
        if self._settings.terminated_pod_gc_threshold <= 0 or surplus <= 0:
            return []
        ended = self._sources.pods.by("state", "finished")
        ended.sort(key=lambda each: (each[1].metadata.creation_timestamp, each[0]))
        return ended[:surplus]

    def _stranded(self) -> list[tuple[Key, PodView]]:
        """Return deleted pods that were never placed, or whose node is out of service."""
        return [
            (key, pod)
            for key, pod in self._sources.pods.by("state", "deleting")
            if not pod.spec.node_name or self._out_of_service(pod.spec.node_name)
        ]

    def _out_of_service(self, name: str) -> bool:
        node = self._sources.nodes.get(Key("", name))
        if node is None or node.ready:
            return False
        keys = {taint.key for taint in node.spec.taints}
        return _OUT_OF_SERVICE in keys and bool(keys & {NOT_READY, UNREACHABLE})

    def _orphaned(self, now: float) -> list[tuple[Key, PodView]]:
        """Return the pods of nodes that are gone."""
        names = [
            name
            for name in self._sources.pods.values("node")
            if self._sources.nodes.get(Key("", name)) is None
        ]
        self._missing = {name: self._missing.get(name, now) for name in names}
        return [
            entry
            for name, since in self._missing.items()
            if now - since >= _QUARANTINE_SECONDS
            and self._client.get("nodes", Key("", name)) is None
            for entry in self._sources.pods.by("node", name)
        ]

    def _remove(self, key: Key, pod: PodView, now: float) -> None:
        try:
            if pod.spec.node_name in self._missing:
                reason, message = "DeletionByPodGC", "PodGC: node no longer exists"
                phase = "" if pod.finished else "Failed"
                mark_disrupted(self._client, key, pod, reason, message, now, phase)
            elif not pod.finished:
                self._client.patch(
                    "pods", key, {"status": {"phase": "Failed"}}, subresource="status"
                )
            self._client.delete("pods", key, uid=pod.metadata.uid, grace_seconds=0)
        except NotFound:
            return
