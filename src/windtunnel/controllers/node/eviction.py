"""Pods leave nodes with a NoExecute taint: at once, or when what they tolerate is used up.

Source: taint-eviction controller of Kubernetes v1.36. The time counts from when the taint was first
seen, and further taints never make it longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.node.views import NodeView, Taint
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, Toleration
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.kinds.rules.tolerations import tolerates
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key

REASON: Final = "TaintManagerEviction"


def decide(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> float | None:
    """Return for how many seconds a pod may stay: 0 for not at all, None for ever."""
    used: list[Toleration] = []
    for taint in taints:
        fitting = [each for each in tolerations if tolerates(each, taint)]
        if not fitting:
            return 0.0
        used.append(fitting[0])
    limits = [each.toleration_seconds for each in used if each.toleration_seconds is not None]
    return float(max(min(limits), 0)) if limits else None


def executing(node: NodeView | None) -> tuple[Taint, ...]:
    """Return the taints of a node that drive pods away."""
    if node is None:
        return ()
    return tuple(taint for taint in node.spec.taints if taint.effect == "NoExecute")


class TaintEvictions:
    """Evicts pods from tainted nodes."""

    name = "taint-eviction-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder
        self._since: dict[Key, float] = {}
        """When the taint was first seen, for pods that are to go later."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue the pods of a node whose taints change, and pods that come to a tainted node."""

        def node_changed(key: Key, before: NodeView | None, after: NodeView | None) -> None:
            if after is None or executing(before) == executing(after):
                return
            for pod_key, _ in self._sources.pods.by("node", key.name):
                queue.add(pod_key)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            if after is None:
                self._since.pop(key, None)
                return
            moved = before is None or before.spec.node_name != after.spec.node_name
            tolerates_more = (
                before is not None and before.spec.tolerations != after.spec.tolerations
            )
            if moved or tolerates_more:
                node = self._sources.nodes.get(Key("", after.spec.node_name))
                if executing(node):
                    queue.add(key)

        self._sources.nodes.on_change(node_changed)
        self._sources.pods.on_change(pod_changed)

    def reconcile(self, key: Key) -> Result:
        """Judge one pod."""
        pod = self._sources.pods.get(key)
        if pod is None or not pod.spec.node_name:
            self._since.pop(key, None)
            return DONE
        taints = executing(self._sources.nodes.get(Key("", pod.spec.node_name)))
        stay = decide(taints, pod.spec.tolerations) if taints else None
        if stay is None:
            if self._since.pop(key, None) is not None:
                self._recorder.normal(
                    _subject(key, pod), REASON, f"Cancelling deletion of Pod {key}"
                )
            return DONE
        now = self._clock.now()
        left = self._since.setdefault(key, now) + stay - now if stay else 0.0
        if left > 0:
            return Result(again_in=left)
        self._since.pop(key, None)
        self._evict(key, pod, now)
        return DONE

    def _evict(self, key: Key, pod: PodView, now: float) -> None:
        if pod.metadata.deleting:
            return
        self._recorder.normal(_subject(key, pod), REASON, f"Marking for deletion Pod {key}")
        reason, message = "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"
        try:
            mark_disrupted(self._client, key, pod, reason, message, now)
            self._client.delete("pods", key, uid=pod.metadata.uid)
        except NotFound:
            return


def mark_disrupted(
    client: Client, key: Key, pod: PodView, reason: str, message: str, now: float, phase: str = ""
) -> None:
    """Say on a pod why it is about to be deleted."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": time_text(now),
    }
    kept: Iterable[dict[str, object]] = (
        each.to_tree() for each in pod.status.conditions if each.type != "DisruptionTarget"
    )
    status: dict[str, object] = {"conditions": [*kept, condition]}
    if phase:
        status["phase"] = phase
    client.patch("pods", key, {"status": status}, subresource="status")


def _subject(key: Key, pod: PodView) -> Subject:
    return Subject("Pod", key.name, key.namespace, pod.metadata.uid)
