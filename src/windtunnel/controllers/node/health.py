"""Node health: a node that has been silent for too long is marked Unknown.

Silence is counted on this controller's clock, from when it last saw the heartbeat or the lease
change; so a node is looked at again only when it could be due. Source: node-lifecycle controller of
Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.node.views import LeaseView, NodeView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.settings import Settings
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import Condition, PodView, find_condition
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key

_WATCHED: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_LEAST_PERIOD_SECONDS: Final = 0.1
"""With none at all this would be the only thing the loop does."""


def decide(conditions: tuple[Condition, ...], born: str, now: float) -> tuple[Condition, ...]:
    """Return the conditions of a node that has been silent for too long."""
    result = {condition.type: condition for condition in conditions}
    for type_ in _WATCHED:
        present = result.get(type_)
        if present is None:
            result[type_] = Condition(
                type=type_,
                status="Unknown",
                reason="NodeStatusNeverUpdated",
                message="Kubelet never posted node status.",
                last_heartbeat_time=born,
                last_transition_time=time_text(now),
            )
        elif present.status != "Unknown":
            result[type_] = Condition(
                type=type_,
                status="Unknown",
                reason="NodeStatusUnknown",
                message="Kubelet stopped posting node status.",
                last_heartbeat_time=present.last_heartbeat_time,
                last_transition_time=time_text(now),
            )
    return tuple(result.values())


class NodeHealth:
    """Watches for silent nodes, and tells of nodes that come and go."""

    name = "node-lifecycle-controller"

    def __init__(
        self,
        client: Client,
        clock: Clock,
        sources: Sources,
        settings: Settings,
        recorder: Recorder,
    ) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._settings, self._recorder = settings, recorder
        self._heard: dict[str, float] = {}
        """When each node was last heard of."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Note every sign of life; queue nodes that are new or have just spoken."""

        def node_changed(key: Key, before: NodeView | None, after: NodeView | None) -> None:
            if after is None:
                if before is not None:
                    self._tell(before, "RemovingNode", f"Removing Node {key.name} from Controller")
                self._heard.pop(key.name, None)
                return
            if before is None:
                text = f"Registered Node {key.name} in Controller"
                self._tell(after, "RegisteredNode", text)
                born = seconds(after.metadata.creation_timestamp or None)
                silent = find_condition(after.status.conditions, "Ready") is None
                now = self._clock.now()
                self._heard[key.name] = born if silent and born is not None else now
                queue.add(key)
            elif _heartbeat(after) != _heartbeat(before):
                self._heard[key.name] = self._clock.now()
                queue.add(key)

        def lease_changed(key: Key, before: LeaseView | None, after: LeaseView | None) -> None:
            if after is not None and (before is None or before.spec != after.spec):
                self._heard[key.name] = self._clock.now()

        self._sources.nodes.on_change(node_changed)
        self._sources.leases.on_change(lease_changed)

    def reconcile(self, key: Key) -> Result:
        """Judge one node, and come back when it could be due."""
        node = self._sources.nodes.get(key)
        if node is None:
            return DONE
        now = self._clock.now()
        ready = find_condition(node.status.conditions, "Ready")
        grace = (
            self._settings.node_startup_grace_period
            if ready is None
            else self._settings.node_monitor_grace_period
        )
        left = self._heard.get(key.name, now) + grace - now
        if left >= 0:
            return Result(again_in=left + 0.1)
        conditions = decide(node.status.conditions, node.metadata.creation_timestamp, now)
        if conditions != node.status.conditions:
            trees = [condition.to_tree() for condition in conditions]
            write_status(self._client, "nodes", key, {"conditions": trees})
            if ready is not None and ready.status == "True":
                text = f"Node {key.name} status is now: NodeNotReady"
                self._recorder.normal(_subject(node), "NodeNotReady", text)
                self._mark_pods(pod for _, pod in self._sources.pods.by("node", key.name))
        return Result(again_in=max(self._settings.node_monitor_period, _LEAST_PERIOD_SECONDS))

    def _mark_pods(self, pods: Iterable[PodView]) -> None:
        """Say of every pod of a silent node that it is not ready."""
        for pod in list(pods):
            ready = find_condition(pod.status.conditions, "Ready")
            if ready is None or ready.status == "False":
                continue
            key = Key(pod.metadata.namespace, pod.metadata.name)
            conditions = [
                {**each.to_tree(), "status": "False", "lastTransitionTime": self._time()}
                if each.type == "Ready"
                else each.to_tree()
                for each in pod.status.conditions
            ]
            write_status(self._client, "pods", key, {"conditions": conditions})
            subject = Subject("Pod", key.name, key.namespace, pod.metadata.uid)
            self._recorder.warning(subject, "NodeNotReady", "Node is not ready")

    def _time(self) -> str:
        return time_text(self._clock.now())

    def _tell(self, node: NodeView, reason: str, text: str) -> None:
        message = f"Node {node.metadata.name} event: {text}"
        self._recorder.normal(_subject(node), reason, message)


def _heartbeat(node: NodeView) -> tuple[str | None, str] | None:
    ready = find_condition(node.status.conditions, "Ready")
    return None if ready is None else (ready.last_heartbeat_time, ready.status)


def _subject(node: NodeView) -> Subject:
    return Subject("Node", node.metadata.name, "", node.metadata.uid)
