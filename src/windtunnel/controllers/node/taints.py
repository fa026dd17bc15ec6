"""Taints that follow from a node's state: NoSchedule at once, NoExecute at a limited rate.

Source: node-lifecycle controller of Kubernetes v1.36. Evictions are slowed where much of a zone is
down, and stopped, taints and all, where every zone is: then it is rather the controller that is cut
off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.client import Client
from windtunnel.controllers.node.views import NodeView, Taint
from windtunnel.controllers.node.visits import visit_nodes
from windtunnel.controllers.settings import Settings
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import find_condition
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.kinds.rules.zones import zone_of
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_BY_CONDITION: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_OURS: Final = frozenset({*_BY_CONDITION.values(), UNSCHEDULABLE})
_EXECUTE: Final = {"False": NOT_READY, "Unknown": UNREACHABLE}
_PARTLY_DOWN: Final = 2
"""A zone counts as partly down only with more nodes down than this."""


def unschedulable_keys(node: NodeView) -> list[str]:
    """Return the keys of the NoSchedule taints that a node's state calls for."""
    keys = [
        key
        for condition in node.status.conditions
        if (key := _BY_CONDITION.get((condition.type, condition.status))) is not None
    ]
    return [*keys, UNSCHEDULABLE] if node.spec.unschedulable else keys


def execute_key(node: NodeView) -> str | None:
    """Return the key of the NoExecute taint that a node's state calls for, or None."""
    ready = find_condition(node.status.conditions, "Ready")
    return None if ready is None else _EXECUTE.get(ready.status)


def swap(
    taints: Iterable[Taint], effect: str, ours: Iterable[str], wanted: Iterable[str], now: float
) -> tuple[Taint, ...]:
    """Return the taints with exactly ``wanted`` of our keys at this effect; fresh ones are last."""
    ours, wanted = set(ours), list(wanted)
    kept = [each for each in taints if each.effect != effect or each.key not in ours - set(wanted)]
    present = {each.key for each in kept if each.effect == effect}
    fresh = [
        Taint(key=key, effect=effect, time_added=time_text(now))
        for key in wanted
        if key not in present
    ]
    return (*kept, *fresh)


def write_taints(client: Client, key: Key, node: NodeView, taints: tuple[Taint, ...]) -> None:
    """Write a node's taints if they differ."""
    if taints == node.spec.taints:
        return
    trees: list[Tree] = []
    for taint in taints:
        tree: Tree = msgspec.to_builtins(taint)
        trees.append({field: value for field, value in tree.items() if value})
    try:
        client.patch("nodes", key, {"spec": {"taints": trees or None}})
    except NotFound:
        return


class SchedulingTaints:
    """Keeps the NoSchedule taints of nodes."""

    name = "node-taints"

    def __init__(self, client: Client, clock: Clock, sources: Sources) -> None:
        self._client, self._clock, self._sources = client, clock, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue nodes as they change."""
        visit_nodes(self._sources.nodes, queue)

    def reconcile(self, key: Key) -> Result:
        """Bring one node's taints in line with its conditions."""
        node = self._sources.nodes.get(key)
        if node is not None:
            wanted = unschedulable_keys(node)
            taints = swap(node.spec.taints, "NoSchedule", _OURS, wanted, self._clock.now())
            write_taints(self._client, key, node, taints)
        return DONE


@dataclass(slots=True)
class Zone:
    """How a zone fares, and when its next node may be tainted."""

    nodes: int = 0
    ready: int = 0
    free_at: float = 0.0

    @property
    def all_down(self) -> bool:
        """Whether no node of the zone is ready."""
        return self.nodes > 0 and self.ready == 0

    def rate(self, settings: Settings) -> float:
        """Return how many nodes a second may be tainted."""
        down = self.nodes - self.ready
        share = down / self.nodes if self.nodes else 0.0
        if not self.all_down and down > _PARTLY_DOWN and share >= settings.unhealthy_zone_threshold:
            if self.nodes > settings.large_cluster_size_threshold:
                return settings.secondary_node_eviction_rate
            return 0.0
        return settings.node_eviction_rate


class ExecutionTaints:
    """Keeps the NoExecute taints of nodes that are not ready or cannot be reached."""

    name = "node-execution-taints"

    def __init__(self, client: Client, clock: Clock, sources: Sources, settings: Settings) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._settings = settings
        self._zones: dict[str, Zone] = {}
        self._cut_off = False

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue nodes as they change, and all of them when everything is down or up again."""

        def turns(before: NodeView | None, after: NodeView | None) -> bool:
            for node, change in ((before, -1), (after, 1)):
                if node is not None:
                    zone = self._zones.setdefault(zone_of(node.metadata.labels), Zone())
                    zone.nodes += change
                    zone.ready += change * _is_up(node)
            was_cut_off = self._cut_off
            self._cut_off = bool(self._zones) and all(
                zone.all_down for zone in self._zones.values() if zone.nodes
            )
            return self._cut_off != was_cut_off

        visit_nodes(self._sources.nodes, queue, turns)

    def reconcile(self, key: Key) -> Result:
        """Bring one node's taints in line, if the rate allows it now."""
        node = self._sources.nodes.get(key)
        if node is None:
            return DONE
        now = self._clock.now()
        wanted = None if self._cut_off and not self._never_seen(node) else execute_key(node)
        present = {each.key for each in node.spec.taints if each.effect == "NoExecute"} & set(
            _EXECUTE.values()
        )
        if wanted is not None and not present:
            wait = self._wait(node, now)
            if wait > 0:
                return Result(again_in=wait)
        keys = [wanted] if wanted is not None else []
        taints = swap(node.spec.taints, "NoExecute", _EXECUTE.values(), keys, now)
        write_taints(self._client, key, node, taints)
        return DONE

    def _never_seen(self, node: NodeView) -> bool:
        return find_condition(node.status.conditions, "Ready") is None

    def _wait(self, node: NodeView, now: float) -> float:
        """Take the zone's turn, or return how long to wait for it."""
        zone = self._zones.setdefault(zone_of(node.metadata.labels), Zone())
        rate = zone.rate(self._settings)
        if rate <= 0:
            return max(self._settings.node_monitor_period, 0.1)  # never 0, which means: now
        if zone.free_at > now:
            return zone.free_at - now
        zone.free_at = now + 1 / rate
        return 0.0


def _is_up(node: NodeView) -> bool:
    """Whether a node counts as up; one that never said anything does not count as down."""
    ready = find_condition(node.status.conditions, "Ready")
    return ready is not None and ready.status == "True"
